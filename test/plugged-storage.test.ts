import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStorage } from 'unstorage'
import fsDriver from 'unstorage/drivers/fs'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FlowStorage } from 'fitting-room'
import { mapArea } from './storage/map-area.ts'
import { testStorage, type TestStorage } from './support/storage.ts'
import { createWorld, person, product, type World } from './support/world.ts'

const folder = await mkdtemp(join(tmpdir(), 'unstorage-'))
afterAll(() => rm(folder, { recursive: true }))

const items = new Map<string, string>()
/** Stores as they come from npm, with nothing between them and the room. */
const stores: [string, FlowStorage][] = [
  ['unstorage, memory driver', createStorage()],
  ['unstorage, fs driver', createStorage({ driver: fsDriver({ base: folder }) })],
  [
    'a Map',
    {
      getItem: (key) => items.get(key),
      setItem: (key, value) => items.set(key, value),
      removeItem: (key) => items.delete(key),
    },
  ],
]

describe.each(stores)('%s', (_, storage) => {
  let world: World
  afterEach(() => world.close())

  it('plugs in unchanged: a reload goes on with the same job, and reset() leaves nothing of the shopper', async () => {
    world = createWorld({ storage, realStorage: true })
    const first = world.room()
    const tryOn = first.tryOn(product)
    await tryOn.start(person)
    const { attempt, durable, exclusive } = await world.until(tryOn, 'processing')
    expect([durable, exclusive]).toEqual([true, false])
    first.close()
    const room = world.room()
    const again = await world.until(room.tryOn(product), 'final')
    expect(again.attempt?.jobId).toBe(attempt?.jobId)
    expect(world.count('POST', '/generations')).toBe(1)
    await room.reset()
    expect(await room.list()).toEqual([])
    expect((await world.until(room.tryOn(product), 'idle')).attempt).toBeNull()
  })
})

describe('pages that nothing keeps apart', () => {
  let world: World
  let storage: TestStorage
  beforeEach(() => {
    storage = testStorage({ atomic: false })
    world = createWorld({ storage })
  })
  afterEach(() => world.close())

  it('leave each other what is being prepared', async () => {
    const held = world.hold('GET', '/funnel')
    const tryOn = world.room().tryOn(product)
    await tryOn.start(person)
    await held.reached
    const other = world.room({ storage: storage.another() }).tryOn(product)
    await world.until(other, 'idle')
    await world.settle()
    held.release()
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('put a later word in the place of what a page has left that is gone', async () => {
    const held = world.hold('GET', '/funnel')
    const first = world.room()
    await first.tryOn(product).start(person)
    await held.reached
    first.close()
    held.release()
    const tryOn = world.room({ storage: storage.another() }).tryOn(product)
    await world.until(tryOn, 'idle')
    await tryOn.start(person)
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })
})

it('localStorage itself is durable, whatever the items of the shop are called', async () => {
  const area: Storage = mapArea()
  for (const name of ['update', 'photos', 'copies', 'removeItems', 'durable']) area[name] = 'of the shop'
  const world = createWorld({ storage: area })
  const first = world.room()
  const tryOn = first.tryOn(product)
  await tryOn.start(person)
  const { attempt, durable } = await world.until(tryOn, 'processing')
  first.close()
  const room = world.room()
  const again = await world.until(room.tryOn(product), 'final')
  expect([durable, again.attempt]).toEqual([true, attempt])
  await room.reset()
  expect(await room.list()).toEqual([])
  await world.close()
})
