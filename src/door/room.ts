import { hasDatabase } from '../../adapters/storage/database.ts'
import { checkedOptions, checkedProduct, fixedId, resolvedBaseUrl, type RoomOptions } from '../options.ts'
import { isExclusive } from '../platform/exclusive.ts'
import { report } from '../platform/guarded.ts'
import { quiet } from '../platform/quiet.ts'
import { systemClock } from '../platform/system-clock.ts'
import type { Readable } from '../ports.ts'
import { nameOf, namesOf, photoOf, recordOf, visitorOf, type Names } from '../records/names.ts'
import type { Core, FittingRoom, Outside } from '../room.types.ts'
import { unknownVisitor } from '../shopper/unknown-visitor.ts'
import type { Client } from '../wire/operations.ts'
import { createCarrier } from './carrier.ts'
import { createEntry } from './entry.ts'
import { listenTo } from './listen.ts'
import { createLoader } from '../loader.ts'
import { lookInto, unclear, type Seen } from './look.ts'
import { createRelay } from './relay.ts'
import { createResets } from './resets.ts'
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
    durable: storage ? storage.durable !== false : hasDatabase(),
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
  let looking: Promise<Seen> | null = null
  /** Whether it was closed, and not used since. */
  let wasClosed = false
  /** The records that other pages have said to be at since. */
  const heard = new Set<string>()
  let listening: ReturnType<typeof listenTo> | null = null
  /** Another one for each shopper that this page knows of. */
  let shopper: object = {}
  /** What hears other pages, where nothing was missed. */
  const ear = () => (listening?.hears() ? listening : null)
  const entry = createEntry({
    load,
    wiping: () => resets.wiping(),
    onUse: beUsedAgain,
    onOpen(made) {
      for (const follow of followers) follow(made)
      // it may have found what the door can not read
      lookAnew()
    },
  })
  const { life, open, use } = entry
  const resets = createResets({
    entry,
    look,
    isLooking: () => looking !== null,
    listen,
    hears: () => ear() !== null,
    forget,
  })

  /** Of a room that was closed each card that is watched waits for it. */
  function beUsedAgain(): void {
    if (!wasClosed) return
    wasClosed = false
    lookAgain()
  }

  function look(): Promise<Seen> {
    return looking ?? lookFrom(begin())
  }

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
    const sweep = () => begun === life() && void open()
    if (seen.isDue) (globalThis.requestIdleCallback ?? setTimeout)(sweep)
    // what its stores have shown since before the room was closed may be a former shopper's
    if (entry.core() && !entry.opened() && watched.some((isWatched) => isWatched())) sweep()
    return seen
  }

  const lookAgain = () => tryOns.forEach((each) => each.look())

  function lookAnew(): void {
    const begun = life()
    const look = () => (begun === life() ? begin() : unclear)
    looking = null
    // who comes now is seen once they are wiped
    const wiping = resets.wiping()
    if (wiping) void lookFrom(wiping.then(look, look))
    lookAgain()
  }

  function listen(): void {
    if (!terms.durable || listening?.hears()) return
    listening?.end()
    listening = listenTo(names().room, {
      onReset(epochs) {
        // once it is open the core hears it itself, and what it says of its own
        if (resets.note(epochs) && !(entry.core() && entry.isWanted())) forget()
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
    const made = entry.opened()
    if (made) followers.forEach((follow) => follow(made))
    tryOns.forEach((each) => each.refresh())
    // who has come since the room was closed may have looked before it
    if (made || looking) lookAnew()
  }

  /** One of the core's stores, which is loaded for whoever watches where something may be kept of it. */
  function store<T>(initial: T, of: (core: Core) => Readable<T>, keyOf?: (prefix: string) => string): Readable<T> {
    const relay = createRelay(initial)
    followers.add((room) => relay.follow(of(room)))
    watched.push(relay.isWatched)
    const watch = async () => {
      const begun = life()
      if ((!keyOf || (await mayHold(keyOf(names().prefix)))) && begun === life()) void open()
    }
    return {
      ...relay,
      subscribe(onChange) {
        void quiet(watch())
        return relay.subscribe(onChange)
      },
    }
  }

  const openCore = () => (resets.wiping() ? null : entry.opened())
  const carrier = createCarrier({
    clock,
    life,
    look,
    shopper: () => shopper,
    resets,
    ear,
  })

  let isReported = false
  /** Once is enough for all cards of a page. */
  function reportOnce(error: unknown): void {
    if (!isReported) report(error)
    isReported = true
  }

  const tryOn: FittingRoom['tryOn'] = (asked) => {
    const product = checkedProduct(asked)
    const { productId, variantId } = product
    const name = nameOf(product)
    const key = () => recordOf(names().prefix, productId, variantId)
    const known =
      tryOns.get(name) ??
      createDoorTryOn({ terms, key, mayHold, look, open, life, carrier, report: reportOnce, core: openCore })
    tryOns.set(name, known)
    // what the application says now of its funnels counts for the next consent
    return known.through((room) => room.tryOn(product), entry.core())
  }

  /** What an application has asked for stays as it has asked for it. */
  const entered: FittingRoom['tryOn'] = (product) => tryOns.get(nameOf(product))?.tryOn ?? tryOn(product)

  const through =
    (name: string) =>
    (...args: unknown[]) =>
      use((room) => Reflect.get(room.client, name)(...args))

  return {
    tryOn,
    visitor: store(unknownVisitor(ownId), (room) => room.visitor, visitorOf),
    photo: store(null, (room) => room.photo, photoOf),
    history: store([], (room) => room.history),
    client: Object.fromEntries(operations.split(' ').map((name) => [name, through(name)])) as unknown as Client,
    get ready() {
      return use((room) => room.ready)
    },
    preload: () => quiet(entry.make().then((made) => made.preload())),
    list: () => use((room) => room.list()),
    on(listener) {
      let heard: { unsubscribe(): void } | undefined
      // a page on which nothing happens need not be told so
      const follow = (room: Core) => void (heard ??= room.on(listener))
      followers.add(follow)
      const made = entry.core()
      if (made) follow(made)
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
    reset: () => quiet(resets.reset()),
    close() {
      entry.leave()
      listening?.end()
      listening = null
      looking = null
      wasClosed = true
      tryOns.forEach((each) => each.leave('closed'))
      entry.core()?.close()
    },
  }
}
