import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { PageLife, TryOn } from 'fitting-room'
import { createRoom } from 'fitting-room/core'
import type { FittingRoom } from '../src/room.types.ts'
import { deferred } from '../src/platform/deferred.ts'
import { createEpochs, type Epochs } from '../src/records/epochs.ts'
import { collectGarbage } from './support/collect-garbage.ts'
import {
  any,
  full,
  hung,
  isNobodys,
  isRead,
  isRecord,
  isWrite,
  recordKey,
  refused,
  testStorage,
  type StorageCall,
  type TestStorage,
} from './support/storage.ts'
import { answers, createWorld, dropped, person, product, refuses, started, type World } from './support/world.ts'

let world: World
let storage: TestStorage
beforeEach(() => {
  storage = testStorage()
  world = createWorld({ storage })
})
afterEach(() => world.close())

describe('reset()', () => {
  it('leaves nothing but how often the room was reset, and when', async () => {
    await world.close()
    storage = testStorage({ atomic: false })
    world = createWorld({ storage })
    const room = world.room()
    await world.until(await started(room.tryOn(product)), 'final')
    await room.reset()
    const left = [...storage.items].filter(([key]) => !isNobodys(key) || key.endsWith(':catalog'))
    expect(left.map(([key]) => key.split(':').at(-1))).toEqual(['catalog'])
    const [catalog] = left.map(([, text]): unknown => JSON.parse(text))
    const expected = {
      version: 2,
      savedAt: expect.any(Number),
      entries: {},
      left: {},
      discarded: {},
      epochs: expect.any(Object),
      resetAt: expect.any(Number),
    }
    expect(catalog).toEqual(expected)
  })

  it('is heard of by a page whose storage was emptied, though the clock was set back before', async () => {
    let backMs = 0
    const clock = { ...world.clock, now: () => world.clock.now() - backMs }
    const tryOn = await started(world.room({ clock }).tryOn(product))
    await world.until(tryOn, 'final')
    storage.items.clear()
    backMs = 7_200_000
    await world.room({ clock }).reset()
    await world.settle()
    expect(tryOn.get().state).toBe('idle')
  })

  it.each([
    ['shows no try-on', false],
    ['had a write that failed', true],
  ])('is heard of by a page that comes back from the back/forward cache and %s', async (_, fails) => {
    const own = storage.another()
    const page = new EventTarget()
    vi.stubGlobal('isSecureContext', true)
    vi.stubGlobal('window', page)
    vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }))
    onTestFinished(() => void vi.unstubAllGlobals())
    const kept = world.room({ storage: own })
    await world.until(kept.tryOn(product), 'idle')
    await kept.tryOn(product).start(person)
    await world.until(kept.tryOn(product), 'final')
    if (fails) own.meet(isWrite, refused)
    await kept
      .tryOn(product)
      .retry({ imageUrl: 'https://photos.test/p.png' })
      .catch(() => undefined)
    await world.pass(2_000)
    own.recover()
    page.dispatchEvent(Object.assign(new Event('pagehide'), { persisted: true }))
    vi.unstubAllGlobals()
    await world.room().reset()
    page.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))
    await world.settle()
    expect([kept.photo.get(), kept.visitor.get().uniqueUserId]).toEqual([null, null])
  })

  it('is no news to a page that was loaded since, as another one learns of it that was away', async () => {
    vi.stubGlobal('isSecureContext', true)
    onTestFinished(() => void vi.unstubAllGlobals())
    let life: PageLife | undefined
    const kept = world.room({ pageLife: (told) => ((life = told), () => {}) }).tryOn(product)
    await world.until(kept, 'idle')
    kept.subscribe(() => {})
    const other = world.room({ storage: storage.another() })
    await world.until(other.tryOn(product), 'idle')
    other.tryOn(product).subscribe(() => {})
    life?.onHide(false)
    await world.pass(3_000)
    await other.reset()
    const answer = world.hold('POST', '/generations', 'after')
    const room = world.room({ storage: storage.another() })
    const tryOn = room.tryOn({ ...product, variantId: '2002' })
    await tryOn.start(person)
    await answer.reached
    life?.onShow()
    await world.pass(3_000)
    answer.release()
    await world.settle()
    room.close()
    expect(await world.room({ storage: storage.another() }).list()).toMatchObject([{ jobId: expect.any(String) }])
  })

  it('has the page let go of what was opened from the archive, and of what it has shown at the door', async () => {
    const room = world.door()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'final')
    await tryOn.startOver()
    async function opened(): Promise<WeakRef<object>[]> {
      const [entry] = await room.list()
      const archived = entry!.open()
      const { unsubscribe } = archived.subscribe(() => {})
      await world.until(archived, 'final')
      unsubscribe()
      return [archived, room.visitor.get(), room.photo.get()!].map((each) => new WeakRef(each))
    }
    const held = await opened()
    // a page heard it that nobody asks anything any more
    await world.room().reset()
    await world.settle()
    // what a test notes of calls holds all that they were of
    storage.calls.length = 0
    await collectGarbage()
    expect(held.map((each) => each.deref())).toEqual([undefined, undefined, undefined])
  })

  it('is followed by a job that no write of before takes away, however late that lands', async () => {
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'final')
    const removing = storage.hold(({ key, change }) => key === recordKey && change?.() === null, 'midway')
    const discarded = tryOn.discard().catch(() => undefined)
    await removing.reached
    await world.pass(6_000)
    await room.reset()
    await discarded
    await tryOn.start(person)
    await world.until(tryOn, 'processing')
    removing.release()
    await world.settle()
    room.close()
    const again = world.room().tryOn(product)
    again.subscribe(() => {})
    expect((await again.ready).state).toBe('processing')
  })

  it('takes along what was noted where storage would not list it', async () => {
    const room = world.room()
    room.on(() => {})
    await world.until(await started(room.tryOn(product)), 'processing')
    storage.meet(({ type, key }) => type === 'update' && key.endsWith(':catalog'), refused)
    await world.until(room.tryOn(product), 'final')
    await world.settle()
    storage.items.delete([...storage.items.keys()].find((key) => key.endsWith(':catalog'))!)
    room.close()
    storage.recover()
    await world.room().reset()
    expect([...storage.items.keys()].filter((key) => key.endsWith(':told'))).toEqual([])
  })

  it('fails where storage still names what has gone', async () => {
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    const { attempt } = await world.until(tryOn, 'final')
    await tryOn.startOver()
    const named = () => [...storage.items].join().includes(attempt!.id)
    let writes = 0
    storage.meet(
      ({ type, key }) => type === 'update' && key.endsWith(':catalog') && ++writes > 1,
      () => refused(),
    )
    await expect(room.reset()).rejects.toMatchObject({ kind: 'storage' })
    expect(named()).toBe(true)
    storage.recover()
    await room.reset()
    expect(named()).toBe(false)
  })

  it('leaves no trace of an archived attempt that is shown meanwhile, nor a lease on it', async () => {
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    const { attempt } = await world.until(tryOn, 'final')
    await tryOn.startOver()
    const opened = (await room.list())[0]!.open()
    await world.until(opened, 'final')
    await room.reset()
    await world.pass(5_000)
    expect(opened.get()).toMatchObject({ state: 'idle', attempt: null })
    // whatever the page still does with it
    opened.subscribe(() => {})
    await opened.ready
    await expect(opened.picture()).rejects.toMatchObject({ kind: 'picture' })
    await expect(opened.result()).rejects.toMatchObject({ problem: { kind: 'stopped', reason: 'startedOver' } })
    await expect(opened.discard()).rejects.toMatchObject({ problem: { kind: 'stopped', reason: 'startedOver' } })
    await world.pass(5_000)
    expect([...storage.items].join()).not.toContain(attempt!.id)
  })

  it.each([
    ['a page of which nothing could be listed at first', refused],
    ['a page that stands open for longer than anything is kept', null],
  ] as const)('leaves no lease of %s, and is killed', async (_, how) => {
    const own = storage.another()
    if (how) own.meet(any, how)
    const page = world.room({ storage: own })
    page.tryOn(product).subscribe(() => {})
    await world.pass(200)
    own.recover()
    await world.pass(5_000)
    if (!how) world.clock.advance(86_400_000 + 1)
    await world.pass(2_000)
    const next = world.room()
    await next.list()
    await world.settle()
    own.meet(any, hung)
    page.close()
    expect(storage.items.has(`${recordKey}:lease`)).toBe(true)
    await next.reset()
    expect(storage.items.has(`${recordKey}:lease`)).toBe(false)
  })

  it('is done beside a page whose clock is behind, which shows a product', async () => {
    const room = world.room()
    await room.list()
    const behind = { ...world.clock, now: () => world.clock.now() - 5_000 }
    world
      .room({ clock: behind, storage: storage.another() })
      .tryOn(product)
      .subscribe(() => {})
    await world.pass(5_000)
    const removal = storage.hold(({ key, type }) => type === 'update' && key.endsWith(':visitor'))
    const isDone = expect(room.reset()).resolves.toBeUndefined()
    await removal.reached
    // it hears of the reset, and takes its seat again
    await world.pass(2_000)
    removal.release()
    await world.pass(2_000)
    await isDone
  })

  it('leaves nothing of what a screen opens afterwards that it was told of before', async () => {
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    const { attempt } = await world.until(tryOn, 'final')
    await tryOn.startOver()
    const [told] = await room.list()
    await room.reset()
    const opened = told!.open()
    opened.subscribe(() => {})
    await world.pass(5_000)
    expect([opened.get().state, (await opened.ready).state]).toEqual(['idle', 'idle'])
    expect([...storage.items].join()).not.toContain(attempt!.id)
  })

  it('fails where it cannot know what has to go', async () => {
    const room = world.room()
    await world.until(await started(room.tryOn(product)), 'final')
    storage.meet(({ key }) => key.endsWith(':catalog'), full)
    await expect(room.reset()).rejects.toMatchObject({ kind: 'storage' })
    storage.recover()
    await room.reset()
    expect(await room.list()).toEqual([])
  })
})

describe('an answer to the shopper before reset()', () => {
  async function answeredAfterReset() {
    const held = world.hold('POST', '/generations', 'after')
    const room = world.room()
    await started(room.tryOn(product))
    await held.reached
    await room.reset()
    held.release()
    await world.settle()
    return room
  }

  it('writes nothing', async () => {
    const room = await answeredAfterReset()
    expect(await room.list()).toEqual([])
    expect(storage.items.has(recordKey)).toBe(false)
  })

  it('teaches the next one nothing', async () => {
    const room = await answeredAfterReset()
    expect(room.visitor.get().uniqueUserId).toBeNull()
    expect(room.photo.get()).toBeNull()
  })
})

it('a write that hangs, and cannot look at what it lands on, is waited for, though a read behind it was given up', async () => {
  await world.close()
  storage = testStorage({ atomic: false })
  world = createWorld({ storage })
  const room = world.room()
  const tryOn = room.tryOn(product)
  await world.until(tryOn, 'idle')
  const writing = storage.hold(({ type, key }) => type === 'set' && key === recordKey)
  void tryOn.start(person).catch(() => undefined)
  await writing.reached
  await world.pass(6_000)
  void room.list()
  await world.pass(6_000)
  const isRefused = expect(room.reset()).rejects.toMatchObject({ kind: 'storage' })
  await world.pass(60_000)
  await isRefused
  writing.release()
  await world.settle()
  await room.reset()
  expect(storage.items.has(recordKey)).toBe(false)
})

describe('a reset() that could not be counted', () => {
  /** A page that has been refused one, beside what a shopper has left there. */
  async function refusedReset() {
    const former = world.room()
    await world.until(await started(former.tryOn(product)), 'final')
    former.close()
    const own = storage.another()
    const page = world.room({ storage: own })
    await page.ready
    own.meet(isWrite, refused)
    return { page, own, reset: () => expect(page.reset()).rejects.toMatchObject({ kind: 'storage' }) }
  }
  const variants = async (room: FittingRoom) => (await room.list()).map(({ variantId }) => variantId).sort()

  it('has wiped nothing in storage, in this page or another, and the next one does', async () => {
    const { page, own, reset } = await refusedReset()
    const other = world.room()
    await other.ready
    await reset()
    own.recover()
    await started(page.tryOn({ ...product, variantId: '2002' }))
    await world.settle()
    expect(await variants(page)).toEqual(['2001', '2002'])
    expect(await variants(other)).toEqual(['2001', '2002'])
    await page.reset()
    expect([await variants(page), await variants(other), await variants(world.room())]).toEqual([[], [], []])
  })

  it('takes along the records that its page has seen, as far as storage lets it', async () => {
    const own = storage.another()
    const isCatalog = ({ key }: { key: string }) => key.endsWith(':catalog')
    const room = world.room({ storage: own })
    await room.ready
    own.meet(isCatalog, refused)
    const { attempt } = await world.until(await started(room.tryOn(product)), 'final')
    await expect(room.reset()).rejects.toMatchObject({ kind: 'storage' })
    expect([...storage.items].flat().join()).not.toContain(attempt!.id)
  })

  it('takes nothing from another page that has begun something since', async () => {
    const { page, own, reset } = await refusedReset()
    await reset()
    await reset()
    const other = world.room()
    await other.reset()
    await world.until(await started(other.tryOn({ ...product, variantId: '2002' })), 'final')
    own.recover()
    await started(page.tryOn({ ...product, variantId: '2003' }))
    await world.settle()
    expect(await variants(other)).toEqual(['2002', '2003'])
  })

  it('dates nothing that the next reset() of another page would take for its own', async () => {
    const { page, own, reset } = await refusedReset()
    await reset()
    const tryOn = await started(page.tryOn({ ...product, variantId: '2002' }))
    await world.until(tryOn, 'final')
    const other = world.room()
    await other.reset()
    await world.settle()
    expect(tryOn.get().state).toBe('idle')
    own.recover()
    await world.pass(10_000)
    expect(await variants(world.room())).toEqual([])
  })
})

it('a page that thaws after another one’s reset() submits and writes nothing', async () => {
  await world.close()
  storage = testStorage({ atomic: false })
  world = createWorld({ storage })
  const held = world.hold('GET', '/funnel')
  const frozen = world.room({ namespace: 'one' })
  const tryOn = frozen.tryOn(product)
  void started(tryOn)
  await held.reached
  await world.room({ namespace: 'one' }).reset()
  held.release()
  for (let turn = 0; turn < 20; turn++) {
    await world.settle()
    world.clock.advanceToNext()
  }
  expect(world.count('POST', '/generations')).toBe(0)
  expect([...storage.items.keys()].filter((key) => isRecord({ key }))).toEqual([])
})

describe('reset() beside another page', () => {
  const keysOfShoppers = () => [...storage.items.keys()].filter((key) => /:(try-on|attempt|photo|visitor)/.test(key))

  /** A reset() that has removed everything but one record, which its storage is slow with. */
  async function halfway() {
    const slow = storage.another()
    const removal = slow.hold((call) => isWrite(call) && isRecord(call))
    const room = world.room({ storage: slow })
    await room.ready
    const wiped = room.reset()
    await removal.reached
    await world.settle()
    return async () => {
      removal.release()
      await wiped
      await world.settle()
    }
  }

  it.each([
    ['photo', 'PUT', '/photos'],
    ['answer', 'POST', '/generations'],
  ])('keeps nothing of what that page hears of its %s meanwhile', async (_, method, path) => {
    const held = world.hold(method, path, 'after')
    await started(world.room().tryOn(product))
    await held.reached
    const finish = await halfway()
    held.release()
    await world.settle()
    await finish()
    const next = world.room()
    await next.ready
    expect([next.photo.get(), next.visitor.get().uniqueUserId, await next.list()]).toEqual([null, null, []])
    expect(keysOfShoppers().filter((key) => !key.endsWith(':lease'))).toEqual([])
  })

  it('what the next shopper begins meanwhile is listed, and goes with the next reset()', async () => {
    await world.until(await started(world.room().tryOn(product)), 'final')
    const finish = await halfway()
    const room = world.room()
    const { attempt } = await world.until(await started(room.tryOn({ ...product, variantId: '2002' })), 'processing')
    await finish()
    const next = world.room()
    expect((await next.list()).map(({ jobId }) => jobId)).toEqual([attempt?.jobId])
    await next.reset()
    expect(keysOfShoppers().filter((key) => isRecord({ key }))).toEqual([])
  })

  it('tells it before anything is removed', async () => {
    const other = world.room()
    await world.until(await started(other.tryOn(product)), 'final')
    const finish = await halfway()
    expect([other.photo.get(), other.visitor.get().uniqueUserId]).toEqual([null, null])
    expect(other.tryOn(product).get().state).not.toBe('final')
    await finish()
  })

  it('resolves where that page has changed what only the memory of this one held', async () => {
    const flaky = storage.another()
    const room = world.room({ storage: flaky })
    const tryOn = room.tryOn(product)
    await world.until(await started(tryOn), 'processing')
    flaky.meet((call) => isWrite(call) && isRecord(call), refused)
    await world.until(tryOn, 'final')
    storage.items.set(recordKey, storage.items.get(recordKey)?.replace('"accepted"', '"preview"') ?? '')
    flaky.recover()
    await room.reset()
    expect(keysOfShoppers().filter((key) => isRecord({ key }))).toEqual([])
  })
})

it.each(['photo', 'visitor'])(
  'a %s that is written once reset() has resolved is not the next shopper’s',
  async (kind) => {
    const isValue = (call: { key: string; type: string }) => call.key.endsWith(`:${kind}`) && call.type === 'update'
    const slow = storage.another()
    const room = world.room({ storage: slow })
    const tryOn = room.tryOn(product)
    await world.until(tryOn, 'idle')
    const held = slow.hold(isValue)
    // a word whose photo is not written yet has not settled
    void started(tryOn).catch(() => undefined)
    let isReached = false
    void held.reached.then(() => (isReached = true))
    for (let turns = 0; turns < 20 && !isReached; turns++) await world.pass(500)
    expect(isReached).toBe(true)
    await world.room().reset()
    await world.settle()
    // the page dies before it could take anything back
    slow.hold(isValue)
    held.release()
    await world.settle()
    const next = world.room()
    await next.ready
    expect([next.photo.get(), next.visitor.get().uniqueUserId]).toEqual([null, null])
  },
)

it('a word that is said while reset() runs takes nothing of the former shopper along', async () => {
  await world.close()
  world = createWorld({ storage, gated: false })
  vi.stubGlobal('isSecureContext', true)
  const room = world.room()
  const tryOn = room.tryOn(product)
  tryOn.subscribe(() => {})
  for (let turns = 0; turns < 60; turns++) {
    const former = `https://photos.test/former-${turns}.png`
    await world.until(tryOn, 'idle')
    await tryOn.start({ imageUrl: former })
    await world.until(tryOn, 'processing')
    const reset = room.reset()
    for (let turn = 0; turn < turns; turn++) await Promise.resolve()
    const word = tryOn.start().catch(() => undefined)
    await reset
    await world.settle()
    await word
    expect([...storage.items.values()].filter((text) => text.includes(former))).toEqual([])
    await room.reset()
  }
  vi.unstubAllGlobals()
})

it('without a catalog that can be read no photo and no visitor is believed to be of this shopper', async () => {
  const first = world.room()
  await world.until(await started(first.tryOn(product)), 'final')
  const late = [...storage.items].filter(([key]) => /:(photo|visitor)$/.test(key))
  await first.reset()
  for (const [key, text] of late) storage.items.set(key, text)
  storage.meet((call) => call.key.endsWith(':catalog') && !isWrite(call), refused)
  const next = world.room()
  await next.ready
  expect([next.photo.get(), next.visitor.get().uniqueUserId]).toEqual([null, null])
})

it('a submission whose key was still being read when reset() resolved never leaves', async () => {
  let give = (_key: string) => {}
  let asked = () => {}
  const reached = new Promise<void>((resolve) => (asked = resolve))
  const isClaimed = () => storage.items.get(recordKey)?.includes('"claimed"') ?? false
  const apiKey = () => {
    if (!isClaimed()) return 'main-key'
    asked()
    return new Promise<string>((resolve) => (give = resolve))
  }
  const room = world.room({ apiKey })
  await started(room.tryOn(product))
  await reached
  await room.reset()
  give('main-key')
  await world.settle()
  expect(world.count('POST', '/generations')).toBe(0)
  expect(await room.list()).toEqual([])
})

it.each([
  ['funnel', 'GET', '/funnel'],
  ['upload', 'POST', '/uploads'],
  ['poll', 'GET', '/generations/'],
])('a %s whose key was still being read when reset() resolved never leaves', async (_, method, path) => {
  let isSlow = false
  let give = (_key: string) => {}
  const apiKey = () => (isSlow ? new Promise<string>((resolve) => (give = resolve)) : 'main-key')
  world.fault(method, path, [
    () => {
      isSlow = true
      return Promise.reject(new TypeError('the connection was lost'))
    },
  ])
  const room = world.room({ apiKey })
  await started(room.tryOn(product))
  while (!isSlow) await world.pass(500)
  await world.pass(5_000)
  const before = world.sent.length
  await room.reset()
  give('main-key')
  await world.settle()
  expect(world.sent.length).toBe(before)
})

it('a room that is closed as it resets tells the other pages, and stays closed', async () => {
  const [room, other] = [world.room(), world.room()]
  await world.until(await started(other.tryOn(product)), 'final')
  await world.until(await started(room.tryOn({ ...product, variantId: '2002' })), 'final')
  const wiped = room.reset()
  await Promise.resolve()
  room.close()
  await wiped
  await world.settle()
  expect(other.tryOn(product).get().state).toBe('idle')
  expect(room.tryOn({ ...product, variantId: '2002' }).get().state).toBe('restoring')
})

it('what version 0.1.0 has listed goes once its index can be read', async () => {
  const index = recordKey.replace(/:try-on:.*/, ':index')
  const record = recordKey.replace('2001', '2002')
  storage.items.set(index, JSON.stringify({ version: 1, keys: [record] }))
  storage.items.set(record, '{}')
  const flaky = storage.another()
  flaky.meet(({ key }) => key === index, refused)
  const room = world.room({ storage: flaky })
  await expect(room.reset()).rejects.toMatchObject({ kind: 'storage' })
  expect(storage.items.has(index)).toBe(true)
  flaky.recover()
  await room.reset()
  expect([storage.items.has(index), storage.items.has(record)]).toEqual([false, false])
})

describe('what no list names', () => {
  const loseList = () => {
    for (const key of storage.items.keys()) if (key.endsWith(':catalog')) storage.items.delete(key)
  }
  const allTexts = () => [...storage.items].flat().join()

  it.each(['final', 'a consent that waits'])('is a former shopper’s after reset() all the same: %s', async (what) => {
    if (what !== 'final') world.fault('POST', '/generations', [refuses('rateLimitExceeded', { retryAfter: 30 })])
    const former = world.room()
    const left = await started(former.tryOn(product))
    await world.until(left, what === 'final' ? 'final' : 'submitting')
    await world.settle()
    former.close()
    await world.pass(1_000)
    loseList()
    const room = world.room()
    await room.reset()
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    await world.until(tryOn, 'idle')
    await world.pass(60_000)
    expect([tryOn.get().state, await room.list(), world.count('POST', '/generations')]).toEqual(['idle', [], 1])
  })

  it.each(['final', 'a consent that waits'])(
    'as its page could not read the list is a former shopper’s after reset(), too: %s',
    async (what) => {
      const first = world.room()
      await first.ready
      first.close()
      await world.pass(1_000)
      if (what !== 'final') world.fault('POST', '/generations', [refuses('rateLimitExceeded', { retryAfter: 30 })])
      const own = storage.another()
      own.meet(({ key }) => key.endsWith(':catalog'), refused)
      const former = world.room({ storage: own })
      await world.until(await started(former.tryOn(product)), what === 'final' ? 'final' : 'submitting')
      await world.settle()
      own.meet(any, hung)
      former.close()
      await world.pass(5_000)
      await world.room().reset()
      const room = world.room()
      const tryOn = room.tryOn(product)
      tryOn.subscribe(() => {})
      await world.until(tryOn, 'idle')
      await world.pass(60_000)
      expect([tryOn.get().state, await room.list(), world.count('POST', '/generations')]).toEqual(['idle', [], 1])
    },
  )

  it.each(['final', 'processing'] as const)('goes where the page that resets has seen it %s', async (seen) => {
    const own = storage.another()
    const former = world.room({ storage: own })
    const tryOn = await started(former.tryOn(product))
    const { attempt } = await world.until(tryOn, seen)
    await world.settle()
    const room = world.room({ storage: storage.another() })
    await room.list()
    await world.until(tryOn, 'final')
    await world.settle()
    own.meet(any, hung)
    former.close()
    loseList()
    await room.reset()
    expect(allTexts()).not.toContain(attempt!.id)
    expect(allTexts()).not.toContain(recordKey)
  })

  it('is wiped by a page that knows the list that was lost, too, once it hears of the reset', async () => {
    const knowing = world.room()
    const tryOn = knowing.tryOn(product)
    tryOn.subscribe(() => {})
    await world.until(await started(tryOn), 'final')
    loseList()
    await world.room({ storage: storage.another() }).reset()
    await world.settle()
    await world.until(tryOn, 'idle')
    await started(knowing.tryOn({ ...product, variantId: '2002' }))
    await world.settle()
    expect((await world.room().list()).map(({ variantId }) => variantId)).toEqual(['2002'])
    await world.until(world.room().tryOn(product), 'idle')
  })
})

it('a lease of a page that was killed goes with reset(), though the product was only looked at', async () => {
  const own = storage.another()
  const former = world.room({ storage: own })
  await world.until(former.tryOn(product), 'idle')
  await world.settle()
  expect(storage.items.has(`${recordKey}:lease`)).toBe(true)
  own.meet(any, hung)
  former.close()
  await world.pass(5_000)
  await world.room().reset()
  expect([...storage.items].flat().filter((text) => text.includes(recordKey))).toEqual([])
})

it('what is discarded as another page resets the room is named nowhere', async () => {
  const own = storage.another()
  const former = world.room({ storage: own })
  const tryOn = await started(former.tryOn(product))
  const { attempt } = await world.until(tryOn, 'final')
  await world.settle()
  const room = world.room({ storage: storage.another() })
  await room.ready
  const marked = own.hold(({ type, key }) => type === 'update' && key.endsWith(':catalog'))
  const discarded = tryOn.discard().catch(() => undefined)
  await marked.reached
  await room.reset()
  marked.release()
  await discarded
  await world.settle()
  expect([...storage.items].flat().join()).not.toContain(attempt!.id)
})

it.each(['list', 'stored'] as const)(
  '%s() that was asked for before another page’s reset() tells nothing of before, whatever was read last',
  async (asked) => {
    await world.close()
    world = createWorld({ storage, gated: false })
    for (let nth = 0; ; nth++) {
      const own = storage.another()
      const former = world.room({ storage: storage.another() })
      await world.until(await started(former.tryOn(product)), 'final')
      await world.settle()
      const room = world.room({ storage: own })
      await room.ready
      await world.settle()
      let reads = 0
      const held = own.hold((call) => isRead(call) && reads++ === nth, 'midway')
      let isReset = false
      const told = room[asked]().then((found) => isReset && found)
      await world.settle()
      await former.reset()
      await world.settle()
      isReset = true
      held.release()
      const found = await told
      // all of its reads were over before
      if (found === false) break
      expect([nth, found]).toEqual([nth, []])
      await world.settle()
      for (const each of [room, former]) each.close()
      expect(nth).toBeLessThan(50)
    }
  },
)

describe('a reset() that was cut short once it was counted', () => {
  /** What a shopper has left in the archive, and the page that could not remove it. */
  async function cutShort() {
    const own = storage.another()
    const room = world.room({ storage: own })
    const tryOn = await started(room.tryOn(product))
    const { attempt } = await world.until(tryOn, 'final')
    await tryOn.startOver()
    own.meet((call) => !isRead(call) && call.key.includes(':attempt:'), refused)
    await expect(room.reset()).rejects.toMatchObject({ kind: 'storage' })
    room.close()
    await world.settle()
    return attempt!.id
  }

  it('is gone on with by the next page, and nothing of it is stored', async () => {
    const id = await cutShort()
    const next = world.room()
    await next.ready
    await world.settle()
    expect(await next.stored()).toEqual([])
    expect([...storage.items].flat().join()).not.toContain(id)
  })

  it('is told as due until then', async () => {
    await cutShort()
    const own = storage.another()
    own.meet((call) => !isRead(call), refused)
    const next = world.room({ storage: own })
    expect((await next.stored()).map(({ until }) => until)).toEqual([0])
  })
})

it('bytes that are being written as reset() comes are waited for, and go', async () => {
  const set = storage.photos!.set.bind(storage.photos)
  const begun = deferred()
  const landing = deferred()
  storage.photos!.set = async (key, photo) => {
    begun.resolve()
    await landing.promise
    await set(key, photo)
    throw new Error('the answer was lost')
  }
  const room = world.room()
  void started(room.tryOn(product)).catch(() => undefined)
  await begun.promise
  const wiped = room.reset()
  await world.settle()
  landing.resolve()
  await wiped
  expect(await storage.photos!.keys!()).toEqual([])
})

it('bytes that never land keep one reset() from resolving, and not the next', async () => {
  storage.photos!.set = () => new Promise(() => {})
  const room = world.room()
  void started(room.tryOn(product)).catch(() => undefined)
  await world.settle()
  const refusal = expect(room.reset()).rejects.toMatchObject({ kind: 'storage' })
  await world.pass(10_000)
  await refusal
  await room.reset()
})

it('a page that could not read what there was as it was opened is of the shopper who was reset meanwhile', async () => {
  vi.stubGlobal('BroadcastChannel', undefined)
  onTestFinished(() => void vi.unstubAllGlobals())
  const own = storage.another()
  own.meet(any, refused)
  const blind = world.room({ storage: own })
  const tryOn = await started(blind.tryOn(product))
  await world.until(tryOn, 'final')
  await world.pass(1_000)
  const other = world.room()
  await other.reset()
  own.recover()
  await world.pass(30_000)
  expect(await blind.list()).toEqual([])
  expect(await other.list()).toEqual([])
})

describe('bytes that no list names any more', () => {
  /** A photo waits for its upload. */
  async function waiting() {
    world.fault('POST', '/uploads', [dropped], true)
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    await world.settle()
    expect(await photoKeys()).toHaveLength(1)
    return { room, tryOn }
  }
  const photoKeys = () => storage.another().photos!.keys!()
  const catalogKey = () => [...storage.items.keys()].find((key) => key.endsWith(':catalog'))!

  it.each([
    ['the list alone was lost', () => storage.items.delete(catalogKey())],
    ['all values were lost, and photos stand elsewhere', () => storage.items.clear()],
  ])('go with the others where %s', async (_, lose) => {
    const { room } = await waiting()
    lose()
    await room.reset()
    expect(await photoKeys()).toEqual([])
  })

  it('stay as a room opens: another page may be about to upload them', async () => {
    const { tryOn } = await waiting()
    storage.items.delete(catalogKey())
    await world.room().ready
    await world.settle()
    expect([tryOn.get().state, (await photoKeys()).length]).toEqual(['preparing', 1])
  })

  it('are the next shopper’s where they are listed since', async () => {
    const { room } = await waiting()
    const counted = deferred()
    const removing = deferred()
    storage.photos!.keys = async () => {
      counted.resolve()
      await removing.promise
      return photoKeys()
    }
    const wiped = room.reset()
    await counted.promise
    await started(world.room({ storage: storage.another() }).tryOn(product))
    await world.settle()
    const before = await photoKeys()
    expect(before).toHaveLength(1)
    removing.resolve()
    await wiped
    expect(await photoKeys()).toEqual(before)
  })

  it('are told from what is no key at all', async () => {
    const { room } = await waiting()
    const keys = await photoKeys()
    storage.items.delete(catalogKey())
    storage.photos!.keys = async () => JSON.parse(JSON.stringify([7, null, {}, ...keys]))
    await room.reset()
    expect(keys).toHaveLength(1)
    expect(await storage.photos!.get(keys[0]!)).toBeUndefined()
  })

  it('are not said to be gone where it cannot be told', async () => {
    const { room } = await waiting()
    storage.photos!.keys = refused
    await expect(room.reset()).rejects.toMatchObject({ kind: 'storage' })
  })
})

it('everything goes in one call where the storage has one for that', async () => {
  const calls: (readonly string[])[] = []
  const removeItems = (keys: readonly string[]) => {
    calls.push(keys)
    for (const key of keys) storage.items.delete(key)
  }
  const room = world.room({ storage: { ...storage.another(), removeItems } })
  await world.until(await started(room.tryOn(product)), 'final')
  await room.tryOn(product).retry(person)
  await world.until(room.tryOn(product), 'final')
  await room.reset()
  expect(calls).toHaveLength(1)
  expect(calls[0]).toContain(recordKey)
})

it('what a page has read before another one’s reset() is not the next shopper’s', async () => {
  const own = storage.another()
  const room = world.room({ storage: own })
  const held = world.hold('POST', '/generations', 'after')
  const tryOn = await started(room.tryOn(product))
  await held.reached
  room.close()
  const read = own.hold((call) => isRecord(call) && isRead(call), 'midway')
  tryOn.subscribe(() => {})
  await read.reached
  await world.room({ storage }).reset()
  read.release()
  await world.settle()
  held.release()
  await world.pass(20_000)
  expect([...storage.items.values()].filter((text) => text.includes('attemptId'))).toEqual([])
  expect(await world.room({ storage }).list()).toEqual([])
})

it('a page that could read nothing learns of a reset() from who knows its storage by the ID that it has made up', async () => {
  const onReset = vi.fn<() => void>()
  const epochs = createEpochs({
    clock: world.clock,
    isOnDisk: () => false,
    onNext: () => {},
    onRenewed: () => {},
    onReset,
  })
  const [own = ''] = Object.keys(epochs.counts())
  epochs.noteOpened()
  epochs.noteReset({ [own]: 1 })
  const former = epochs.shopper()
  // what it says from then on is of the same shopper as what the other one says, or the two would tell each other without end
  expect(epochs.hear({ [own]: 2 })).toBe(false)
  expect([epochs.counts(), former.aborted]).toEqual([{ [own]: 2 }, true])
  expect(epochs.takeIn({ [own]: 2 })).toBe(true)
  await Promise.resolve()
  expect(onReset).toHaveBeenCalledTimes(1)
})

it('the first word after an own reset() is taken, though storage could not be read before', async () => {
  storage.meet(any, refused)
  const room = world.door({ core: async () => ({ createRoom }) })
  const tryOn = room.tryOn(product)
  tryOn.subscribe(() => {})
  await world.pass(3_000)
  storage.recover()
  await Promise.all([room.reset(), tryOn.start(person)])
  await world.until(tryOn, 'final')
})

it('the first word after another page’s reset() is taken, though storage could not be read before', async () => {
  const own = storage.another()
  const other = world.room({ storage })
  await started(other.tryOn(product))
  own.meet(any, refused)
  const tryOn = world.room({ storage: own }).tryOn(product)
  tryOn.subscribe(() => {})
  await world.pass(1_000)
  await other.reset()
  await world.pass(1_000)
  own.recover()
  // what is learnt of that reset() with the word, the page has heard before it was said
  await tryOn.start(person)
  await world.until(tryOn, 'final')
})

it.each([false, true])(
  'what waits on a page that could not read the list alone is not sent after a reset() that it has heard, be the list readable since: %s',
  async (isReadable) => {
    const own = storage.another()
    const other = world.room({ storage })
    await other.ready
    await other.reset()
    own.meet(({ key }) => key.endsWith(':catalog'), refused)
    world.fault('POST', '/generations', [refuses('rateLimitExceeded', { retryAfter: 20 })])
    // a message takes a moment
    const clock = { ...world.clock, now: () => world.clock.now() + 5 }
    const tryOn = await started(world.room({ storage: own, clock }).tryOn(product))
    await world.until(tryOn, ({ trouble }) => trouble?.kind === 'throttled')
    await other.reset()
    // it has heard of it by then
    await world.settle()
    if (isReadable) own.recover()
    await world.pass(60_000)
    expect([tryOn.get().state, world.count('POST', '/generations')]).toEqual(['idle', 1])
    expect(await world.room({ storage }).list()).toEqual([])
  },
)

/** What there is in the end of what the next shopper begins, once that room is reset, on a page that could not read storage. */
async function leftOfNext(other: () => FittingRoom) {
  const own = storage.another()
  own.meet(any, refused)
  const room = world.room({ storage: own })
  const tryOn = room.tryOn(product)
  tryOn.subscribe(() => {})
  await world.pass(1_000)
  const resetting = other()
  await resetting.ready
  await resetting.reset()
  await world.pass(1_000)
  await tryOn.start(person)
  await world.until(tryOn, 'processing')
  own.recover()
  await world.until(tryOn, 'final')
  await world.pass(20_000)
  return [tryOn.get().state, (await room.list()).length]
}

it.each([
  ['began after it', 0],
  ['is read by a clock that is behind', 60_000],
])(
  'what the next shopper begins on a page that could not read storage, and has heard of the reset(), stays where that storage %s',
  async (_, ahead) => {
    const clock = { ...world.clock, now: () => world.clock.now() + ahead }
    expect(await leftOfNext(() => world.room({ storage, clock }))).toEqual(['final', 1])
  },
)

it('what the next shopper begins on a page that could not read storage, and has heard of no reset(), stays', async () => {
  vi.stubGlobal('BroadcastChannel', undefined)
  onTestFinished(() => void vi.unstubAllGlobals())
  const other = world.room({ storage })
  await other.ready
  expect(await leftOfNext(() => other)).toEqual(['final', 1])
})

it('what only the memory of a page has, which could not read storage before, is not the next shopper’s', async () => {
  vi.stubGlobal('BroadcastChannel', undefined)
  onTestFinished(() => void vi.unstubAllGlobals())
  const room = world.room({ storage: storage.another() })
  await world.until(await started(room.tryOn({ ...product, variantId: '2002' })), 'final')
  room.close()
  storage.meet(any, refused)
  const tryOn = world.room({ storage }).tryOn(product)
  tryOn.subscribe(() => {})
  await tryOn.start(person)
  await world.until(tryOn, 'processing')
  await world.pass(1_000)
  await world.room({ storage: storage.another() }).reset()
  storage.recover()
  await world.pass(60_000)
  expect([...storage.items.values()].filter((text) => text.includes('attemptId'))).toEqual([])
  expect(tryOn.get()).toMatchObject({ state: 'idle', attempt: null })
})

describe('a page that could read nothing, and was away as another page reset the room', () => {
  let life: PageLife
  let tryOn: TryOn
  /** Lets all that storage has kept happen in its order, and says so of the last one first. */
  let land: () => void
  const asked = { ...product, variantId: '2002' }

  async function isReset(how: 'refuses' | 'keeps') {
    const own = storage.another()
    const kept: (() => () => void)[] = []
    land = () => {
      const landed = kept.splice(0).map((each) => each())
      for (const tell of landed.toReversed()) tell()
    }
    const keep = (call: StorageCall) =>
      new Promise((tell) =>
        kept.push(() => {
          const found = call.land()
          return () => tell(found)
        }),
      )
    own.meet(any, how === 'refuses' ? refused : keep)
    const other = world.room()
    await other.ready
    tryOn = world.room({ storage: own, pageLife: (told) => ((life = told), () => {}) }).tryOn(asked)
    tryOn.subscribe(() => {})
    await world.pass(60_000)
    const word = tryOn.start({ imageUrl: 'https://photos.test/p.png' })
    await world.pass(120_000)
    await word
    life.onHide(false)
    await other.reset()
    life.onShow()
    await world.settle()
    return own
  }
  const stored = () => [...storage.items.keys()].filter((key) => !isNobodys(key) && !key.endsWith(':lease'))

  it('shows nothing of before once it can', async () => {
    world.fault('POST', '/generations', [answers(403, { error: 'Email required' })], true)
    const own = await isReset('refuses')
    own.recover()
    await world.pass(10_000)
    expect(tryOn.get()).toMatchObject({ state: 'idle', attempt: null })
    expect([await world.room().list(), stored()]).toEqual([[], []])
  })

  it('keeps what its next shopper has begun, and storage has', async () => {
    const own = storage.another()
    own.meet(({ key }) => key.endsWith(':catalog'), refused)
    const room = world.room({ storage: own, pageLife: (told) => ((life = told), () => {}) })
    tryOn = room.tryOn(asked)
    tryOn.subscribe(() => {})
    await world.pass(10_000)
    life.onHide(false)
    await world.room().reset()
    life.onShow()
    await world.pass(10_000)
    await tryOn.start(person)
    const { attempt } = await world.until(tryOn, 'processing')
    own.recover()
    expect(await world.until(tryOn, 'final')).toMatchObject({ attempt })
    expect(await world.room().list()).toMatchObject([{ jobId: attempt?.jobId }])
  })

  it('has what lands late in no list, nor in storage', async () => {
    const own = await isReset('keeps')
    await world.pass(6_000)
    own.recover()
    land()
    await world.pass(60_000)
    expect(tryOn.get()).toMatchObject({ state: 'idle', attempt: null })
    expect([await world.room().list(), stored()]).toEqual([[], []])
  })
})

describe('where pages do not hear each other', () => {
  const deaf = () => {
    vi.stubGlobal('BroadcastChannel', undefined)
    onTestFinished(() => void vi.unstubAllGlobals())
    return [world.room({ storage: storage.another() }), world.room({ storage: storage.another() })] as const
  }

  it('a job is kept that is begun once the count of a reset went with its storage, by who knows of that reset, too', async () => {
    const [room, knowing] = deaf()
    await Promise.all([room.list(), knowing.list()])
    await world.pass(1_000)
    await knowing.reset()
    await world.pass(1_000)
    storage.items.clear()
    await world.pass(1_000)
    await world.until(await started(room.tryOn(product)), 'final')
    expect(await knowing.list()).toMatchObject([{ state: 'final' }])
    await world.until(await started(knowing.tryOn({ ...product, variantId: '2002' })), 'final')
    expect(await room.list()).toHaveLength(2)
    expect(await world.room().list()).toHaveLength(2)
  })
})

it('a job that no list names, as its page had only heard of a reset, is durable once it is listed', async () => {
  const own = storage.another()
  const room = world.room({ storage: own })
  await world.until(await started(room.tryOn(product)), 'final')
  await world.settle()
  own.meet(({ key }) => key.endsWith(':catalog'), refused)
  await world.room({ storage: storage.another() }).reset()
  await world.settle()
  const tryOn = await started(room.tryOn(product))
  await world.until(tryOn, 'final')
  expect(tryOn.get().durable).toBe(false)
  own.recover()
  await world.pass(60_000)
  expect(tryOn.get().durable).toBe(true)
  expect(await world.room().list()).toHaveLength(1)
})

it('a count that is above the one of an ID which this page has made up is a reset, be it that nothing was acknowledged', async () => {
  const { clock } = world
  const epochs = createEpochs({ clock, isOnDisk: () => false, onNext() {}, onRenewed() {}, onReset() {} })
  const former = epochs.shopper()
  epochs.opens()
  const [own = ''] = Object.keys(epochs.counts())
  epochs.noteUse()
  epochs.learn({ epochs: { [own]: 0 } })
  expect(former.aborted).toBe(false)
  clock.advance(1_000)
  epochs.learn({ epochs: { [own]: 1 }, resetAt: clock.now() })
  expect([epochs.counts(), former.aborted]).toEqual([{ [own]: 1 }, true])
})

it.each([
  ['read', (epochs: Epochs, id: string, at: number) => epochs.learn({ epochs: { [id]: 1 }, resetAt: at })],
  ['heard of', (epochs: Epochs, id: string) => epochs.hear({ [id]: 1 })],
] as const)('in storage that has begun since a reset that was %s, only what was begun since is kept', (_, learns) => {
  const { clock } = world
  const epochs = createEpochs({ clock, isOnDisk: () => true, onNext() {}, onRenewed() {}, onReset() {} })
  const id = '0mvx2cqo0-a'
  epochs.learn({ epochs: { [id]: 0 } })
  const at = clock.now()
  learns(epochs, id, at)
  expect(epochs.resetAt()).toBe(at)
  clock.advance(1_000)
  const stored = (startedAt: number) => ({ era: [id, 0], startedAt })
  const former = () => [at - 1, at + 1].map((startedAt) => epochs.isNobodys(stored(startedAt)))
  expect(former()).toEqual([true, true])
  epochs.learn({ epochs: { [id]: 0 }, begunAt: clock.now() })
  expect(former()).toEqual([true, false])
})
