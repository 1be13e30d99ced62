import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Clock, TryOn } from 'fitting-room'
import { isRecord, testStorage, type TestStorage } from './support/storage.ts'
import { createWorld, person, product, refuses, started, type World } from './support/world.ts'

const minutes = 60_000
const hours = 60 * minutes
let world: World
let storage: TestStorage
beforeEach(() => {
  storage = testStorage()
  world = createWorld({ storage })
})
afterEach(() => world.close())

const gated = { ...product, variantId: '2009' }
const submissions = () => world.count('POST', '/generations')

/** A page's clock, which goes as the world's does but may be set: `ahead` is by how many ms. */
function pageClock(ahead = 0): Clock & { ahead: number } {
  const clock = { ...world.clock, ahead, now: () => world.clock.now() + clock.ahead }
  return clock
}

/** A try-on whose submission waits for twenty seconds. */
async function waiting(tryOn: TryOn): Promise<TryOn> {
  world.fault('POST', '/generations', [refuses('rateLimitExceeded', { retryAfter: 20 })])
  await started(tryOn)
  await world.until(tryOn, ({ waitingUntil }) => waitingUntil !== null)
  return tryOn
}

describe('a wall clock that is set back by an hour within a run', () => {
  it('leaves a running job what it is', async () => {
    const clock = pageClock()
    const tryOn = await started(world.room({ clock }).tryOn(product))
    const { attempt } = await world.until(tryOn, 'processing')
    clock.ahead = -hours
    const states: string[] = []
    tryOn.subscribe(({ state, problem }) => states.push(problem?.kind ?? state))
    expect((await world.until(tryOn, 'final')).attempt).toEqual(attempt)
    expect([...new Set(states)]).toEqual(['processing', 'preview', 'final'])
  })

  it('leaves a wait its length', async () => {
    const clock = pageClock()
    const tryOn = await waiting(world.room({ clock }).tryOn(product))
    clock.ahead = -hours
    await world.pass(19_500)
    expect([tryOn.get().state, submissions()]).toEqual(['submitting', 1])
    await world.pass(500)
    expect(submissions()).toBe(2)
    await world.until(tryOn, 'final')
  })

  it('changes nothing that an intent may do', async () => {
    const clock = pageClock()
    const room = world.room({ clock })
    const tryOn = await started(room.tryOn(product))
    const { attempt } = await world.until(tryOn, 'final')
    clock.ahead = -hours
    await tryOn.retry()
    const again = await world.until(tryOn, 'final')
    expect(new Set((await room.list()).map(({ jobId }) => jobId))).toEqual(
      new Set([attempt?.jobId, again.attempt?.jobId]),
    )
  })
})

describe.each([
  ['forth and back', 25 * hours],
  ['back and forth', -25 * hours],
])('a wall clock that was set %s', (_, shift) => {
  const setAndUndone = async () => {
    const clock = pageClock()
    const room = world.room({ clock })
    await started(room.tryOn({ ...product, variantId: '2002' }))
    for (const ahead of [shift, 0]) {
      clock.ahead = ahead
      await world.pass(2_000)
      await room.list()
    }
    return room
  }

  it('makes nothing old that another page has written since', async () => {
    const room = await setAndUndone()
    const other = world.room()
    const { attempt } = await world.until(await started(other.tryOn(product)), 'final')
    other.close()
    expect((await world.until(room.tryOn(product), 'final')).attempt).toEqual(attempt)
    expect((await world.room().list()).map(({ jobId }) => jobId)).toContain(attempt?.jobId)
  })

  it('dates no word later than it was said', async () => {
    const room = await setAndUndone()
    const put = world.hold('PUT', '/photos')
    const tryOn = await started(room.tryOn(product))
    await put.reached
    expect(tryOn.get().attempt?.startedAt).toBeLessThanOrEqual(world.clock.now())
    put.release()
  })
})

/** Sleep stops the monotonic clock, and with it every timer, on most platforms. */
describe('a machine that sleeps', () => {
  it('sends nothing in the morning for a word of the evening, until resume()', async () => {
    const clock = pageClock()
    const put = world.hold('PUT', '/photos')
    const tryOn = await started(world.room({ clock }).tryOn(product))
    await put.reached
    clock.ahead += 9 * hours
    put.release()
    await world.until(tryOn, ({ problem }) => problem?.kind === 'consentExpired')
    await world.pass(30_000)
    expect([tryOn.get().state, submissions()]).toEqual(['stalled', 0])
    await tryOn.resume()
    await world.until(tryOn, 'final')
    expect(submissions()).toBe(1)
  })

  it('does so after a reload, too, where an address was given in the evening and registered in the morning', async () => {
    const clock = pageClock()
    const room = world.room({ clock })
    const tryOn = await started(room.tryOn(gated))
    await world.until(tryOn, 'needsEmail')
    const sent = submissions()
    const register = world.hold('POST', '/customer-register')
    void tryOn.submitEmail({ email: 'ada@example.com' })
    await register.reached
    clock.ahead += 9 * hours
    register.release()
    await world.until(tryOn, 'stalled')
    room.close()
    const again = world.room({ clock: pageClock(clock.ahead) }).tryOn(gated)
    await world.until(again, 'stalled')
    await world.pass(30_000)
    expect([again.get().state, submissions()]).toEqual(['stalled', sent])
  })

  it('ends a wait for another try in the same way', async () => {
    const clock = pageClock()
    const tryOn = await waiting(world.room({ clock }).tryOn(product))
    clock.ahead += 9 * hours
    await world.until(tryOn, 'stalled')
    expect(submissions()).toBe(1)
  })

  it('gives a job that runs all of its time awake', async () => {
    const clock = pageClock()
    const tryOn = await started(world.room({ clock }).tryOn(product))
    await world.until(tryOn, 'processing')
    clock.ahead += 9 * hours
    const states: string[] = []
    tryOn.subscribe(({ state }) => states.push(state))
    await world.until(tryOn, 'final')
    expect([...new Set(states)]).toEqual(['processing', 'preview', 'final'])
  })

  it('does not make what was written after days of it old for another page', async () => {
    const clock = pageClock()
    const room = world.room({ clock })
    room.tryOn(product).subscribe(() => {})
    await room.ready
    clock.ahead += 72 * hours
    const put = world.hold('PUT', '/photos')
    const tryOn = await started(room.tryOn(product))
    await put.reached
    await world.room({ clock: pageClock(clock.ahead) }).ready
    put.release()
    const { attempt } = await world.until(tryOn, 'final')
    room.close()
    const again = world.room({ clock: pageClock(clock.ahead) })
    expect((await world.until(again.tryOn(product), 'final')).attempt).toEqual(attempt)
    expect((await again.list()).map(({ jobId }) => jobId)).toEqual([attempt?.jobId])
  })
})

describe('a wait that a reload finds', () => {
  it.each([0, minutes, 4 * minutes])('is never longer than it was, by a clock set back %i ms', async (shift) => {
    const room = world.room()
    await waiting(room.tryOn(product))
    room.close()
    const clock = pageClock(-shift)
    const again = world.room({ clock }).tryOn(product)
    const { waitingUntil } = await world.until(again, ({ state }) => state === 'submitting')
    expect((waitingUntil ?? Infinity) - clock.now()).toBeLessThanOrEqual(20_000)
    await world.pass(20_000)
    expect(submissions()).toBe(2)
    await world.until(again, 'final')
  })
})

describe('a clock whose times have fractions', () => {
  it('writes records that the next page reads', async () => {
    const room = world.room({ clock: pageClock(0.25) })
    const { attempt } = await world.until(await started(room.tryOn(product)), 'processing')
    room.close()
    const again = world.room({ clock: pageClock(0.25) })
    const view = await world.until(again.tryOn(product), 'final')
    expect([view.attempt, view.problem, submissions()]).toEqual([attempt, null, 1])
  })

  it('writes whole times only', async () => {
    await waiting(world.room({ clock: pageClock(0.25) }).tryOn(product))
    const [record = ''] = [...storage.items].flatMap(([key, text]) => (isRecord({ key }) ? [text] : []))
    expect(record).toContain('"savedAt":')
    expect(record).not.toMatch(/\d\.\d/)
  })
})

describe('a record from the future, as a clock that ran ahead leaves it', () => {
  it('with a job is followed', async () => {
    const room = world.room({ clock: pageClock(24 * hours) })
    const { attempt } = await world.until(await started(room.tryOn(product)), 'processing')
    room.close()
    const again = world.room()
    const view = await world.until(again.tryOn(product), 'final')
    expect([view.attempt?.jobId, view.problem]).toEqual([attempt?.jobId, null])
    expect((await again.list()).map(({ jobId }) => jobId)).toEqual([attempt?.jobId])
    expect(submissions()).toBe(1)
  })

  it('without one is submitted by nothing but a word', async () => {
    const put = world.hold('PUT', '/photos')
    const room = world.room({ clock: pageClock(24 * hours) })
    await started(room.tryOn(product))
    await put.reached
    room.close()
    const tryOn = world.room().tryOn(product)
    await world.until(tryOn, 'idle')
    await world.pass(30_000)
    expect(submissions()).toBe(0)
    await tryOn.start(person)
    await world.until(tryOn, 'final')
    expect(submissions()).toBe(1)
  })

  it('that waited is stalled, and resume() submits it', async () => {
    const room = world.room({ clock: pageClock(24 * hours) })
    await waiting(room.tryOn(product))
    room.close()
    const tryOn = world.room().tryOn(product)
    await world.until(tryOn, 'stalled')
    await world.pass(30_000)
    expect(submissions()).toBe(1)
    await tryOn.resume()
    await world.until(tryOn, 'final')
    expect(submissions()).toBe(2)
  })
})
