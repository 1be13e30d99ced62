import { defaultStorage } from '../adapters/storage/default.ts'
import { memoryPhotos } from '../adapters/storage/memory.ts'
import { storedView } from '../machines/try-on.stored.ts'
import type { TryOnInput } from '../machines/try-on.types.ts'
import { digitsOf } from './contract/forms.ts'
import { boundedBudget } from './budget/bounded.ts'
import { createBudget } from './budget/budget.ts'
import { createForecast } from './budget/forecast.ts'
import { createFollowUp } from './follow-up.ts'
import { createHistory } from './history.ts'
import { checkedProduct, fixedId, resolvedBaseUrl, type RoomOptions, type RoomTiming } from './options.ts'
import { createOwnership } from './pages/ownership.ts'
import { followPageLife } from './pages/page-life.ts'
import { openTabs, type TabMessage, type Tabs } from './pages/tabs.ts'
import { steadyClock } from './platform/clock.ts'
import { isExclusive } from './platform/exclusive.ts'
import { deferred } from './platform/deferred.ts'
import { forgetLastMatch } from './platform/last-match.ts'
import { createLater } from './platform/later.ts'
import { provideRandomBytes } from './platform/new-id.ts'
import { quiet } from './platform/quiet.ts'
import { systemClock } from './platform/system-clock.ts'
import { withDefaults } from './platform/with-defaults.ts'
import type { Fetch, Readable } from './ports.ts'
import { keepInArchive, type Place } from './records/archive.ts'
import { createAttempts } from './records/attempts.ts'
import { createCatalog } from './records/catalog.ts'
import { sweep, wipe } from './records/housekeeping.ts'
import { createJournal, readable, type Codec } from './records/journal.ts'
import { keysOf, leaseOf, type Keys } from './records/keys.ts'
import { isPhotoNeeded, listAttempts } from './records/listing.ts'
import { paceCodec, timesCodec } from './records/learnt.ts'
import { storedIn } from './records/stored.ts'
import { boundedPhotoStore } from './records/photo-store.ts'
import { learnTexts } from './rules/explain.ts'
import { recordCodec, type AttemptRecord } from './rules/record.ts'
import type { TryOnView } from './rules/view.ts'
import { roomTexts } from './rules/room-texts.ts'
import { TryOnError } from './rules/try-on-error.ts'
import { createErrands } from './shopper/errands.ts'
import { createFunnels } from './shopper/funnels.ts'
import { createPhotos } from './shopper/photos.ts'
import { createPreparation } from './shopper/preparation.ts'
import { createVisitor } from './shopper/visitor.ts'
import type { Core, ListedAttempt, Outside } from './room.types.ts'
import type { Product } from './try-on/try-on.actors.ts'
import { createSaidNow } from './try-on/said.ts'
import { createTryOn, type RunningTryOn } from './try-on/try-on.ts'
import type { TryOn } from './try-on/try-on.types.ts'
import { clientTiming } from './wire/operations.ts'
import { createRoomClient } from './wire/room-client.ts'

export type { Core, FittingRoom, HistoryEntry, ListedAttempt, Outside } from './room.types.ts'

const defaultTiming: RoomTiming = { ...clientTiming, pollIntervalMs: undefined, deadlineMs: 180_000 }

/** The composition root: picks the defaults and wires the parts. No I/O before the first use. */
export function createRoom(options: RoomOptions, outside: Outside = {}): Core {
  learnTexts(roomTexts)
  provideRandomBytes(options.randomBytes)
  const { namespace, retentionMs = 86_400_000, askVisitorFirst = false, uniqueUserId } = options
  const clock = steadyClock(options.clock ?? systemClock)
  const timing = withDefaults<RoomTiming>(defaultTiming, options.timing)
  const storage = options.storage ?? defaultStorage(clock)
  const photosBeside = typeof storage.photos?.get === 'function' ? storage.photos : undefined
  const journal = createJournal(storage, clock)
  let own: Keys | null = null
  const kept = <T extends object>(name: keyof Keys['learnt'], codec: Codec<T>) => {
    const cell = () => journal.cell(keys().learnt[name], codec)
    return {
      read: async () => readable(await cell().read()),
      update: (change: (old: T | null) => T) => cell().update((found) => change(readable(found))),
    }
  }
  const budget = options.budget
    ? boundedBudget(options.budget, clock)
    : createBudget(clock, kept('pace', paceCodec), options.shareOf)
  const forecast = createForecast(kept('times', timesCodec), budget.price)
  const client = createRoomClient({ ...options, clock, timing, budget })
  const keys = () =>
    (own ??= keysOf(client.installation() ?? resolvedBaseUrl(options.baseUrl), namespace, fixedId(uniqueUserId)))
  const catalog = createCatalog({ journal, keys, clock, retentionMs, onReset: forgetAll })
  const store = boundedPhotoStore(options.photoStore ?? photosBeside ?? memoryPhotos(), clock, catalog)
  const placeAt = (key: string): Place => ({ key, cell: journal.cell(key, catalog.dated(recordCodec)) })
  const archiveOf = (attemptId: string) => placeAt(keys().attempt(attemptId))
  const cellOf = (key: string) => placeAt(key).cell
  const errands = createErrands(catalog.shopper)
  const records = { catalog, journal, keys, store, clock, retentionMs, archiveOf, cellOf }
  const visitor = createVisitor({ ...records, errands, ownId: uniqueUserId })
  const preparation = createPreparation(options, clock)
  const photos = createPhotos({
    ...records,
    errands,
    client,
    prepare: preparation.prepare,
    isNeeded: (photoId) => isPhotoNeeded(records, photoId),
  })
  const funnels = createFunnels(client, clock, outside.funnels)
  const storageId = () => Object.keys(catalog.counts()).sort()[0] ?? ''
  /** In the memory of a page alone nobody else finds them. */
  const keeps = options.keepPictures === true && (options.photoStore ?? photosBeside) !== undefined
  const ownership = createOwnership({
    storage,
    clock,
    leaseOf,
    storageId,
    list: (key) => catalog.list(key, catalog.shopper()),
  })
  const tryOns = new Map<string, RunningTryOn>()
  const products = new Map<string, Product>()
  let opened: Promise<void> | null = null
  /** Whether it was opened, and not closed since. */
  let isUp = false
  const { later, endWait } = createLater(clock, () => isUp)
  const { said, sayNow } = createSaidNow(clock, catalog)
  let tabs: Tabs | null = null
  /** Whether other pages may have said something since it was last heard. */
  let hasMissed = false
  /** Whether that can not be read: what was shown before may be a former shopper's. */
  let isDoubtful = false
  let stopFollowing = () => {}

  const post: Tabs['post'] = (message) => {
    const isUnheard = tabs === null && message.type === 'lateAnswer'
    // other pages go on with what a closed room has begun
    if (isUnheard) listen()
    tabs?.post(message)
    if (isUnheard) stopListening()
    history.hear(message)
  }

  function tellArchived(record: AttemptRecord): void {
    // that storage has it is told by whoever follows it
    const message: TabMessage = { type: 'lateAnswer', name: archiveOf(record.attemptId).key, record, durable: false }
    post(message)
    tryOns.forEach((each) => each.hear(message))
  }

  const refresh = async () => {
    if (hasMissed || isDoubtful) isDoubtful = catalog.isSeen() && !(await catalog.isReadable())
    if (isDoubtful) later(refresh)
    if (isDoubtful && hasMissed) {
      photos.hide()
      history.forget()
    }
    await catalog.isPresent(catalog.shopper())
    if (!isDoubtful) await Promise.all([visitor.restore(), photos.restore(), forecast.restore()])
    if (hasMissed) history.missed()
    hasMissed = false
  }

  function listen(): void {
    // what only memory holds is nobody else's
    if (tabs !== null || !journal.durable) return
    tabs = openTabs({
      name: keys().room,
      epochs: catalog.counts,
      isOfNow: catalog.isOfPresent,
      lookAgain: () => catalog.isPresent(catalog.shopper()),
      onMessage(message) {
        tryOns.forEach((each) => each.hear(message))
        history.hear(message)
      },
      onReset: catalog.hear,
    })
  }

  function stopListening(): void {
    tabs?.close()
    tabs = null
    hasMissed = true
  }

  function open(): Promise<void> {
    // what is watched has heard nothing since the room was closed; what opens it takes its seat first
    if (!isUp) void Promise.resolve().then(() => isUp && tryOns.forEach((each) => each.show()))
    isUp = true
    // a page that was put away may be used all the same
    if (opened) listen()
    opened ??= (async () => {
      clock.begin()
      stopFollowing = (options.pageLife ?? followPageLife)({
        onWake: () => tryOns.forEach((each) => each.wake()),
        onHide(isFreezing) {
          tryOns.forEach((each) => each.stop(isFreezing))
          stopListening()
        },
        onShow() {
          listen()
          tryOns.forEach((each) => each.show())
          // what another page has said meanwhile was not heard
          void refresh().then(lookAnew)
        },
      })
      listen()
      await catalog.open()
      await refresh()
      void sweep(records, keeps).catch(() => undefined)
    })().catch((error: unknown) => {
      opened = null
      throw error
    })
    return opened
  }

  /** A word of the shopper is a reason to look again into storage that could not be read. */
  async function reopen(): Promise<boolean> {
    await open()
    if (catalog.isSeen() || !journal.durable) return false
    await catalog.open()
    return catalog.isSeen()
  }

  /** Who was away, and has never read whose storage this is, looks until that is known. */
  async function lookAnew(): Promise<void> {
    // where it hears nobody it is closed, or away once more
    if (tabs === null || catalog.isSeen()) return
    await catalog.open()
    if (!catalog.isSeen()) later(lookAnew)
  }

  /** The shopper has gone: whoever looks is shown what there is now. */
  function forgetAll(): void {
    client.forgetAddresses()
    journal.forget(keys().catalog)
    // what landed behind the back of a reset() no list names
    void journal.takeBack(journal.seen((_, stored) => catalog.isNobodys(stored)))
    visitor.forget()
    photos.forget()
    history.forget()
    forgetLastMatch()
    tryOns.forEach((each, name) => {
      if (each.isArchived) tryOns.delete(name)
      // a room that was closed meanwhile stays closed
      if (opened) each.restart()
      else each.clear()
    })
    outside.onForget?.()
  }

  const inputOf = (archived: boolean): TryOnInput => {
    const { pollIntervalMs, deadlineMs } = timing
    const nextLookMs: TryOnInput['nextLookMs'] = (record, ageMs) =>
      pollIntervalMs === undefined ? forecast.nextLookMs(record, ageMs ?? 0) : ageMs === null ? 0 : pollIntervalMs
    return { clock, nextLookMs, deadlineMs, askVisitorFirst, exclusive: isExclusive(storage), archived }
  }

  /** As the page that is at it shows it, where that is this one. */
  function viewOf(record: AttemptRecord, archived: boolean): TryOnView {
    for (const { tryOn, isLive } of tryOns.values())
      if (isLive() && tryOn.get().attempt?.id === record.attemptId) return tryOn.get()
    return storedView(record, inputOf(true), !archived)
  }

  const standAll = () => tryOns.forEach((each) => each.stand())

  const followUp = createFollowUp({
    ...records,
    client,
    errands,
    visitor,
    fetch: (...asked: Parameters<Fetch>) => (options.fetch ?? globalThis.fetch)(...asked),
    keeps,
    standAll,
    later,
  })

  /** `opener` is the shopper who asks for it: of one who has gone it is over, and shows nothing. */
  function running(
    name: string,
    product: Product,
    places: () => readonly Place[],
    archived: boolean,
    opener = catalog.shopper(),
  ): TryOn {
    const same = opener.aborted ? undefined : tryOns.get(name)
    if (same) return same.tryOn
    const attempts = createAttempts({
      clock,
      catalog,
      candidates: places,
      archiveOf,
      isDurable: journal.durable,
      isExclusive: (key) => isExclusive(storage, key),
      isOpenToAll: !ownership.exclusive,
      mayClaimInMemory: (isKnown) => ownership.isFirm || !(isKnown || journal.hasWorked()),
      retentionMs,
    })
    const made = createTryOn({
      client,
      clock,
      funnels,
      photos,
      visitor,
      forecast,
      attempts,
      product,
      ownership,
      name: () => places()[0]?.key ?? '',
      input: inputOf(archived),
      post,
      inspect: options.inspect,
      limit: options.limit,
      notice: options.notice,
      telling: followUp.watching,
      pictures: followUp.pictures,
      dropPictures: followUp.dropPictures,
      ticketOf: (attempt) => followUp.ticketOf(product, attempt),
      shopper: catalog.shopper,
      opener,
      sayNow,
      hasWorked: journal.hasWorked,
      open() {
        tryOns.set(name, made)
        return open()
      },
      reopen,
      refresh,
      tellArchived,
      // what a closed room has begun is its shopper's all the same
      keepLater: (run, isOwed) => journal.durable && later(run, isOwed),
    })
    if (opener.aborted) made.clear()
    else tryOns.set(name, made)
    return made.tryOn
  }

  const nameOf = ({ productId, variantId }: Product) => `${digitsOf(productId)}:${digitsOf(variantId)}`

  // a record names more, which a reset() must not leave behind
  const productOf = ({ productId, variantId, funnelIds }: Product): Product => ({ productId, variantId, funnelIds })

  /** The one object that stands for this product variant. */
  function known(product: Product): Product {
    const name = nameOf(product)
    const same = products.get(name) ?? { ...product }
    products.set(name, same)
    return same
  }

  const current = (product: Product) =>
    running(
      nameOf(product),
      known(product),
      () => keys().tryOn(product.productId, product.variantId).map(placeAt),
      false,
    )

  /** What was asked for before opens no room again. */
  function checkUp(): void {
    if (!isUp) throw new TryOnError({ kind: 'stopped', reason: 'closed' })
  }

  /** What was read is told if no page has reset the room meanwhile; then it is read anew. */
  async function told<T>(read: () => Promise<T>): Promise<T> {
    await open()
    const shopper = catalog.shopper()
    const found = await (isDoubtful ? unreadable() : read().catch(unreadable))
    if (await catalog.isPresent(shopper)) return found
    checkUp()
    return told(read)
  }

  const list = (): Promise<ListedAttempt[]> =>
    told(() => {
      const shopper = catalog.shopper()
      return listAttempts(records, viewOf, ({ record, key, archived }) =>
        archived
          ? running(key, productOf(record), () => [placeAt(key)], true, shopper)
          : (outside.tryOn ?? current)(productOf(record)),
      )
    })

  // what is read again by itself opens no room that was closed
  const history = createHistory(() => (isUp ? list() : Promise.reject()), later)

  return {
    client: client.operations,
    visitor: readOnly(visitor),
    photo: readOnly(photos),
    history: {
      ...readOnly(history),
      subscribe(onChange) {
        void quiet(open())
        return history.subscribe(onChange)
      },
    },
    said,
    counts: catalog.counts,
    preload: preparation.preload,
    on: followUp.on,
    get ready() {
      return open()
    },
    tryOn(asked) {
      const product = checkedProduct(asked)
      // what the application says now counts for the next consent, whatever an earlier record said
      known(product).funnelIds = product.funnelIds
      return current(product)
    },
    list,
    async claim(ticket) {
      const hasJob = async (jobId: string) => {
        checkUp()
        return (await list()).some((each) => each.jobId === jobId)
      }
      const by = catalog.shopper()
      const { place, record, durable } = await followUp.claim(ticket, by, open(), hasJob)
      // nobody else writes it before somebody opens it
      const keep = async () => {
        const kept = await keepInArchive(records, record, by, false)
        if (kept === 'memory') later(keep, true)
        if (kept === 'stored') tell(true)
      }
      const tell = (isKept: boolean) => post({ type: 'lateAnswer', name: place.key, record, durable: isKept })
      if (!durable) later(keep, true)
      tell(durable)
      return running(place.key, productOf(record), () => [place], true)
    },
    stored: () => told(() => storedIn(records)),
    async reset(onCounted) {
      await open()
      // another page would go on, and tell once more what is not noted, until the reset stands
      const counted = deferred()
      tryOns.forEach((each) => each.stop(false, counted.promise))
      // from here on nothing older is shown or written by any page, and the next shopper may begin
      const isWiped = await wipe(records, (isCounted) => {
        counted.resolve()
        if (isCounted) onCounted?.(catalog.counts())
        listen()
        forgetAll()
        if (isCounted) post({ type: 'reset' })
        if (opened === null) stopListening()
      }).finally(counted.resolve)
      // what is removed may have been read
      forgetLastMatch()
      if (!isWiped) throw new TryOnError({ kind: 'storage' })
    },
    close() {
      stopFollowing()
      tryOns.forEach((each) => each.close())
      errands.end()
      // the page may go, and what only its memory has goes with it
      endWait()
      isUp = false
      stopListening()
      opened = null
    },
  }
}

function unreadable(): never {
  throw new TryOnError({ kind: 'storageUnreadable' })
}

/** The shared store without what only the room may do. */
function readOnly<T>({ initial, get, subscribe }: Readable<T>): Readable<T> {
  return { initial, get, subscribe }
}
