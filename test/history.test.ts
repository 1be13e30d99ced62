import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FittingRoomOptions } from 'fitting-room'
import { createRoom } from 'fitting-room/core'
import { full, isRead, refused, testStorage, type TestStorage } from './support/storage.ts'
import { createWorld, product, refuses, started, type World } from './support/world.ts'

let world: World
let storage: TestStorage
beforeEach(() => {
  storage = testStorage()
  world = createWorld({ storage })
})
afterEach(() => world.close())

describe('a room’s history', () => {
  it('is read once more where storage would not tell what has changed', async () => {
    const room = world.room()
    room.history.subscribe(() => {})
    const states = () => room.history.get().map(({ state }) => state)
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'preview')
    await world.settle()
    storage.meet(({ type, key }) => type === 'get' && key.endsWith(':catalog'), refused)
    await world.until(tryOn, 'final')
    await world.settle()
    expect(states()).toEqual(['preview'])
    storage.recover()
    await world.pass(10_000)
    expect(states()).toEqual(['final'])
  })

  it.each(['room', 'door'] as const)('goes on with what no card shows after a reload, behind a %s', async (kind) => {
    const before = world.room()
    await world.until(await started(before.tryOn(product)), 'processing')
    before.close()
    const room = kind === 'room' ? world.room() : world.door({ core: async () => ({ createRoom }) })
    room.history.subscribe(() => {})
    await world.pass(60_000)
    expect(room.history.get()).toMatchObject([{ state: 'final', archived: false }])
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('that was read as its room was closed opens it no more', async () => {
    const before = world.room()
    await world.until(await started(before.tryOn(product)), 'processing')
    before.close()
    const { length } = world.sent
    for (let ticks = 0; ticks < 60; ticks++) {
      const room = world.room()
      room.history.subscribe(() => {})
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve()
      room.close()
    }
    await world.pass(60_000)
    expect(world.sent.length).toBe(length)
  })

  it('opens no room that a listener closes as it hears of it, nor keeps what nobody watches any more', async () => {
    const before = world.room()
    await world.until(await started(before.tryOn(product)), 'processing')
    before.close()
    const followed = new Set<object>()
    const pageLife = (life: object) => (followed.add(life), () => followed.delete(life))
    const closing = world.room({ pageLife })
    closing.history.subscribe((entries) => entries.length > 0 && closing.close())
    await world.settle()
    expect(followed.size).toBe(0)
    const left = world.room({ pageLife })
    const watch = left.history.subscribe(() => {})
    await world.settle()
    watch.unsubscribe()
    left.close()
    await left.list()
    const { length } = world.sent
    await world.pass(60_000)
    expect(world.sent.length).toBe(length)
    left.close()
  })

  it('goes on with what is left for another as it is watched', async () => {
    const room = world.room()
    room.history.subscribe(() => {})
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'processing')
    await world.settle()
    await tryOn.startOver()
    await world.pass(60_000)
    expect(room.history.get()).toMatchObject([{ state: 'final', archived: true }])
  })

  it('goes on with what was left for another', async () => {
    const before = world.room()
    const tryOn = await world
      .until(await started(before.tryOn(product)), 'processing')
      .then(() => before.tryOn(product))
    await tryOn.startOver()
    before.close()
    const room = world.room()
    room.history.subscribe(() => {})
    await world.pass(60_000)
    expect(room.history.get()).toMatchObject([{ state: 'final', archived: true }])
  })

  it('of a room that was closed as it was read, and reset meanwhile, opens it no more', async () => {
    const own = storage.another()
    const room = world.room({ storage: own })
    await world.until(await started(room.tryOn(product)), 'processing')
    const reading = own.hold(({ type, key }) => type === 'get' && key.endsWith(':catalog'))
    const list = expect(room.list()).rejects.toMatchObject({ problem: { kind: 'stopped', reason: 'closed' } })
    await reading.reached
    await world.room({ storage: storage.another() }).reset()
    room.close()
    reading.release()
    await list
  })

  it('of a room that is used again is not what its closed try-ons have shown', async () => {
    const room = world.room()
    await world.until(await started(room.tryOn(product)), 'processing')
    room.close()
    const other = world.room({ storage: storage.another() }).tryOn(product)
    other.subscribe(() => {})
    await world.until(other, 'final')
    expect(await room.list()).toMatchObject([{ state: 'final' }])
  })

  it('shows what another page has written late', async () => {
    const watching = world.room({ storage: storage.another() })
    watching.history.subscribe(() => {})
    await world.settle()
    storage.meet((call) => !isRead(call), full)
    const tryOn = await started(world.room().tryOn(product))
    await world.until(tryOn, 'final')
    await tryOn.startOver()
    await world.settle()
    storage.recover()
    await world.pass(20_000)
    expect(watching.history.get()).toMatchObject([{ state: 'final', archived: true }])
  })

  it.each(['room', 'door'] as const)('opens no %s that was closed as it resets', async (kind) => {
    const room = world[kind]()
    room.history.subscribe(() => {})
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'processing')
    const reset = room.reset()
    room.close()
    await reset
    await world.settle()
    const calls = storage.calls.length
    await world.pass(60_000)
    expect(storage.calls.length).toBe(calls)
    // whoever listens anew opens it
    room.history.subscribe(() => {})
    await world.settle()
    expect(storage.calls.length).toBeGreaterThan(calls)
  })

  it.each(['room', 'door'] as const)('of a %s is there once its address is', async (kind) => {
    const before = world.room()
    await world.until(await started(before.tryOn(product)), 'final')
    before.close()
    let isThere = false
    const address = () => {
      if (!isThere) throw new Error('no address yet')
      return 'https://api.test'
    }
    const room = world[kind]({ baseUrl: address })
    room.history.subscribe(() => {})
    await world.settle()
    isThere = true
    await world.pass(10_000)
    expect(room.history.get().map(({ state }) => state)).toEqual(['final'])
  })

  it('has no consent that is over, of which nothing has come', async () => {
    const ended = world.room()
    const held = world.hold('GET', '/funnel')
    await started(ended.tryOn(product))
    await held.reached
    const room = world.room({ storage: storage.another() })
    room.history.subscribe(() => {})
    await world.settle()
    expect(room.history.get().map(({ state }) => state)).toEqual(['preparing'])
    ended.close()
    await world.pass(660_000)
    expect([room.history.get(), await room.list()]).toEqual([[], []])
    held.release()
  })

  it('says that what waits for longer than its consent lasts waits for another word', async () => {
    const ended = world.room()
    world.fault('POST', '/generations', [refuses('rateLimitExceeded', { retryAfter: 900 })])
    await world.until(await started(ended.tryOn(product)), 'stalled')
    ended.close()
    await world.pass(660_000)
    const [waiting] = await world.room({ storage: storage.another() }).list()
    expect([waiting?.phase, waiting?.state]).toEqual(['throttled', 'stalled'])
  })

  it('says in time that nobody knows what a submission has come to whose page has ended', async () => {
    const ended = world.room()
    const held = world.hold('POST', '/generations', 'after')
    await started(ended.tryOn(product))
    await held.reached
    const room = world.room({ storage: storage.another() })
    room.history.subscribe(() => {})
    await world.settle()
    const states = () => room.history.get().map(({ state }) => state)
    expect(states()).toEqual(['submitting'])
    ended.close()
    for (let minute = 0; minute < 11; minute += 1) await world.pass(60_000)
    expect(states()).toEqual(['outcomeUnknown'])
    held.release()
  })

  it.each(['onHide', 'close'] as const)('shows what has changed while nothing was heard: %s', async (way) => {
    const own = world.room()
    await world.until(await started(own.tryOn(product)), 'final')
    let life: Parameters<NonNullable<FittingRoomOptions['pageLife']>>[0] | undefined
    const room = world.room({ storage: storage.another(), pageLife: (told) => ((life = told), () => {}) })
    room.history.subscribe(() => {})
    await world.settle()
    expect(room.history.get()).toHaveLength(1)
    if (way === 'close') room.close()
    else life?.onHide(false)
    await own.tryOn(product).discard()
    await world.settle()
    if (way === 'close') void room.ready
    else life?.onShow()
    await world.settle()
    expect(room.history.get()).toEqual([])
  })

  it('opens what another tab runs, which does at once what is asked for', async () => {
    const own = world.room()
    await world.until(await started(own.tryOn(product)), 'final')
    const other = world.room({ storage: storage.another() })
    other.history.subscribe(() => {})
    await world.settle()
    await other.history.get()[0]!.open().discard()
    expect(await own.list()).toEqual([])
  })
})
