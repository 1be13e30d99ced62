import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { FittingRoom, FittingRoomOptions } from 'fitting-room'
import {
  createSession,
  deviceLimits,
  newShopperId,
  type DeviceLimitsOptions,
  type Session,
  type SessionOptions,
} from 'fitting-room/kiosk'
import { reported } from './support/reported.ts'
import { hung, isNobodys, isRead, isWrite, refused, testStorage, type TestStorage } from './support/storage.ts'
import {
  answers,
  createWorld,
  dropped,
  lost,
  person,
  product,
  refuses,
  refusesVariant,
  started,
  type World,
} from './support/world.ts'

const times = { idleMs: 60_000, warnMs: 15_000, holdMs: 300_000 }

let world: World
/** The room's records, and what the device keeps for itself. */
let storage: TestStorage
let device: TestStorage
/** The page's next touch. */
let touchPage: () => boolean = () => true
const sessions: Session[] = []
beforeEach(() => {
  storage = testStorage()
  device = testStorage()
  world = createWorld({ storage, gated: false })
})
afterEach(async () => {
  for (const session of sessions.splice(0)) session.close()
  await world.close()
})

function sessionOf(room: FittingRoom, options: SessionOptions = {}): Session {
  const watch = (onActivity: () => boolean) => {
    touchPage = onActivity
    return () => {}
  }
  const session = createSession(room, { ...times, storage: device, clock: world.clock, watch, ...options })
  sessions.push(session)
  return session
}

/** A page load of a kiosk; the next one comes after `world.close()` of rooms, or a loss of power. */
async function load(options: Partial<FittingRoomOptions> = {}, own: SessionOptions = {}) {
  const room = world.room({ uniqueUserId: newShopperId, ...options })
  const session = sessionOf(room, own)
  await world.settle()
  return { room, session, state: () => session.get().state }
}

async function begun(...args: Parameters<typeof load>) {
  const kiosk = await load(...args)
  kiosk.session.begin()
  return kiosk
}

/** The power is lost: nothing of the page runs any more. */
function lose({ room, session }: { room: FittingRoom; session: Session }): void {
  session.close()
  room.close()
}

/** What a session reports meanwhile, so many times, ends no test. */
async function reports(times: number, work: () => Promise<unknown>): Promise<void> {
  const { told, end } = reported()
  await work()
  await vi.waitFor(() => expect(told).toHaveLength(times), { timeout: 15_000 })
  end()
}

/** An area of the page's own, until the test ends. */
function areaOf(name: string): Map<string, string> {
  const items = new Map<string, string>()
  vi.stubGlobal(name, {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  return items
}

/** A page that may be put away and come back as it was, until the test ends. */
function inPage() {
  const window = new EventTarget()
  vi.stubGlobal('window', window)
  vi.stubGlobal('document', new EventTarget())
  onTestFinished(() => void vi.unstubAllGlobals())
  return {
    tell: (type: 'pagehide' | 'pageshow') => window.dispatchEvent(Object.assign(new Event(type), { persisted: true })),
  }
}

const kept = () => [...storage.items.keys()].filter((key) => !isNobodys(key))

describe('a session', () => {
  it('begins with a wipe where nobody knows whose things are there, and waits for somebody', async () => {
    const before = world.room()
    await before.tryOn(product).start(person)
    await world.until(before.tryOn(product), 'final')
    before.close()
    expect(kept()).not.toEqual([])
    const { state } = await load()
    expect(state()).toBe('ready')
    expect(kept()).toEqual([])
    await world.pass(times.holdMs)
    expect(state()).toBe('ready')
  })

  it('announces its end second by second, and ends with nothing of the shopper', async () => {
    const { room, session, state } = await begun()
    const said: string[] = []
    session.subscribe((view) => said.push('secondsLeft' in view ? String(view.secondsLeft) : view.state))
    await room.tryOn(product).start(person)
    await world.until(room.tryOn(product), 'final')
    await world.pass(times.idleMs)
    const seconds = Array.from({ length: 15 }, (_, at) => String(15 - at))
    expect(said).toEqual([...seconds, 'ending', 'ready'])
    expect(state()).toBe('ready')
    expect(kept()).toEqual([])
    expect([...device.items]).toEqual([])
    expect([room.tryOn(product).get().state, room.photo.get(), room.history.get()]).toEqual(['restoring', null, []])
    expect(room.visitor.get().uniqueUserId).toBeNull()
  })

  it('is kept by a touch, in its last seconds too', async () => {
    const { session, state } = await begun()
    await world.pass(times.idleMs - 1_000)
    expect(session.get()).toEqual({ state: 'warning', secondsLeft: 1 })
    expect(touchPage()).toBe(true)
    // what it presses is there until it is pressed
    expect(state()).toBe('warning')
    await world.pass(500)
    expect(state()).toBe('active')
    await world.pass(times.idleMs - times.warnMs - 1_000)
    expect(state()).toBe('active')
    await world.pass(5_000)
    session.touch()
    expect(state()).toBe('active')
  })

  it('is begun by a photo, though nothing has come of it', async () => {
    const { room, state } = await load()
    const tryOn = room.tryOn(product)
    await world.until(tryOn, 'idle')
    expect(state()).toBe('ready')
    storage.meet((call) => call.type === 'update' && call.key.endsWith(':lease'), refused)
    await expect(tryOn.start(person)).rejects.toMatchObject({ kind: 'storage' })
    expect([room.photo.get(), state()]).toEqual([expect.anything(), 'active'])
  })

  it('is begun by a photo that is given as the one before it ends', async () => {
    let go = () => {}
    const nextShopper = () => new Promise<void>((resolve) => (go = resolve))
    const limits = { ...deviceLimits({ storage: device }), nextShopper }
    const { room, session, state } = await load({}, { limits })
    session.begin()
    const ended = session.end()
    await world.settle()
    expect(state()).toBe('ending')
    const tryOn = room.tryOn(product)
    await tryOn.start(person)
    await tryOn.startOver()
    go()
    await ended
    expect([room.photo.get(), state()]).toEqual([expect.anything(), 'active'])
  })

  it('is not kept by who comes too late, as when the device slept', async () => {
    const { state } = await begun()
    // timers stood still meanwhile
    const asleep = world.clock.now
    world.clock.now = () => asleep() + times.holdMs
    expect(touchPage()).toBe(false)
    await world.settle()
    expect(state()).toBe('ready')
  })

  it('ends soon after a device wakes that slept through its end', async () => {
    const { state } = await begun()
    const asleep = world.clock.now
    world.clock.now = () => asleep() + times.holdMs
    await world.pass(5_000)
    expect(state()).toBe('ready')
  })

  it('is begun by nobody who only touches the page', async () => {
    const { state } = await load()
    touchPage()
    expect(state()).toBe('ready')
  })

  it('is there for whoever tries something on without a word', async () => {
    const { room, state } = await load()
    await room.tryOn(product).start(person)
    await world.settle()
    expect(state()).toBe('active')
  })

  it('is held by a job, and by its picture as long as by a touch', async () => {
    const { room, state } = await begun()
    world.fault('GET', '/generations', [dropped], true)
    const tryOn = room.tryOn(product)
    await tryOn.start(person)
    await world.pass(times.idleMs + 30_000)
    expect([state(), tryOn.get().state]).toEqual(['active', 'processing'])
    world.fault('GET', '/generations', [(reach) => reach()], true)
    await world.pass(times.idleMs + 30_000)
    expect(state()).toBe('active')
  })

  it('is held by a job whose key was refused meanwhile, which is read again each minute', async () => {
    const { room, state } = await begun()
    await room.tryOn(product).start(person)
    await world.until(room.tryOn(product), 'processing')
    const key = world.apiKey.current
    world.apiKey.current = 'revoked'
    await world.until(room.tryOn(product), 'unauthorized')
    await world.pass(times.idleMs)
    expect(state()).toBe('active')
    world.apiKey.current = key
    await world.until(room.tryOn(product), 'final')
    expect(state()).toBe('active')
  })

  it('is held by a job of which an answer was of no use', async () => {
    const { room, state } = await begun()
    await room.tryOn(product).start(person)
    await world.until(room.tryOn(product), 'processing')
    world.fault('GET', '/generations', [answers(200, { nothing: 'that is known' })])
    await world.until(room.tryOn(product), 'protocolError')
    await world.pass(times.idleMs)
    expect(state()).toBe('active')
    await world.pass(times.holdMs)
    expect(state()).toBe('ready')
  })

  it('keeps the display on while its page is shown, where it can', async () => {
    const page = new EventTarget()
    let locks = 0
    const given = () => {
      locks += 1
      return { release: async () => void (locks -= 1) }
    }
    vi.stubGlobal('document', Object.assign(page, { visibilityState: 'visible' }))
    vi.stubGlobal('navigator', { wakeLock: { request: async () => given() } })
    try {
      const { session } = await load()
      expect(locks).toBe(1)
      // it is lost with the page, and taken again
      locks = 0
      page.dispatchEvent(new Event('visibilitychange'))
      await world.settle()
      expect(locks).toBe(1)
      session.close()
      await world.settle()
      expect(locks).toBe(0)
      await load({}, { keepAwake: false })
      expect(locks).toBe(0)
    } finally {
      vi.unstubAllGlobals()
    }
  })

  it('goes on where another page of the device has been active, once its own comes back as it was', async () => {
    const { tell } = inPage()
    const { room, session, state } = await begun()
    await room.tryOn(product).start(person)
    await world.until(room.tryOn(product), 'final')
    tell('pagehide')
    expect(state()).toBe('restoring')
    // the other one is a page of its own
    vi.unstubAllGlobals()
    const other = await load()
    expect(other.state()).toBe('active')
    await world.pass(times.idleMs - times.warnMs - 5_000)
    other.session.touch()
    await world.pass(times.warnMs)
    other.session.touch()
    lose(other)
    await world.pass(5_000)
    expect(state()).toBe('restoring')
    tell('pageshow')
    await world.settle()
    expect(session.get()).toEqual({ state: 'active' })
    await world.pass(times.idleMs - times.warnMs - 6_000)
    expect(state()).toBe('active')
    await world.pass(1_000)
    expect(session.get()).toMatchObject({ state: 'warning' })
    await world.until(room.tryOn(product), 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('goes on once its page comes back, where what is kept might not outlast a loss of power', async () => {
    device = Object.assign(testStorage(), { isExclusive: () => false })
    const { tell } = inPage()
    const { room, state } = await begun()
    await room.tryOn(product).start(person)
    await world.until(room.tryOn(product), 'final')
    tell('pagehide')
    tell('pageshow')
    await world.settle()
    expect(state()).toBe('active')
    await world.until(room.tryOn(product), 'final')
  })

  it('ends nobody’s session from a page that was prepared for a link, until that is opened', async () => {
    const document = Object.assign(new EventTarget(), { prerendering: true })
    vi.stubGlobal('document', document)
    onTestFinished(() => void vi.unstubAllGlobals())
    const prepared = await load()
    vi.unstubAllGlobals()
    const { room, state } = await begun()
    await room.tryOn(product).start(person)
    await world.until(room.tryOn(product), 'final')
    expect([prepared.state(), state()]).toEqual(['restoring', 'active'])
    document.dispatchEvent(new Event('prerenderingchange'))
    await world.settle()
    expect([prepared.state(), state()]).toEqual(['active', 'active'])
    expect(room.tryOn(product).get().state).toBe('final')
  })

  it('is held by a job that does not end for no longer than holdMs', async () => {
    const { room, state } = await begun()
    world.fault('GET', '/generations', [dropped], true)
    await room.tryOn(product).start(person)
    await world.pass(times.holdMs - times.warnMs - 1_000)
    expect(state()).toBe('active')
    await world.pass(times.warnMs)
    expect(state()).toBe('warning')
    await world.pass(2_000)
    expect(state()).toBe('ready')
    expect(kept()).toEqual([])
  })

  it('goes on after a loss of power where it was, with its job and for one POST', async () => {
    const before = await begun()
    const held = world.hold('GET', '/generations')
    await before.room.tryOn(product).start(person)
    await held.reached
    lose(before)
    const { room, state } = await load()
    expect(state()).toBe('active')
    held.release()
    await world.until(room.tryOn(product), 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it.each([
    ['is over', (now: number) => now + times.holdMs],
    ['is of a time that is to come', (now: number) => now - 3_600_000],
  ])('begins clean after a loss of power where the one before %s', async (_, at) => {
    const before = await begun()
    await before.room.tryOn(product).start(person)
    await world.until(before.room.tryOn(product), 'final')
    lose(before)
    const { now } = world.clock
    world.clock.now = () => at(now())
    const { state } = await load()
    expect(state()).toBe('ready')
    expect(kept()).toEqual([])
  })

  it.each([
    ['begins clean after a loss of power', false, undefined, 'ready'],
    ['begins clean after one, though the browser brings its tabs back', true, 'back_forward', 'ready'],
    ['goes on after a reload', true, 'reload', 'active'],
  ])('%s where what is kept may be of a minute before it', async (_, isThere, type, then) => {
    const areas = areaOf('sessionStorage')
    const behind = Object.assign(device, { isExclusive: () => false })
    const before = await begun({}, { storage: behind })
    await before.room.tryOn(product).start(person)
    await world.until(before.room.tryOn(product), 'final')
    lose(before)
    if (!isThere) areas.clear()
    const loaded = vi.spyOn(performance, 'getEntriesByType').mockReturnValue([{ type } as never])
    onTestFinished(() => loaded.mockRestore())
    const { room, state } = await load({}, { storage: behind })
    expect(state()).toBe(then)
    expect(room.history.get()).toHaveLength(then === 'active' ? 1 : 0)
  })

  it('begins clean after a loss of power where its picture had been there for long, and says no other state', async () => {
    const before = await begun()
    await before.room.tryOn(product).start(person)
    await world.until(before.room.tryOn(product), 'final')
    lose(before)
    world.clock.advance(times.idleMs + 10_000)
    const room = world.room({ uniqueUserId: newShopperId })
    const session = sessionOf(room)
    const said: string[] = []
    session.subscribe(({ state }) => said.push(state))
    await world.settle()
    expect(said).toEqual(['ending', 'ready'])
  })

  it('begins clean after a loss of power in the middle of its end, of which only the reset had counted', async () => {
    const before = await begun()
    await before.room.tryOn(product).start(person)
    await world.until(before.room.tryOn(product), 'final')
    lose(before)
    const wiping = world.room()
    await wiping.reset()
    wiping.close()
    const { state } = await load()
    expect([state(), [...device.items]]).toEqual(['ready', []])
  })

  it('begins clean after a loss of power in the middle of its end', async () => {
    const before = await begun()
    await before.room.tryOn(product).start(person)
    await world.until(before.room.tryOn(product), 'final')
    const wipes = storage.hold(isWrite)
    void before.session.end()
    await wipes.reached
    lose(before)
    wipes.release()
    const { state } = await load()
    expect(state()).toBe('ready')
    expect(kept()).toEqual([])
  })

  it('is locked where something could not be wiped, and tries again until it can', async () => {
    const { room, session, state } = await begun()
    await room.tryOn(product).start(person)
    await world.until(room.tryOn(product), 'final')
    storage.meet(isWrite, refused)
    await expect(session.end()).rejects.toMatchObject({ kind: 'storage' })
    expect(session.get()).toEqual({
      state: 'locked',
      problem: { kind: 'storage' },
      nextTryAt: world.clock.now() + 5_000,
    })
    session.begin()
    touchPage()
    expect(state()).toBe('locked')
    await world.pass(30_000)
    expect(state()).toBe('locked')
    storage.recover()
    await world.pass(60_000)
    expect(state()).toBe('ready')
    expect(kept()).toEqual([])
  })

  it('tries again as soon the next time, and not once more what somebody has ended by hand meanwhile', async () => {
    const { session, state } = await begun()
    const nextTry = async (failures: number) => {
      storage.meet(() => true, refused)
      for (let nth = 0; nth < failures; nth++) await session.end().catch(() => undefined)
      const view = session.get()
      return 'nextTryAt' in view ? view.nextTryAt - world.clock.now() : null
    }
    expect([await nextTry(1), await nextTry(1)]).toEqual([5_000, 10_000])
    storage.recover()
    await session.end()
    const said: string[] = []
    session.subscribe((view) => void said.push(view.state))
    await world.pass(20_000)
    expect([state(), said]).toEqual(['ready', []])
    session.begin()
    expect(await nextTry(1)).toBe(5_000)
  })

  it('that was closed notes nothing any more, and waits for nothing', async () => {
    const { session, state } = await begun()
    session.close()
    const before = [...device.items]
    await world.pass(10_000)
    session.touch()
    touchPage()
    await world.pass(times.holdMs)
    expect([state(), [...device.items]]).toEqual(['active', before])
    expect(world.clock.advanceToNext(), 'a timer was left').toBe(false)
  })

  it('that was closed as it ended does not try once more, though it could not be wiped', async () => {
    const { room, session } = await begun()
    const reset = vi.spyOn(room, 'reset').mockRejectedValue(new Error('not wiped'))
    const ended = session.end()
    session.close()
    await ended.catch(() => undefined)
    await world.pass(60_000)
    expect(reset).toHaveBeenCalledTimes(1)
  })

  it('is locked over a reload, too, where storage takes nothing', async () => {
    const before = await begun()
    await before.room.tryOn(product).start(person)
    await world.until(before.room.tryOn(product), 'final')
    storage.meet(isWrite, refused)
    device.meet(isWrite, refused)
    await expect(before.session.end()).rejects.toMatchObject({ kind: 'storage' })
    lose(before)
    const { session, state } = await load()
    session.touch()
    await world.settle()
    expect(state()).toBe('locked')
  })

  it.each([
    ['a reload', 'sessionStorage'],
    ['a loss of power', 'localStorage'],
  ])('is locked over %s where the device keeps nothing either, though both work again by then', async (_, area) => {
    const items = areaOf(area)
    const before = await begun()
    await before.room.tryOn(product).start(person)
    await world.until(before.room.tryOn(product), 'final')
    storage.meet(isWrite, refused)
    device.meet(isWrite, refused)
    await before.session.end().catch(() => undefined)
    expect(before.state()).toBe('locked')
    lose(before)
    storage.recover()
    device.recover()
    const { session, room, state } = await load()
    expect(session.get().state).not.toBe('active')
    await world.settle()
    expect([state(), room.history.get()]).toEqual(['ready', []])
    expect([...items.keys()].filter((key) => key.endsWith('locked'))).toEqual([])
  })

  it('begins clean after a loss of power in the middle of its end, though all that is kept hangs', async () => {
    areaOf('localStorage')
    const before = await begun()
    await before.room.tryOn(product).start(person)
    await world.until(before.room.tryOn(product), 'final')
    storage.meet(isWrite, hung)
    device.meet(isWrite, hung)
    void before.session.end()
    await world.settle()
    expect(before.state()).toBe('ending')
    lose(before)
    storage.recover()
    device.recover()
    const { room, state } = await load()
    expect([state(), room.history.get()]).toEqual(['ready', []])
  })

  it('ends what is under way at once, though what it keeps for itself hangs', async () => {
    const { session, room } = await begun()
    const asking = world.hold('GET', '/funnel')
    void room.tryOn(product).start(person)
    await asking.reached
    device.meet(isWrite, hung)
    const ended = session.end()
    await world.settle()
    asking.release()
    await world.settle()
    expect(room.history.get()).toEqual([])
    expect(world.count('POST', '/generations')).toBe(0)
    await world.pass(5_000)
    await ended
  })

  it('announces its end after work that came to no picture, however long that took', async () => {
    const { room, state } = await begun()
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    const sent = world.hold('POST', '/generations', 'after')
    await tryOn.start(person)
    await Promise.all([sent.reached, world.pass(1_000)])
    await world.until(tryOn, 'outcomeUnknown')
    await world.pass(30_000)
    expect([tryOn.get().state, state()]).toEqual(['outcomeUnknown', 'active'])
    await world.pass(20_000)
    expect(state()).toBe('warning')
    sent.release()
  })

  it('is locked where what wipes never comes', async () => {
    const session = sessionOf(world.door({ core: () => new Promise(() => {}) }))
    await world.settle()
    expect(session.get().state).toBe('ending')
    await world.pass(60_000)
    expect(session.get()).toMatchObject({ state: 'locked', problem: { kind: 'internal' } })
  })

  it('waits for no limits that never hear of the next shopper', async () => {
    const deaf = { ...deviceLimits({ storage: device }), nextShopper: () => new Promise<never>(() => {}) }
    const { state } = await load({}, { limits: deaf })
    await reports(1, () => world.pass(10_000))
    expect(state()).toBe('ready')
  })

  it('ends what its page waits for, and nothing of the next shopper’s', async () => {
    const { session } = await begun()
    const first = session.signal
    expect([first.aborted, session.signal]).toEqual([false, first])
    const ended = session.end()
    expect(first.aborted).toBe(true)
    await ended
    session.begin()
    expect(session.signal.aborted).toBe(false)
  })

  it('ends once where whoever hears of the end asks for it, too', async () => {
    const { session } = await begun()
    const states: string[] = []
    const ended: Promise<void>[] = []
    const signals: AbortSignal[] = []
    const leave = () => {
      ended.push(session.end())
      signals.push(session.signal)
    }
    session.signal.addEventListener('abort', leave)
    session.subscribe(({ state }) => {
      states.push(state)
      if (state === 'ending') leave()
      if (state === 'ready') session.begin()
    })
    await session.end()
    await Promise.all(ended)
    expect(states).toEqual(['ending', 'ready', 'active'])
    expect([new Set(ended).size, ...signals]).toEqual([1, session.signal, session.signal])
    expect(session.signal.aborted).toBe(false)
  })

  it('may be begun, and ended again, by whoever hears that it is ready', async () => {
    const { room, session, state } = await begun()
    let isFirst = true
    const ended: Promise<void>[] = []
    session.subscribe((view) => {
      if (view.state !== 'ready' || !isFirst) return
      isFirst = false
      session.begin()
      ended.push(session.end())
    })
    await room.tryOn(product).start(person)
    await session.end()
    await Promise.all(ended)
    expect(state()).toBe('ready')
  })

  it('serves on where the device keeps nothing, and begins anew after each load then', async () => {
    device.meet(() => true, refused)
    const before = await begun()
    expect(before.state()).toBe('active')
    await before.session.end()
    expect(before.state()).toBe('ready')
  })

  it.each([
    [['locks', 'camera', 'wakeLock'], {}],
    [['camera', 'wakeLock'], { locks: {} }],
    [['locks', 'wakeLock'], { mediaDevices: { getUserMedia: () => {} } }],
    [['locks', 'camera', 'wakeLock'], { mediaDevices: {} }],
    [[], { locks: {}, mediaDevices: { getUserMedia: () => {} }, wakeLock: {} }],
  ])('says what the page cannot do: %j', async (missing, navigator) => {
    vi.stubGlobal('navigator', navigator)
    const { session } = await load()
    expect(session.missing).toEqual(missing)
  })

  const denied = () => {
    throw new DOMException('denied', 'SecurityError')
  }
  it.each([
    [['storage'], ['localStorage', 'indexedDB']],
    [[], ['indexedDB']],
  ])('says that the page may keep nothing: %j where %j are refused', (missing, areas) => {
    vi.stubGlobal('navigator', { locks: {}, mediaDevices: { getUserMedia: () => {} }, wakeLock: {} })
    for (const area of areas) {
      const before = Object.getOwnPropertyDescriptor(globalThis, area)
      Object.defineProperty(globalThis, area, { configurable: true, get: denied })
      onTestFinished(
        () =>
          void (before ? Object.defineProperty(globalThis, area, before) : Reflect.deleteProperty(globalThis, area)),
      )
    }
    expect(sessionOf(world.room(), { storage: undefined }).missing).toEqual(missing)
  })

  it.each([
    ['idleMs', { idleMs: 0 }],
    ['warnMs', { warnMs: 60_000 }],
    ['holdMs', { holdMs: 1_000 }],
    ['holdMs', { holdMs: NaN }],
    ['idleMs', { idleMs: '60000' as unknown as number }],
  ])('is refused with a wrong %s', (at, options) => {
    expect(() => sessionOf(world.room(), options)).toThrow(
      expect.objectContaining({ problem: expect.objectContaining({ at, kind: 'input' }) }),
    )
  })
})

describe('each shopper of a device', () => {
  const idsSent = () =>
    world.sent.flatMap(({ body, path }) => (path === '/generations' && body ? [body.uniqueUserId] : []))

  it('leaves no attempt of theirs named by the limits of the device', async () => {
    const limits = deviceLimits({ perShopper: 1, perHour: 2, storage: device, clock: world.clock })
    const { room, session } = await begun({ limit: limits }, { limits })
    await room.tryOn(product).start(person)
    const { attempt } = await world.until(room.tryOn(product), 'final')
    const counted = () => [...device.items].map(([key, value]) => `${key} ${JSON.stringify(value)}`).join()
    expect(counted()).toContain(attempt!.id)
    await session.end()
    expect(counted()).not.toContain(attempt!.id)
    // its place by the hour stands
    await room.tryOn(product).start(person)
    await world.until(room.tryOn(product), 'final')
    await session.end()
    await room.tryOn(product).start(person)
    expect(await world.until(room.tryOn(product), 'rejected')).toMatchObject({ problem: { limit: 'perHour' } })
  })

  it('is a visitor of their own to the service, over reloads too', async () => {
    const first = await begun()
    await first.room.tryOn(product).start(person)
    await world.until(first.room.tryOn(product), 'final')
    lose(first)
    const { room, session } = await load()
    const other = room.tryOn({ ...product, variantId: '2002' })
    await other.start(person)
    await world.until(other, 'final')
    await session.end()
    await room.tryOn(product).start(person)
    await world.until(room.tryOn(product), 'final')
    const [one, again, next] = idsSent()
    expect(one).toMatch(/^[0-9a-f]{32}$/)
    expect(again).toBe(one)
    expect(next).toMatch(/^[0-9a-f]{32}$/)
    expect(next).not.toBe(one)
  })

  it('has that ID before anything is asked about the visitor', async () => {
    const { room } = await begun({ askVisitorFirst: true })
    await room.tryOn(product).start(person)
    await world.until(room.tryOn(product), 'final')
    expect(world.count('GET', '/requests-left')).toBe(1)
    expect(idsSent()).toEqual([room.visitor.get().uniqueUserId])
  })

  it('has one ID on two try-ons that begin at once', async () => {
    const { room } = await begun()
    const other = room.tryOn({ ...product, variantId: '2002' })
    await Promise.all([room.tryOn(product).start(person), other.start(person)])
    await world.until(room.tryOn(product), 'final')
    await world.until(other, 'final')
    expect(new Set(idsSent()).size).toBe(1)
  })
})

describe('the limits of a device', () => {
  const limitsOf = (options: DeviceLimitsOptions) => deviceLimits({ storage: device, clock: world.clock, ...options })
  const variants = (room: FittingRoom) => ['2001', '2002'].map((variantId) => room.tryOn({ ...product, variantId }))

  async function final(tryOn: ReturnType<FittingRoom['tryOn']>) {
    await (tryOn.get().can.retry ? tryOn.retry(person) : tryOn.start(person))
    return world.until(tryOn, ({ state }) => state === 'final' || state === 'rejected')
  }

  it('let no more of one shopper out, whoever asks, and all of the next one', async () => {
    const limits = limitsOf({ perShopper: 1 })
    const { room, session } = await begun({ limit: limits }, { limits })
    const [one, other] = variants(room) as [ReturnType<FittingRoom['tryOn']>, ReturnType<FittingRoom['tryOn']>]
    expect((await final(one)).state).toBe('final')
    const view = await final(other)
    expect(view).toMatchObject({
      state: 'rejected',
      problem: { kind: 'deviceLimit', limit: 'perShopper', nextAt: null },
    })
    expect(world.count('POST', '/generations')).toBe(1)
    // a reset() by itself is no other shopper, nor is a reload
    await room.reset()
    expect((await final(other)).state).toBe('rejected')
    room.close()
    const reloaded = world.room({ limit: limitsOf({ perShopper: 1 }) })
    expect((await final(reloaded.tryOn(product))).state).toBe('rejected')
    reloaded.close()
    await session.end()
    expect((await final(other)).state).toBe('final')
  })

  it.each([1, 2])('give a place back to a shopper who has gone by then, %i sessions ago', async (ago) => {
    const limits = limitsOf({ perHour: 1 })
    const { room, session } = await begun({ limit: limits }, { limits })
    await limits.take('an attempt')
    for (let ended = 0; ended < ago; ended++) await session.end()
    await limits.giveBack('an attempt')
    expect((await final(room.tryOn(product))).state).toBe('final')
  })

  /** A session has ended whose limits could not be written; they can be by then. */
  async function endedUncounted() {
    const counting = testStorage()
    const limits = limitsOf({ perShopper: 1, storage: counting })
    const kiosk = await begun({ limit: limits }, { limits })
    const { attempt } = await final(kiosk.room.tryOn(product))
    counting.meet(() => true, refused)
    await reports(1, () => kiosk.session.end())
    return { ...kiosk, counting, names: () => JSON.stringify([...counting.items]).includes(attempt!.id) }
  }

  it('are the next shopper’s own, though that could not be noted as the one before left', async () => {
    const { room, session, counting } = await endedUncounted()
    counting.recover()
    session.begin()
    await world.settle()
    expect((await final(room.tryOn(product))).state).toBe('final')
  })

  it('are the next shopper’s own, though that could not be noted as this one came either', async () => {
    const { room, session, counting, names } = await endedUncounted()
    // it is the same failure, which was reported
    await reports(0, async () => {
      session.begin()
      await world.settle()
    })
    counting.recover()
    expect((await final(room.tryOn(product))).state).toBe('final')
    expect(names()).toBe(false)
    // and only one is
    expect((await final(room.tryOn({ ...product, variantId: '2002' }))).state).toBe('rejected')
  })

  it('name no attempt of who has left for long, though nobody comes', async () => {
    const { counting, names } = await endedUncounted()
    counting.recover()
    expect(names()).toBe(true)
    await world.pass(5_000)
    expect(names()).toBe(false)
  })

  it('say when there is room where more stand than are let out by now', async () => {
    const wide = limitsOf({ perHour: 5 })
    for (let at = 0; at < 4; at += 1) {
      await wide.take(`attempt ${at}`)
      await world.pass(60_000)
    }
    const narrow = limitsOf({ perHour: 2 })
    const reached = await narrow.take('another')
    await world.pass(Number(reached?.nextAt) - world.clock.now())
    expect(await narrow.take('another')).toBeNull()
  })

  it('say when the next one may begin, by the hour', async () => {
    const limits = limitsOf({ perHour: 1 })
    const { room, session } = await begun({ limit: limits }, { limits })
    const [one, other] = variants(room) as [ReturnType<FittingRoom['tryOn']>, ReturnType<FittingRoom['tryOn']>]
    const at = world.clock.now()
    await final(one)
    await session.end()
    const { problem } = await final(other)
    expect(problem).toMatchObject({ kind: 'deviceLimit', limit: 'perHour' })
    const nextAt = problem?.kind === 'deviceLimit' ? (problem.nextAt ?? 0) : 0
    expect(nextAt - at).toBeGreaterThanOrEqual(3_600_000)
    await world.pass(nextAt - world.clock.now())
    expect((await final(other)).state).toBe('final')
  })

  it.each([
    ['is given back where the service refused', [refusesVariant], 'final'],
    ['is given back where a limit of the shopper stood', [refuses('tryOnLimitReached')], 'final'],
    ['stays where nobody knows', [lost], 'rejected'],
    ['stays where the answer cannot be understood', [answers(200, { data: { jobId: 7 } })], 'rejected'],
  ])('%s', async (_, faults, state) => {
    const limits = limitsOf({ perShopper: 1 })
    const { room } = await begun({ limit: limits }, { limits })
    world.fault('POST', '/generations', faults)
    const [one, other] = variants(room) as [ReturnType<FittingRoom['tryOn']>, ReturnType<FittingRoom['tryOn']>]
    await one.start(person)
    await world.until(one, ({ group }) => group === 'stopped')
    expect((await final(other)).state).toBe(state)
  })

  it('are one place for an attempt that waits and goes out later', async () => {
    const limits = limitsOf({ perShopper: 1 })
    const { room } = await begun({ limit: limits }, { limits })
    world.fault('POST', '/generations', [refuses('rateLimitExceeded', { retryAfter: 5 })])
    expect((await final(room.tryOn(product))).state).toBe('final')
    expect(world.count('POST', '/generations')).toBe(2)
  })

  it('let nothing out where they cannot be counted', async () => {
    const limits = limitsOf({ perShopper: 1 })
    const { room } = await begun({ limit: limits }, { limits })
    device.meet(isWrite, refused)
    expect((await final(room.tryOn(product))).problem).toEqual({ kind: 'storage' })
    expect(world.count('POST', '/generations')).toBe(0)
    device.recover()
    expect((await final(room.tryOn(product))).state).toBe('final')
  })

  it('lose no place to a storage that takes it late', async () => {
    const limits = limitsOf({ perShopper: 1 })
    const { room } = await begun({ limit: limits }, { limits })
    const slow = device.hold(isWrite)
    const tryOn = room.tryOn(product)
    await tryOn.start(person)
    await slow.reached
    await world.pass(6_000)
    expect(tryOn.get().problem).toEqual({ kind: 'storage' })
    slow.release()
    await world.settle()
    expect((await final(tryOn)).state).toBe('final')
  })

  it('keep the place of a job that another page of the device has carried out', async () => {
    const [one, other] = [limitsOf({ perShopper: 1 }), limitsOf({ perShopper: 1 })]
    await one.take('attempt')
    await other.take('attempt')
    await one.giveBack('attempt')
    expect(await other.take('another')).toEqual({ limit: 'perShopper', nextAt: null })
    await other.giveBack('attempt')
    expect(await other.take('another')).toBeNull()
  })

  it('give the place back where the claim was not kept', async () => {
    const limits = limitsOf({ perShopper: 1 })
    const { room } = await begun({ limit: limits }, { limits })
    storage.meet(({ change }) => change?.()?.includes('"phase":"claimed"') === true, refused)
    expect((await final(room.tryOn(product))).problem).toEqual({ kind: 'storage' })
    storage.recover()
    expect((await final(room.tryOn(product))).state).toBe('final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('keep the place of a word whose page is left while it is looked for: the page that goes on needs it', async () => {
    const limits = limitsOf({ perShopper: 1 })
    const { room } = await begun({ limit: limits }, { limits })
    const slow = device.hold(isWrite)
    const left = room.tryOn(product)
    await left.start(person)
    await slow.reached
    room.close()
    slow.release()
    await world.settle()
    const next = world.room({ limit: limits }).tryOn(product)
    next.subscribe(() => {})
    expect((await world.until(next, ({ state }) => state === 'outcomeUnknown' || state === 'final')).state).toBe(
      'final',
    )
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it.each(['is left', 'is closed'] as const)(
    'keep the place of a word whose page %s in a look that takes too long',
    async (way) => {
      const limits = limitsOf({ perShopper: 1 })
      let [hide, show] = [() => {}, () => {}]
      const pageLife: NonNullable<FittingRoomOptions['pageLife']> = (told) => {
        hide = () => told.onHide(false)
        show = told.onShow
        return () => {}
      }
      const { room } = await begun({ limit: limits, pageLife }, { limits })
      const slow = device.hold((call) => isWrite(call) && call.key.endsWith(':taken'))
      const tryOn = room.tryOn(product)
      tryOn.subscribe(() => {})
      await tryOn.start(person)
      await slow.reached
      await world.pass(3_000)
      if (way === 'is left') hide()
      else room.close()
      await world.settle()
      if (way === 'is left') show()
      else tryOn.subscribe(() => {})
      await world.settle()
      await world.pass(2_500)
      slow.release()
      expect((await world.until(tryOn, ({ state }) => state === 'final' || state === 'rejected')).state).toBe('final')
      expect((await final(tryOn)).problem).toMatchObject({ kind: 'deviceLimit', limit: 'perShopper' })
      expect(world.count('POST', '/generations')).toBe(1)
    },
  )

  it('count those of a clock that was set back from now on', async () => {
    const limits = limitsOf({ perHour: 1 })
    await limits.take('one')
    const { now } = world.clock
    world.clock.now = () => now() - 86_400_000
    expect(await limits.take('two')).toEqual({ limit: 'perHour', nextAt: world.clock.now() + 3_600_000 })
    expect(await limits.take('one')).toBeNull()
  })

  it('forget none while the clock is behind for a moment', async () => {
    const limits = limitsOf({ perHour: 1 })
    await limits.take('one')
    const { now } = world.clock
    world.clock.now = () => now() - 7_200_000
    await limits.nextShopper()
    world.clock.now = now
    world.clock.advance(60_000)
    expect(await limits.take('two')).toEqual({ limit: 'perHour', nextAt: world.clock.now() + 3_540_000 })
  })

  it('count what a clock set that was ahead for an hour, and no longer', async () => {
    const limits = limitsOf({ perHour: 1 })
    await limits.take('one')
    const { now } = world.clock
    world.clock.now = () => now() - 86_400_000
    await limits.nextShopper()
    world.clock.advance(3_600_000)
    expect(await limits.take('two')).toBeNull()
  })

  it.each([
    ['perShopper', 0],
    ['perHour', NaN],
  ])('are refused with a wrong %s', (at, limit) => {
    expect(() => limitsOf({ [at]: limit })).toThrow(
      expect.objectContaining({ problem: expect.objectContaining({ at, kind: 'input' }) }),
    )
  })
})

describe('a limit whose storage leaves one call unanswered', () => {
  it.each([true, false])('counts again once that is given up, be it with update() or without: %o', async (atomic) => {
    const disk = testStorage({ atomic })
    const limits = deviceLimits({ perShopper: 2, storage: disk, clock: world.clock })
    let calls = 0
    disk.meet(() => calls++ === 0, hung)
    const first = expect(limits.take('one')).rejects.toThrow('within 5000 ms')
    await world.pass(5_000)
    await first
    expect([await limits.take('two'), await limits.take('three')]).toEqual([null, null])
    expect(await limits.take('four')).toMatchObject({ limit: 'perShopper' })
  })

  it('waits for a write that lands on whatever stands there, however many were given up behind it', async () => {
    const disk = testStorage({ atomic: false })
    const limits = deviceLimits({ perShopper: 1, storage: disk, clock: world.clock })
    const write = disk.hold(isWrite)
    const early = [expect(limits.take('one')).rejects.toThrow('within 5000 ms')]
    await world.pass(5_000)
    early.push(expect(limits.take('two')).rejects.toThrow('within 5000 ms'))
    await world.pass(5_000)
    await Promise.all(early)
    const third = limits.take('three')
    await world.settle()
    write.release()
    expect(await third).toMatchObject({ limit: 'perShopper' })
  })

  it('overwrites nothing with what it had read before', async () => {
    const disk = testStorage({ atomic: false })
    const limits = deviceLimits({ perShopper: 1, storage: disk, clock: world.clock })
    const read = disk.hold(isRead, 'midway')
    const first = expect(limits.take('one')).rejects.toThrow('within 5000 ms')
    await world.pass(5_000)
    await first
    expect(await limits.take('two')).toBeNull()
    read.release()
    await world.settle()
    expect(await limits.take('three')).toMatchObject({ limit: 'perShopper' })
  })
})

it.each([{ limit: 'perShopper' }, { limit: 'perDay', nextAt: null }, true, { limit: 'perHour', nextAt: '12:00' }])(
  'a limit of an application’s own that says %j lets nothing out, in words that other pages and a reload can read',
  async (answer) => {
    const limit = { take: () => answer as never, giveBack() {} }
    const tryOn = await started(world.room({ limit }).tryOn(product))
    const beside = world.room().tryOn(product)
    beside.subscribe(() => {})
    for (const each of [tryOn, beside]) await world.until(each, 'rejected')
    const reloaded = await world.until(world.room().tryOn(product), 'rejected')
    expect([reloaded.problem, world.count('POST', '/generations')]).toEqual([{ kind: 'internal', sent: false }, 0])
  },
)
