import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { FlowStorage } from 'fitting-room'
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
} from './support/storage.ts'
import type { TestStorage } from './support/storage.ts'
import { createWorld, person, product, started, type World } from './support/world.ts'

let world: World
let storage: TestStorage
beforeEach(() => {
  storage = testStorage()
  world = createWorld({ storage })
})
afterEach(async () => {
  vi.unstubAllGlobals()
  await world.close()
})

const submissions = () => world.count('POST', '/generations')

describe('storage that never worked', () => {
  it.each([
    ['rejects', refused],
    ['throws', full],
  ])('that %s: the flow runs in memory and says so', async (_, how) => {
    storage.meet(any, how)
    const tryOn = world.room().tryOn(product)
    expect((await world.until(tryOn, 'idle')).problem).toEqual({ kind: 'storageUnreadable' })
    await tryOn.start(person)
    const view = await world.until(tryOn, 'final')
    expect(view.durable).toBe(false)
    expect(submissions()).toBe(1)
  })

  it('that hangs: every call ends at its time limit', async () => {
    storage.meet(any, hung)
    const tryOn = world.room().tryOn(product)
    await world.until(tryOn, 'idle')
    void tryOn.start(person)
    expect((await world.until(tryOn, 'final')).durable).toBe(false)
  })

  it('but can be read, as a full disk can: the flow runs in memory and says so', async () => {
    storage.meet(isWrite, full)
    const tryOn = await started(world.room().tryOn(product))
    expect((await world.until(tryOn, 'final')).durable).toBe(false)
    expect(world.count('GET', '/funnel')).toBe(1)
  })
})

describe('a job ID that cannot be written', () => {
  it('is followed all the same, and durable is false', async () => {
    const held = world.hold('POST', '/generations', 'after')
    const tryOn = await started(world.room().tryOn(product))
    await held.reached
    storage.meet(isWrite, refused)
    held.release()
    expect((await world.until(tryOn, 'processing')).durable).toBe(false)
    await world.until(tryOn, 'final')
    expect(submissions()).toBe(1)
  })

  it('in time, because storage hangs, is written once it has recovered', async () => {
    const held = world.hold('POST', '/generations', 'after')
    const tryOn = await started(world.room().tryOn(product))
    await held.reached
    const writes: (() => void)[] = []
    storage.meet(
      (call) => call.type === 'update' && isRecord(call),
      ({ land }) => new Promise<void>((resolve) => writes.push(() => resolve(void land()))),
    )
    held.release()
    expect((await world.until(tryOn, 'processing')).durable).toBe(false)
    storage.recover()
    for (const write of writes) write()
    await world.settle()
    expect((await world.until(tryOn, 'final')).durable).toBe(true)
  })
})

it('a word that begins nothing, as another page was first, rejects', async () => {
  const tryOn = world.room().tryOn(product)
  await world.until(tryOn, 'idle')
  const write = storage.hold((call) => isRecord(call) && isWrite(call))
  const word = started(tryOn)
  await write.reached
  const now = world.clock.now()
  const { productId, variantId, funnelIds } = product
  const own = {
    version: 2,
    savedAt: now,
    attemptId: 'other',
    startedAt: now,
    phase: 'rejected',
    photo: { id: 'other' },
  }
  storage.items.set(recordKey, JSON.stringify({ ...own, productId, variantId, funnelIds }))
  write.release()
  await expect(word).rejects.toMatchObject({ kind: 'notAllowed' })
  expect([tryOn.get().state, submissions()]).toEqual(['rejected', 0])
})

describe('an attempt that cannot be archived', () => {
  it('is not left', async () => {
    const tryOn = await started(world.room().tryOn(product))
    const { attempt } = await world.until(tryOn, 'processing')
    storage.meet(({ key }) => key.includes(':attempt:'), full)
    await expect(tryOn.startOver()).rejects.toMatchObject({ kind: 'storage' })
    expect(tryOn.get().attempt).toEqual(attempt)
    expect(tryOn.get().state).not.toBe('idle')
  })

  it('is not replaced where storage refuses everything', async () => {
    const tryOn = await started(world.room().tryOn(product))
    await world.until(tryOn, 'final')
    storage.meet(isWrite, full)
    await expect(tryOn.retry()).rejects.toMatchObject({ kind: 'storage' })
    const { problem } = tryOn.get()
    // the paid picture could not be archived, so it stays
    expect([tryOn.get().state, problem?.kind]).toEqual(['final', 'storage'])
  })
})

it('an attempt that was left while its record could not be removed does not go on after a reload', async () => {
  const asked = world.hold('GET', '/funnel')
  const room = world.room()
  const tryOn = await started(room.tryOn(product))
  await asked.reached
  storage.meet(isRecord, refused)
  await tryOn.startOver()
  expect([tryOn.get().state, tryOn.get().durable]).toEqual(['idle', false])
  room.close()
  storage.recover()
  const again = world.room().tryOn(product)
  again.subscribe(() => {})
  await world.pass(60_000)
  expect([again.get().state, world.count('POST', '/generations')]).toEqual(['idle', 0])
})

describe('a catalog that cannot be written', () => {
  const isCatalog = ({ key }: { key: string }) => key.endsWith(':catalog')

  it('in time makes nothing durable until it is, so that what is durable is listed', async () => {
    const tryOn = world.room().tryOn(product)
    storage.meet((call) => isCatalog(call) && isWrite(call), refused)
    await world.until(tryOn, 'idle')
    const held = world.hold('GET', '/generations')
    await started(tryOn)
    await held.reached
    expect([tryOn.get().state, tryOn.get().durable]).toEqual(['processing', false])
    storage.recover()
    held.release()
    await world.until(tryOn, 'final')
    expect(tryOn.get().durable).toBe(true)
    const room = world.room()
    expect(await room.list()).toHaveLength(1)
    await room.reset()
    expect([...storage.items.keys()].filter((key) => !isNobodys(key))).toEqual([])
  })

  it('once is written right after what it names', async () => {
    const tryOn = world.room().tryOn(product)
    const isRecorded = () => [...storage.items.keys()].some((key) => isRecord({ key }))
    storage.meet((call) => isCatalog(call) && isWrite(call) && !isRecorded(), refused)
    await world.until(tryOn, 'idle')
    const asked = world.hold('GET', '/funnel')
    await started(tryOn)
    await asked.reached
    expect([tryOn.get().state, tryOn.get().durable]).toEqual(['preparing', true])
    expect(JSON.stringify([...storage.items].find(([key]) => isCatalog({ key })))).toContain(':try-on:')
  })

  it.each(['startOver', 'retry'] as const)(
    'keeps a paid job where it is, however often %s() is said',
    async (intent) => {
      const room = world.room()
      const tryOn = await started(room.tryOn(product))
      const { attempt } = await world.until(tryOn, 'final')
      storage.meet((call) => isCatalog(call) && isWrite(call), full)
      for (const _ of [1, 2]) await expect(tryOn[intent]()).rejects.toMatchObject({ kind: 'storage' })
      expect(tryOn.get().attempt).toEqual(attempt)
      room.close()
      storage.recover()
      expect((await world.room().list()).map(({ jobId }) => jobId)).toEqual([attempt?.jobId])
    },
  )

  it('because a newer version has replaced it gives way to another one', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    await world.until(tryOn, 'idle')
    const [key = ''] = [...storage.items.keys()].filter((each) => isCatalog({ key: each }))
    storage.items.set(key, '{"version":3}')
    const { attempt, durable } = await world.until(await started(tryOn), 'processing')
    expect([durable, storage.items.get(key)]).toEqual([true, '{"version":3}'])
    expect((await world.room().list()).map(({ jobId }) => jobId)).toEqual([attempt?.jobId])
  })
})

it('a job that only memory holds is not durable when the room was closed and is used again', async () => {
  vi.stubGlobal('isSecureContext', true)
  const room = world.room()
  const tryOn = room.tryOn(product)
  await world.until(tryOn, 'idle')
  storage.meet((call) => isRecord(call) && isWrite(call), full)
  await world.until(await started(tryOn), 'processing')
  room.close()
  const { durable, attempt } = await world.until(tryOn, ({ attempt: each }) => each?.jobId != null)
  expect([durable, attempt?.jobId]).toEqual([false, expect.any(String)])
})

it.each([
  ['a job where nothing can have been answered', { phase: 'throttled', job: true }],
  ['no job where it must have one', { phase: 'accepted', job: false }],
])('a record with %s is left as it is', async (_, { phase, job }) => {
  const first = world.room()
  await world.until(await started(first.tryOn(product)), 'processing')
  first.close()
  const { job: known, ...rest } = JSON.parse(storage.items.get(recordKey) ?? '{}') as { job?: object }
  const text = JSON.stringify({ ...rest, phase, ...(job && { job: known }) })
  storage.items.set(recordKey, text)
  expect((await world.until(world.room().tryOn(product), 'idle')).problem).toEqual({ kind: 'recordUnreadable' })
  expect([storage.items.get(recordKey), submissions()]).toEqual([text, 1])
})

describe('storage that loses data in between', () => {
  it('gets the job anew while it is being polled', async () => {
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'processing')
    storage.items.clear()
    await world.pass(2_000)
    expect([tryOn.get().state, tryOn.get().durable]).toEqual(['processing', true])
    room.close()
    const again = world.room().tryOn(product)
    expect((await world.until(again, ({ state }) => state !== 'restoring')).state).toBe('processing')
  })

  it('gets the job ID anew', async () => {
    const held = world.hold('POST', '/generations', 'after')
    const tryOn = await started(world.room().tryOn(product))
    await held.reached
    for (const key of [...storage.items.keys()].filter((each) => isRecord({ key: each }))) storage.items.delete(key)
    held.release()
    const { attempt } = await world.until(tryOn, 'processing')
    const again = await world.until(world.room().tryOn(product), 'processing')
    expect(again.attempt?.jobId).toBe(attempt?.jobId)
  })

  it('as a whole gets the job ID anew, also in a room that was reset before', async () => {
    const before = world.room()
    await before.reset()
    before.close()
    const held = world.hold('POST', '/generations', 'after')
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    await held.reached
    storage.items.clear()
    held.release()
    const { attempt } = await world.until(tryOn, 'processing')
    room.close()
    const again = world.room()
    expect((await world.until(again.tryOn(product), 'processing')).attempt?.jobId).toBe(attempt?.jobId)
    expect((await again.list()).map(({ jobId }) => jobId)).toEqual([attempt?.jobId])
  })
})

it('a record that no catalog names any more is listed again, and goes with reset()', async () => {
  const before = world.room()
  const { attempt } = await world.until(await started(before.tryOn(product)), 'final')
  before.close()
  for (const key of storage.items.keys()) if (key.endsWith(':catalog')) storage.items.delete(key)
  const room = world.room()
  await world.until(room.tryOn(product), 'final')
  expect((await room.list()).map(({ jobId }) => jobId)).toEqual([attempt?.jobId])
  await room.reset()
  expect([...storage.items.keys()].filter((key) => isRecord({ key }))).toEqual([])
})

it('a photo whose record is still being written is kept, whatever photo is chosen for another product meanwhile', async () => {
  await world.close()
  world = createWorld({ storage, gated: false })
  const room = world.room()
  const [one, other] = [room.tryOn(product), room.tryOn({ ...product, variantId: '2002' })]
  await world.until(await started(one), 'final')
  const archiving = storage.hold((call) => call.key.includes(':attempt:') && isWrite(call))
  const words = [one.retry(person)]
  await archiving.reached
  words.push(other.start(person))
  await world.settle()
  archiving.release()
  await Promise.all(words)
  await world.until(one, 'final')
  await world.until(other, 'final')
})

it.each([
  ['by its address', { imageUrl: 'https://photos.test/one.png' }],
  ['as bytes', person],
])(
  'a photo given %s is found after a reload, though another was chosen for another product meanwhile',
  async (_, photo) => {
    const room = world.room()
    const [one, other] = [room.tryOn(product), room.tryOn({ ...product, variantId: '2002' })]
    const look = world.hold('GET', '/funnel')
    one.subscribe(() => {})
    await one.start(photo)
    await look.reached
    await vi.waitFor(() => expect(room.photo.get()?.imageUrl).toBeTruthy())
    const address = room.photo.get()?.imageUrl
    await other.start(person)
    room.close()
    await world.until(world.room().tryOn(product), 'processing')
    expect(world.sent.filter(({ path }) => path === '/generations').map(({ body }) => body.imageUrl)).toEqual([address])
    look.release()
  },
)

it('a photo that is uploaded once another was chosen for another product is found after a reload', async () => {
  const room = world.room()
  const [one, other] = [room.tryOn(product), room.tryOn({ ...product, variantId: '2002' })]
  const look = world.hold('GET', '/funnel')
  const target = world.hold('POST', '/uploads')
  one.subscribe(() => {})
  await one.start(person)
  await Promise.all([look.reached, target.reached])
  await other.start({ imageUrl: 'https://photos.test/other.png' })
  target.release()
  await world.settle()
  room.close()
  const next = world.room()
  await world.until(next.tryOn(product), 'processing')
  expect(next.photo.get()?.imageUrl).toBe('https://photos.test/other.png')
  expect(world.count('POST', '/uploads')).toBe(1)
  look.release()
})

it('where an earlier photo is stays no longer than anything else, however often another one is chosen', async () => {
  const { items } = storage
  for (const name of ['one', 'two', 'three', 'four']) {
    const room = world.room()
    await room.tryOn(product).start({ imageUrl: `https://photos.test/${name}.png` })
    await world.settle()
    await room.tryOn(product).discard({ abandonPaidJob: true })
    room.close()
    world.clock.advance(20 * 3_600_000)
    await world.settle()
  }
  const kept = [...items.values()].join()
  expect(['one', 'two', 'three', 'four'].filter((name) => kept.includes(`/${name}.png`))).toEqual(['three', 'four'])
})

describe('a failed read', () => {
  async function unreadable() {
    const first = world.room()
    await started(first.tryOn(product))
    const { attempt } = await world.until(first.tryOn(product), 'processing')
    first.close()
    storage.meet(isRead, refused)
    const tryOn = world.room().tryOn(product)
    const view = await world.until(tryOn, 'idle')
    return { tryOn, view, attempt }
  }

  it('is not an absence: nothing is submitted, and resume() reads again', async () => {
    const { tryOn, view } = await unreadable()
    expect(view).toMatchObject({ problem: { kind: 'storageUnreadable' }, can: { resume: true } })
    expect(submissions()).toBe(1)
    storage.recover()
    await tryOn.resume()
    await world.until(tryOn, 'final')
    expect(submissions()).toBe(1)
  })

  it('is no empty list: list() rejects', async () => {
    await unreadable()
    const room = world.room()
    await expect(room.list()).rejects.toMatchObject({ kind: 'storageUnreadable' })
    storage.recover()
    expect(await room.list()).toHaveLength(1)
  })

  it('a start over a record that could not be read finds it, and does not overwrite it', async () => {
    const { tryOn, attempt } = await unreadable()
    storage.recover()
    await expect(tryOn.start(person)).rejects.toMatchObject({ kind: 'notAllowed' })
    const view = await world.until(tryOn, 'final')
    expect(view.attempt?.jobId).toBe(attempt?.jobId)
    expect(submissions()).toBe(1)
  })
})

it('whatever is written of an attempt is of version 2, which version 0.1.0 leaves alone', async () => {
  const written = () => JSON.parse(storage.items.get(recordKey)!)
  const asked = world.hold('GET', '/funnel')
  const tryOn = world.room().tryOn(product)
  await tryOn.start(person)
  await asked.reached
  expect(written()).toMatchObject({ phase: 'consented', version: 2 })
  asked.release()
  await world.until(tryOn, 'final')
  expect(written()).toMatchObject({ phase: 'final', version: 2 })
})

describe('records that this version cannot read', () => {
  const good = {
    version: 1,
    savedAt: 0,
    attemptId: 'a',
    startedAt: 0,
    phase: 'final',
    productId: '1001',
    variantId: '2001',
    funnelIds: [12],
    photo: { id: 'p' },
  }
  it.each([
    ['a newer one', JSON.stringify({ ...good, version: 3 })],
    ['a corrupt one', '{"version":1,'],
    ['a foreign one', JSON.stringify({ hello: 'world' })],
  ])('%s is reported and left, and a new start uses another key', async (_, text) => {
    storage.items.set(recordKey, text)
    const tryOn = world.room().tryOn(product)
    const view = await world.until(tryOn, 'idle')
    expect(view.problem).toEqual({ kind: 'recordUnreadable' })
    await tryOn.start(person)
    await world.until(tryOn, 'final')
    expect(storage.items.get(recordKey)).toBe(text)
    const again = await world.until(world.room().tryOn(product), 'final')
    expect(again.attempt?.jobId).toBe(tryOn.get().attempt?.jobId)
  })

  it('one that reads and changes see differently is said to be unreadable, and is not asked for ever', async () => {
    let reads = 0
    const savedAt = Date.UTC(2026, 10, 1) - 700_000
    const old = JSON.stringify({ ...good, phase: 'consented', savedAt })
    storage.meet(
      ({ type, key }) => type === 'get' && key === recordKey,
      () => (reads++, old),
    )
    const { problem } = await world.until(world.room().tryOn(product), 'idle')
    expect([problem?.kind, reads]).toEqual(['storageUnreadable', 3])
  })
})

it('two records of one product, however its ID was spelled, are one that its try-on shows and one in the archive', async () => {
  const before = world.room()
  await world.until(await started(before.tryOn(product)), 'final')
  before.close()
  const first = storage.items.get(recordKey) ?? ''
  storage.items.set(recordKey, '{')
  const spelled = { ...product, productId: 'gid://shopify/Product/1001' }
  const room = world.room()
  const second = await world.until(await started(room.tryOn(spelled)), 'final')
  room.close()
  storage.items.set(recordKey, first)
  const listed = await world.room().list()
  expect(listed.map(({ archived }) => archived)).toEqual([true, false])
  expect(listed[0]?.jobId).toBe(second.attempt?.jobId)
})

describe('a record of version 0.1.0 in the middle of a job', () => {
  const prefix = recordKey.replace(/:try-on:.*/, '')

  /** What that version had written when its page was closed. */
  async function leftByFormerVersion() {
    const now = world.clock.now()
    const before = world.room()
    const { attempt } = await world.until(await started(before.tryOn(product)), 'processing')
    before.close()
    await world.settle()
    storage.items.clear()
    const archived = `${prefix}:attempt:former`
    const record = {
      version: 1,
      savedAt: now,
      attemptId: 'current',
      startedAt: now,
      phase: 'accepted',
      productId: 'gid://shopify/Product/1001',
      variantId: '2001',
      funnelIds: [12],
      photo: { id: 'p', imageUrl: 'https://api.test/p.png' },
      funnel: { id: 12, funnelType: 'upper_body', generationModel: 'SERVICE_FAST' },
      job: { jobId: attempt?.jobId, etaSeconds: 40, acceptedAt: now },
    }
    const { job: _job, ...unknown } = { ...record, attemptId: 'former', phase: 'claimed', startedAt: now - 1_000 }
    const values = {
      [recordKey]: record,
      [archived]: unknown,
      [`${prefix}:visitor`]: { savedAt: now, uniqueUserId: 'ada', requestsLeft: 1, totalRequests: 1 },
      [`${prefix}:photo`]: { savedAt: now, id: 'p', imageUrl: 'https://api.test/p.png' },
      [`${prefix}:index`]: { version: 1, savedAt: now, keys: [recordKey, archived] },
      [`${prefix}:epoch`]: { epoch: 3, savedAt: now },
    }
    for (const [key, value] of Object.entries(values)) storage.items.set(key, JSON.stringify(value))
    return attempt?.jobId
  }

  it('is gone on with, for the same visitor', async () => {
    const jobId = await leftByFormerVersion()
    const room = world.room()
    const view = await world.until(room.tryOn(product), 'final')
    expect([view.attempt?.jobId, view.problem, submissions()]).toEqual([jobId, null, 1])
    expect(room.photo.get()?.id).toBe('p')
    const again = await world.until(world.room().tryOn(product), 'final')
    expect(again.attempt).toEqual(view.attempt)
  })

  it('is listed with what that version had archived', async () => {
    const jobId = await leftByFormerVersion()
    const listed = await world.room().list()
    expect(listed.map((each) => [each.attemptId, each.jobId, each.archived])).toEqual([
      ['current', jobId, false],
      ['former', null, true],
    ])
  })

  it('is wiped by reset() with all that stands beside it', async () => {
    await leftByFormerVersion()
    const room = world.room()
    await room.reset()
    expect(await room.list()).toEqual([])
    expect([...storage.items.keys()].map((key) => key.split(':').at(-1))).toEqual(['catalog'])
  })

  it('is wiped by reset() where only that version has listed it', async () => {
    await leftByFormerVersion()
    const room = world.room()
    await room.ready
    await room.reset()
    const next = world.room()
    await next.ready
    expect([next.visitor.get().uniqueUserId, next.photo.get()]).toEqual([null, null])
  })
})

it.each([
  ['undefined', undefined],
  ['the parsed object', null],
])('an update that gives %s is understood', async (_, absent) => {
  const { items } = storage
  const parsing: FlowStorage = {
    ...storage,
    update(key, change) {
      const text = items.get(key)
      const old: unknown = absent === null && text !== undefined ? JSON.parse(text) : text
      const value = change(old as string | null)
      if (value === null) items.delete(key)
      else items.set(key, value)
    },
  }
  const first = world.room({ storage: parsing })
  const { attempt, durable } = await world.until(await started(first.tryOn(product)), 'processing')
  first.close()
  const again = await world.until(world.room({ storage: parsing }).tryOn(product), 'final')
  expect([durable, again.attempt]).toEqual([true, attempt])
})

it('stores that hand back the parsed object work unchanged', async () => {
  await world.close()
  storage = testStorage({ atomic: false })
  storage.meet(isRead, ({ land }) => JSON.parse((land() as string | null) ?? 'null') ?? undefined)
  world = createWorld({ storage })
  const { attempt } = await world.until(await started(world.room().tryOn(product)), 'final')
  const again = await world.until(world.room().tryOn(product), 'final')
  expect(again.attempt).toEqual(attempt)
})

it('a word whose photo is not made ready yet is not written down: the next load is idle, and nothing went out', async () => {
  const room = world.room()
  const tryOn = room.tryOn(product)
  tryOn.subscribe(() => {})
  const slow = Object.assign(new Blob([]), { arrayBuffer: () => new Promise<never>(() => {}) })
  void tryOn.start(slow).catch(() => undefined)
  await world.settle()
  expect(tryOn.get().state).toBe('preparing')
  room.close()
  const next = await world.until(world.room({ storage: storage.another() }).tryOn(product), 'idle')
  expect([next.problem, submissions()]).toEqual([null, 0])
})
