import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { StoredPhoto } from 'fitting-room'
import { isRecord, isWrite, recordKey, testStorage, type TestStorage } from './support/storage.ts'
import { answers, createWorld, lost, person, product, started, type World } from './support/world.ts'

const retentionMs = 86_400_000
let world: World
let storage: TestStorage
beforeEach(() => {
  storage = testStorage()
  world = createWorld({ storage })
})
afterEach(() => world.close())

it('a finished record is gone after its retention', async () => {
  const room = world.room()
  await world.until(await started(room.tryOn(product)), 'final')
  room.close()
  world.clock.advance(retentionMs + 1)
  expect((await world.until(world.room().tryOn(product), 'idle')).attempt).toBeNull()
})

it('a photo that expires while its page is open is not used again', async () => {
  const room = world.room()
  const tryOn = await started(room.tryOn(product))
  await world.until(tryOn, 'final')
  world.clock.advance(retentionMs + 1)
  await expect(tryOn.retry()).rejects.toMatchObject({ problem: { kind: 'photo', reason: 'missing' } })
  expect([room.photo.get(), world.count('POST', '/generations')]).toEqual([null, 1])
})

it('an expired record that another page removes at the same time is gone, and storage works', async () => {
  const room = world.room()
  await world.until(await started(room.tryOn(product)), 'final')
  room.close()
  const own = storage.another()
  const other = world.room({ storage: own })
  await other.ready
  world.clock.advance(retentionMs + 1)
  const removal = own.hold((call) => isRecord(call) && isWrite(call))
  const tryOn = other.tryOn(product)
  tryOn.subscribe(() => {})
  await removal.reached
  storage.items.delete(recordKey)
  removal.release()
  const { problem, durable } = await world.until(tryOn, 'idle')
  expect([problem, durable]).toEqual([null, true])
})

it('a record with a job is polled once before it expires', async () => {
  const first = world.room()
  await world.until(await started(first.tryOn(product)), 'processing')
  first.close()
  world.clock.advance(retentionMs + 1)
  await world.until(world.room().tryOn(product), 'final')
  expect(world.count('POST', '/generations')).toBe(1)
})

it('a job that the service knows no more is gone a day after it said so', async () => {
  const first = world.room()
  await world.until(await started(first.tryOn(product)), 'processing')
  first.close()
  world.fault('GET', '/generations/', [answers(404, { error: 'Job not found' })])
  world.clock.advance(30 * retentionMs)
  const second = world.room()
  await world.until(second.tryOn(product), 'protocolError')
  second.close()
  world.clock.advance(retentionMs + 1)
  await world.room().ready
  await world.settle()
  expect(storage.items.has(recordKey)).toBe(false)
})

it('visitor and photo expire like everything else', async () => {
  const room = world.room()
  await world.until(await started(room.tryOn(product)), 'final')
  world.clock.advance(retentionMs + 1)
  const late = world.room()
  await late.ready
  expect(late.visitor.get().uniqueUserId).toBeNull()
  expect(late.photo.get()).toBeNull()
})

it('a list that finds an expired record keeps what was begun in its place meanwhile', async () => {
  const tryOn = await started(world.room().tryOn(product))
  await world.until(tryOn, 'final')
  world.clock.advance(retentionMs + 1)
  const slow = storage.another()
  const read = slow.hold(({ type, key }) => type === 'get' && key === recordKey, 'midway')
  const listing = world.room({ storage: slow }).list()
  await read.reached
  const post = world.hold('POST', '/generations', 'after')
  await tryOn.retry(person)
  await post.reached
  read.release()
  await listing
  expect(JSON.parse(storage.items.get(recordKey) ?? '')).toMatchObject({ phase: 'claimed' })
  post.release()
})

describe('whatever is kept is gone after a month, once the room is opened and nothing else is looked at', () => {
  const month = 30 * retentionMs
  const left = () =>
    [...storage.items.keys()].filter((key) => /:(try-on|attempt|photo|visitor)/.test(key) && !key.endsWith(':lease'))

  /** A month later a page shows another product. */
  async function later() {
    world.clock.advance(month)
    const room = world.room()
    room.tryOn({ ...product, variantId: '2002' }).subscribe(() => {})
    await room.ready
    await world.settle()
    room.close()
    await world.settle()
  }

  it('a finished record with its picture, and the visitor', async () => {
    const room = world.room()
    await world.until(await started(room.tryOn(product)), 'final')
    room.close()
    expect(left()).toContain(recordKey)
    await later()
    expect(left()).toEqual([])
  })

  it('an archived attempt', async () => {
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'final')
    await tryOn.retry()
    await world.until(tryOn, 'final')
    room.close()
    await later()
    expect(left()).toEqual([])
  })

  it('photos that were never uploaded', async () => {
    const photos = new Map<string, StoredPhoto>()
    const photoStore = {
      get: (key: string) => photos.get(key),
      set: (key: string, photo: StoredPhoto) => void photos.set(key, photo),
      remove: (key: string) => void photos.delete(key),
    }
    const room = world.room({ photoStore })
    for (const variantId of ['2001', '2002']) {
      const put = world.hold('PUT', '/photos')
      await started(room.tryOn({ ...product, variantId }))
      await put.reached
    }
    room.close()
    expect(photos.size).toBe(2)
    world.clock.advance(month)
    await world.room({ photoStore }).ready
    await world.settle()
    expect(photos.size).toBe(0)
  })

  it('but a job that may still be running has one opening more', async () => {
    const room = world.room()
    await world.until(await started(room.tryOn(product)), 'processing')
    room.close()
    await later()
    expect(left().filter((key) => isRecord({ key }))).toEqual([recordKey])
    await later()
    expect(left().filter((key) => isRecord({ key }))).toEqual([])
  })

  it('the lease of a page that was killed', async () => {
    const room = world.room()
    await world.until(await started(room.tryOn(product)), 'final')
    const lease = storage.items.get(`${recordKey}:lease`) ?? ''
    room.close()
    await world.settle()
    storage.items.set(`${recordKey}:lease`, lease)
    await later()
    expect([...storage.items.keys()].filter((key) => key.endsWith(':lease'))).toEqual([])
  })

  it('what an unknown submission left in the archive has one opening more as well', async () => {
    world.fault('POST', '/generations', [lost])
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'outcomeUnknown')
    await tryOn.startOver()
    room.close()
    await later()
    await later()
    expect(left()).toEqual([])
  })
})

it('a record that was written by a clock that ran ahead is kept no longer than another', async () => {
  const ahead = { ...world.clock, now: () => world.clock.now() + 365 * retentionMs }
  const room = world.room({ clock: ahead })
  await world.until(await started(room.tryOn(product)), 'final')
  room.close()
  const other = { ...product, variantId: '2002' }
  for (const _load of [1, 2]) {
    const again = world.room()
    again.tryOn(other).subscribe(() => {})
    await again.ready
    await world.settle()
    again.close()
    world.clock.advance(retentionMs + 1)
  }
  const last = world.room()
  await last.ready
  await world.settle()
  expect([...storage.items.keys()]).not.toContain(recordKey)
})

it('what was left is remembered for its time, and no longer in a page that lives on', async () => {
  const tryOn = world.room().tryOn(product)
  tryOn.subscribe(() => {})
  for (let day = 0; day < 4; day += 1) {
    const asked = world.hold('GET', '/funnel')
    void tryOn.start({ imageUrl: `https://photos.test/${day}.png` }).catch(() => undefined)
    await asked.reached
    await tryOn.startOver()
    asked.release()
    world.clock.advance(retentionMs + 1)
    await world.settle()
  }
  const catalog = [...storage.items].find(([key]) => key.endsWith(':catalog'))?.[1] ?? '{}'
  expect(Object.keys((JSON.parse(catalog) as { left: object }).left)).toHaveLength(1)
})
