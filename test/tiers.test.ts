import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { FittingRoom, TryOn } from 'fitting-room'
import { storageChain } from 'fitting-room/storage/chain'
import { leftOf } from '../src/rules/copies.ts'
import {
  any,
  full,
  hung,
  isNobodys,
  isRecord,
  isWrite,
  refused,
  type StorageCall,
  testStorage,
} from './support/storage.ts'
import { createWorld, lost, person, product, refuses, started, type World } from './support/world.ts'

let world: World
const twoDisks = () => [testStorage(), testStorage()] as const
let disks: ReturnType<typeof twoDisks>
beforeEach(() => {
  disks = twoDisks()
  world = createWorld()
})
afterEach(async () => {
  vi.unstubAllGlobals()
  await world.close()
})

type How = (call: StorageCall) => unknown

interface Loading {
  first?: How
  second?: How
  /** What the first says of itself. */
  begun?: () => boolean | Promise<boolean>
  /** What the second has written reaches the disk later, as of a localStorage. */
  isBehind?: boolean
  namespace?: string
}

/** A page load; `first` and `second` are what its calls to the two tiers meet, where they do not simply work. */
function load({ first, second, begun, isBehind, namespace }: Loading = {}): FittingRoom {
  const tiers = [first, second].map((how, index) => {
    const tier = disks[index as 0 | 1].another()
    if (how) tier.meet(any, how)
    if (index === 1) return isBehind ? { ...tier, isExclusive: () => false } : tier
    return begun ? { ...tier, isBegun: begun } : tier
  })
  return world.room({ storage: storageChain(tiers, world.clock), namespace })
}

const submissions = () => world.count('POST', '/generations')
const read = (tryOn: TryOn) => world.until(tryOn, ({ state }) => state !== 'restoring')
const jobIds = async (room: FittingRoom) => (await room.list()).map(({ jobId }) => jobId)

/** Everything that might go on by itself has had its chance. */
async function afterAWhile(): Promise<void> {
  await world.pass(30_000)
}

describe('a word that one tier took while the other failed', () => {
  /** What leaves a consent, or a wait, in the second tier only. */
  const leaving = {
    async 'a consent'() {
      const asked = world.hold('GET', '/funnel')
      const room = load({ first: refused })
      await room.tryOn(product).start({ imageUrl: 'https://photos.test/p.png' })
      await asked.reached
      room.close()
    },
    async 'a wait'() {
      world.fault('POST', '/generations', [refuses('rateLimitExceeded', { retryAfter: 20 })])
      const room = load({ first: refused })
      const tryOn = await started(room.tryOn(product))
      await world.until(tryOn, ({ waitingUntil }) => waitingUntil !== null)
      room.close()
    },
  }

  it.each(Object.entries(leaving))(
    'as %s is submitted once, however often the other fails and works',
    async (_, leave) => {
      await leave()
      const before = submissions()
      const second = load()
      const { attempt } = await world.until(second.tryOn(product), 'processing')
      second.close()
      expect(submissions() - before).toBe(1)

      const third = load({ first: refused })
      await read(third.tryOn(product))
      await afterAWhile()
      third.close()
      expect(submissions() - before).toBe(1)

      const fourth = load()
      expect(await jobIds(fourth)).toEqual([attempt?.jobId])
      expect((await world.until(fourth.tryOn(product), ({ state }) => state !== 'restoring')).attempt).toEqual(attempt)
    },
  )
})

describe('a second tier that the disk has later', () => {
  /** The power is lost before the disk has what the second tier was given. */
  async function lose(room: FittingRoom): Promise<FittingRoom> {
    room.close()
    await world.settle()
    disks[1].items.clear()
    return load({ isBehind: true })
  }

  it('takes no paid job from the first one, which is full by then', async () => {
    let isFull = false
    // there is no room for more, and what is removed goes
    const isMore = (call: StorageCall) => isFull && isWrite(call) && call.change?.() !== null
    const room = load({ first: (call) => (isMore(call) ? refused() : call.land()), isBehind: true })
    const held = world.hold('GET', '/generations')
    await room.tryOn(product).start(person)
    await held.reached
    await world.settle()
    isFull = true
    held.release()
    const { attempt } = await world.until(room.tryOn(product), 'final')
    await world.settle()
    expect(await jobIds(await lose(room))).toEqual([attempt?.jobId])
  })

  it('keeps no try-on that it was given as the first one failed', async () => {
    const before = load({ first: refused, isBehind: true })
    await before.tryOn(product).start(person)
    await world.until(before.tryOn(product), 'final')
    before.close()
    const room = load({ isBehind: true })
    await read(room.tryOn(product))
    await room.tryOn(product).retry(person)
    const { attempt } = await world.until(room.tryOn(product), 'final')
    await world.settle()
    expect(await jobIds(await lose(room))).toContain(attempt?.jobId)
  })
})

describe('a tier that is full, and says so once a change was decided', () => {
  /** A load whose first tier is full from when that is said. */
  function filling() {
    let isFull = false
    const room = load({ first: (call) => (isFull && isWrite(call) ? full(call) : call.land()) })
    return { room, fill: () => void (isFull = true) }
  }
  const fresh = async () => {
    const [found] = await load().list()
    return [found?.state, found?.jobId]
  }

  it('keeps no paid job from the other one', async () => {
    const { room, fill } = filling()
    await read(room.tryOn(product))
    fill()
    const { attempt, durable } = await world.until(await started(room.tryOn(product)), 'final')
    room.close()
    expect([durable, ...(await fresh())]).toEqual([true, 'final', attempt?.jobId])
    await load().reset()
    for (const { items } of disks) expect([...items].flat().join()).not.toContain(attempt!.id)
  })

  it('nor where that happens while the submission is out', async () => {
    const { room, fill } = filling()
    const out = world.hold('POST', '/generations', 'after')
    const tryOn = await started(room.tryOn(product))
    await out.reached
    await world.settle()
    fill()
    out.release()
    const { attempt } = await world.until(tryOn, 'processing')
    room.close()
    expect(await fresh()).toEqual(['processing', attempt?.jobId])
  })

  it('nor the picture from its shopper, and polls no more than else', async () => {
    const { room, fill } = filling()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'processing')
    fill()
    await world.until(tryOn, 'final')
    expect(world.count('GET', '/generations')).toBeLessThan(10)
  })

  it('keeps a claim that is no reason to doubt what the other one has of the same attempt', async () => {
    const { room, fill } = filling()
    const out = world.hold('POST', '/generations', 'after')
    const tryOn = await started(room.tryOn(product))
    await out.reached
    await world.settle()
    fill()
    out.release()
    const { attempt } = await world.until(tryOn, 'final')
    room.close()
    await world.pass(4_000)
    const later = load()
    await read(later.tryOn(product))
    const retried = later.tryOn(product).retry(person)
    await world.until(later.tryOn(product), 'processing')
    await retried
    await world.until(later.tryOn(product), 'final')
    const found = await later.list()
    expect(found.map(({ state, archived }) => [state, archived])).toEqual([
      ['final', false],
      ['final', true],
    ])
    expect(found.map(({ jobId }) => jobId)).toContain(attempt?.jobId)
  })

  it('keeps no reset() from its end once there is room again', async () => {
    let isFull = false
    const slowly = async (call: StorageCall) => {
      call.change?.()
      await new Promise<void>((resolve) => void world.clock.setTimeout(resolve, 5))
      return full({ ...call, change: () => null })
    }
    const room = load({ first: (call) => (isFull && isWrite(call) ? slowly(call) : call.land()) })
    const tryOn = room.tryOn(product)
    await read(tryOn)
    isFull = true
    started(tryOn).catch(() => undefined)
    await world.until(tryOn, 'processing')
    isFull = false
    await world.pass(60_000)
    const isDone = expect(room.reset()).resolves.toBeUndefined()
    await world.pass(5_000)
    await isDone
  })

  it.each(['startOver', 'retry'] as const)('refuses %s() of a picture that it does not let go', async (intent) => {
    const { room, fill } = filling()
    const tryOn = await started(room.tryOn(product))
    const { attempt } = await world.until(tryOn, 'final')
    fill()
    await expect(tryOn[intent](person)).rejects.toMatchObject({ kind: 'storage' })
    expect(tryOn.get()).toMatchObject({ state: 'final', attempt, problem: { kind: 'storage' } })
    room.close()
    await world.pass(4_000)
    const later = load().tryOn(product)
    await read(later)
    const left = later.startOver()
    // what was refused does not come to light
    await afterAWhile()
    await left
    expect([later.get().state, submissions()]).toEqual(['idle', 1])
  })
})

describe('a paid job in a tier that fails after the next load', () => {
  /** A job in the first tier, and a page for which that one fails. */
  async function hidden(how: How) {
    const room = load()
    const { attempt } = await world.until(await started(room.tryOn(product)), 'processing')
    room.close()
    const blind = load({ first: how })
    return { jobId: attempt?.jobId, blind, tryOn: blind.tryOn(product) }
  }
  const failures: [string, How][] = [
    ['refuses', refused],
    ['hangs', hung],
  ]

  it.each(failures)('as it %s is not taken for absent', async (_, how) => {
    const { tryOn } = await hidden(how)
    expect(await read(tryOn)).toMatchObject({ state: 'idle', problem: { kind: 'storageUnreadable' } })
    await afterAWhile()
    expect(submissions()).toBe(1)
  })

  it.each(failures)('as it %s is listed and can be followed beside one that a new word has begun', async (_, how) => {
    const { tryOn, blind, jobId } = await hidden(how)
    await read(tryOn)
    await tryOn.start(person)
    const { attempt } = await world.until(tryOn, 'final')
    blind.close()
    const room = load()
    await read(room.tryOn(product))
    expect(new Set(await jobIds(room))).toEqual(new Set([jobId, attempt?.jobId]))
    const listed = (await room.list()).find((each) => each.jobId === jobId)
    await world.until(listed?.open() as TryOn, 'final')
    expect(submissions()).toBe(2)
  })

  it('is listed with what the other tier has listed meanwhile', async () => {
    const { tryOn, blind, jobId } = await hidden(refused)
    await read(tryOn)
    const other = blind.tryOn({ ...product, variantId: '2002' })
    await other.start(person)
    const { attempt } = await world.until(other, 'final')
    blind.close()
    expect(new Set(await jobIds(load()))).toEqual(new Set([jobId, attempt?.jobId]))
  })
})

it('a submission of unknown outcome that a new word has hidden meanwhile is in the archive', async () => {
  world.fault('POST', '/generations', [lost])
  const first = load()
  const unknown = await world.until(await started(first.tryOn(product)), 'outcomeUnknown')
  first.close()
  const second = load({ first: refused })
  await read(second.tryOn(product))
  world.clock.advance(1_000)
  const { attempt } = await world.until(await started(second.tryOn(product)), 'final')
  second.close()
  const third = load()
  await read(third.tryOn(product))
  const listed = (await third.list()).map(({ attemptId, archived }) => [attemptId, archived])
  expect(Object.fromEntries(listed)).toEqual({ [attempt?.id ?? '']: false, [unknown.attempt?.id ?? '']: true })
})

describe.each([
  ['before it has read', 'before'],
  ['once it has read', 'midway'],
] as const)('a write that its tier holds up %s', (_when, where) => {
  it.each([
    ['consent', 1],
    ['claim', 2],
  ])('and lands late, as of a %s, is submitted once at most', async (_, nth) => {
    const slow = disks[0].another()
    const room = world.room({ storage: storageChain([slow, disks[1].another()], world.clock) })
    const tryOn = room.tryOn(product)
    await read(tryOn)
    let records = 0
    const write = slow.hold((call) => call.type === 'update' && isRecord(call) && ++records === nth, where)
    // a consent that could not be kept rejects
    const word = started(tryOn).catch(() => undefined)
    await write.reached
    await world.pass(30_000)
    await word
    write.release()
    await afterAWhile()
    const sent = submissions()
    expect(sent).toBeLessThanOrEqual(1)
    room.close()
    for (const how of [{}, { first: refused }, { second: refused }, {}]) {
      const again = load(how)
      await read(again.tryOn(product))
      await afterAWhile()
      again.close()
      await world.settle()
    }
    expect(submissions()).toBeLessThanOrEqual(1)
    expect((await jobIds(load())).filter((jobId) => jobId !== null)).toHaveLength(submissions())
  })
})

describe('reset()', () => {
  const records = () => disks.flatMap(({ items }) => [...items.keys()]).filter((key) => /:(try-on|attempt):/.test(key))

  it('removes what each tier holds', async () => {
    const first = load()
    await world.until(await started(first.tryOn(product)), 'final')
    first.close()
    const second = load({ first: refused })
    const other = second.tryOn({ ...product, variantId: '2002' })
    await read(other)
    await other.start(person)
    await world.until(other, 'final')
    second.close()
    const room = load()
    await room.reset()
    expect(records()).toEqual([])
    expect(await room.list()).toEqual([])
  })

  it('rejects while a tier that holds something fails, and resolves when all is gone', async () => {
    const first = load()
    await world.until(await started(first.tryOn(product)), 'final')
    first.close()
    await expect(load({ first: refused }).reset()).rejects.toMatchObject({ kind: 'storage' })
    await load().reset()
    expect(records()).toEqual([])
  })

  it('rejects while the list of one tier still names what has gone', async () => {
    const [first, second] = disks.map((disk) => disk.another()) as [(typeof disks)[0], (typeof disks)[1]]
    const room = world.room({ storage: storageChain([first, second], world.clock) })
    const tryOn = await started(room.tryOn(product))
    const { attempt } = await world.until(tryOn, 'final')
    await tryOn.startOver()
    let writes = 0
    second.meet((call) => isWrite(call) && call.key.endsWith(':catalog') && ++writes > 1, refused)
    await expect(room.reset()).rejects.toMatchObject({ kind: 'storage' })
    second.recover()
    await room.reset()
    expect(disks.flatMap(({ items }) => [...items.values()]).join()).not.toContain(attempt!.id)
  })
})

it('the list of a tier that lands after a reset names nothing any more once a page has opened', async () => {
  const before = load()
  await world.until(await started(before.tryOn(product)), 'final')
  const lists = [...disks[1].items].filter(([key]) => key.endsWith(':catalog'))
  await before.reset()
  before.close()
  for (const [key, text] of lists) disks[1].items.set(key, text)
  await read(load().tryOn({ ...product, variantId: '2002' }))
  await afterAWhile()
  expect(disks.map(({ items }) => [...items.values()].filter((text) => text.includes(':anyone:photo')))).toEqual([
    [],
    [],
  ])
})

it('what is looked at and left as it is goes to no other tier: it may be gone from one that does not answer', async () => {
  const [first, second] = disks.map((disk) => disk.another()) as [(typeof disks)[0], (typeof disks)[1]]
  const chain = storageChain([first, second], world.clock)
  await chain.update('key', () => '{"of":"before"}')
  first.meet(any, refused)
  await chain.update('key', (old) => old)
  expect(disks.map(({ items }) => items.get('key'))).toEqual(['{"of":"before"}', undefined])
})

it('a page whose first tier never opens is served from the second, with nothing to report', async () => {
  const first = load({ first: refused })
  expect((await read(first.tryOn(product))).problem).toBeNull()
  const { attempt, durable } = await world.until(await started(first.tryOn(product)), 'final')
  first.close()
  const view = await world.until(load({ first: refused }).tryOn(product), 'final')
  expect([view.attempt, view.problem, durable]).toEqual([attempt, null, true])
})

it.each([false, true])('one whose second is behind on disk (%s) says so from the first view on', async (isBehind) => {
  expect((await read(load({ first: refused, isBehind }).tryOn(product))).exclusive).toBe(!isBehind)
})

it('a try-on that comes to stand where others may read it late says so from then on, though all was well before', async () => {
  await world.until(await started(load({ isBehind: true }).tryOn(product)), 'final')
  const isFull = (call: StorageCall) => (isWrite(call) ? refused() : call.land())
  const tryOn = load({ first: isFull, isBehind: true }).tryOn({ ...product, variantId: '2002' })
  expect(await read(tryOn)).toMatchObject({ state: 'idle', exclusive: true })
  expect(await world.until(await started(tryOn), 'final')).toMatchObject({ exclusive: false, durable: true })
})

it('a page whose storage takes nothing that is written says from the first view on that it keeps no other one out', async () => {
  const isFull = (call: StorageCall) => (isWrite(call) ? refused() : call.land())
  const tryOn = load({ first: isFull, second: isFull }).tryOn(product)
  expect(await read(tryOn)).toMatchObject({ state: 'idle', exclusive: false, problem: null })
  expect(await world.until(await started(tryOn), 'final')).toMatchObject({ exclusive: false, durable: false })
  const alone = disks[0].another()
  alone.meet(any, isFull)
  expect(await read(world.room({ storage: alone, namespace: 'alone' }).tryOn(product))).toMatchObject({
    exclusive: false,
  })
  const other = load({ first: isFull }).tryOn({ ...product, variantId: '2002' })
  expect(await read(other)).toMatchObject({ state: 'idle', exclusive: true })
})

it('a claim is not sent while an older copy may stand in a tier that cannot be cleared', async () => {
  const put = world.hold('PUT', '/photos')
  const one = load({ first: refused })
  await started(one.tryOn(product))
  await put.reached
  one.close()
  const isChange = (call: StorageCall) => isWrite(call) && isRecord(call)
  const two = load({ second: (call) => (isChange(call) ? refused() : call.land()) })
  const tryOn = two.tryOn(product)
  const view = await world.until(tryOn, 'rejected')
  expect(view.problem).toEqual({ kind: 'storage' })
  expect(submissions()).toBe(0)
})

it('a load in which one tier failed does not part the pages before it from those after it', async () => {
  vi.stubGlobal('isSecureContext', true)
  const namespaces = Array.from({ length: 8 }, (_, index) => `shop-${index}`)
  for (const namespace of namespaces) {
    const watched = async (room: FittingRoom) => {
      room.tryOn(product).subscribe(() => {})
      await room.ready
      await world.settle()
    }
    await watched(load({ namespace }))
    world.clock.advance(1_000)
    const flaky = load({ namespace, first: refused })
    await watched(flaky)
    flaky.close()
    await watched(load({ namespace }))
  }
  await world.settle()
  const { held = [], pending = [] } = await navigator.locks.query()
  expect([held.length, pending.length]).toEqual([8, 8])
})

it('the list of a tier that comes back from long before tells of no reset', async () => {
  const [first, second] = disks
  const before = world.room({ storage: second.another() })
  await before.reset()
  before.close()
  await world.pass(10_000)
  const own = second.another()
  own.meet(any, refused)
  const room = world.room({ storage: storageChain([first.another(), own], world.clock) })
  const tryOn = await started(room.tryOn(product))
  await world.until(tryOn, 'final')
  for (const key of first.items.keys()) if (key.endsWith(':catalog')) first.items.delete(key)
  own.recover()
  await started(room.tryOn({ ...product, variantId: '2002' }))
  await world.settle()
  expect(tryOn.get().state).toBe('final')
  room.close()
  await world.until(load().tryOn(product), 'final')
})

describe('a catalog that this version cannot read', () => {
  const keyOf = () => [...disks[0].items.keys()].find((key) => key.endsWith(':catalog')) ?? ''
  it.each([
    ['a newer one', JSON.stringify({ version: 3, entries: 'elsewhere' })],
    ['a broken one', '{"version":2,'],
  ])('as %s is left as it is and reported, and reset() says that it does not know what has to go', async (_, text) => {
    const before = load()
    await world.until(await started(before.tryOn(product)), 'final')
    before.close()
    const key = keyOf()
    for (const { items } of disks) items.set(key, text)
    const room = load()
    const other = room.tryOn({ ...product, variantId: '2002' })
    expect((await read(other)).problem).toEqual({ kind: 'recordUnreadable' })
    await other.start(person)
    const { attempt } = await world.until(other, 'final')
    expect(disks[0].items.get(key)).toBe(text)
    const again = load()
    expect(await jobIds(again)).toEqual([attempt?.jobId])
    await expect(again.reset()).rejects.toMatchObject({ kind: 'storage' })
    expect(disks.map(({ items }) => items.get(key))).toEqual([text, text])
  })

  it('as a broken one in one tier is mended by the copy in the other', async () => {
    const before = load()
    const { attempt } = await world.until(await started(before.tryOn(product)), 'final')
    before.close()
    const key = keyOf()
    disks[0].items.set(key, '{"version":2,')
    const room = load()
    expect(await jobIds(room)).toEqual([attempt?.jobId])
    await room.reset()
    expect(disks[0].items.get(key)).toBe(disks[1].items.get(key))
    const left = [...disks[0].items.keys()].filter((each) => !each.startsWith('fitting-room:tier:'))
    expect(left.filter((each) => each === key || !isNobodys(each))).toEqual([key])
  })
})

it('a paid job in one tier is not written over by an attempt that was begun while that tier failed', async () => {
  const first = load()
  const paid = await world.until(await started(first.tryOn(product)), 'processing')
  first.close()
  const [near, far] = disks.map((disk) => disk.another())
  near?.meet(any, refused)
  const second = world.room({
    storage: storageChain(
      [near, far].filter((tier) => tier !== undefined),
      world.clock,
    ),
  })
  await read(second.tryOn(product))
  const post = world.hold('POST', '/generations', 'after')
  const other = await started(second.tryOn(product))
  await post.reached
  near?.recover()
  far?.meet(isWrite, refused)
  post.release()
  await world.until(other, 'processing')
  second.close()
  const third = load()
  await read(third.tryOn(product))
  const listed = new Set(await jobIds(third))
  expect([listed.size, listed.has(paid.attempt?.jobId ?? ''), listed.has(null), submissions()]).toEqual([
    2,
    true,
    false,
    2,
  ])
})

it('a marker that cannot be read is no proof that a tier was never written to', async () => {
  const first = load()
  await world.until(await started(first.tryOn(product)), 'processing')
  first.close()
  const isMarker = ({ key }: StorageCall) => key.startsWith('fitting-room:tier:')
  const room = load({ first: refused, second: (call) => (isMarker(call) ? refused() : call.land()) })
  expect((await read(room.tryOn(product))).problem).toEqual({ kind: 'storageUnreadable' })
})

it('every tier that works has the catalog, so that one that is emptied leaves nothing behind a reset()', async () => {
  const before = load({ second: refused })
  await world.until(await started(before.tryOn(product)), 'final')
  before.close()
  const between = load()
  await world.until(await started(between.tryOn({ ...product, variantId: '2002' })), 'final')
  between.close()
  disks[1].items.clear()
  const room = load()
  expect(await jobIds(room)).toHaveLength(2)
  await room.reset()
  const left = disks.flatMap(({ items }) => [...items.keys()])
  expect(left.filter((key) => !isNobodys(key) && !key.startsWith('fitting-room:tier:'))).toEqual([])
})

describe('what the shop clears', () => {
  it('a marker is set again with the next write, so that a tier that fails later is missed', async () => {
    const room = load()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'processing')
    disks[1].items.clear()
    await world.until(tryOn, 'final')
    room.close()
    const later = load({ first: refused }).tryOn(product)
    await world.until(later, ({ state }) => state === 'idle')
    expect(later.get().problem).toEqual({ kind: 'storageUnreadable' })
  })

  it.each([
    ['that says so itself, and fails', refused, () => true],
    ['that says so itself, and hangs', hung, () => true],
  ])('the marker of a tier %s, is no loss', async (_, first, begun) => {
    const room = load()
    await world.until(await started(room.tryOn(product)), 'final')
    room.close()
    await world.settle()
    disks[1].items.clear()
    const later = load({ first, begun })
    const view = await world.until(later.tryOn(product), ({ state }) => state === 'idle')
    expect(view.problem).toEqual({ kind: 'storageUnreadable' })
    await expect(later.list()).rejects.toMatchObject({ kind: 'storageUnreadable' })
    await expect(later.reset()).rejects.toMatchObject({ kind: 'storage' })
  })

  it('a tier that hangs, and cannot even say whether it was begun, is empty where no marker stands', async () => {
    const room = load({ first: hung, begun: () => new Promise<boolean>(() => {}) })
    expect((await world.until(room.tryOn(product), 'idle')).problem).toBeNull()
    await world.until(await started(room.tryOn(product)), 'final')
    await room.reset()
  })

  it('a catalog that two tiers hold stands in both, with the same entries', async () => {
    for (const [variantId, how] of [
      ['2001', { second: refused }],
      ['2002', { first: refused }],
    ] as const) {
      const room = load(how)
      await world.until(await started(room.tryOn({ ...product, variantId })), 'final')
      room.close()
    }
    const next = load().tryOn(product)
    await world.until(next, 'final')
    await next.startOver()
    const entriesOf = (items: Map<string, string>) => {
      const [, catalog = '{}'] = [...items].find(([key]) => key.endsWith(':catalog')) ?? []
      return Object.keys((JSON.parse(catalog) as { entries?: object }).entries ?? {}).sort()
    }
    const [first, second] = disks.map(({ items }) => entriesOf(items))
    expect(first).toEqual(expect.arrayContaining([expect.stringMatching(/:2001$/), expect.stringMatching(/:2002$/)]))
    expect(second).toEqual(first)
  })
})

it.each([
  ['whose job is known', { phase: 'unauthorized', job: { jobId: 'job' } }],
  [
    'that was answered against the contract',
    { phase: 'protocolError', problem: { kind: 'protocol', operation: 'createGeneration' } },
  ],
])('what a tier has of another attempt %s is not written over', (_, stood) => {
  const copy = JSON.stringify({ attemptId: 'before', savedAt: 1, ...stood })
  expect(leftOf(copy, JSON.stringify({ attemptId: 'after', savedAt: 2, phase: 'consented' }), null)).toBe(copy)
})
