import { storageChain } from '../adapters/storage/chain.ts'
import { indexedDbStorage } from '../adapters/storage/indexed-db.ts'
import { webStorage } from '../adapters/storage/local-storage.ts'
import { memoryPhotos, memoryStorage } from '../adapters/storage/memory.ts'
import { createAttempts } from './records/attempts.ts'
import { clientTiming, type Client, type ClientOptions, type ClientTiming } from './wire/operations.ts'
import { createRoomClient } from './wire/room-client.ts'
import { systemClock } from './platform/clock.ts'
import { digitsOf, funnelId, productId, variantId, type StoreId } from './contract/ids.ts'
import { pollIntervalMs } from './contract/limits.ts'
import { createJournal } from './records/journal.ts'
import { keysOf } from './records/keys.ts'
import { createOwnership } from './pages/ownership.ts'
import { boundedPhotoStore } from './records/photo-store.ts'
import { createPhotos, type RoomPhoto } from './shopper/photos.ts'
import type { Clock, FlowStorage, PhotoStore, Readable } from './ports.ts'
import { TryOnError } from './rules/problem.ts'
import { createCatalog, type Listed } from './records/catalog.ts'
import { openTabs, type Tabs } from './pages/tabs.ts'
import { createTryOn, type RunningTryOn } from './try-on/try-on.ts'
import type { Product } from './try-on/try-on.actors.ts'
import type { Inspect, TryOn } from './try-on/try-on.types.ts'
import { createVisitor, type Visitor } from './shopper/visitor.ts'

/** All times in ms. */
export interface RoomTiming extends ClientTiming {
  /** Between two polls of one job. Default: 2,000. */
  pollIntervalMs: number
  /** From acceptance; past it a try-on is `stalled`, not failed. Default: 180,000. */
  deadlineMs: number
}

export interface FittingRoomOptions extends Omit<ClientOptions, 'timing'> {
  /** Where records are kept. Default: IndexedDB, else localStorage, else memory. */
  storage?: FlowStorage | undefined
  /** Where a photo's bytes wait until they are uploaded. Default: beside the records, else in memory. */
  photoStore?: PhotoStore | undefined
  /** Two rooms of one page origin and installation that must not share anything have two names. Default: `default`. */
  namespace?: string | undefined
  /** Time limits and intervals, in ms. */
  timing?: Partial<RoomTiming> | undefined
  /** How long a record is kept after its last change, in ms. Default: 86,400,000, a day. */
  retentionMs?: number | undefined
  /** A visitor ID that the application already has. Default: the one that the service gives. */
  uniqueUserId?: string | undefined
  /** Asks GET /requests-left before a submission, so that the e-mail form comes first. Default: false. */
  askVisitorFirst?: boolean | undefined
  /** Hears what happens inside the room's try-ons, for developers; nothing private is in it. */
  inspect?: Inspect | undefined
}

/** One product variant, and the funnels to try it with in preferred order (spec §4, GET /funnel). */
export interface TryOnProduct {
  /** Digits, or the platform's global ID: `'1001'` or `'gid://platform/Product/1001'`. */
  productId: StoreId
  /** Digits, or the platform's global ID: `'2001'` or `'gid://platform/ProductVariant/2001'`. */
  variantId: StoreId
  /** At least one. */
  funnelIds: readonly number[]
}

/** One attempt that storage holds, current or archived; `open()` gives the try-on that follows it. */
export type ListedAttempt = Listed<TryOn>

/** One page's or kiosk's runtime: one store's API, one visitor, one storage, many try-ons. */
export interface FittingRoom {
  /** The same product variant again is the same try-on; it resumes what storage holds. */
  tryOn(product: TryOnProduct): TryOn
  readonly visitor: Readable<Visitor>
  /** The photo that `start()` without one takes. */
  readonly photo: Readable<RoomPhoto | null>
  /** All seven operations; their requests pass the room's gate. */
  readonly client: Client
  /** Every try-on and archived attempt, newest first. */
  list(): Promise<ListedAttempt[]>
  /** Resolves when storage has been read. */
  readonly ready: Promise<void>
  /** Wipes everything of this shopper; rejects with kind `storage` when something could not be wiped. */
  reset(): Promise<void>
  /** Stops timers; persisted work stays, and using the room again reopens it. */
  close(): void
}

/** The composition root: picks the defaults and wires the parts. No I/O before the first use. */
export function createFittingRoom(options: FittingRoomOptions): FittingRoom {
  const { clock = systemClock, namespace = 'default', retentionMs = 86_400_000 } = options
  const timing: RoomTiming = { ...clientTiming, pollIntervalMs, deadlineMs: 180_000, ...options.timing }
  const storage = options.storage ?? defaultStorage(clock)
  const store = boundedPhotoStore(options.photoStore ?? storage.photos ?? memoryPhotos(), clock)
  if (options.uniqueUserId === '') throw new TryOnError({ kind: 'input', at: 'uniqueUserId' })
  const client = createRoomClient({ ...options, clock, timing })
  const keys = keysOf(client.installation(), namespace, options.uniqueUserId)
  const journal = createJournal(storage, clock)
  const catalog = createCatalog({ journal, keys, store, clock, retentionMs })
  const visitor = createVisitor({ journal, keys, clock, retentionMs, given: options.uniqueUserId })
  const photos = createPhotos({ client, clock, journal, keys, store, catalog, retentionMs })
  const tryOns = new Map<string, RunningTryOn>()
  const ownership = createOwnership(storage, clock)
  let opened: Promise<void> | null = null
  let tabs: Tabs | null = null
  let stopListening = () => {}

  const refresh = async () => {
    await Promise.all([visitor.restore(), photos.restore()])
  }

  function open(): Promise<void> {
    return (opened ??= (async () => {
      stopListening = onPageLife({
        wake: () => tryOns.forEach((each) => each.wake()),
        leave: (isFreezing) => tryOns.forEach((each) => each.stop(isFreezing)),
        come: () => tryOns.forEach((each) => each.restart()),
      })
      tabs = openTabs(keys.index)
      tabs.listen((message) => {
        if (message.type === 'reset') forgetAll()
        else tryOns.forEach((each) => each.hear(message))
      })
      await refresh()
    })())
  }

  /** Storage is empty: whoever looks is shown that. */
  function forgetAll(): void {
    client.forgetAddresses()
    visitor.forget()
    photos.forget()
    tryOns.forEach((each) => each.restart())
  }

  function running(name: string, product: Product, keyAt: (slot: number) => string, archived: boolean): TryOn {
    const known = tryOns.get(name)
    if (known) return known.tryOn
    const attempts = createAttempts({ catalog, journal, clock, keys, keyAt, retentionMs })
    const { pollIntervalMs: every, deadlineMs } = timing
    const input = {
      clock,
      pollIntervalMs: every,
      deadlineMs,
      askVisitorFirst: options.askVisitorFirst ?? false,
      exclusive: ownership.exclusive,
      archived,
    }
    const post: Tabs['post'] = (message) => tabs?.post(message)
    const made = createTryOn({
      client,
      clock,
      photos,
      visitor,
      attempts,
      product,
      ownership,
      name: keyAt(0),
      input,
      post,
      inspect: options.inspect,
      open,
      refresh,
    })
    tryOns.set(name, made)
    return made.tryOn
  }

  const current = (product: Product) =>
    running(
      `${digitsOf(product.productId)}:${digitsOf(product.variantId)}`,
      product,
      (slot) => keys.tryOn(product.productId, product.variantId, slot),
      false,
    )

  return {
    client: client.operations,
    visitor: readOnly(visitor),
    photo: readOnly(photos),
    get ready() {
      return open()
    },
    tryOn: (given) => current(checked(given)),
    async list() {
      await open()
      return catalog.attempts(({ record: { productId: product, variantId: variant, funnelIds }, key, archived }) => {
        const known = { productId: product, variantId: variant, funnelIds }
        return archived ? running(key, known, () => key, true) : current(known)
      })
    },
    async reset() {
      await open()
      tryOns.forEach((each) => each.stop())
      const wiped = await catalog.wipe()
      forgetAll()
      tabs?.post({ type: 'reset' })
      if (!wiped) throw new TryOnError({ kind: 'storage' })
    },
    close() {
      stopListening()
      tryOns.forEach((each) => each.stop())
      tabs?.close()
      tabs = null
      opened = null
    },
  }
}

/** Pages have IndexedDB; a runtime that has none keeps nothing unless it is given a storage. */
function defaultStorage(clock: Clock): FlowStorage {
  if (typeof indexedDB === 'undefined') return memoryStorage()
  return storageChain([indexedDbStorage(), webStorage()], clock)
}

/** The shared store without what only the room may do. */
function readOnly<T>(store: Readable<T>): Readable<T> {
  return { get: () => store.get(), subscribe: (onChange) => store.subscribe(onChange) }
}

function checked({ productId: product, variantId: variant, funnelIds }: TryOnProduct): Product {
  if (!productId.safeParse(product).success) throw new TryOnError({ kind: 'input', at: 'productId' })
  if (!variantId.safeParse(variant).success) throw new TryOnError({ kind: 'input', at: 'variantId' })
  const valid = funnelIds.length > 0 && funnelIds.every((id) => funnelId.safeParse(id).success)
  if (!valid) throw new TryOnError({ kind: 'input', at: 'funnelIds' })
  return { productId: String(product), variantId: String(variant), funnelIds }
}

interface PageLife {
  /** Timers of a hidden page run late or not at all, so its return is a reason to look at once. */
  wake(): void
  /** The page may be kept without running: it holds nothing that another page waits for. */
  leave(isFreezing: boolean): void
  come(): void
}

function onPageLife({ wake, leave, come }: PageLife): () => void {
  if (typeof window === 'undefined' || typeof document === 'undefined') return () => {}
  const ends = new AbortController()
  const on = (target: EventTarget, type: string, react: (event: Event) => void) =>
    target.addEventListener(type, react, { signal: ends.signal })
  on(document, 'visibilitychange', () => document.visibilityState === 'visible' && wake())
  on(window, 'online', wake)
  on(window, 'pagehide', () => leave(false))
  on(document, 'freeze', () => leave(true))
  on(document, 'resume', come)
  on(window, 'pageshow', (event) => ((event as PageTransitionEvent).persisted ? come() : wake()))
  return () => ends.abort()
}
