import { digitsOf } from '../contract/forms.ts'
import { checkedOptions, checkedProduct, resolvedBaseUrl, type RoomOptions, type TryOnProduct } from '../options.ts'
import { isExclusive } from '../platform/exclusive.ts'
import { systemClock } from '../platform/system-clock.ts'
import type { Readable } from '../ports.ts'
import { namesOf, photoOf, recordOf, visitorOf, type Names } from '../records/names.ts'
import type { Core, FittingRoom, Outside } from '../room.ts'
import { TryOnError } from '../rules/try-on-error.ts'
import { unknownVisitor } from '../shopper/unknown-visitor.ts'
import type { Client } from '../wire/operations.ts'
import { listenTo } from './listen.ts'
import { createLoader } from './load.ts'
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
  const { storage, uniqueUserId, clock = systemClock } = options
  const terms: DoorTerms = {
    durable: storage ? storage.durable !== false : typeof indexedDB !== 'undefined',
    exclusive: !storage || isExclusive(storage),
  }
  const loadCore = options.core ?? (() => import('./core.ts'))
  const load = createLoader(async () => (await loadCore()).createRoom(options, { tryOn: entered }), clock)
  const tryOns = new Map<string, DoorTryOn>()
  /** What follows the core once it is there. */
  const followers: ((core: Core) => void)[] = []
  let own: Names | null = null
  const names = () => (own ??= namesOf(resolvedBaseUrl(options.baseUrl), options.namespace, uniqueUserId))
  let core: Core | null = null
  let opening: Promise<Core> | null = null
  let looking: Promise<Seen> | null = null
  /** The records that other pages have said to be at since. */
  const heard = new Set<string>()
  let stopListening = () => {}
  /** How often the room was closed: what was asked for before does not open it again. */
  let closings = 0
  const life = () => closings

  async function enter(): Promise<Core> {
    const begun = life()
    const check = () => {
      if (begun !== life()) throw new TryOnError({ kind: 'stopped', reason: 'closed' })
    }
    const made = core ?? (await load())
    check()
    core = made
    // what is wrong with storage the try-ons say
    await core.ready.catch(() => undefined)
    check()
    for (const follow of followers) follow(core)
    lookAgain()
    return core
  }

  function open(): Promise<Core> {
    const entering = (opening ??= enter())
    entering.catch(() => opening === entering && (opening = null))
    return entering
  }

  /** For what nobody waits for. */
  const openQuietly = () => void open().catch(() => undefined)

  const look = () => (looking ??= begin())

  /** Whether something may be kept under that key. */
  const mayHold = async (key: string) => heard.has(key) || (await look()).mayHold(key)

  async function begin(): Promise<Seen> {
    if (terms.durable) listen()
    const begun = life()
    const seen = await lookInto(storage, names(), clock)
    const sweep = () => begun === life() && openQuietly()
    if (seen.isDue) (globalThis.requestIdleCallback ?? setTimeout)(sweep)
    return seen
  }

  const lookAgain = () => tryOns.forEach((each) => each.look())

  function lookAnew(): void {
    looking = null
    lookAgain()
  }

  function listen(): void {
    stopListening()
    stopListening = listenTo(names().room, {
      onReset: () => forget(),
      onAttempt(name) {
        heard.add(name)
        lookAgain()
      },
      onShow: lookAnew,
    })
  }

  /** The shopper has gone: what was seen before was theirs, and who comes now is seen once they are wiped. */
  function forget(wiped?: Promise<void>): void {
    heard.clear()
    tryOns.forEach((each) => each.leave('startedOver'))
    const begun = life()
    const look = () => (begun === life() ? begin() : unclear)
    looking = wiped ? wiped.then(look, look) : null
    lookAgain()
  }

  /** One of the core's stores, which is loaded for whoever watches where something is kept of it. */
  function store<T>(initial: T, of: (core: Core) => Readable<T>, isKept: () => Promise<boolean>): Readable<T> {
    const relay = createRelay(initial)
    followers.push((room) => relay.follow(of(room)))
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

  const tryOn: FittingRoom['tryOn'] = (asked) => {
    const product = checkedProduct(asked)
    const { productId, variantId } = product
    const name = nameOf(product)
    const key = () => recordOf(names().prefix, productId, variantId)
    const known = tryOns.get(name) ?? createDoorTryOn({ clock, terms, key, mayHold, look, open, life })
    tryOns.set(name, known)
    // what the application says now of its funnels counts for the next consent
    core?.tryOn(product)
    return known.through((room) => room.tryOn(product))
  }

  /** What an application has asked for stays as it has asked for it. */
  const entered: FittingRoom['tryOn'] = (product) => tryOns.get(nameOf(product))?.tryOn ?? tryOn(product)

  const through =
    (name: string) =>
    async (...args: unknown[]) =>
      Reflect.get((await open()).client, name)(...args)

  return {
    tryOn,
    visitor: store(
      unknownVisitor(uniqueUserId),
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
      return open().then((room) => room.ready)
    },
    list: () => open().then((room) => room.list()),
    reset() {
      const done = open().then((room) => room.reset())
      forget(done)
      return done
    },
    close() {
      closings++
      opening = null
      stopListening()
      looking = null
      tryOns.forEach((each) => each.leave('closed'))
      core?.close()
    },
  }
}

const nameOf = ({ productId, variantId }: TryOnProduct) => `${digitsOf(productId)}:${digitsOf(variantId)}`
