import { afterEach, beforeEach, expect, it } from 'vitest'
import { recordKey, testStorage, type TestStorage } from './support/storage.ts'
import { createWorld, person, product, started, type World } from './support/world.ts'

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

it('a record with a job is polled once before it expires', async () => {
  const first = world.room()
  await world.until(await started(first.tryOn(product)), 'processing')
  first.close()
  world.clock.advance(retentionMs + 1)
  await world.until(world.room().tryOn(product), 'final')
  expect(world.count('POST', '/generations')).toBe(1)
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
