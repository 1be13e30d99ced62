import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { TryOn } from 'fitting-room'
import { manualClock } from 'fitting-room/testing'
import { hasLocks } from '../src/platform/exclusive.ts'
import {
  any,
  hung,
  isRecord,
  isWrite,
  recordKey,
  refused,
  testStorage,
  type StorageCall,
  type TestStorage,
} from './support/storage.ts'
import {
  createWorld,
  person,
  product,
  refuses,
  refusesKey,
  refusesVariant,
  started,
  type World,
} from './support/world.ts'

let world: World
let storage: TestStorage
const createWorldOn = (made: TestStorage) => {
  storage = made
  world = createWorld({ storage })
}
beforeEach(() => createWorldOn(testStorage()))
afterEach(async () => {
  vi.unstubAllGlobals()
  await world.close()
})

const submissions = () => world.count('POST', '/generations')
const polls = () => world.count('GET', '/generations')
const watched = (tryOn: TryOn) => {
  tryOn.subscribe(() => {})
  return tryOn
}

it('takes locks that a browser only names for none', () => {
  vi.stubGlobal('isSecureContext', true)
  expect(hasLocks()).toBe(true)
  vi.stubGlobal('navigator', { locks: undefined })
  expect(hasLocks()).toBe(false)
})

describe('without lock and atomic update', () => {
  beforeEach(async () => {
    await world.close()
    createWorldOn(testStorage({ atomic: false }))
  })

  it('startOver() beside another page does not go on with what that one waits to submit', async () => {
    world.fault('POST', '/generations', [refusesVariant, refuses('rateLimitExceeded', { retryAfter: 20 })])
    const one = await started(world.room().tryOn(product))
    await world.until(one, 'rejected')
    const other = watched(world.room().tryOn(product))
    await world.until(other, 'rejected')
    await other.retry(person)
    await world.until(other, ({ state, waitingUntil }) => state === 'submitting' && waitingUntil !== null)
    const before = submissions()
    await one.startOver()
    await world.settle()
    world.clock.advance(21_000)
    await world.settle()
    expect(submissions() - before).toBe(1)
  })

  it('a refused key is not tried again by itself after a reload', async () => {
    world.fault('POST', '/generations', [refusesKey])
    const first = world.room()
    await world.until(await started(first.tryOn(product)), 'unauthorized')
    first.close()
    const again = world.room().tryOn(product)
    await world.until(again, 'unauthorized')
    world.clock.advance(300_000)
    await world.settle()
    expect(submissions()).toBe(1)
  })
})

describe('an owner that is gone', () => {
  /** An owner with a poll out, and another page that waits. */
  async function twoPages() {
    const sleepy = manualClock()
    const room = world.room({ clock: sleepy })
    const owner = watched(room.tryOn(product))
    await world.settle()
    const other = watched(world.room().tryOn(product))
    await world.settle()
    const poll = world.hold('GET', '/generations')
    await owner.start(person)
    await poll.reached
    await world.settle()
    expect([other.get().state, polls()]).toEqual(['processing', 1])
    return { room, other, poll }
  }

  /** The other page goes on with the same job; how long that took by its clock. */
  async function handOver(other: TryOn): Promise<number> {
    const from = world.clock.now()
    while (polls() === 1) await world.pass(500)
    const took = world.clock.now() - from
    await world.until(other, 'final')
    expect(submissions()).toBe(1)
    return took
  }

  it('is followed within two seconds of its lock', async () => {
    await world.close()
    vi.stubGlobal('isSecureContext', true)
    createWorldOn(storage)
    const { room, other, poll } = await twoPages()
    expect([...storage.items.keys()].filter((key) => key.endsWith(':lease'))).toEqual([])
    room.close()
    expect(await handOver(other)).toBeLessThanOrEqual(2_000)
    poll.release()
  })

  it('is followed within two seconds where it gave its lease up', async () => {
    const { room, other, poll } = await twoPages()
    room.close()
    expect(await handOver(other)).toBeLessThanOrEqual(2_000)
    poll.release()
  })

  it('is followed within two seconds of the end of its lease where it did not', async () => {
    const { other, poll } = await twoPages()
    const { until } = JSON.parse(storage.items.get(`${recordKey}:lease`) ?? '') as { until: number }
    const left = until - world.clock.now()
    expect(left).toBeLessThanOrEqual(2_000)
    // its timers do not run any more
    expect(await handOver(other)).toBeLessThanOrEqual(left + 2_000)
    poll.release()
  })
})

it.each(['{"owner":["x"],"until":1}', '{"owner":"x","until":{}}', '{"until":1}', '[]', 'null'])(
  'a lease that is %s keeps nobody out',
  async (lease) => {
    storage.items.set(`${recordKey}:lease`, lease)
    const tryOn = world.room().tryOn(product)
    void tryOn.start(person)
    await world.until(tryOn, 'final')
    expect(submissions()).toBe(1)
  },
)

describe('a page that slept while another one took over', () => {
  /** A page whose timers do not run, and one that has taken over from it. */
  async function overtaken(request: [string, string], where: 'before' | 'after' = 'before') {
    const sleepy = manualClock()
    const held = world.hold(...request, where)
    const slept = await started(world.room({ clock: sleepy }).tryOn(product))
    await held.reached
    const awake = watched(world.room().tryOn(product))
    await world.settle()
    return { sleepy, held, slept, awake }
  }

  it.each(['startOver', 'discard'] as const)('submits nothing after %s() there', async (intent) => {
    const { held, awake } = await overtaken(['PUT', '/photos'])
    const again = world.hold('PUT', '/photos')
    await world.pass(6_000)
    await again.reached
    await awake[intent]()
    held.release()
    await world.settle()
    expect([awake.get().state, submissions()]).toEqual(['idle', 0])
    again.release()
  })

  it('tells the other one of its late answer', async () => {
    const { held, awake, slept, sleepy } = await overtaken(['POST', '/generations'], 'after')
    await world.pass(6_000)
    expect(awake.get().state).toBe('outcomeUnknown')
    held.release()
    await world.settle()
    await world.pass(1_000, sleepy)
    expect(['processing', 'preview', 'final']).toContain(awake.get().state)
    expect(slept.get().attempt?.jobId).toBe(awake.get().attempt?.jobId)
    expect(submissions()).toBe(1)
  })
})

describe('a page that reads what another one waits to submit, and can write nothing,', () => {
  /** A page waits out a refusal, and another one comes, to which storage is read-only. */
  async function readOnlyBeside(clock = world.clock) {
    world.fault('POST', '/generations', [refuses('rateLimitExceeded', { retryAfter: 5 })])
    const waits = await started(world.room({ clock }).tryOn(product))
    await world.until(waits, ({ waitingUntil }) => waitingUntil !== null)
    const other = storage.another()
    other.meet(isWrite, refused)
    const reads = watched(world.room({ storage: other }).tryOn(product))
    await world.settle()
    return { waits, reads }
  }

  it('leaves it to that one', async () => {
    const { waits, reads } = await readOnlyBeside()
    // both wait for the same moment
    await world.pass(20_000)
    expect(submissions()).toBe(2)
    expect(reads.get().attempt?.jobId).toBe(waits.get().attempt?.jobId)
  })

  it('submits it no more where that one stands still, which may wake', async () => {
    const sleepy = manualClock()
    const { waits, reads } = await readOnlyBeside(sleepy)
    await world.until(reads, 'rejected')
    expect(reads.get().problem).toEqual({ kind: 'storage' })
    // nor anything in its place, which that one would not hear of
    for (let at = 0; at < 2; at += 1)
      await expect(reads.retry(person)).rejects.toMatchObject({ problem: { kind: 'storage' } })
    expect(submissions()).toBe(1)
    await world.pass(20_000, sleepy)
    await world.until(waits, ({ state }) => state !== 'submitting')
    expect(submissions()).toBe(2)
  })
})

it('storage that hands back what it has parsed has one owner, too', async () => {
  const parsed = (text: string | null) => (text === null ? null : (JSON.parse(text) as string))
  const parsing = () => {
    const page = storage.another()
    const { getItem, update } = page
    const handsBack = {
      getItem: async (key: string) => parsed((await getItem(key)) as string | null),
      update: (key: string, change: (old: string | null) => string | null) =>
        update!(key, (old) => change(parsed(old))),
    }
    return { ...page, ...handsBack }
  }
  const tryOns = [1, 2].map(() => watched(world.room({ storage: parsing() }).tryOn(product)))
  await world.settle()
  const leases = new Set<string>()
  for (let at = 0; at < 10; at += 1) {
    await world.pass(500)
    leases.add((JSON.parse(storage.items.get(`${recordKey}:lease`) ?? '') as { owner: string }).owner)
  }
  expect(leases.size).toBe(1)
  await started(tryOns[1]!)
  await world.until(tryOns[0]!, 'final')
  expect(submissions()).toBe(1)
})

describe('an intent that was passed on', () => {
  it('settles when its owner never answers and a third page takes over', async () => {
    const dead = storage.another()
    dead.meet(({ type, key }) => type === 'get' && key === recordKey, hung)
    watched(world.room({ clock: manualClock(), storage: dead }).tryOn(product))
    await world.settle()
    const third = watched(world.room().tryOn(product))
    await world.settle()
    const asking = watched(world.room().tryOn(product))
    await world.settle()
    const word = asking.start({ imageUrl: 'https://photos.test/p.png' })
    await world.pass(20_000)
    await word
    expect(third.get().attempt).not.toBeNull()
    expect(submissions()).toBe(1)
  })
})

describe('a page whose storage stalls, where only a lease keeps others out,', () => {
  /** From the call on that `from` is true for all calls wait, until they are carried out one after the other. */
  function stall(slow: TestStorage, from: (call: StorageCall) => boolean = any) {
    const waiting: (() => void)[] = []
    let isStalling = false
    slow.meet(
      (call) => (isStalling ||= from(call)),
      ({ land }) => new Promise((resolve) => waiting.push(() => resolve(land()))),
    )
    return {
      isStalling: () => isStalling,
      async wake() {
        slow.recover()
        for (const land of waiting) {
          land()
          await world.settle()
        }
      },
    }
  }
  const listed = async () => (await world.room().list()).map(({ jobId, archived }) => ({ jobId, archived }))

  it.each([6_000, 15_000])(
    'for %i ms at its claim neither submits again nor loses the next owner’s job',
    async (ms) => {
      const slow = storage.another()
      const one = watched(world.room({ storage: slow }).tryOn(product))
      await world.until(one, 'idle')
      const two = watched(world.room().tryOn(product))
      await world.until(two, 'idle')
      let records = 0
      // the consent is the first write of the record, the claim the second
      const claim = stall(slow, (call) => call.type === 'update' && isRecord(call) && ++records === 2)
      await one.start(person)
      await world.settle()
      expect(claim.isStalling()).toBe(true)
      await world.pass(ms)
      await claim.wake()
      await world.pass(20_000)
      const { attempt } = await world.until(two, 'final')
      expect(submissions()).toBe(1)
      expect(await listed()).toEqual([{ jobId: attempt?.jobId, archived: false }])
      expect((await world.until(one, 'final')).attempt).toEqual(attempt)
    },
  )

  it('leaves a word that was passed on to it to the next owner', async () => {
    const slow = storage.another()
    watched(world.room({ storage: slow }).tryOn(product))
    await world.settle()
    const other = watched(world.room().tryOn(product))
    await world.until(other, 'idle')
    const { wake } = stall(slow)
    const word = other.start({ imageUrl: 'https://photos.test/p.png' })
    await world.pass(60_000)
    await wake()
    await world.pass(20_000)
    await word
    const { attempt } = other.get()
    expect(attempt?.jobId).toEqual(expect.any(String))
    expect(submissions()).toBe(1)
    expect(await listed()).toEqual([{ jobId: attempt?.jobId, archived: false }])
  })

  it('submits nothing of what only its memory holds', async () => {
    const slow = storage.another()
    const put = world.hold('PUT', '/photos')
    await started(world.room({ storage: slow }).tryOn(product))
    await put.reached
    stall(slow)
    put.release()
    await world.pass(60_000)
    expect(submissions()).toBe(0)
  })
})

it('a page that hears nothing of the owner, as in another process, shows what storage holds', async () => {
  const owner = await started(world.room().tryOn(product))
  await world.until(owner, 'processing')
  vi.stubGlobal('BroadcastChannel', undefined)
  const other = watched(world.room().tryOn(product))
  await world.pass(6_000)
  expect(owner.get().state).toBe('preview')
  expect(other.get().attempt).toEqual(owner.get().attempt)
  expect(submissions()).toBe(1)
})

it('a page that hears no more of the owner shows what storage holds where one runs the flow that it cannot hear', async () => {
  const room = world.room()
  await world.until(await started(room.tryOn(product)), 'processing')
  const slow = storage.another()
  const other = watched(world.room({ storage: slow }).tryOn(product))
  await world.until(other, 'processing')
  vi.stubGlobal('BroadcastChannel', undefined)
  const unheard = watched(world.room({ storage: storage.another() }).tryOn(product))
  await world.settle()
  slow.meet(any, hung)
  room.close()
  await world.until(unheard, 'final')
  slow.recover()
  const { attempt, result } = await world.until(other, 'final')
  expect({ attempt, result }).toEqual({ attempt: unheard.get().attempt, result: unheard.get().result })
  expect(submissions()).toBe(1)
})

it('a page that hears nothing of the owner for a while asks, and goes on showing what that one shows', async () => {
  const owner = await started(world.room().tryOn(product))
  await world.until(owner, 'final')
  const other = watched(world.room({ storage: storage.another() }).tryOn(product))
  await world.until(other, 'final')
  await world.pass(60_000)
  expect(other.get()).toEqual(owner.get())
})

it('a consent that storage reads and does not let go of any more, its lease neither, stops with a word, and not in a circle', async () => {
  const put = world.hold('PUT', '/photos')
  const tryOn = await started(world.room().tryOn(product))
  await put.reached
  const before = storage.calls.length
  // one that goes round in a circle comes to an end, too
  storage.meet((call) => isWrite(call) && storage.calls.length < before + 500, refused)
  put.release()
  const { problem } = await world.until(tryOn, 'rejected')
  expect([problem?.kind, submissions()]).toEqual(['storage', 0])
  expect(storage.calls.length).toBeLessThan(before + 100)
})

it('a page that waits for the lease of one that was killed shows nothing of what that one was about to discard', async () => {
  const own = storage.another()
  const killed = world.room({ storage: own })
  const tryOn = await started(killed.tryOn(product))
  await world.until(tryOn, 'final')
  const removal = own.hold((call) => isRecord(call) && isWrite(call))
  tryOn.discard().catch(() => undefined)
  await removal.reached
  own.meet(() => true, hung)
  killed.close()
  const waiting = watched(world.room().tryOn(product))
  const states = new Set<string>()
  waiting.subscribe(() => states.add(waiting.get().state))
  await world.pass(5_000)
  expect(states).not.toContain('final')
})

it('a page that hears nothing of the owner shows nothing where it cannot read what stands there', async () => {
  const owner = await started(world.room().tryOn(product))
  await world.until(owner, 'processing')
  vi.stubGlobal('BroadcastChannel', undefined)
  const other = watched(world.room().tryOn(product))
  storage.items.set(recordKey, JSON.stringify({ version: 9 }))
  await world.pass(6_000)
  expect(other.get().state).toBe('restoring')
})
