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
import { createLoader } from '../loader.ts'
import { createRelay } from './relay.ts'
import { createResets } from './resets.ts'
import { createDoorTryOn, type DoorTerms, type DoorTryOn } from './try-on.ts'
import { createWatch } from './watch.ts'

export interface FittingRoomOptions extends RoomOptions {
  /** Loads the core in place of the library's own `import()`, as in `() => import('fitting-room/core')`. */
  core?: (() => PromiseLike<{ createRoom(options: RoomOptions, outside?: Outside): Core }>) | undefined
}

const operations =
  'getContext getFunnel createUpload putPhoto getRequestsLeft registerCustomer createGeneration getGeneration'

/**
 * Makes a room. It reads storage once, at the first subscription, and loads the core when somebody tries something on
 * or comes back to a try-on. Throws a `TryOnError` of kind `input` for options that cannot be used.
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
  /** Another one for each shopper that this page knows of. */
  let shopper: object = {}
  const wiping = () => resets.wiping()
  const entry = createEntry({
    load,
    wiping,
    onUse: () => watch.beUsedAgain(),
    onOpen(made) {
      for (const follow of followers) follow(made)
      // it may have found what the door cannot read
      watch.lookAnew()
    },
  })
  const { life, open, use } = entry
  const watch = createWatch({
    storage,
    clock,
    names,
    durable: terms.durable,
    entry,
    wiping,
    note: (epochs) => resets.note(epochs),
    isWatched: () => watched.some((isWatched) => isWatched()),
    onChange: () => tryOns.forEach((each) => each.recheck()),
    onReset: forget,
  })
  const { look, lookAnew, mayHold } = watch
  const resets = createResets({ entry, watch, forget })

  /** The shopper has gone, and what was seen before was theirs. */
  function forget(): void {
    shopper = {}
    watch.forget()
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
    if (made || watch.isLooking()) lookAnew()
  }

  /** One of the core's stores, which is loaded for whoever watches where something may be kept of it. */
  function store<T>(initial: T, of: (core: Core) => Readable<T>, keyOf?: (prefix: string) => string): Readable<T> {
    const relay = createRelay(initial)
    followers.add((room) => relay.follow(of(room)))
    watched.push(relay.isWatched)
    const loadWhereKept = async () => {
      const begun = life()
      if ((!keyOf || (await mayHold(keyOf(names().prefix)))) && begun === life()) void open()
    }
    return {
      ...relay,
      subscribe(onChange) {
        void quiet(loadWhereKept())
        return relay.subscribe(onChange)
      },
    }
  }

  const openCore = () => (wiping() ? null : entry.opened())
  const carrier = createCarrier({ clock, life, watch, shopper: () => shopper, resets })

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
    return known.bind((room) => room.tryOn(product), entry.core())
  }

  /** What an application has asked for stays as it has asked for it. */
  const entered: FittingRoom['tryOn'] = (product) => tryOns.get(nameOf(product))?.tryOn ?? tryOn(product)

  const stub =
    (name: string) =>
    (...args: unknown[]) =>
      use((room) => Reflect.get(room.client, name)(...args))

  return {
    tryOn,
    visitor: store(unknownVisitor(ownId), (room) => room.visitor, visitorOf),
    photo: store(null, (room) => room.photo, photoOf),
    history: store([], (room) => room.history),
    client: Object.fromEntries(operations.split(' ').map((name) => [name, stub(name)])) as unknown as Client,
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
      watch.close()
      tryOns.forEach((each) => each.leave('closed'))
      entry.core()?.close()
    },
  }
}
