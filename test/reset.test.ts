import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { full, isRecord, recordKey, testStorage, type TestStorage } from './support/storage.ts'
import { createWorld, product, started, type World } from './support/world.ts'

let world: World
let storage: TestStorage
beforeEach(() => {
  storage = testStorage()
  world = createWorld({ storage })
})
afterEach(() => world.close())

describe('reset()', () => {
  it('leaves nothing but how often the room was reset', async () => {
    await world.close()
    storage = testStorage({ atomic: false })
    world = createWorld({ storage })
    const room = world.room()
    await world.until(await started(room.tryOn(product)), 'final')
    await room.reset()
    expect([...storage.items.keys()].map((key) => key.split(':').at(-1))).toEqual(['catalog'])
    const [catalog] = [...storage.items.values()].map((text): unknown => JSON.parse(text))
    const expected = { version: 2, savedAt: expect.any(Number), entries: {}, gone: {}, epochs: expect.any(Object) }
    expect(catalog).toEqual(expected)
  })

  it('fails where it can not know what has to go', async () => {
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
