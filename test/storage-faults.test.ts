import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { FittingRoomOptions, PhotoStore } from 'fitting-room'
import { storageChain } from 'fitting-room/storage/chain'
import { indexedDbStorage } from 'fitting-room/storage/indexed-db'
import { webStorage } from 'fitting-room/storage/local-storage'
import { deferred } from '../src/platform/deferred.ts'
import { mapArea } from './storage/map-area.ts'
import {
  full,
  hung,
  isRead,
  isRecord,
  recordKey,
  refused,
  testStorage,
  type StorageCall,
  type TestStorage,
} from './support/storage.ts'
import {
  answers,
  createWorld,
  dropped,
  lost,
  person,
  product,
  refuses,
  refusesKey,
  started,
  type World,
} from './support/world.ts'

type PageLife = Parameters<NonNullable<FittingRoomOptions['pageLife']>>[0]

let world: World | undefined
afterEach(() => world?.close())

/** A whole try-on on a disk that holds another one, then a reload. */
async function wholeTryOn(refuses: (nth: number) => boolean) {
  const storage = testStorage({ atomic: false })
  const { items } = storage
  let writes = 0
  const isFull = (call: StorageCall) => call.type === 'set' && refuses(++writes)
  world = createWorld({ storage })
  const before = world.room()
  const other = before.tryOn({ ...product, variantId: '2002' })
  await other.start(person)
  await world.until(other, 'final')
  const good = [...items].find(([key]) => key.endsWith(':1001:2002'))
  before.close()

  storage.meet(isFull, full)
  const room = world.room()
  const tryOn = room.tryOn(product)
  tryOn.subscribe(() => {})
  await tryOn.start(person).catch(() => undefined)
  const view = await world.until(tryOn, ({ state }) => ['final', 'rejected', 'idle'].includes(state))
  room.close()
  storage.recover()
  const again = world.room().tryOn(product)
  const reloaded = await world.until(again, ({ state }) => state !== 'restoring')
  return {
    view,
    reloaded,
    good,
    items,
    written: writes,
    submissions: world.count('POST', '/generations') - 1,
  }
}

describe('a disk that is full', () => {
  /** More than a whole try-on writes. */
  const points = 16
  const whens: [string, (nth: number, n: number) => boolean][] = [
    ['at', (nth, n) => nth === n],
    ['from', (nth, n) => nth >= n],
  ]
  const cells = whens.flatMap(([when, isFull]) =>
    Array.from({ length: points }, (_, at) => [when, at + 1, isFull] as const),
  )

  it('only after more writes than a try-on makes keeps the picture over a reload', async () => {
    const { written, view, reloaded } = await wholeTryOn(() => false)
    expect(written).toBeGreaterThan(8)
    expect(written).toBeLessThan(points)
    expect([view.state, view.durable]).toEqual(['final', true])
    expect(reloaded.attempt?.jobId).toBe(view.attempt?.jobId)
  })

  it.each(cells)('%s write %i: no more than one submission, and other records stay', async (_, n, isFull) => {
    const { submissions, view, reloaded, items, good } = await wholeTryOn((nth) => isFull(nth, n))
    expect(submissions).toBeLessThanOrEqual(1)
    expect(view.state === 'final' ? 1 : 0).toBe(submissions)
    expect(items.get(good?.[0] ?? '')).toBe(good?.[1])
    if (view.state === 'final' && view.durable) expect(reloaded.attempt?.jobId).toBe(view.attempt?.jobId)
  })
})

describe('a claim that storage refuses, and then takes nothing back of', () => {
  it('is forgotten, so that the next word is not told of a submission that never was', async () => {
    const storage = testStorage()
    world = createWorld({ storage })
    storage.meet(({ change }) => change?.()?.includes('"phase":"claimed"') === true, refused)
    const tryOn = await started(world.room().tryOn(product))
    expect((await world.until(tryOn, 'rejected')).problem).toEqual({ kind: 'storage' })
    storage.recover()
    await tryOn.retry(person)
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })
})

describe('the default storage of a page', () => {
  const stubs = (open: () => unknown) => {
    const area = mapArea()
    vi.stubGlobal('indexedDB', { open })
    vi.stubGlobal('localStorage', area)
    return () => Array.from({ length: area.length }, (_, at) => area.getItem(area.key(at) ?? '')).join()
  }
  afterEach(() => vi.unstubAllGlobals())

  it.each<[string, () => unknown]>([
    ['an open that never fires, or is blocked', () => ({})],
    [
      'a private window that refuses it',
      () => {
        throw new DOMException('denied', 'SecurityError')
      },
    ],
    [
      'an open that fails',
      () => {
        const request = { error: new DOMException('broken', 'UnknownError'), onerror: () => {} }
        queueMicrotask(() => request.onerror())
        return request
      },
    ],
  ])('IndexedDB with %s: localStorage takes over, and a reload finds the job', async (_, open) => {
    const kept = stubs(open)
    world = createWorld()
    const { clock } = world
    /** What a room takes that is given none. */
    const asDefault = () => ({ storage: storageChain([indexedDbStorage(), webStorage()], clock) })
    const room = world.room(asDefault())
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    void tryOn.start(person)
    const { attempt, durable } = await world.until(tryOn, 'processing')
    expect(durable).toBe(true)
    expect(kept()).toContain(attempt?.jobId)
    room.close()
    const again = await world.until(world.room(asDefault()).tryOn(product), 'final')
    expect(again.attempt?.jobId).toBe(attempt?.jobId)
    expect(world.count('POST', '/generations')).toBe(1)
  })
})

describe('before storage has been read', () => {
  /** Reads wait until the test lets them go. */
  function slow(storage: TestStorage) {
    let letGo = () => {}
    const ready = new Promise<void>((resolve) => (letGo = resolve))
    storage.meet(isRead, ({ land }) => ready.then(land))
    return () => letGo()
  }

  it('an intent waits, and then takes effect', async () => {
    const storage = testStorage({ atomic: false })
    const letGo = slow(storage)
    world = createWorld({ storage })
    const tryOn = world.room().tryOn(product)
    const word = tryOn.start(person)
    await world.settle()
    expect([tryOn.get().state, world.sent.length]).toEqual(['restoring', 0])
    letGo()
    await word
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('an intent waits, and is refused where a job turns out to be known', async () => {
    const storage = testStorage({ atomic: false })
    world = createWorld({ storage })
    const room = world.room()
    const tryOn = room.tryOn(product)
    await tryOn.start(person)
    await world.until(tryOn, 'processing')
    room.close()
    const letGo = slow(storage)
    const again = world.room().tryOn(product)
    const word = again.start(person)
    await world.settle()
    letGo()
    await expect(word).rejects.toMatchObject({ problem: { kind: 'notAllowed', intent: 'start' } })
    await world.until(again, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })
})

it('startOver() of a photo that is in hand does not call left what cannot be read', async () => {
  const [good, failing] = [testStorage(), testStorage()]
  const chain = () => storageChain([good.another(), failing])
  world = createWorld({ storage: chain() })
  await world.until(await started(world.room().tryOn(product)), 'final')
  failing.meet(() => true, refused)
  const tryOn = world.room({ storage: chain() }).tryOn({ ...product, variantId: '2002' })
  tryOn.subscribe(() => {})
  await world.until(tryOn, ({ problem }) => problem?.kind === 'storageUnreadable')
  const slow = Object.assign(new Blob([await person.arrayBuffer()], { type: person.type }), {
    arrayBuffer: () => new Promise<ArrayBuffer>(() => {}),
  })
  const word = tryOn.start(slow).catch((error: unknown) => error)
  await world.until(tryOn, 'preparing')
  await expect(tryOn.startOver()).rejects.toMatchObject({ kind: 'storageUnreadable' })
  expect(await word).toMatchObject({ problem: { reason: 'startedOver' } })
  expect(world.count('POST', '/generations')).toBe(1)
})

describe('once storage can be read again', () => {
  it.each(['startOver', 'discard'] as const)(
    '%s() leaves a start() of before, however soon it comes',
    async (intent) => {
      for (const after of Array.from({ length: 31 }, (_, at) => 4 * at)) {
        const storage = testStorage()
        const page = createWorld({ storage, gated: false })
        const pass = async (ms: number) => {
          for (let passed = 0; passed < ms; passed += 4) {
            page.clock.advance(4)
            await page.settle()
          }
        }
        storage.meet(() => true, refused)
        const tryOn = page.room().tryOn(product)
        tryOn.subscribe(() => {})
        await page.until(tryOn, ({ problem }) => problem?.kind === 'storageUnreadable')
        storage.meet(
          () => true,
          ({ land }) => new Promise<void>((resolve) => page.clock.setTimeout(resolve, 10)).then(land),
        )
        const started = tryOn.start({ imageUrl: 'https://photos.test/a.png' }).catch((error: unknown) => error)
        await pass(after)
        const left = tryOn[intent]().catch((error: unknown) => error)
        await pass(800)
        const ends = [await started, await left, tryOn.get().state, page.count('POST', '/generations')]
        expect(ends, `after ${after} ms`).toMatchObject([{ problem: { reason: 'startedOver' } }, undefined, 'idle', 0])
        await page.close()
      }
    },
  )
})

describe('where the catalog cannot be written', () => {
  it('nothing counts as durable that no later page could find', async () => {
    const storage = testStorage()
    world = createWorld({ storage })
    const room = world.room()
    await room.ready
    storage.meet((call) => !isRead(call) && call.key.endsWith(':catalog'), full)
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    await tryOn.start(person)
    expect(tryOn.get().durable).toBe(false)
  })
})

it.each(['one storage', 'a chain'])(
  '%s that takes long for every call is no reason to submit nothing',
  async (what) => {
    const slow = testStorage()
    world = createWorld({ storage: slow })
    const { clock } = world
    const later = ({ land }: StorageCall) =>
      new Promise((resolve) => void clock.setTimeout(() => resolve(land()), what === 'a chain' ? 800 : 1_800))
    slow.meet(() => true, later)
    const storage = what === 'a chain' ? storageChain([slow, testStorage()], clock) : slow
    const tryOn = world.room({ storage }).tryOn(product)
    await world.until(tryOn, 'idle')
    void tryOn.start(person)
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  },
)

it('a page of which writes never end goes on reading what other pages write', async () => {
  const storage = testStorage()
  world = createWorld({ storage, gated: false })
  const own = storage.another()
  const room = world.room({ storage: own })
  await room.ready
  own.meet((call) => !isRead(call) && call.key.endsWith(':catalog'), hung)
  void room.tryOn(product).start(person)
  await world.pass(20_000)
  const other = world.room({ storage: storage.another() }).tryOn({ ...product, variantId: '2002' })
  await other.start(person)
  const { attempt } = await world.until(other, 'final')
  const listed = room.list()
  await world.pass(20_000)
  expect((await listed).map(({ jobId }) => jobId)).toContain(attempt?.jobId)
})

it.each(['a photo store', 'a chain'])(
  'one read of the bytes that %s fails is no absence of the photo',
  async (what) => {
    const storage = testStorage()
    world = createWorld({ storage })
    const { get, set, remove } = storage.photos as PhotoStore
    let failures = 1
    const photos: PhotoStore = { set, remove, get: async (key) => (failures-- > 0 ? refused() : get(key)) }
    const failing = { ...storage.another(), photos }
    const room = world.room({
      storage: what === 'a chain' ? storageChain([failing, testStorage()], world.clock) : failing,
    })
    const tryOn = room.tryOn(product)
    await tryOn.start(person)
    await world.until(tryOn, 'final')
    expect([failures < 1, world.count('POST', '/generations')]).toEqual([true, 1])
  },
)

it('a tier that takes long for every call is passed over, not waited for again and again', async () => {
  const slow = testStorage()
  world = createWorld({ storage: slow })
  const { clock } = world
  slow.meet(
    () => true,
    ({ land }) => new Promise((resolve) => void clock.setTimeout(() => resolve(land()), 3_000)),
  )
  const tryOn = world.room({ storage: storageChain([slow, testStorage()], clock) }).tryOn(product)
  await world.until(tryOn, 'idle')
  void tryOn.start(person)
  await world.until(tryOn, 'final')
  expect(world.count('POST', '/generations')).toBe(1)
})

it.each([
  ['it runs', 'processing', '2001'],
  ['its picture is there', 'final', '2001'],
  ['it has failed', 'failed', '2003'],
] as const)('a job that only memory has when %s is written once storage takes it', async (_, state, variantId) => {
  const storage = testStorage()
  world = createWorld({ storage })
  const room = world.room()
  const tryOn = room.tryOn({ ...product, variantId })
  tryOn.subscribe(() => {})
  const held = world.hold('POST', '/generations', 'after')
  await tryOn.start(person)
  await held.reached
  storage.meet((call) => !isRead(call), full)
  held.release()
  const { attempt } = await world.until(tryOn, state)
  if (state !== 'processing') await world.pass(20_000)
  expect(tryOn.get().durable).toBe(false)
  storage.recover()
  await world.until(tryOn, ({ durable }) => durable)
  expect(tryOn.get().state).toBe(state)
  room.close()
  const again = world.room().tryOn({ ...product, variantId })
  expect((await world.until(again, state)).attempt?.jobId).toBe(attempt?.jobId)
})

it('a job that only memory has is written once storage takes it, also while no look at it is answered', async () => {
  const storage = testStorage()
  world = createWorld({ storage })
  world.fault('GET', '/generations', [dropped], true)
  const room = world.room()
  const tryOn = room.tryOn(product)
  tryOn.subscribe(() => {})
  storage.meet((call) => !isRead(call), full)
  await tryOn.start(person)
  const { attempt } = await world.until(tryOn, ({ state, trouble }) => state === 'processing' && trouble !== null)
  storage.recover()
  expect((await world.until(tryOn, ({ durable }) => durable)).state).toBe('processing')
  room.close()
  expect(await world.room().list()).toMatchObject([{ jobId: attempt?.jobId }])
})

it.each(['startOver', 'retry'] as const)(
  'a job that %s() archives while storage takes nothing is written once it does',
  async (intent) => {
    const storage = testStorage()
    world = createWorld({ storage })
    const room = world.room()
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    storage.meet((call) => !isRead(call), full)
    await tryOn.start(person)
    const { attempt } = await world.until(tryOn, 'final')
    await tryOn[intent]()
    await world.pass(20_000)
    storage.recover()
    await world.pass(20_000)
    room.close()
    const listed = await world.room().list()
    expect(listed).toContainEqual(expect.objectContaining({ jobId: attempt?.jobId, archived: true, state: 'final' }))
  },
)

describe.each(['room.close()', 'a page that is hidden', 'a page that is frozen, and thaws,'] as const)('%s', (way) => {
  async function opened(storage: TestStorage) {
    const made = (world = createWorld({ storage }))
    let hide = () => {}
    const pageLife: NonNullable<FittingRoomOptions['pageLife']> = ({ onHide }) => {
      hide = () => onHide(way.includes('frozen'))
      return () => {}
    }
    const room = made.room({ pageLife })
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    return { world: made, tryOn, leave: () => (way === 'room.close()' ? room.close() : hide()) }
  }

  /** A picture is there that only memory has, where one was left for another consent, too, and its page goes. */
  async function left(intent: 'startOver' | 'retry' | null, isWritable: boolean) {
    const storage = testStorage()
    const { world, tryOn, leave } = await opened(storage)
    storage.meet((call) => !isRead(call), full)
    await tryOn.start(person)
    const { attempt } = await world.until(tryOn, 'final')
    if (intent) await tryOn[intent]()
    await world.settle()
    if (isWritable) storage.recover()
    leave()
    await world.settle()
    storage.recover()
    // what was refused is tried again, and what was frozen goes on
    if (!isWritable || way.includes('frozen')) await world.pass(12_000)
    return { jobIds: (await world.room().list()).map(({ jobId }) => jobId), jobId: attempt?.jobId }
  }

  it.each([
    [null, true],
    [null, false],
    ['startOver', true],
    ['startOver', false],
    ['retry', true],
  ] as const)(
    'loses no job that only memory has: after %s, storage takes it by then: %s',
    async (intent, isWritable) => {
      const { jobIds, jobId } = await left(intent, isWritable)
      expect(jobIds).toContain(jobId)
    },
  )

  it('nor one whose archived copy, which only memory has, is further than what is left', async () => {
    const storage = testStorage()
    const { world, tryOn, leave } = await opened(storage)
    world.fault('GET', '/generations', [answers(200, { id: 1 })])
    storage.meet((call) => !isRead(call), full)
    await tryOn.start(person)
    const { attempt } = await world.until(tryOn, 'protocolError')
    await tryOn.startOver()
    storage.recover()
    leave()
    await world.pass(12_000)
    expect((await world.room().list()).map(({ jobId }) => jobId)).toEqual([attempt?.jobId])
  })

  it.each(['startOver', 'retry'] as const)('nor while %s is about to leave it', async (intent) => {
    const storage = testStorage()
    const { world, tryOn, leave } = await opened(storage)
    storage.meet((call) => !isRead(call), full)
    await tryOn.start(person)
    const { attempt } = await world.until(tryOn, 'final')
    const [reached, refused] = [deferred(), deferred()]
    storage.meet(
      (call) => !isRead(call),
      async (call) => {
        if (call.key.endsWith(attempt?.id ?? '')) reached.resolve()
        if (isRecord(call)) await refused.promise
        full(call)
      },
    )
    void tryOn[intent]().catch(() => {})
    await reached.promise
    leave()
    refused.resolve()
    await world.settle()
    storage.recover()
    await world.pass(12_000)
    expect((await world.room().list()).map(({ jobId }) => jobId)).toContain(attempt?.jobId)
  })
})

/** A submission that the service has taken, and whose answer is on its way. */
async function submitted() {
  const storage = testStorage()
  const made = createWorld({ storage })
  world = made
  const room = made.room()
  const held = made.hold('POST', '/generations', 'after')
  await room.tryOn(product).start(person)
  await held.reached
  return { world: made, storage, room, held }
}

it('a job that is told to a closed room, while storage takes nothing, is written once it does', async () => {
  const { world, storage, room, held } = await submitted()
  room.close()
  storage.meet((call) => !isRead(call), full)
  held.release()
  await world.pass(12_000)
  storage.recover()
  await world.pass(12_000)
  expect(await world.room().list()).toMatchObject([{ jobId: expect.any(String) }])
})

it.each(['startOver', 'retry'] as const)(
  'a job that is told to a closed room, after another page’s %s, is written once storage takes it',
  async (intent) => {
    const { world, storage, room, held } = await submitted()
    room.close()
    const other = world.room({ storage: storage.another() }).tryOn(product)
    other.subscribe(() => {})
    await world.until(other, 'outcomeUnknown')
    await other[intent]()
    storage.meet((call) => !isRead(call), full)
    held.release()
    // also where what it has to say again is refused once more
    await world.pass(6_000)
    storage.recover()
    await world.pass(12_000)
    const jobIds = (await world.room().list()).map(({ jobId }) => jobId)
    expect(jobIds).toEqual(Array(intent === 'retry' ? 2 : 1).fill(expect.any(String)))
  },
)

it('a job of a page that loses the try-on to another one, as it can write nothing, is written by that one', async () => {
  const { world, storage, room, held } = await submitted()
  room.tryOn(product).subscribe(() => {})
  storage.meet((call) => !isRead(call), full)
  held.release()
  const { attempt } = await world.until(room.tryOn(product), 'processing')
  const other = world.room({ storage: storage.another() }).tryOn(product)
  other.subscribe(() => {})
  await world.until(other, 'processing')
  await world.pass(12_000)
  expect((await world.room().list()).map(({ jobId }) => jobId)).toEqual([attempt?.jobId])
})

it.each(['processing', 'final'] as const)(
  'a job that a page shows where nothing can be written is kept by it, though the page that had it goes: %s',
  async (state) => {
    vi.stubGlobal('isSecureContext', true)
    onTestFinished(() => void vi.unstubAllGlobals())
    const storage = testStorage()
    const there = storage.another()
    world = createWorld({ storage })
    const room = world.room()
    const first = room.tryOn(product)
    const other = world.room({ storage: there }).tryOn(product)
    for (const each of [first, other]) {
      each.subscribe(() => {})
      await world.settle()
    }
    for (const each of [storage, there]) each.meet((call) => !isRead(call), full)
    await first.start(person)
    const { attempt } = await world.until(other, state)
    room.close()
    const seen = new Set<string>()
    other.subscribe((view) => seen.add(view.state))
    await world.until(other, 'final')
    expect(seen).not.toContain('idle')
    there.recover()
    await world.pass(12_000)
    expect(await world.room({ storage: there.another() }).list()).toMatchObject([
      { state: 'final', jobId: attempt?.jobId },
    ])
  },
)

it('a picture that was left where nothing can be written does not come back in the page that has heard of it', async () => {
  const { world, storage, there, first, tryOn, hide } = await twoPages()
  for (const each of [storage, there]) each.meet((call) => !isRead(call), full)
  await first.start(person)
  await world.until(tryOn, 'final')
  await first.discard({ abandonPaidJob: true })
  await world.until(tryOn, 'idle')
  const seen = new Set<string>()
  tryOn.subscribe(({ state }) => seen.add(state))
  hide()
  await world.pass(12_000)
  expect([...seen]).not.toContain('final')
  expect(tryOn.get().state).toBe('idle')
})

it('what was left with a page that can write nothing is written by no other one that has heard of it', async () => {
  const { world, storage, there, first, tryOn } = await twoPages()
  storage.meet(() => true, refused)
  await first.start(person)
  await world.until(tryOn, 'final')
  await first.discard({ abandonPaidJob: true })
  await world.until(tryOn, 'idle')
  await world.pass(12_000)
  expect(await world.room({ storage: there.another() }).list()).toEqual([])
})

it('what waits as it was refused for now, and only memory has, is sent once, whoever takes over', async () => {
  const { world, storage, there, first, room, tryOn, hide, show } = await twoPages()
  for (const each of [storage, there]) each.meet((call) => !isRead(call), full)
  world.fault('POST', '/generations', [refuses('rateLimitExceeded', { retryAfter: 30 })])
  await first.start(person)
  await world.until(tryOn, ({ trouble }) => trouble?.kind === 'throttled')
  hide()
  await world.pass(60_000)
  room.close()
  show()
  await world.pass(60_000)
  expect(world.count('POST', '/generations')).toBe(1)
})

it('a picture that another page has of a job which is written late is durable all the same', async () => {
  const { world, storage, there, first, tryOn, hide } = await twoPages()
  const held = world.hold('POST', '/generations', 'after')
  await first.start(person)
  await held.reached
  hide()
  await world.until(tryOn, 'outcomeUnknown')
  for (const each of [storage, there]) each.meet((call) => !isRead(call), full)
  held.release()
  await world.until(tryOn, 'final')
  for (const each of [storage, there]) each.recover()
  await world.until(tryOn, ({ durable }) => durable)
  expect(await world.room({ storage: there.another() }).list()).toMatchObject([{ state: 'final', archived: false }])
})

it('a page that was away over a reset(), and can read nothing, shows nothing of the shopper before', async () => {
  const { world, storage, there, first, room, hide, show } = await twoPages()
  room.close()
  const held = world.hold('POST', '/generations', 'after')
  await first.start(person)
  await held.reached
  storage.meet(() => true, refused)
  held.release()
  await world.until(first, 'final')
  hide()
  const beside = world.room({ storage: there.another() })
  await beside.reset()
  show()
  await world.pass(30_000)
  expect([first.get().state, first.get().result]).toEqual(['idle', null])
})

describe('a page that was away', () => {
  async function away() {
    vi.stubGlobal('isSecureContext', true)
    onTestFinished(() => void vi.unstubAllGlobals())
    const storage = testStorage()
    const made = (world = createWorld({ storage }))
    let life: PageLife | undefined
    const room = made.room({ pageLife: (told) => ((life = told), () => {}) })
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    await made.until(tryOn, 'idle')
    const beBack = async () => {
      storage.meet(() => true, refused)
      life?.onShow()
      await made.pass(12_000)
    }
    const beside = made.room({ storage: storage.another() })
    const [hide, show] = [() => life?.onHide(false), () => life?.onShow()]
    return { world: made, storage, room, tryOn, hide, show, beside, beBack }
  }

  it('shows neither photo nor history while it cannot read whose they are, and both once it can read that they are of now', async () => {
    const { world, storage, room, tryOn, hide, beBack } = await away()
    room.history.subscribe(() => {})
    await world.until(await started(tryOn), 'final')
    await world.settle()
    const shown = () => [room.photo.get() !== null, room.history.get().length]
    expect(shown()).toEqual([true, 1])
    hide()
    await beBack()
    expect(shown()).toEqual([false, 0])
    await expect(room.list()).rejects.toMatchObject({ kind: 'storageUnreadable' })
    storage.recover()
    await world.pass(12_000)
    expect(shown()).toEqual([true, 1])
  })

  it('shows none of them either where it went away once more before it had looked', async () => {
    const { world, storage, room, tryOn, hide, show, beBack } = await away()
    await world.until(await started(tryOn), 'final')
    await world.settle()
    hide()
    const look = storage.hold(isRead)
    show()
    await look.reached
    hide()
    look.release()
    await world.settle()
    await beBack()
    expect(room.photo.get()).toBeNull()
  })

  it('puts no photo of a shopper who has gone, be it that storage works all the while', async () => {
    const { world, tryOn, hide, show, beside } = await away()
    const target = world.hold('POST', '/uploads', 'after')
    tryOn.start(person).catch(() => undefined)
    await target.reached
    hide()
    await beside.reset()
    beside.close()
    target.release()
    await world.settle()
    show()
    await world.pass(12_000)
    expect(world.count('PUT', '/photos')).toBe(0)
  })

  it('and can read nothing sends nothing of what waits in its memory alone: another one may have reset the room', async () => {
    const { world, storage, tryOn, hide, beside, beBack } = await away()
    storage.meet((call) => !isRead(call), full)
    world.fault('POST', '/generations', [refuses('rateLimitExceeded', { retryAfter: 10 })])
    await tryOn.start({ imageUrl: 'https://photos.test/p.png' })
    await world.until(tryOn, ({ trouble }) => trouble?.kind === 'throttled')
    hide()
    await beside.reset()
    beside.close()
    await beBack()
    await world.pass(60_000)
    expect(world.count('POST', '/generations')).toBe(1)
  })
})

it('what is not read of a visitor is not erased by an answer that names none', async () => {
  const storage = testStorage()
  world = createWorld({ storage })
  const before = world.room()
  await world.until(await started(before.tryOn(product)), 'final')
  const { uniqueUserId } = before.visitor.get()
  before.close()
  storage.meet((call) => isRead(call) && call.key.endsWith(':visitor'), refused)
  const data = { requestsLeft: 1, totalRequests: 1, uniqueUserId: null }
  world.fault('GET', '/requests-left', [answers(200, { data })])
  const asked = world.hold('POST', '/generations')
  const room = world.room({ askVisitorFirst: true })
  await room.tryOn({ ...product, variantId: '2002' }).start(person)
  await asked.reached
  room.close()
  storage.recover()
  const next = world.room()
  await next.ready
  expect([uniqueUserId, next.visitor.get().uniqueUserId]).toEqual([expect.any(String), uniqueUserId])
})

it('what has gone to the archive, and its place did not let go, goes from there once storage lets it', async () => {
  const storage = testStorage()
  world = createWorld({ storage })
  const room = world.room()
  const tryOn = await started(room.tryOn(product))
  await world.until(tryOn, 'final')
  storage.meet((call) => call.key === recordKey && !isRead(call), refused)
  await tryOn.startOver()
  expect(tryOn.get()).toMatchObject({ state: 'idle', durable: false })
  storage.recover()
  await world.pass(6_000)
  room.close()
  const again = world.room()
  expect((await again.tryOn(product).ready).state).toBe('idle')
  expect(await again.list()).toMatchObject([{ archived: true }])
})

it('a consent that nobody goes on with, as its page was hidden and keeps nobody out, is no consent kept', async () => {
  const storage = testStorage({ atomic: false })
  world = createWorld({ storage })
  let life: PageLife | undefined
  const tryOn = world.room({ pageLife: (told) => ((life = told), () => {}) }).tryOn(product)
  await world.until(tryOn, 'idle')
  tryOn.subscribe(() => {})
  const writing = storage.hold((call) => call.key === recordKey && !isRead(call))
  const done = tryOn.start({ imageUrl: 'https://photos.test/p.png' })
  await writing.reached
  life?.onHide(false)
  writing.release()
  await world.settle()
  life?.onShow()
  await expect(done).rejects.toMatchObject({ kind: 'stopped' })
  await world.pass(6_000)
  expect([tryOn.get().state, world.count('POST', '/generations')]).toEqual(['idle', 0])
})

it('a job of a closed room that is written late is told to the page that runs the try-on by then', async () => {
  const { world, storage, room, held } = await submitted()
  room.close()
  storage.meet((call) => !isRead(call), full)
  held.release()
  await world.settle()
  const other = world.room({ storage: storage.another() }).tryOn(product)
  other.subscribe(() => {})
  await world.until(other, 'outcomeUnknown')
  storage.recover()
  await world.pass(12_000)
  expect(other.get().attempt?.jobId).toEqual(expect.any(String))
})

it('a job that its place did not take is found in the archive by the next page', async () => {
  const { world, storage, room, held } = await submitted()
  storage.meet((call) => isRecord(call) && !isRead(call), full)
  held.release()
  await world.settle()
  room.close()
  storage.recover()
  const again = world.room().tryOn(product)
  again.subscribe(() => {})
  const { attempt } = await world.until(again, ({ state }) => state === 'outcomeUnknown' || state === 'final')
  expect([again.get().state, attempt?.jobId]).toEqual(['final', expect.any(String)])
})

it('a job in the archive that no list in storage names yet is not called written', async () => {
  const storage = testStorage({ atomic: false })
  world = createWorld({ storage })
  const room = world.room()
  const tryOn = room.tryOn(product)
  tryOn.subscribe(() => {})
  storage.meet((call) => !isRead(call), full)
  await tryOn.start(person)
  const { attempt } = await world.until(tryOn, 'final')
  await tryOn.startOver()
  storage.meet((call) => !isRead(call) && call.key.endsWith(':catalog'), full)
  await world.pass(20_000)
  storage.recover()
  await world.pass(20_000)
  room.close()
  expect(await world.room().list()).toMatchObject([{ jobId: attempt?.jobId, archived: true }])
})

it('what was said not to be sent, as storage took no write, is not sent after a reload either', async () => {
  // whose locks need no storage, which would tell it more
  vi.stubGlobal('isSecureContext', true)
  onTestFinished(() => void vi.unstubAllGlobals())
  const storage = testStorage()
  world = createWorld({ storage })
  const room = world.room()
  const asked = world.hold('GET', '/funnel')
  const tryOn = room.tryOn(product)
  tryOn.subscribe(() => {})
  await tryOn.start({ imageUrl: 'https://photos.test/p.png' })
  await asked.reached
  storage.meet((call) => !isRead(call), full)
  asked.release()
  expect((await world.until(tryOn, 'rejected')).problem?.kind).toBe('storage')
  storage.recover()
  await world.pass(20_000)
  room.close()
  const again = world.room().tryOn(product)
  again.subscribe(() => {})
  await world.pass(60_000)
  expect([again.get().state, world.count('POST', '/generations')]).toEqual(['idle', 0])
})

/** Storage has no room, and says so of the record once it is told to. */
function refusesLate(storage: TestStorage) {
  const [reached, refusing] = [deferred(), deferred()]
  storage.meet(
    (call) => !isRead(call),
    async (call) => {
      if (isRecord(call)) reached.resolve()
      if (isRecord(call)) await refusing.promise
      full(call)
    },
  )
  return { reached, refusing }
}

/** Two pages that Web Locks keep apart: the first one runs the try-on, and can be hidden. */
async function twoPages() {
  vi.stubGlobal('isSecureContext', true)
  onTestFinished(() => void vi.unstubAllGlobals())
  const storage = testStorage()
  const there = storage.another()
  const made = (world = createWorld({ storage }))
  let life: PageLife | undefined
  const first = made.room({ pageLife: (told) => ((life = told), () => {}) }).tryOn(product)
  first.subscribe(() => {})
  await made.settle()
  const room = made.room({ storage: there })
  const tryOn = room.tryOn(product)
  tryOn.subscribe(() => {})
  await made.settle()
  const [hide, show] = [() => life?.onHide(false), () => life?.onShow()]
  return { world: made, storage, there, first, room, tryOn, hide, show }
}

it('a consent that was passed on to a page which could only remember it, and was left, is sent once', async () => {
  const { world, storage, there, first, room, tryOn, hide, show } = await twoPages()
  there.meet((call) => !isRead(call), full)
  const { reached, refusing } = refusesLate(storage)
  const done = tryOn.start(person)
  await reached.promise
  hide()
  refusing.resolve()
  await done
  await world.until(tryOn, 'final')
  show()
  await world.settle()
  room.close()
  await world.pass(60_000)
  expect([world.count('POST', '/generations'), first.get().state]).toEqual([1, 'final'])
})

it('a consent of a page’s own that only memory has goes on as the page is shown again', async () => {
  const storage = testStorage()
  world = createWorld({ storage })
  let life: PageLife | undefined
  const tryOn = world.room({ pageLife: (told) => ((life = told), () => {}) }).tryOn(product)
  tryOn.subscribe(() => {})
  storage.meet((call) => !isRead(call), full)
  const asked = world.hold('GET', '/funnel')
  await tryOn.start(person)
  await asked.reached
  life?.onHide(false)
  await world.settle()
  life?.onShow()
  asked.release()
  await world.until(tryOn, 'final')
  expect(world.count('POST', '/generations')).toBe(1)
})

it('what is said while a page is hidden is carried out once it is shown', async () => {
  world = createWorld({ storage: testStorage() })
  let life: PageLife | undefined
  const tryOn = world.room({ pageLife: (told) => ((life = told), () => {}) }).tryOn(product)
  tryOn.subscribe(() => {})
  await world.settle()
  life?.onHide(false)
  const done = tryOn.start(person)
  life?.onShow()
  await done
  await world.until(tryOn, 'final')
  expect(world.count('POST', '/generations')).toBe(1)
})

it('a submission whose outcome nobody knows is written down once storage takes it', async () => {
  const storage = testStorage()
  world = createWorld({ storage })
  world.fault('POST', '/generations', [dropped])
  const room = world.room()
  const tryOn = room.tryOn(product)
  tryOn.subscribe(() => {})
  storage.meet((call) => !isRead(call), full)
  await tryOn.start(person)
  await world.until(tryOn, 'outcomeUnknown')
  storage.recover()
  await world.pass(20_000)
  room.close()
  const again = world.room().tryOn(product)
  expect((await world.until(again, ({ state }) => state !== 'restoring')).state).toBe('outcomeUnknown')
})

it('a job that is told late of an attempt in the archive, while storage takes nothing, is written once it does', async () => {
  const storage = testStorage()
  world = createWorld({ storage })
  const room = world.room({ timing: { submitTimeoutMs: 5_000 } })
  const held = world.hold('POST', '/generations', 'after')
  const tryOn = await started(room.tryOn(product))
  tryOn.subscribe(() => {})
  await held.reached
  await world.until(tryOn, 'outcomeUnknown')
  await tryOn.startOver()
  storage.meet((call) => !isRead(call), full)
  held.release()
  await world.pass(1_000)
  storage.recover()
  await world.pass(20_000)
  room.close()
  expect(await world.room().list()).toMatchObject([{ archived: true, jobId: expect.any(String) }])
})

it.each([
  ['unauthorized', refusesKey],
  ['limitReached', refuses('tryOnLimitReached')],
  ['needsEmail', refuses('emailRequired')],
] as const)('what startOver() has left in %s stays away, though storage did not let it go', async (state, refusal) => {
  const storage = testStorage()
  world = createWorld({ storage })
  world.fault('POST', '/generations', [refusal])
  const room = world.room()
  const tryOn = await started(room.tryOn(product))
  await world.until(tryOn, state)
  storage.meet((call) => isRecord(call) && !isRead(call), refused)
  await tryOn.startOver()
  storage.recover()
  room.close()
  const again = world.room()
  const later = again.tryOn(product)
  later.subscribe(() => {})
  expect((await later.ready).state).toBe('idle')
  await world.pass(120_000)
  expect([later.get().state, await again.list()]).toEqual(['idle', []])
  expect(world.count('POST', '/generations')).toBe(1)
})

it('what may have been paid for is not called rejected where startOver() could not leave it', async () => {
  const storage = testStorage()
  world = createWorld({ storage })
  world.fault('POST', '/generations', [answers(200, { data: { jobId: 7 } })])
  const tryOn = await started(world.room().tryOn(product))
  await world.until(tryOn, 'protocolError')
  storage.meet((call) => !isRead(call), refused)
  await expect(tryOn.startOver()).rejects.toMatchObject({ problem: { kind: 'storage' } })
  expect(tryOn.get()).toMatchObject({ state: 'protocolError', problem: { kind: 'storage' } })
})

it.each(['archived', 'shown'])(
  'an attempt that is %s and cannot be read is not said to be forgotten',
  async (which) => {
    const storage = testStorage()
    world = createWorld({ storage })
    const before = world.room()
    const tryOn = await started(before.tryOn(product))
    await world.until(tryOn, 'final')
    if (which === 'archived') await tryOn.startOver()
    before.close()
    const room = world.room()
    const [entry] = await room.list()
    storage.meet(({ key }) => key.includes(':attempt:') || key.includes(':try-on:'), refused)
    const opened = entry!.open()
    await expect(opened.discard()).rejects.toMatchObject({ problem: { kind: 'storageUnreadable' } })
    storage.recover()
    // it can be by now, and was not seen before
    await expect(opened.discard()).rejects.toMatchObject({ problem: { kind: 'notAllowed' } })
    expect((await room.list()).map(({ attemptId }) => attemptId)).toEqual([entry!.attemptId])
  },
)

it('a consent that only a page has which another one has taken over from is not sent once that one goes', async () => {
  const { world, storage, there, first, room, tryOn, hide, show } = await twoPages()
  for (const each of [storage, there]) each.meet((call) => !isRead(call), full)
  const asked = world.hold('GET', '/funnel')
  await first.start(person)
  await asked.reached
  hide()
  await world.until(tryOn, 'idle')
  show()
  asked.release()
  await world.settle()
  await tryOn.start(person)
  await world.until(tryOn, 'final')
  room.close()
  await world.pass(60_000)
  expect([world.count('POST', '/generations'), first.get().state]).toEqual([1, 'final'])
})

it('a consent that a page could neither send nor take back stays where another one goes on with it', async () => {
  const storage = testStorage()
  const there = storage.another()
  world = createWorld({ storage })
  const first = world.room().tryOn(product)
  const other = world.room({ storage: there }).tryOn(product)
  for (const each of [first, other]) {
    each.subscribe(() => {})
    await world.settle()
  }
  world.fault('POST', '/generations', [refusesKey])
  await first.start(person)
  await world.until(other, 'unauthorized')
  storage.meet((call) => !isRead(call), full)
  void first.resume().catch(() => undefined)
  await world.until(other, 'rejected')
  await world.until(other, 'unauthorized')
  storage.recover()
  await world.pass(30_000)
  expect([first.get().state, other.get().state]).toEqual(['unauthorized', 'unauthorized'])
  await other.resume()
  await world.until(first, 'final')
  expect(world.count('POST', '/generations')).toBe(2)
})

it.each([['onShow'], [null]] as const)(
  'a word that was passed on where nothing can be written, and whose page goes before it is answered, is sent once: %s',
  async (back) => {
    vi.stubGlobal('isSecureContext', true)
    onTestFinished(() => void vi.unstubAllGlobals())
    const storage = testStorage()
    const others = [storage.another(), storage.another()]
    world = createWorld({ storage })
    const lives: PageLife[] = []
    const [first, second, third] = [storage, ...others].map((its) =>
      world!.room({ storage: its, pageLife: (told) => (lives.push(told), () => {}) }).tryOn(product),
    )
    for (const each of [first, second, third]) {
      each!.subscribe(() => {})
      await world.settle()
    }
    for (const each of others) each.meet((call) => !isRead(call), full)
    const { reached, refusing } = refusesLate(storage)
    const done = second!.start({ imageUrl: 'https://photos.test/p.png' })
    await reached.promise
    lives[1]?.onHide(false)
    if (back) lives[1]?.onShow()
    refusing.resolve()
    await world.pass(300)
    lives[0]?.onHide(false)
    await world.pass(60_000)
    await done
    expect(world.count('POST', '/generations')).toBe(1)
  },
)

/** A consent stands in storage, which fails altogether as its page is loaded anew. */
async function unreadableConsent() {
  const storage = testStorage()
  const made = (world = createWorld({ storage }))
  const asked = made.hold('GET', '/funnel')
  const before = made.room()
  await started(before.tryOn(product))
  await asked.reached
  before.close()
  asked.release()
  await made.pass(1_000)
  storage.meet(() => true, refused)
  const room = made.room()
  const tryOn = room.tryOn(product)
  tryOn.subscribe(() => {})
  await made.until(tryOn, ({ problem }) => problem?.kind === 'storageUnreadable')
  return { world: made, storage, room, tryOn }
}

it('what could not be read goes on by itself once it can be', async () => {
  const { world, storage, tryOn } = await unreadableConsent()
  storage.recover()
  await world.until(tryOn, 'final')
  expect(world.count('POST', '/generations')).toBe(1)
})

it('a word that could not be read is not sent after the one that was given in its place', async () => {
  const { world, storage, room, tryOn } = await unreadableConsent()
  await tryOn.start(person)
  const { attempt } = await world.until(tryOn, 'final')
  storage.recover()
  await world.pass(20_000)
  room.close()
  const again = world.room().tryOn(product)
  expect((await world.until(again, 'final')).attempt?.id).toBe(attempt?.id)
  await world.pass(60_000)
  expect(world.count('POST', '/generations')).toBe(1)
})

it('nor is it after one of which nobody knows what became, and that one is kept', async () => {
  const { world, storage, room, tryOn } = await unreadableConsent()
  world.fault('POST', '/generations', [lost])
  await tryOn.start(person)
  const { attempt } = await world.until(tryOn, 'outcomeUnknown')
  storage.recover()
  await world.pass(20_000)
  room.close()
  const next = world.room()
  expect((await world.until(next.tryOn(product), 'outcomeUnknown')).attempt?.id).toBe(attempt?.id)
  await world.pass(60_000)
  expect(world.count('POST', '/generations')).toBe(1)
})

/** An older picture stands in storage, which failed as its page was loaded and has another one made. */
async function unreadablePicture() {
  const storage = testStorage()
  const made = (world = createWorld({ storage, gated: false }))
  const before = made.room()
  const older = (await made.until(await started(before.tryOn(product)), 'final')).attempt
  before.close()
  storage.meet(() => true, refused)
  const room = made.room()
  const tryOn = room.tryOn(product)
  tryOn.subscribe(() => {})
  await made.until(tryOn, ({ problem }) => problem?.kind === 'storageUnreadable')
  await tryOn.start(person)
  const { attempt } = await made.until(tryOn, 'processing')
  storage.recover()
  return { world: made, room, tryOn, older, attempt }
}

it('what was begun where nothing could be read is shown, and not the older picture that was there', async () => {
  const { world, room, tryOn, older, attempt } = await unreadablePicture()
  const seen = new Set<string | undefined>()
  tryOn.subscribe((view) => seen.add(view.attempt?.id))
  await world.until(tryOn, 'final')
  await world.pass(12_000)
  room.close()
  const next = world.room()
  expect((await world.until(next.tryOn(product), 'final')).attempt?.id).toBe(attempt?.id)
  expect([...seen]).not.toContain(older?.id)
  expect((await next.list()).map(({ jobId }) => jobId)).toEqual([attempt?.jobId, older?.jobId])
})

it('a job that was begun where nothing could be read is shown on by a page that has heard of it', async () => {
  vi.stubGlobal('isSecureContext', true)
  onTestFinished(() => void vi.unstubAllGlobals())
  const storage = testStorage()
  const there = storage.another()
  const made = (world = createWorld({ storage, gated: false }))
  const before = made.room()
  const older = (await made.until(await started(before.tryOn(product)), 'final')).attempt
  before.close()
  const rooms = [made.room(), made.room({ storage: there })]
  await Promise.all(rooms.map(({ ready }) => ready))
  for (const each of [storage, there]) each.meet(() => true, refused)
  const [first, tryOn] = rooms.map((each) => each.tryOn(product))
  for (const each of [first, tryOn]) {
    each?.subscribe(() => {})
    await made.settle()
  }
  await first?.start(person)
  const { attempt } = await made.until(tryOn!, 'processing')
  rooms[0]?.close()
  there.recover()
  await made.until(tryOn!, 'final')
  await made.pass(12_000)
  expect(tryOn?.get().attempt?.id).toBe(attempt?.id)
  const listed = await made.room({ storage: there.another() }).list()
  expect(listed.map(({ jobId }) => jobId)).toEqual([attempt?.jobId, older?.jobId])
})

it.each(['startOver', 'resume', 'retry'] as const)(
  'a job that was begun where nothing could be read outlives a word said as soon as it can be: %s()',
  async (intent) => {
    const { world, tryOn, older, attempt } = await unreadablePicture()
    await tryOn[intent]().catch(() => {})
    await world.pass(12_000)
    const listed = await world.room().list()
    expect(listed.map(({ jobId }) => jobId)).toEqual(expect.arrayContaining([attempt?.jobId, older?.jobId]))
  },
)

it('a job in whose place another word turns out to stand is written though storage takes nothing at first', async () => {
  const { world, storage, tryOn } = await unreadableConsent()
  await tryOn.start(person)
  const { attempt } = await world.until(tryOn, 'final')
  storage.recover()
  storage.meet((call) => !isRead(call), full)
  await world.pass(20_000)
  storage.recover()
  await world.pass(20_000)
  const beside = world.room({ storage: storage.another() })
  expect((await beside.list()).map(({ jobId }) => jobId)).toContain(attempt?.jobId)
})

it.each(['discard', 'startOver', 'retry'] as const)(
  'the result of a room that is used again is not what it has shown before, where another page says %s()',
  async (intent) => {
    const storage = testStorage()
    world = createWorld({ storage, gated: false })
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    const { result } = await world.until(tryOn, 'final')
    room.close()
    const other = world.room({ storage: storage.another() }).tryOn(product)
    await world.until(other, 'final')
    await other[intent]()
    await world.until(other, intent === 'retry' ? 'final' : 'idle')
    const said: unknown[] = []
    tryOn.result().then(
      ({ imageUrl }) => said.push(imageUrl),
      () => {},
    )
    await world.settle()
    expect(said).not.toContain(result?.imageUrl)
  },
)

it('a room that is used again shows nothing of what it has shown before it is read', async () => {
  world = createWorld({ storage: testStorage() })
  const room = world.room()
  const tryOn = await started(room.tryOn(product))
  await world.until(tryOn, 'final')
  room.close()
  await world.settle()
  tryOn.subscribe(() => {})
  expect(tryOn.get().state).toBe('restoring')
  await world.until(tryOn, 'final')
})

it('one read of the list that never ends says nothing of what it holds by now', async () => {
  const storage = testStorage()
  world = createWorld({ storage })
  const own = storage.another()
  const room = world.room({ storage: own })
  const tryOn = room.tryOn(product)
  tryOn.subscribe(() => {})
  await world.settle()
  own.meet(({ key }) => key.endsWith(':catalog'), hung)
  const word = tryOn.start({ imageUrl: 'https://photos.test/p.png' }).catch(() => undefined)
  await world.pass(60_000)
  await word
  own.recover()
  const other = world.room().tryOn({ ...product, variantId: '2002' })
  await world.until(await started(other), 'final')
  await world.pass(60_000)
  const listed = (await room.list()).map(({ variantId }) => variantId)
  expect(listed).toContain('2002')
})

it('a paid job that no list names is owed to storage, too, once a word could not leave it', async () => {
  const storage = testStorage()
  world = createWorld({ storage })
  const own = storage.another()
  own.meet((call) => call.key.endsWith(':catalog') && !isRead(call), refused)
  const tryOn = await started(world.room({ storage: own }).tryOn(product))
  await world.until(tryOn, 'final')
  await expect(tryOn.retry({ imageUrl: 'https://photos.test/p.png' })).rejects.toMatchObject({ kind: 'storage' })
  expect(tryOn.get().durable).toBe(false)
  own.recover()
  await world.pass(60_000)
  expect([tryOn.get().state, tryOn.get().durable]).toEqual(['final', true])
  expect(await world.room().list()).toHaveLength(1)
})

it('a page that was away does not know that nothing is there, though it had removed something that storage kept', async () => {
  const { world, storage, first, room, tryOn, hide, show } = await twoPages()
  const photo = { imageUrl: 'https://photos.test/p.png' }
  world.fault('POST', '/generations', [refuses('tryOnLimitReached')])
  await tryOn.start(photo)
  await world.until(first, 'limitReached')
  storage.meet(() => true, refused)
  await expect(tryOn.retry(photo)).rejects.toMatchObject({ kind: 'storage' })
  hide()
  await world.pass(6_000)
  await tryOn.retry(photo)
  // nobody finds that photo
  await world.until(tryOn, 'failed')
  const said: unknown[] = []
  first.subscribe(({ state, problem }) => void said.push([state, problem?.kind]))
  show()
  await world.settle()
  room.close()
  await world.until(first, ({ problem }) => problem?.kind === 'storageUnreadable')
  expect(said).not.toContainEqual(['idle', undefined])
})

describe('where somebody clears what storage holds', () => {
  const cases = {
    submitting: () => void world?.hold('POST', '/generations', 'after'),
    outcomeUnknown: () => world?.fault('POST', '/generations', [dropped]),
    final: () => {},
  }

  it.each(Object.keys(cases) as (keyof typeof cases)[])(
    'an attempt in %s that may be paid for is written again as soon as a look shows that it is gone',
    async (state) => {
      const storage = testStorage()
      world = createWorld({ storage })
      cases[state]()
      const room = world.room()
      const tryOn = await started(room.tryOn(product))
      const { attempt } = await world.until(tryOn, (view) => view.state === state && view.durable)
      await world.settle()
      storage.items.clear()
      // nobody knows what became of a submission until its answer is found: it is looked for by itself
      if (state !== 'outcomeUnknown') expect(await room.list()).toEqual([])
      else await world.pass(6_000)
      await world.until(tryOn, ({ durable }) => !durable)
      await world.pass(11_000)
      if (state !== 'submitting') expect(tryOn.get().durable).toBe(true)
      room.close()
      await world.settle()
      const again = await world.until(world.room().tryOn(product), (view) => view.state !== 'restoring')
      expect(again.attempt?.id).toBe(attempt?.id)
    },
  )

  it('nothing is taken for gone that another attempt is about to take the place of', async () => {
    const storage = testStorage()
    world = createWorld({ storage })
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'final')
    await world.settle()
    const [landed, answered] = [deferred(), deferred()]
    storage.meet(
      (call) => call.type === 'update' && call.key === recordKey,
      async (call) => {
        call.land()
        landed.resolve()
        await answered.promise
      },
    )
    const seen = new Set<boolean>()
    tryOn.subscribe(({ durable }) => void seen.add(durable))
    const done = tryOn.retry(person)
    await landed.promise
    const listed = room.list()
    await world.settle()
    answered.resolve()
    await Promise.all([done, listed])
    await world.until(tryOn, 'final')
    expect([...seen]).toEqual([true])
  })

  it('what has expired and was removed is not written again', async () => {
    const storage = testStorage()
    world = createWorld({ storage })
    const room = world.room({ retentionMs: 60_000 })
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'final')
    await world.pass(61_000)
    world.room({ storage: storage.another(), retentionMs: 60_000 }).history.subscribe(() => {})
    await world.settle()
    expect(storage.items.has(recordKey)).toBe(false)
    await room.list()
    await world.pass(12_000)
    expect(storage.items.has(recordKey)).toBe(false)
  })
})
