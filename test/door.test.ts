import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Core, FittingRoom, FittingRoomOptions, FlowStorage, RoomOptions, TryOn } from 'fitting-room'
import { createRoom, type Outside } from 'fitting-room/core'
import { memoryStorage } from 'fitting-room/storage/memory'
import { catalogOf, namesOf } from '../src/records/names.ts'
import { reported } from './support/reported.ts'
import { createWorld, lost, person, product, started, type World } from './support/world.ts'

let world: World
beforeEach(() => void (world = createWorld({ storage: diskOf() })))
afterEach(() => world.close())

/** A storage that counts as one that lasts. */
const diskOf = (): FlowStorage => ({ ...memoryStorage(), durable: true })

/** A loader of the core that counts, waits or fails as a test says. */
function loader({ fails = 0, held = false } = {}) {
  let release = () => {}
  const gate = held ? new Promise<void>((resolve) => (release = resolve)) : null
  const loads = { count: 0, release: () => release(), core }
  async function core(): Promise<{ createRoom(options: RoomOptions, outside?: Outside): Core }> {
    loads.count++
    await gate
    if (loads.count <= fails) throw new TypeError('Failed to fetch dynamically imported module')
    return { createRoom }
  }
  return loads
}

const stateOf = (tryOn: TryOn) => tryOn.get().state
const watched = (tryOn: TryOn): TryOn => {
  tryOn.subscribe(() => {})
  return tryOn
}
const open = (loads = loader(), options: Partial<FittingRoomOptions> = {}) =>
  world.door({ core: loads.core, ...options })

describe('a page on which nobody tries anything on', () => {
  it('reads once for fifty cards, and asks for no lock, sends no message and loads no core', async () => {
    const getItem = vi.spyOn(world.storage, 'getItem')
    const setItem = vi.spyOn(world.storage, 'setItem')
    const postMessage = vi.spyOn(BroadcastChannel.prototype, 'postMessage')
    const loads = loader()
    const room = open(loads)
    const cards = Array.from({ length: 50 }, (_, index) => room.tryOn({ ...product, variantId: String(3000 + index) }))
    for (const card of cards) watched(card)
    room.photo.subscribe(() => {})
    room.visitor.subscribe(() => {})
    await world.settle()
    expect(new Set(cards.map(stateOf))).toEqual(new Set(['idle']))
    expect(getItem).toHaveBeenCalledTimes(1)
    expect(setItem).not.toHaveBeenCalled()
    // the world's own are null
    expect(postMessage.mock.calls.filter(([message]) => message !== null)).toEqual([])
    expect(loads.count).toBe(0)
    expect(world.clock.advanceToNext(), 'a timer was left').toBe(false)
    vi.restoreAllMocks()
  })

  it('has the core make nothing for a card that nobody tries on, though it is loaded', async () => {
    const asked: unknown[] = []
    const core = async () => ({
      createRoom(options: RoomOptions, outside?: Outside): Core {
        const made = createRoom(options, outside)
        return { ...made, tryOn: (of) => (asked.push(of.variantId), made.tryOn(of)) }
      },
    })
    const room = world.door({ core })
    await started(room.tryOn(product))
    const cards = ['3000', '3001'].map((variantId) => room.tryOn({ ...product, variantId }))
    cards.forEach(watched)
    await world.settle()
    expect(cards.map(stateOf)).toEqual(['idle', 'idle'])
    expect(new Set(asked)).toEqual(new Set([product.variantId]))
  })

  it('loads the core where that is wanted before, and reads nothing for it', async () => {
    const getItem = vi.spyOn(world.storage, 'getItem')
    const loads = loader({ fails: 1 })
    const load = vi.fn<() => Promise<never>>(() => Promise.reject(new Error('away')))
    const room = open(loads, { photos: { load } })
    await expect(room.preload()).rejects.toMatchObject({ kind: 'core' })
    await expect(room.preload()).rejects.toMatchObject({ problem: { kind: 'photo', reason: 'unprepared' } })
    load.mockResolvedValue({ preparePhoto: async (photo: never) => photo } as never)
    await room.preload()
    expect([loads.count, getItem.mock.calls.length]).toEqual([2, 0])
    expect(load).toHaveBeenCalledTimes(2)
    watched(room.tryOn(product))
    await room.list()
    expect(loads.count).toBe(2)
    vi.restoreAllMocks()
  })

  it('forgets what waits for the core when another page resets the room, though the core was loaded since', async () => {
    const loads = loader({ fails: 1 })
    const room = open(loads)
    const tryOn = watched(room.tryOn(product))
    await world.settle()
    await expect(tryOn.start(person)).rejects.toMatchObject({ kind: 'core' })
    await room.preload()
    expect(stateOf(tryOn)).toBe('stalled')
    await world.room().reset()
    await world.settle()
    expect(tryOn.get()).toMatchObject({ state: 'idle', problem: null })
  })

  it.each([
    ['of its own', (room: FittingRoom) => room.reset()],
    ['of another page', () => world.room().reset()],
    ['of another page that the core hears of', async (room: FittingRoom) => (await room.ready, world.room().reset())],
  ])('tells whoever watches that a shopper has gone, though nothing was begun: by a reset %s', async (_, reset) => {
    const room = open()
    const tryOn = watched(room.tryOn(product))
    await world.settle()
    const states: string[] = []
    tryOn.subscribe(({ state }) => states.push(state))
    await world.settle()
    await reset(room)
    await world.settle()
    expect(states).toEqual(['restoring', 'idle'])
  })

  it('is shown without an address as it is where nothing is kept, and developers are told of it once', async () => {
    const { told, end } = reported()
    const room = open(loader(), { baseUrl: undefined } as never)
    const cards = ['2001', '2002'].map((variantId) => watched(room.tryOn({ ...product, variantId })))
    await vi.waitFor(() => expect(told).not.toEqual([]), { timeout: 15_000 })
    for (const card of cards)
      expect(card.get()).toMatchObject({
        state: 'idle',
        problem: { kind: 'input', at: 'baseUrl', given: 'undefined' },
      })
    await expect(cards[0]?.start(person)).rejects.toMatchObject({ kind: 'input', problem: { at: 'baseUrl' } })
    await world.settle()
    expect(told).toEqual([expect.objectContaining({ kind: 'input' })])
    end()
    expect(cards[0]?.get()).toMatchObject({ state: 'idle', problem: { kind: 'input' }, can: { start: true } })
  })

  it('rejects a reset() as long as its address is none, and nothing else does', async () => {
    const unheard = vi.fn<(error: unknown) => void>()
    process.on('unhandledRejection', unheard)
    const room = open(loader(), { baseUrl: () => '' })
    void room.tryOn(product).start(person)
    void room.claim('none')
    void room.reset()
    await expect(room.reset()).rejects.toMatchObject({ kind: 'input', problem: { at: 'baseUrl' } })
    await world.settle()
    process.off('unhandledRejection', unheard)
    expect(unheard).not.toHaveBeenCalled()
  })

  it('shows the idle view that the core shows', async () => {
    const [behind, before] = [watched(world.room({ namespace: 'a' }).tryOn(product)), watched(open().tryOn(product))]
    await world.settle()
    expect(before.get()).toEqual(behind.get())
  })
})

describe('the core is loaded', () => {
  it('for a record that is kept, and for no other card', async () => {
    await world.until(await started(world.room().tryOn(product)), 'final')
    const loads = loader()
    const room = open(loads)
    const other = watched(room.tryOn({ ...product, variantId: '2002' }))
    await world.settle()
    expect([stateOf(other), loads.count]).toEqual(['idle', 0])
    expect(await world.until(room.tryOn(product), 'final')).toMatchObject({ group: 'done' })
    expect(loads.count).toBe(1)
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('for the photo that is kept, where somebody watches it', async () => {
    await world.until(await started(world.room().tryOn(product)), 'final')
    const room = open()
    const shown = vi.fn<(photo: unknown) => void>()
    room.photo.subscribe(shown)
    await vi.waitFor(() => expect(shown).toHaveBeenLastCalledWith(expect.objectContaining({ id: expect.any(String) })))
  })

  it('for what another page is at, which this one then shows', async () => {
    const loads = loader()
    const here = watched(open(loads).tryOn(product))
    await world.settle()
    expect([stateOf(here), loads.count]).toEqual(['idle', 0])
    const there = await started(world.room().tryOn(product))
    await world.until(there, 'final')
    await world.until(here, 'final')
    expect(loads.count).toBe(1)
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('for what has expired, which it removes', async () => {
    await world.until(await started(world.room({ retentionMs: 1_000 }).tryOn(product)), 'final')
    await world.pass(10_000)
    const loads = loader()
    watched(open(loads, { retentionMs: 1_000 }).tryOn({ ...product, variantId: '2002' }))
    await vi.waitFor(() => expect(loads.count).toBe(1))
  })

  const needs: [string, (room: ReturnType<typeof open>) => unknown][] = [
    ['list()', (room) => room.list()],
    ['ready', (room) => room.ready],
    ['reset()', (room) => room.reset()],
    ['history', (room) => room.history.subscribe(() => {})],
    ['a call of the client', (room) => room.client.getRequestsLeft()],
    ['the ready of a try-on', (room) => room.tryOn(product).ready],
    [
      'result()',
      (room) =>
        void room
          .tryOn(product)
          .result()
          .catch(() => undefined),
    ],
  ]
  it.each(needs)('for %s', async (_, need) => {
    const loads = loader()
    const done = need(open(loads))
    await world.settle()
    await done
    expect(loads.count).toBe(1)
  })

  it('where storage cannot be looked into, or does not answer', async () => {
    const failing: FlowStorage = { ...diskOf(), getItem: () => Promise.reject(new Error('forbidden')) }
    const hanging: FlowStorage = { ...diskOf(), getItem: () => new Promise(() => {}) }
    const newer: FlowStorage = { ...diskOf(), getItem: () => JSON.stringify({ version: 9 }) }
    const all = [failing, hanging, newer].map((storage) => ({ loads: loader(), storage }))
    for (const { loads, storage } of all) watched(open(loads, { storage }).tryOn(product))
    await world.pass(2_500)
    expect(all.map(({ loads }) => loads.count)).toEqual([1, 1, 1])
  })
})

describe('a consent', () => {
  it('is shown at once and carried out when the core is there, once', async () => {
    const loads = loader({ held: true })
    const tryOn = watched(open(loads).tryOn(product))
    await world.settle()
    const states: string[] = []
    tryOn.subscribe(({ state }) => states.push(state))
    const done = tryOn.start(person)
    expect(tryOn.get()).toMatchObject({ state: 'preparing', attempt: null, can: { startOver: true } })
    loads.release()
    await world.until(tryOn, 'final')
    await done
    // each state once, in order: none comes back
    expect(states.filter((state, at) => state !== states[at - 1])).toEqual([
      'preparing',
      'submitting',
      'processing',
      'preview',
      'final',
    ])
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('that is left while the core is loaded sends nothing', async () => {
    const loads = loader({ held: true })
    const tryOn = watched(open(loads).tryOn(product))
    await world.settle()
    const done = tryOn.start(person)
    await tryOn.startOver()
    expect(stateOf(tryOn)).toBe('idle')
    loads.release()
    await expect(done).rejects.toMatchObject({ kind: 'stopped' })
    await world.pass(60_000)
    expect(world.sent).toEqual([])
  })

  it('of two, the later one’s photo counts', async () => {
    const loads = loader({ held: true })
    const tryOn = watched(open(loads).tryOn(product))
    await world.settle()
    const first = tryOn.start({ imageUrl: 'https://photos.test/first.png' })
    const second = tryOn.start(person)
    loads.release()
    await expect(first).rejects.toMatchObject({ kind: 'stopped' })
    await second
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
    expect(world.count('PUT', '/photos')).toBe(1)
  })

  it('is too old where the core took more than a minute', async () => {
    const loads = loader({ held: true })
    const tryOn = watched(open(loads).tryOn(product))
    await world.settle()
    const done = tryOn.start(person)
    await world.pass(61_000)
    loads.release()
    await expect(done).rejects.toMatchObject({ kind: 'consentExpired' })
    expect(world.count('POST', '/generations')).toBe(0)
  })

  it('of a shopper who has gone meanwhile is carried out by nobody', async () => {
    const loads = loader({ held: true })
    const tryOn = watched(open(loads).tryOn(product))
    await world.settle()
    const done = tryOn.start(person)
    await world.room().reset()
    await world.settle()
    loads.release()
    await expect(done).rejects.toMatchObject({ kind: 'stopped' })
    await world.pass(60_000)
    expect(world.count('POST', '/generations')).toBe(0)
  })
})

describe('a core that cannot be loaded', () => {
  it('is said, and the consent waits with its photo for the next intent', async () => {
    const loads = loader({ fails: 1 })
    const tryOn = watched(open(loads).tryOn(product))
    await world.settle()
    await expect(tryOn.start(person)).rejects.toMatchObject({ kind: 'core', problem: { reload: false } })
    expect(tryOn.get()).toMatchObject({
      state: 'stalled',
      group: 'stopped',
      attempt: null,
      problem: { kind: 'core', reload: false },
      can: { resume: true, retry: true, startOver: true },
    })
    await tryOn.resume()
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('takes another photo, or leaves', async () => {
    const loads = loader({ fails: 2 })
    const tryOn = watched(open(loads).tryOn(product))
    await world.settle()
    await expect(tryOn.start({ imageUrl: 'https://photos.test/first.png' })).rejects.toMatchObject({ kind: 'core' })
    await tryOn.startOver()
    expect(tryOn.get()).toMatchObject({ state: 'idle', problem: null })
    await expect(tryOn.start({ imageUrl: 'https://photos.test/second.png' })).rejects.toMatchObject({ kind: 'core' })
    await tryOn.retry(person)
    await world.until(tryOn, 'final')
    expect(world.count('PUT', '/photos')).toBe(1)
  })

  it('that fails again at once needs a reload', async () => {
    const tryOn = watched(open(loader({ fails: 2 })).tryOn(product))
    await world.settle()
    await expect(tryOn.start(person)).rejects.toMatchObject({ problem: { reload: false } })
    await expect(tryOn.resume()).rejects.toMatchObject({ problem: { reload: true } })
    expect(tryOn.get().problem).toEqual({ kind: 'core', reload: true })
  })

  it('shows what is kept as not looked at, and looks when it is asked to go on', async () => {
    await world.until(await started(world.room().tryOn(product)), 'final')
    const tryOn = watched(open(loader({ fails: 1 })).tryOn(product))
    await world.settle()
    expect(tryOn.get()).toMatchObject({ state: 'stalled', problem: { kind: 'core' } })
    await tryOn.resume().catch(() => undefined)
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })
})

it('a card that waits for the core follows once it is there, whatever it was loaded for', async () => {
  const before = world.room()
  await world.until(await started(before.tryOn(product)), 'final')
  before.close()
  const room = open(loader({ fails: 1 }))
  const tryOn = watched(room.tryOn(product))
  await world.settle()
  expect(stateOf(tryOn)).toBe('stalled')
  await room.list()
  await vi.waitFor(() => expect(stateOf(tryOn)).toBe('final'))
})

describe('room.history', () => {
  it('is what list() gives, live, here and in another tab; its present attempt is the try-on itself', async () => {
    const [here, there] = [open(), open()]
    const shown: string[][] = []
    there.history.subscribe((entries) => shown.push(entries.map(({ state }) => state)))
    const tryOn = await started(here.tryOn(product))
    await world.until(tryOn, 'final')
    await vi.waitFor(() => expect(shown.at(-1)).toEqual(['final']))
    expect(shown).toEqual(expect.arrayContaining([['processing'], ['preview'], ['final']]))
    const [entry] = there.history.get()
    expect(entry).toMatchObject({
      productId: '1001',
      variantId: '2001',
      archived: false,
      result: { status: 'SUCCESS' },
    })
    expect(entry?.open()).toBe(there.tryOn(product))
    await there.reset()
    await vi.waitFor(() => expect(shown.at(-1)).toEqual([]))
    expect(here.history.initial).toEqual([])
  })
})

it('a room that is closed looks again when it is used again', async () => {
  const room = open()
  const tryOn = watched(room.tryOn(product))
  await world.settle()
  room.close()
  await world.until(await started(world.room().tryOn(product)), 'final')
  watched(tryOn)
  await world.until(tryOn, 'final')
})

it('a room that is closed looks again when somebody else watches, while who watched before still does', async () => {
  const room = open()
  const tryOn = watched(room.tryOn(product))
  await world.until(await started(tryOn), 'final')
  room.close()
  const other = world.room().tryOn(product)
  await other.startOver()
  await world.settle()
  expect(stateOf(tryOn)).toBe('final')
  watched(tryOn)
  await world.until(tryOn, 'idle')
})

it('a room that is closed, and used again, shows nothing of a shopper who has gone meanwhile', async () => {
  const room = open()
  for (const each of [room.history, room.visitor, room.photo]) each.subscribe(() => {})
  await world.until(await started(room.tryOn(product)), 'final')
  await vi.waitFor(() => expect(room.history.get()).toHaveLength(1))
  room.close()
  await world.room().reset()
  watched(room.tryOn({ ...product, variantId: '2002' }))
  await vi.waitFor(() => expect([room.history.get(), room.photo.get()]).toEqual([[], null]))
  expect(room.visitor.get().uniqueUserId).toBeNull()
})

describe('a shopper who has gone', () => {
  it('whose consent waited without anybody watching has nothing sent', async () => {
    const loads = loader({ held: true })
    const done = open(loads).tryOn(product).start(person)
    await world.settle()
    await world.room().reset()
    await world.settle()
    loads.release()
    await expect(done).rejects.toMatchObject({ kind: 'stopped' })
    await world.pass(60_000)
    expect(world.sent).toEqual([])
  })

  it('is nobody whose consent is carried out where the reset was not heard', async () => {
    vi.stubGlobal('BroadcastChannel', undefined)
    const loads = loader({ held: true })
    const done = open(loads).tryOn(product).start(person)
    await Promise.resolve()
    vi.unstubAllGlobals()
    await world.settle()
    await world.room().reset()
    loads.release()
    await expect(done).rejects.toMatchObject({ kind: 'stopped' })
    await world.pass(60_000)
    expect(world.sent).toEqual([])
  })

  it.each(['start', 'claim'] as const)(
    'is nobody whose %s() is carried out where neither the look nor anybody could tell of the reset',
    async (what) => {
      const from = world.room({ storage: diskOf() })
      const ticketed = await started(from.tryOn(product))
      await world.until(ticketed, 'final')
      const ticket = await ticketed.ticket()
      const before = world.count('POST', '/generations')
      vi.stubGlobal('BroadcastChannel', undefined)
      onTestFinished(() => void vi.unstubAllGlobals())
      let looks = 0
      const disk = world.storage
      const storage: FlowStorage = {
        ...disk,
        getItem: (key) => (looks++ === 0 ? Promise.reject(new Error('for once')) : disk.getItem(key)),
      }
      const loads = loader({ held: true })
      const room = open(loads, { storage })
      const done = what === 'start' ? room.tryOn(product).start(person) : room.claim(ticket)
      await world.settle()
      world.clock.advance(1_000)
      await world.room().reset()
      world.clock.advance(1_000)
      loads.release()
      await expect(done).rejects.toMatchObject({ problem: { kind: 'stopped', reason: 'startedOver' } })
      await world.pass(60_000)
      expect(world.count('POST', '/generations')).toBe(before)
      expect(await world.room().list()).toEqual([])
    },
  )

  it('leaves no consent to be seen where nobody watches any more', async () => {
    const loads = loader({ held: true })
    const room = open(loads)
    const tryOn = room.tryOn(product)
    const { unsubscribe } = tryOn.subscribe(() => {})
    await world.settle()
    unsubscribe()
    const done = expect(tryOn.start(person)).rejects.toMatchObject({ kind: 'stopped' })
    loads.release()
    await room.ready
    await world.room().reset()
    await done
    expect(stateOf(tryOn)).not.toBe('preparing')
  })

  it('leaves no photo for the next one’s retry in a page that was kept meanwhile', async () => {
    const events = new EventTarget()
    vi.stubGlobal('addEventListener', events.addEventListener.bind(events))
    const tryOn = open(loader({ fails: 1 })).tryOn(product)
    await expect(tryOn.start(person)).rejects.toMatchObject({ kind: 'core' })
    vi.unstubAllGlobals()
    events.dispatchEvent(new Event('pagehide'))
    await world.room().reset()
    await world.settle()
    events.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))
    await expect(tryOn.retry()).rejects.toMatchObject({ kind: 'stopped' })
    await world.pass(60_000)
    expect(world.sent).toEqual([])
  })

  it('leaves no photo for the next one’s retry, also where the room heard of no reset', async () => {
    const room = open(loader({ fails: 1 }))
    const tryOn = room.tryOn(product)
    const { unsubscribe } = tryOn.subscribe(() => {})
    await world.settle()
    await expect(tryOn.start(person)).rejects.toMatchObject({ kind: 'core' })
    unsubscribe()
    room.close()
    await world.room().reset()
    watched(tryOn)
    await world.settle()
    await tryOn.retry().catch(() => undefined)
    await world.pass(60_000)
    expect(world.sent).toEqual([])
    expect(stateOf(tryOn)).toBe('idle')
  })

  it('takes nothing from the first consent of the next one', async () => {
    const tryOn = watched(open().tryOn(product))
    await world.settle()
    await world.room().reset()
    await world.settle()
    await tryOn.start(person)
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('takes nothing from the first word of the next one that uses a closed room again', async () => {
    const room = open()
    const tryOn = watched(room.tryOn(product))
    await room.ready
    room.close()
    await world.room().reset()
    await world.pass(2_000)
    await tryOn.start(person)
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('leaves no card behind that waits for the core', async () => {
    await world.until(await started(world.room().tryOn(product)), 'final')
    const room = open(loader({ fails: 1 }))
    const tryOn = watched(room.tryOn(product))
    await world.settle()
    expect(stateOf(tryOn)).toBe('stalled')
    await room.reset()
    await vi.waitFor(() => expect(stateOf(tryOn)).toBe('idle'))
  })
})

it('a card that comes late shows what another page has begun since the look', async () => {
  const here = open()
  watched(here.tryOn({ ...product, variantId: '2002' }))
  await world.settle()
  await world.until(await started(world.room().tryOn(product)), 'final')
  await world.until(watched(here.tryOn(product)), 'final')
  expect(world.count('POST', '/generations')).toBe(1)
})

it('what list() opens keeps the funnels that the application has asked for', async () => {
  const before = world.room()
  await world.until(await started(before.tryOn(product)), 'final')
  before.close()
  const room = open()
  const tryOn = watched(room.tryOn({ ...product, funnelIds: [13, 12] }))
  const [listed] = await room.list()
  expect(listed?.open()).toBe(tryOn)
  await world.until(tryOn, 'final')
  await tryOn.startOver()
  await tryOn.start(person)
  // the first of them is the dress's, which this product is not in
  expect(await world.until(tryOn, 'rejected')).toMatchObject({ problem: { kind: 'refused', status: 403 } })
})

it('a later consent is for the funnels that the application asks for once the core is there', async () => {
  const room = open()
  const tryOn = watched(room.tryOn(product))
  await tryOn.start(person)
  await world.until(tryOn, 'final')
  room.tryOn({ ...product, funnelIds: [13, 12] })
  await tryOn.retry()
  expect(await world.until(tryOn, 'rejected')).toMatchObject({ problem: { kind: 'refused', status: 403 } })
})

it('a consent goes on with the funnels that it was given with, whatever is asked for meanwhile', async () => {
  world.fault('GET', '/funnel', [lost])
  const room = world.room()
  const tryOn = await started(room.tryOn(product))
  await world.until(tryOn, ({ trouble }) => trouble !== null)
  room.tryOn({ ...product, funnelIds: [13] })
  await world.until(tryOn, 'final')
  expect(world.sent.find(({ path }) => path === '/generations')?.body.funnelId).toBe(12)
})

it('close() ends a consent that waits for the core', async () => {
  const loads = loader({ held: true })
  const room = open(loads)
  const tryOn = watched(room.tryOn(product))
  await world.settle()
  const done = tryOn.start(person)
  room.close()
  loads.release()
  await expect(done).rejects.toMatchObject({ problem: { kind: 'stopped', reason: 'closed' } })
  await world.pass(60_000)
  expect(world.sent).toEqual([])
})

it('a loader that gives something else is a core that cannot be loaded', async () => {
  const tryOn = watched(world.door({ core: async () => ({}) as never }).tryOn(product))
  await world.settle()
  await expect(tryOn.start(person)).rejects.toMatchObject({ kind: 'core' })
  expect(tryOn.get()).toMatchObject({ state: 'stalled', problem: { kind: 'core' } })
})

describe('a consent that was kept', () => {
  it.each(['ready', 'list'])('can be gone on with, or left, where the core came by %s', async (way) => {
    const room = open(loader({ fails: 1 }))
    const tryOn = watched(room.tryOn(product))
    await world.settle()
    await expect(tryOn.start(person)).rejects.toMatchObject({ kind: 'core' })
    await (way === 'ready' ? tryOn.ready : room.list())
    await world.settle()
    expect(tryOn.get()).toMatchObject({ state: 'stalled', can: { resume: true, startOver: true } })
    await tryOn.resume()
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('is gone with its shopper, whatever the core came for', async () => {
    const room = open(loader({ fails: 1 }))
    const tryOn = watched(room.tryOn(product))
    await world.settle()
    await expect(tryOn.start(person)).rejects.toMatchObject({ kind: 'core' })
    await room.list()
    await room.reset()
    await world.settle()
    expect(tryOn.get()).toMatchObject({ state: 'idle', problem: null, can: { start: true } })
    await expect(tryOn.retry()).rejects.toMatchObject({ kind: 'notAllowed' })
    expect(world.sent).toEqual([])
  })

  it.each(['startOver', 'reset'])(
    'and left by %s leaves nothing to go on with when the core fails to come',
    async (way) => {
      const loads = loader({ fails: 1, held: true })
      const room = open(loads)
      const tryOn = watched(room.tryOn(product))
      await world.settle()
      const done = tryOn.start(person)
      await world.settle()
      const left = way === 'reset' ? room.reset() : tryOn.startOver()
      await expect(done).rejects.toMatchObject({ problem: { kind: 'stopped', reason: 'startedOver' } })
      loads.release()
      await left.catch(() => undefined)
      expect(tryOn.get()).toMatchObject({ state: 'idle', problem: null, can: { start: true, resume: false } })
    },
  )

  it('is too old in the view, too', async () => {
    const loads = loader({ held: true })
    const tryOn = watched(open(loads).tryOn(product))
    await world.settle()
    const done = tryOn.start(person)
    await world.settle()
    world.clock.advance(61_000)
    loads.release()
    await expect(done).rejects.toMatchObject({ kind: 'consentExpired' })
    expect(tryOn.get()).toMatchObject({ state: 'idle', problem: { kind: 'consentExpired' } })
  })

  it('is shown, and can be left, where the card comes after it', async () => {
    const loads = loader({ held: true })
    const tryOn = open(loads).tryOn(product)
    const done = tryOn.start(person)
    watched(tryOn)
    await world.settle()
    expect(tryOn.get()).toMatchObject({ state: 'preparing', can: { startOver: true } })
    const result = tryOn.result()
    await tryOn.startOver()
    loads.release()
    await expect(done).rejects.toMatchObject({ problem: { kind: 'stopped', reason: 'startedOver' } })
    await expect(result).rejects.toMatchObject({ problem: { kind: 'stopped', reason: 'startedOver' } })
  })
})

it.each([0, 1, 2, 5, 9, 13])('close() so many turns after claim() leaves no room that goes on: %i', async (turns) => {
  const from = world.room({ storage: diskOf() })
  const brought = await started(from.tryOn({ ...product, variantId: '2002' }))
  await world.until(brought, 'processing')
  const ticket = await brought.ticket()
  from.close()
  const room = open()
  const tryOn = await started(room.tryOn(product))
  await world.until(tryOn, 'processing')
  const claimed = room.claim(ticket).catch(() => undefined)
  for (let turn = 0; turn < turns; turn++) await Promise.resolve()
  room.close()
  await claimed
  await world.settle()
  const before = world.sent.length
  await world.pass(60_000)
  expect(world.sent).toHaveLength(before)
})

describe('a room that is closed while its core is loaded', () => {
  it.each(['start', 'retry', 'resume'] as const)('carries no %s out', async (intent) => {
    await world.until(await started(world.room().tryOn(product)), 'final')
    const before = world.sent.length
    const loads = loader({ held: true })
    const room = open(loads)
    const tryOn = watched(room.tryOn(product))
    const done = tryOn[intent](person)
    const [result, ready] = [tryOn.result(), tryOn.ready]
    await world.settle()
    room.close()
    loads.release()
    const closed = { problem: { kind: 'stopped', reason: 'closed' } }
    for (const each of [done, result, ready]) await expect(each).rejects.toMatchObject(closed)
    await world.pass(5_000)
    expect(world.sent).toHaveLength(before)
  })

  it('looks at nothing any more, and listens to nobody, until it is used again', async () => {
    const made = vi.spyOn(BroadcastChannel.prototype, 'addEventListener')
    const ended = vi.spyOn(BroadcastChannel.prototype, 'close')
    await world.until(await started(world.room().tryOn(product)), 'processing')
    made.mockClear()
    ended.mockClear()
    const loads = loader({ held: true })
    const room = open(loads)
    const tryOn = watched(room.tryOn(product))
    await world.settle()
    room.close()
    loads.release()
    await world.settle()
    expect(made.mock.calls.length - ended.mock.calls.length).toBe(0)
    watched(tryOn)
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
    vi.restoreAllMocks()
  })
})

it('a room that is closed, and reset, listens to nobody once that is done', async () => {
  await world.until(await started(world.room().tryOn(product)), 'final')
  const made = vi.spyOn(BroadcastChannel.prototype, 'addEventListener')
  const ended = vi.spyOn(BroadcastChannel.prototype, 'close')
  const loads = loader({ held: true })
  const room = open(loads)
  const done = room.reset()
  room.close()
  loads.release()
  await done
  await world.settle()
  expect(made.mock.calls.length).toBeGreaterThan(0)
  expect(made.mock.calls.length - ended.mock.calls.length).toBe(0)
  vi.restoreAllMocks()
})

it('discard() said where nothing is shown yet forgets nothing that another page has begun since', async () => {
  await world.until(await started(world.room().tryOn(product)), 'final')
  const loads = loader({ held: true })
  const tryOn = open(loads).tryOn(product)
  const done = tryOn.discard()
  await world.settle()
  world.clock.advance(1_000)
  const other = watched(world.room().tryOn(product))
  await world.until(other, 'final')
  await other.retry({ imageUrl: 'https://photos.test/p.png' })
  await world.until(other, 'failed')
  loads.release()
  await expect(done).rejects.toMatchObject({ kind: 'notAllowed' })
  expect(await world.room().list()).toHaveLength(2)
})

it('discard() said where nothing is shown yet forgets what another page has begun, whose clock is ahead', async () => {
  const other = world.room({ clock: { ...world.clock, now: () => world.clock.now() + 120_000 } })
  await world.until(await started(other.tryOn(product)), 'final')
  await open().tryOn(product).discard()
  expect(await world.room().list()).toEqual([])
})

it.each(['nothing', 'a picture'])(
  'a card that was cut off as it looked goes on as its room is used again, though the core does not come: %s is kept',
  async (kept) => {
    if (kept === 'a picture') await world.until(await started(world.room().tryOn(product)), 'final')
    const room = open(loader({ fails: 1 }))
    const tryOn = watched(room.tryOn(product))
    room.close()
    await expect(room.list()).rejects.toMatchObject({ kind: 'core' })
    await vi.waitFor(() => expect(stateOf(tryOn)).toBe(kept === 'nothing' ? 'idle' : 'stalled'))
  },
)

it('the first consent after reset() is the next shopper’s, while it is still wiped, too', async () => {
  for (const storage of [memoryStorage(), diskOf()]) {
    const room = open(loader(), { storage, namespace: `durable-${String(storage.durable)}` })
    const [used, other] = [room.tryOn(product), room.tryOn({ ...product, variantId: '2002' })]
    for (const card of [used, other]) watched(card)
    await used.start(person)
    await world.until(used, 'final')
    const wiped = room.reset()
    const next = other.start(person)
    await wiped
    await next
    expect(stateOf(other)).not.toBe('idle')
    room.close()
  }
})

it('a card shows nothing that it was seen not to be, once it has heard of an attempt', async () => {
  const tryOn = watched(open(loader({ fails: Infinity })).tryOn(product))
  await world.settle()
  expect(stateOf(tryOn)).toBe('idle')
  await world.until(await started(world.room().tryOn(product)), 'processing')
  await vi.waitFor(() => expect(tryOn.get()).toMatchObject({ state: 'stalled', can: { start: false, resume: true } }))
})

it.each([
  { version: 2, entries: {}, epochs: {} },
  { version: 2, savedAt: 1, entries: { a: 'b' }, left: {}, discarded: {}, epochs: {} },
  { version: 2, savedAt: 1, entries: [], left: {}, discarded: {}, epochs: {} },
])('a catalog that is broken is left to the core: %j', async (catalog) => {
  const tryOn = await started(world.room().tryOn(product))
  await world.until(tryOn, 'processing')
  await world.storage.setItem(catalogOf(namesOf('https://api.test').room), JSON.stringify(catalog))
  const loads = loader()
  watched(open(loads).tryOn(product))
  await vi.waitFor(() => expect(loads.count).toBe(1))
})
