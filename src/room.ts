import { defaultStorage } from '../adapters/storage/default.ts'
import { memoryPhotos } from '../adapters/storage/memory.ts'
import type { TryOnInput } from '../machines/try-on.types.ts'
import { boundedBudget } from './budget/bounded.ts'
import { createBudget } from './budget/budget.ts'
import { createForecast } from './budget/forecast.ts'
import { createFollowUp } from './follow-up.ts'
import { createHistory } from './history.ts'
import { checkedProduct, fixedId, resolvedBaseUrl, type RoomOptions, type RoomTiming } from './options.ts'
import { createOwnership } from './pages/ownership.ts'
import type { TabMessage } from './pages/tabs.ts'
import { steadyClock } from './platform/clock.ts'
import { deferred } from './platform/deferred.ts'
import { forgetLastMatch } from './platform/last-match.ts'
import { provideRandomBytes } from './platform/new-id.ts'
import { quiet } from './platform/quiet.ts'
import { systemClock } from './platform/system-clock.ts'
import { withDefaults } from './platform/with-defaults.ts'
import type { Fetch, Readable } from './ports.ts'
import { createPresence } from './presence.ts'
import type { RecordCell } from './records/archive.ts'
import { createCatalog } from './records/catalog.ts'
import { sweep, wipe } from './records/housekeeping.ts'
import { createJournal } from './records/journal.ts'
import { keysOf, leaseOf, type Keys } from './records/keys.ts'
import { isPhotoNeeded, listAttempts } from './records/listing.ts'
import { learntIn } from './records/learnt.ts'
import { storedIn } from './records/stored.ts'
import { boundedPhotoStore } from './records/photo-store.ts'
import { learnTexts } from './rules/explain.ts'
import { recordCodec, type AttemptRecord } from './rules/record.ts'
import { roomTexts } from './rules/room-texts.ts'
import { stopped, TryOnError } from './rules/try-on-error.ts'
import { createErrands } from './shopper/errands.ts'
import { createFunnels } from './shopper/funnels.ts'
import { createPhotos } from './shopper/photos.ts'
import { createPreparation } from './shopper/preparation.ts'
import { createVisitor } from './shopper/visitor.ts'
import type { Core, ListedAttempt, Outside } from './room.types.ts'
import { createSaidNow } from './try-on/said.ts'
import { createTryOns, productOf } from './try-ons.ts'
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
  const learnt = learntIn(journal, () => keys())
  const budget = options.budget
    ? boundedBudget(options.budget, clock)
    : createBudget(clock, learnt.pace, options.shareOf)
  const forecast = createForecast(learnt.times, budget.price)
  const client = createRoomClient({ ...options, clock, timing, budget })
  const keys = () =>
    (own ??= keysOf(client.installation() ?? resolvedBaseUrl(options.baseUrl), namespace, fixedId(uniqueUserId)))
  const catalog = createCatalog({ journal, keys, clock, retentionMs, onReset: forgetAll })
  const store = boundedPhotoStore(options.photoStore ?? photosBeside ?? memoryPhotos(), clock, catalog)
  const recordAt = (key: string): RecordCell => journal.cell(key, catalog.dated(recordCodec))
  const archiveOf = (attemptId: string) => recordAt(keys().attempt(attemptId))
  const errands = createErrands(catalog.shopper)
  const records = { catalog, journal, keys, store, clock, retentionMs, archiveOf, recordAt }
  const visitor = createVisitor({ ...records, errands, ownId: uniqueUserId })
  const preparation = createPreparation(options, clock)
  const photos = createPhotos({
    ...records,
    errands,
    client,
    prepare: preparation.prepare,
    isNeeded: (photoId) => isPhotoNeeded(records, photoId),
  })
  const funnels = createFunnels(client, clock, errands, outside.funnels)
  /** In the memory of a page alone nobody else finds them. */
  const keeps = options.keepPictures === true && (options.photoStore ?? photosBeside) !== undefined
  const ownership = createOwnership({
    storage,
    clock,
    leaseOf,
    storageId: catalog.storageId,
    list: (key) => catalog.list(key, catalog.shopper()),
  })
  const presence = createPresence({
    clock,
    catalog,
    pageLife: options.pageLife,
    durable: journal.durable,
    room: () => keys().room,
    each: (tell) => tryOns.each(tell),
    hear(message) {
      tryOns.each((each) => each.hear(message))
      history.hear(message)
    },
    restore: () => Promise.all([visitor.restore(), photos.restore(), forecast.restore()]),
    missed: () => history.missed(),
    hide() {
      photos.hide()
      history.forget()
    },
    sweep: () => sweep(records, keeps),
  })
  const { later, open } = presence
  const { said, sayNow } = createSaidNow(clock, catalog)

  function post(message: TabMessage): void {
    presence.post(message)
    history.hear(message)
  }

  function tellArchived(record: AttemptRecord): void {
    // that storage has it is told by whoever follows it
    const message: TabMessage = { type: 'lateAnswer', name: archiveOf(record.attemptId).key, record, durable: false }
    post(message)
    tryOns.each((each) => each.hear(message))
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
    tryOns.forget(presence.isUp())
    outside.onForget?.()
  }

  const followUp = createFollowUp({
    ...records,
    client,
    errands,
    visitor,
    fetch: (...asked: Parameters<Fetch>) => (options.fetch ?? globalThis.fetch)(...asked),
    keeps,
    standAll: () => tryOns.each((each) => each.stand()),
    later,
    post,
  })

  const { pollIntervalMs, deadlineMs } = timing
  const nextLookMs: TryOnInput['nextLookMs'] =
    pollIntervalMs === undefined
      ? (record, ageMs) => forecast.nextLookMs(record, ageMs ?? 0)
      : (_, ageMs) => (ageMs === null ? 0 : pollIntervalMs)

  const tryOns = createTryOns({
    ...records,
    ...presence,
    ...followUp,
    client,
    storage,
    funnels,
    photos,
    visitor,
    forecast,
    ownership,
    durable: journal.durable,
    mayClaimInMemory: (isKnown) =>
      outside.claimsInMemory !== false && (ownership.isFirm || !(isKnown || journal.hasWorked())),
    input: { clock, nextLookMs, deadlineMs, askVisitorFirst, customerEmail: outside.customerEmail ?? null },
    inspect: options.inspect,
    limit: options.limit,
    onAnswer: outside.onAnswer,
    notice: options.notice,
    post,
    telling: followUp.watching,
    shopper: catalog.shopper,
    sayNow,
    hasWorked: journal.hasWorked,
    tellArchived,
    // what a closed room has begun is its shopper's all the same
    keepLater: (run, isOwed) => journal.durable && later(run, isOwed),
  })

  /** What was asked for before opens no room again. */
  function checkUp(): void {
    if (!presence.isUp()) throw stopped('closed')
  }

  /** What was read is told if no page has reset the room meanwhile; then it is read anew. */
  async function told<T>(read: () => Promise<T>): Promise<T> {
    await open()
    const shopper = catalog.shopper()
    const found = await (presence.isDoubtful() ? unreadable() : read().catch(unreadable))
    if (await catalog.isPresent(shopper)) return found
    checkUp()
    return told(read)
  }

  const list = (): Promise<ListedAttempt[]> =>
    told(() => {
      const shopper = catalog.shopper()
      // who looks into storage sees what it has lost
      tryOns.each((each) => void each.doubt())
      return listAttempts(records, tryOns.viewOf, ({ record, key, archived }) =>
        archived ? tryOns.archived(key, record, shopper) : (outside.tryOn ?? tryOns.of)(productOf(record)),
      )
    })

  const history = createHistory(async () => {
    // what is read again by itself opens no room that was closed
    checkUp()
    const listed = await list()
    checkUp()
    return listed
  }, later)

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
    ticketOf: followUp.ticketOf,
    preload: preparation.preload,
    on: followUp.on,
    get ready() {
      return open()
    },
    tryOn: (asked) => tryOns.asked(checkedProduct(asked)),
    list,
    async claim(ticket) {
      const hasJob = async (jobId: string) => {
        checkUp()
        return (await list()).some((each) => each.jobId === jobId)
      }
      const { key, record } = await followUp.claim(ticket, catalog.shopper(), open(), hasJob)
      return tryOns.archived(key, record)
    },
    stored: () => told(() => storedIn(records)),
    async reset(onCounted) {
      await open()
      // another page would go on, and tell once more what is not noted, until the reset stands
      const counted = deferred()
      tryOns.each((each) => each.giveUp(counted.promise))
      // from here on nothing older is shown or written by any page, and the next shopper may begin
      const isWiped = await wipe(records, (isCounted) => {
        counted.resolve()
        if (isCounted) onCounted?.(catalog.counts())
        presence.listen()
        forgetAll()
        if (isCounted) post({ type: 'reset' })
        if (!presence.isUp()) presence.stopListening()
      }).finally(counted.resolve)
      // what is removed may have been read
      forgetLastMatch()
      if (!isWiped) throw new TryOnError({ kind: 'storage' })
    },
    close() {
      tryOns.each((each) => each.close())
      errands.end()
      presence.close()
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
