import { checkedOptions, checkedProduct, fixedId, resolvedBaseUrl, type RoomOptions } from '../options.ts'
import { deferred } from '../platform/deferred.ts'
import { isExclusive } from '../platform/exclusive.ts'
import { quiet } from '../platform/quiet.ts'
import { systemClock } from '../platform/system-clock.ts'
import { onceMore } from '../platform/was-reset.ts'
import type { Readable } from '../ports.ts'
import { nameOf, namesOf, photoOf, recordOf, visitorOf, type Names } from '../records/names.ts'
import type { Core, FittingRoom, Outside } from '../room.types.ts'
import { stopped } from '../rules/try-on-error.ts'
import { unknownVisitor } from '../shopper/unknown-visitor.ts'
import type { Client } from '../wire/operations.ts'
import { createCarrier, type Wiped } from './carrier.ts'
import { listenTo } from './listen.ts'
import { createLoader } from '../loader.ts'
import { lookInto, unclear, type Seen } from './look.ts'
import { createRelay } from './relay.ts'
import { createDoorTryOn, type DoorTerms, type DoorTryOn } from './try-on.ts'

export interface FittingRoomOptions extends RoomOptions {
  /** Loads the core in place of the library's own `import()`, as in `() => import('fitting-room/core')`. */
  core?: (() => PromiseLike<{ createRoom(options: RoomOptions, outside?: Outside): Core }>) | undefined
}

const operations =
  'getContext getFunnel createUpload putPhoto getRequestsLeft registerCustomer createGeneration getGeneration'

/**
 * The door of a room: it looks into storage once, at the first subscription, and loads the core when more is asked for
 * than a page shows on which nobody tries anything on.
 */
export function createFittingRoom(given: FittingRoomOptions): FittingRoom {
  const options = checkedOptions(given)
  const { storage, clock = systemClock } = options
  const ownId = fixedId(options.uniqueUserId)
  const terms: DoorTerms = {
    durable: storage ? storage.durable !== false : typeof indexedDB !== 'undefined',
    exclusive: !storage || isExclusive(storage),
  }
  const loadCore = options.core ?? (() => import('./core.ts'))
  const load = createLoader(
    async () => (await loadCore()).createRoom(options, { tryOn: entered, onForget: refresh }),
    clock,
  )
  const tryOns = new Map<string, DoorTryOn>()
  /** What follows the core once it is there. */
  const followers = new Set<(core: Core) => void>()
  /** Says of each of the core's stores whether somebody watches it. */
  const watched: (() => boolean)[] = []
  let own: Names | null = null
  const names = () => (own ??= namesOf(resolvedBaseUrl(options.baseUrl), options.namespace, ownId))
  let core: Core | null = null
  let making: Promise<Core> | null = null
  /** Whether it has read storage. */
  let isOpen = false
  let opening: Promise<Core> | null = null
  let looking: Promise<Seen> | null = null
  /** Whether it was closed, and not used since. */
  let wasClosed = false
  /** The records that other pages have said to be at since. */
  const heard = new Set<string>()
  let listening: ReturnType<typeof listenTo> | null = null
  /** Another one for each shopper that this page knows of. */
  let shopper: object = {}
  /** How many resets of others were heard of. */
  let resets = 0
  /** What this room's own core says of its own when each is counted. */
  const ownCounts = new Set<string>()
  /** What this room's own reset() wipes, and how far storage had come with it. */
  let wiping: Promise<void> | null = null
  let wiped: Promise<Wiped> | null = null
  /** Another one each time that the room is closed, which rejects then: what was asked for does not open it again. */
  let ends = beginLife()
  const life = () => ends.promise

  function make(): Promise<Core> {
    const begun = (making ??= load().then((made) => (core = made)))
    begun.catch(() => making === begun && (making = null))
    return begun
  }

  async function enter(): Promise<Core> {
    const begun = life()
    const made = await make()
    // what is wrong with storage the try-ons say
    if (begun === life()) await made.ready.catch(() => undefined)
    // nobody is shown what is of a shopper who has gone
    await wiping?.catch(() => undefined)
    if (begun !== life()) return begun
    isOpen = true
    for (const follow of followers) follow(made)
    // it may have found what the door can not read
    lookAnew()
    return made
  }

  function open(): Promise<Core> {
    const entering = (opening ??= Promise.race([life(), enter()]))
    entering.catch(() => opening === entering && (opening = null))
    beUsedAgain()
    return entering
  }

  /** Of a room that was closed each card that is watched waits for it. */
  function beUsedAgain(): void {
    if (!wasClosed) return
    wasClosed = false
    lookAgain()
  }

  /** Asks the core, unless the room was closed meanwhile. */
  function use<T>(how: (core: Core) => T | Promise<T>): Promise<T> {
    const begun = life()
    return quiet(open().then((made) => (begun === life() ? how(made) : begun)))
  }

  /** For what nobody waits for. */
  const openQuietly = () => void quiet(open())

  const look = () => looking ?? lookFrom(begin())

  function lookFrom(begun: Promise<Seen>): Promise<Seen> {
    looking = begun
    beUsedAgain()
    // an address that is none now may be one later, and storage may be read then
    const again = () => looking === begun && (looking = null)
    begun.then((seen) => seen === unclear && again(), again)
    return begun
  }

  /** Whether something may be kept under that key. */
  const mayHold = async (key: string) => (await look()).mayHold(key) || heard.has(key)

  async function begin(): Promise<Seen> {
    listen()
    const begun = life()
    const seen = await lookInto(storage, names(), clock)
    const sweep = () => begun === life() && openQuietly()
    if (seen.isDue) (globalThis.requestIdleCallback ?? setTimeout)(sweep)
    // what its stores have shown since before the room was closed may be a former shopper's
    if (core && !isOpen && watched.some((isWatched) => isWatched())) sweep()
    return seen
  }

  const lookAgain = () => tryOns.forEach((each) => each.look())

  function lookAnew(): void {
    const begun = life()
    const look = () => (begun === life() ? begin() : unclear)
    looking = null
    // who comes now is seen once they are wiped
    if (wiping) void lookFrom(wiping.then(look, look))
    lookAgain()
  }

  function listen(): void {
    if (!terms.durable || listening?.hears()) return
    listening?.end()
    listening = listenTo(names().room, {
      onReset(epochs) {
        if (ownCounts.delete(JSON.stringify(epochs))) return
        resets++
        // once it is open the core hears it itself, and what it says of its own
        if (!core || (!isOpen && !opening)) forget()
      },
      onAttempt(name) {
        heard.add(name)
        lookAgain()
      },
      onShow: lookAnew,
    })
  }

  /** The shopper has gone, and what was seen before was theirs. */
  function forget(): void {
    shopper = {}
    heard.clear()
    tryOns.forEach((each) => each.leave('startedOver'))
    tryOns.forEach((each) => each.refresh())
    lookAnew()
  }

  /** The core has forgotten a shopper. */
  function refresh(): void {
    const made = core
    if (made && isOpen) followers.forEach((follow) => follow(made))
    tryOns.forEach((each) => each.refresh())
    // who has come since the room was closed may have looked before it
    if (isOpen || looking) lookAnew()
  }

  /** What is to be wiped is wiped though the room is closed, and closed again. */
  async function wipe(begun: ReturnType<typeof life>, onCounted: Parameters<Core['reset']>[0]): Promise<void> {
    if (core && isOpen) return core.reset(onCounted)
    if (begun === life()) openQuietly()
    const made = await make()
    try {
      await made.reset(onCounted)
    } finally {
      if (begun !== life() && !opening && !looking) made.close()
    }
  }

  /** How often storage was reset, as far as this page knows before it has counted one more. */
  async function knownCounts(): Promise<Seen['epochs']> {
    if (wiping) return (await wiped)?.epochs
    return core && isOpen ? core.counts() : (await look()).epochs
  }

  async function reset(): Promise<void> {
    // an address that is none is told before anything is wiped
    listen()
    let before: Seen['epochs']
    const remembered = core?.counts() ?? {}
    const known = quiet(knownCounts().then((counts) => (before = counts)))
    const counted = deferred<Wiped>()
    const begun = life()
    // another page's may have been counted before it
    const begin = () =>
      wipe(begun, (counts) => {
        if (listening?.hears()) ownCounts.add(JSON.stringify(counts))
        counted.resolve({ epochs: afterOne(counts, before, remembered), resets })
      })
    // what this one wipes the one before does not wipe once more, and what is known must be of before
    const earlier = wiping ? wiped : core && isOpen ? null : known
    const done = earlier ? earlier.then(begin, begin) : begin()
    wiping = done
    wiped = quiet(counted.promise)
    forget()
    try {
      await done
    } finally {
      if (wiping === done) wiping = null
      // where it did not count, only another one can have been counted since
      known.then((epochs) => counted.resolve({ epochs, resets: null }), counted.reject)
    }
  }

  /** One of the core's stores, which is loaded for whoever watches where something is kept of it. */
  function store<T>(initial: T, of: (core: Core) => Readable<T>, isKept: () => Promise<boolean>): Readable<T> {
    const relay = createRelay(initial)
    followers.add((room) => relay.follow(of(room)))
    watched.push(relay.isWatched)
    const watch = async () => {
      const begun = life()
      if ((await isKept()) && begun === life()) openQuietly()
    }
    return {
      ...relay,
      subscribe(onChange) {
        watch().catch(() => undefined)
        return relay.subscribe(onChange)
      },
    }
  }

  const openCore = () => (isOpen && !wiping ? core : null)
  const carrier = createCarrier({
    clock,
    life,
    look,
    shopper: () => shopper,
    resets: () => resets,
    wiping: () => wiping && wiped,
    ear: () => (listening?.hears() ? listening : null),
  })

  let isReported = false
  /** Once is enough for all cards of a page. */
  function report(error: unknown): void {
    if (isReported) return
    isReported = true
    const tell = globalThis.reportError ?? console.error
    tell(error)
  }

  const tryOn: FittingRoom['tryOn'] = (asked) => {
    const product = checkedProduct(asked)
    const { productId, variantId } = product
    const name = nameOf(product)
    const key = () => recordOf(names().prefix, productId, variantId)
    const known =
      tryOns.get(name) ?? createDoorTryOn({ terms, key, mayHold, look, open, life, carrier, report, core: openCore })
    tryOns.set(name, known)
    // what the application says now of its funnels counts for the next consent
    core?.tryOn(product)
    return known.through((room) => room.tryOn(product))
  }

  /** What an application has asked for stays as it has asked for it. */
  const entered: FittingRoom['tryOn'] = (product) => tryOns.get(nameOf(product))?.tryOn ?? tryOn(product)

  const through =
    (name: string) =>
    (...args: unknown[]) =>
      use((room) => Reflect.get(room.client, name)(...args))

  return {
    tryOn,
    visitor: store(
      unknownVisitor(ownId),
      (room) => room.visitor,
      async () => mayHold(visitorOf(names().prefix)),
    ),
    photo: store(
      null,
      (room) => room.photo,
      async () => mayHold(photoOf(names().prefix)),
    ),
    history: store(
      [],
      (room) => room.history,
      async () => true,
    ),
    client: Object.fromEntries(operations.split(' ').map((name) => [name, through(name)])) as unknown as Client,
    get ready() {
      return use((room) => room.ready)
    },
    preload: () => quiet(make().then((made) => made.preload())),
    list: () => use((room) => room.list()),
    on(listener) {
      let heard: { unsubscribe(): void } | undefined
      // a page on which nothing happens need not be told so
      const follow = (room: Core) => void (heard ??= room.on(listener))
      followers.add(follow)
      if (core) follow(core)
      return {
        unsubscribe() {
          followers.delete(follow)
          heard?.unsubscribe()
        },
      }
    },
    claim(ticket) {
      const saying = (room: Core) => () => room.claim(ticket)
      const ready = openCore()
      return quiet(ready ? ready.said(0, undefined, saying(ready)) : carrier.carry(open(), saying))
    },
    stored: () => use((room) => room.stored()),
    reset: () => quiet(reset()),
    close() {
      ends.reject(stopped('closed'))
      ends = beginLife()
      opening = null
      isOpen = false
      listening?.end()
      listening = null
      looking = null
      wasClosed = true
      tryOns.forEach((each) => each.leave('closed'))
      core?.close()
    },
  }
}

function beginLife() {
  const ends = deferred<never>()
  void quiet(ends.promise)
  return ends
}

type Counts = NonNullable<Seen['epochs']>

/** What storages count after one reset more than was seen `before`; undefined where nobody could tell. */
function afterOne(counts: Counts, before: Counts | undefined, remembered: Counts): Counts {
  if (before === undefined) return counts
  const isEmpty = Object.keys(before).length === 0
  // what had nothing yet has begun at none, or where the core has left it
  const none = Object.fromEntries(Object.keys(counts).map((id) => [id, 0]))
  return { ...counts, ...onceMore(isEmpty ? { ...none, ...remembered } : before) }
}
