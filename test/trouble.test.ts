import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Clock, FittingRoomOptions, TryOn, TryOnView } from 'fitting-room'
import { memoryStorage } from 'fitting-room/storage/memory'
import { answers, createWorld, dropped, lost, person, product, type Fault, type World } from './support/world.ts'

let world: World
beforeEach(() => void (world = createWorld()))
afterEach(() => world.close())

const down = answers(503, { error: 'Service unavailable' })
const tooMany = (seconds: number) =>
  answers(429, { error: 'Rate limit exceeded', message: 'Too many requests' }, { 'Retry-After': String(seconds) })
const minutes = 60_000

async function started(options: Partial<FittingRoomOptions> = {}): Promise<TryOn> {
  const tryOn = world.room(options).tryOn(product)
  tryOn.subscribe(() => {})
  await tryOn.start(person)
  return tryOn
}
const statesOf = (tryOn: TryOn) => {
  const states: string[] = []
  tryOn.subscribe(({ state }) => state !== states.at(-1) && states.push(state))
  return states
}

describe.each([
  ['GET', '/funnel'],
  ['POST', '/uploads'],
  ['PUT', '/photos'],
])('%s %s that gets no usable answer', (method, path) => {
  it.each<[string, Fault]>([
    ['a 5xx', down],
    ['a lost answer', lost],
    ['a refused connection', dropped],
  ])('as of %s is repeated while the view says so, and goes on by itself', async (_, fault) => {
    world.fault(method, path, Array<Fault>(8).fill(fault))
    const tryOn = await started()
    const view = await world.until(tryOn, ({ trouble }) => trouble !== null)
    expect(view).toMatchObject({ state: 'preparing', problem: null, trouble: { kind: 'unavailable' } })
    const { since, nextTryAt } = view.trouble ?? { since: 0, nextTryAt: 0 }
    expect(view.waitingUntil).toBe(nextTryAt)
    expect(nextTryAt).toBeGreaterThanOrEqual(since)
    const done = await world.until(tryOn, 'processing')
    expect([done.trouble, done.problem]).toEqual([null, null])
    expect(world.count(method, path)).toBe(9)
  })

  it('shows since when for as long as it lasts', async () => {
    world.fault(method, path, Array<Fault>(5).fill(down))
    const tryOn = await started()
    const troubles: TryOnView['trouble'][] = []
    tryOn.subscribe(({ trouble }) => troubles.push(trouble))
    await world.until(tryOn, 'processing')
    const shown = troubles.filter((each) => each !== null)
    expect(new Set(shown.map(({ since }) => since)).size).toBe(1)
    expect(new Set(shown.map(({ nextTryAt }) => nextTryAt)).size).toBe(5)
  })

  it('stalls ten minutes after the word, with nothing sent; resume() goes on with the same consent', async () => {
    const faults = { forever: true }
    world.fault(method, path, [(reach, request) => (faults.forever ? down(reach, request) : reach())], true)
    const began = world.clock.now()
    const tryOn = await started()
    const stalled = await world.until(tryOn, 'stalled')
    expect(stalled).toMatchObject({ problem: { kind: 'unavailable', status: 503 }, trouble: null, waitingUntil: null })
    expect(stalled.can).toMatchObject({ resume: true, retry: true, startOver: true })
    expect(world.clock.now() - began).toBeLessThanOrEqual(10 * minutes)
    expect(world.clock.now() - began).toBeGreaterThan(9 * minutes)
    expect(world.count('POST', '/generations')).toBe(0)
    const sent = world.sent.length
    world.clock.advance(60 * minutes)
    await world.settle()
    expect(world.sent.length).toBe(sent)
    faults.forever = false
    await tryOn.resume()
    const { attempt } = await world.until(tryOn, 'final')
    expect(attempt?.id).toBe(stalled.attempt?.id)
    expect(world.count('POST', '/generations')).toBe(1)
  })
})

describe('a wait that the service asks for', () => {
  it('is no failure: any number of them fit into the ten minutes', async () => {
    world.fault('GET', '/funnel', Array<Fault>(20).fill(tooMany(20)))
    const tryOn = await started()
    const { trouble } = await world.until(tryOn, (view) => view.trouble !== null)
    expect(trouble).toMatchObject({ kind: 'throttled', nextTryAt: world.clock.now() + 20_000 })
    await world.until(tryOn, 'final')
    expect(world.count('GET', '/funnel')).toBe(21)
  })

  it.each([
    ['GET', '/funnel'],
    ['POST', '/generations'],
  ])('of %s %s that ends beyond the ten minutes stalls at once', async (method, path) => {
    world.fault(method, path, [tooMany(700)])
    const tryOn = await started()
    await world.settle()
    await world.settle()
    expect(tryOn.get()).toMatchObject({ state: 'stalled', problem: { kind: 'throttled' }, trouble: null })
    world.clock.advance(701_000)
    await tryOn.resume()
    await world.until(tryOn, 'final')
  })
})

describe('a submission that is not taken yet', () => {
  it('waits with trouble, past deadlineMs, while its consent lives', async () => {
    world.fault('POST', '/generations', Array<Fault>(5).fill(tooMany(50)))
    const tryOn = await started({ timing: { deadlineMs: 60_000 } })
    const view = await world.until(tryOn, ({ waitingUntil }) => waitingUntil !== null)
    expect(view).toMatchObject({ state: 'submitting', problem: null, message: null, trouble: { kind: 'throttled' } })
    const states = statesOf(tryOn)
    await world.until(tryOn, 'final')
    expect(states).not.toContain('stalled')
  })

  it('stalls when its ten minutes are over, and resume() submits the same attempt', async () => {
    world.fault('POST', '/generations', Array<Fault>(11).fill(tooMany(59)))
    const tryOn = await started()
    const stalled = await world.until(tryOn, 'stalled')
    expect(stalled).toMatchObject({ problem: { kind: 'throttled' }, can: { resume: true } })
    const before = world.count('POST', '/generations')
    world.clock.advance(60 * minutes)
    await world.settle()
    expect(world.count('POST', '/generations')).toBe(before)
    await tryOn.resume()
    const { attempt } = await world.until(tryOn, 'final')
    expect(attempt?.id).toBe(stalled.attempt?.id)
  })

  it('has ten minutes more after resume()', async () => {
    world.fault('POST', '/generations', Array<Fault>(11).fill(tooMany(59)))
    const tryOn = await started()
    await world.until(tryOn, 'stalled')
    world.clock.advance(60 * minutes)
    world.fault('POST', '/generations', Array<Fault>(5).fill(tooMany(59)))
    await tryOn.resume()
    const states = statesOf(tryOn)
    await world.until(tryOn, 'final')
    expect(states).not.toContain('stalled')
  })
})

describe('a poll', () => {
  it.each<[string, Fault, string]>([
    ['unavailable', down, 'unavailable'],
    ['throttled', tooMany(5), 'throttled'],
  ])('that is %s shows trouble until one is answered', async (_, fault, kind) => {
    world.fault('GET', '/generations', [fault, fault])
    const tryOn = await started()
    const view = await world.until(tryOn, ({ trouble }) => trouble !== null)
    expect(view).toMatchObject({ state: 'processing', problem: null, trouble: { kind } })
    expect((await world.until(tryOn, 'final')).trouble).toBeNull()
  })
})

describe('a device that is offline', () => {
  afterEach(() => vi.unstubAllGlobals())

  it('is told from a service that gives no answer, and goes on when it is back', async () => {
    vi.stubGlobal('navigator', { onLine: false })
    const tryOn = await started()
    expect((await world.until(tryOn, ({ trouble }) => trouble !== null)).trouble?.kind).toBe('offline')
    expect(world.sent).toEqual([])
    vi.stubGlobal('navigator', { onLine: true })
    await world.until(tryOn, 'final')
  })
})

describe('GET /requests-left', () => {
  it('without an ID is not repeated when its outcome is not known', async () => {
    world.fault('GET', '/requests-left', [lost, lost])
    const tryOn = await started({ askVisitorFirst: true })
    await world.until(tryOn, 'final')
    expect(world.count('GET', '/requests-left')).toBe(1)
  })

  it('with an ID is repeated', async () => {
    world.fault('GET', '/requests-left', [lost, down])
    const tryOn = await started({ askVisitorFirst: true, uniqueUserId: 'ada' })
    await world.until(tryOn, 'final')
    expect(world.count('GET', '/requests-left')).toBe(3)
  })
})

describe('a definite refusal', () => {
  it.each([
    ['GET', '/funnel', 404],
    ['POST', '/uploads', 400],
    ['PUT', '/photos', 403],
  ])('of %s %s stops at once', async (method, path, status) => {
    world.fault(method, path, [answers(status, { error: 'No' })])
    const began = world.clock.now()
    await world.until(await started(), 'rejected')
    expect([world.clock.now(), world.count(method, path)]).toEqual([began, 1])
  })
})

describe('after a load', () => {
  /** A try-on whose page ends while its submission waits. */
  async function leftWaiting(seconds: number): Promise<void> {
    world.fault('POST', '/generations', [tooMany(seconds)])
    const room = world.room()
    const tryOn = room.tryOn(product)
    await tryOn.start(person)
    await world.until(tryOn, ({ waitingUntil }) => waitingUntil !== null)
    room.close()
  }

  it('a wait goes on by itself while its consent is under ten minutes old', async () => {
    await leftWaiting(20)
    world.clock.advance(9 * minutes)
    await world.until(world.room().tryOn(product), 'final')
    expect(world.count('POST', '/generations')).toBe(2)
  })

  it.each([10, 23 * 60])('%i minutes later it is stalled, and resume() submits', async (age) => {
    await leftWaiting(20)
    world.clock.advance(age * minutes)
    const tryOn = world.room().tryOn(product)
    expect(await world.until(tryOn, 'stalled')).toMatchObject({ problem: { kind: 'throttled' }, can: { resume: true } })
    world.clock.advance(60 * minutes)
    await world.settle()
    expect(world.count('POST', '/generations')).toBe(1)
    await tryOn.resume()
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(2)
  })

  it('a consent that was renewed by resume() is as old as that word', async () => {
    await leftWaiting(20)
    world.clock.advance(60 * minutes)
    const room = world.room()
    const tryOn = room.tryOn(product)
    await world.until(tryOn, 'stalled')
    world.fault('POST', '/generations', [tooMany(30)])
    await tryOn.resume()
    await world.until(tryOn, ({ waitingUntil }) => waitingUntil !== null)
    room.close()
    world.clock.advance(5 * minutes)
    await world.until(world.room().tryOn(product), 'final')
  })

  it.each([
    ['set back four minutes', -4 * minutes],
    ['set forward a minute', minutes],
  ])('with a clock that was %s a wait is never longer than it was', async (_, shift) => {
    await leftWaiting(20)
    const shifted: Clock = { ...world.clock, now: () => world.clock.now() + shift }
    const began = world.clock.monotonic()
    const tryOn = world.room({ clock: shifted }).tryOn(product)
    await world.until(tryOn, 'processing')
    expect(world.clock.monotonic() - began).toBeLessThanOrEqual(20_000)
    expect(world.count('POST', '/generations')).toBe(2)
  })

  it('what stalled before it was prepared stays stalled, and resume() prepares it', async () => {
    world.fault('GET', '/funnel', [down], true)
    const room = world.room()
    const tryOn = room.tryOn(product)
    await tryOn.start(person)
    const { attempt } = await world.until(tryOn, 'stalled')
    room.close()
    world.clock.advance(minutes)
    const again = world.room().tryOn(product)
    const view = await world.until(again, 'stalled')
    expect([view.attempt?.id, view.problem?.kind]).toEqual([attempt?.id, 'unavailable'])
    expect(view.can.resume).toBe(true)
  })

  it('without a lock or an atomic update a wait is stalled, however young', async () => {
    await world.close()
    const { update: _update, durable: _durable, ...plain } = memoryStorage()
    world = createWorld({ storage: plain })
    await leftWaiting(20)
    const tryOn = world.room().tryOn(product)
    await world.until(tryOn, 'stalled')
    world.clock.advance(minutes)
    await world.settle()
    expect(world.count('POST', '/generations')).toBe(1)
  })
})

describe('within a run', () => {
  it.each([-4 * minutes, 0.25, minutes, -24 * 60 * minutes])(
    'a wall clock that is moved by %d ms changes no state',
    async (shift) => {
      let moved = 0
      const clock: Clock = { ...world.clock, now: () => world.clock.now() + moved }
      world.fault('POST', '/generations', [tooMany(20)])
      const tryOn = world.room({ clock }).tryOn(product)
      const states = statesOf(tryOn)
      await tryOn.start(person)
      await world.until(tryOn, ({ waitingUntil }) => waitingUntil !== null)
      moved = shift
      await world.until(tryOn, 'final')
      expect(states.slice(-5)).toEqual(['preparing', 'submitting', 'processing', 'preview', 'final'])
    },
  )
})
