import { Private } from '../../machines/private.ts'
import { resolvedBaseUrl, type RoomOptions } from '../../src/options.ts'
import type { AtomicStorage } from '../../src/ports.ts'
import { createRoom } from '../../src/room.ts'
import type { Core, Outside } from '../../src/room.types.ts'
import type { Problem } from '../../src/rules/problem.ts'
import { isTryOnError, TryOnError } from '../../src/rules/try-on-error.ts'
import type { TryOnView } from '../../src/rules/view.ts'
import type { KnownFunnels } from '../../src/shopper/funnels.ts'
import type { PhotoInput } from '../../src/shopper/photo-input.ts'
import type { RoomPhoto } from '../../src/shopper/photos.ts'
import type { TryOn } from '../../src/try-on/try-on.types.ts'
import { createFirsts } from './firsts.ts'
import type { Item, Items, Order } from './items.types.ts'
import { keyWhile, type GuardedKey } from './key-while.ts'
import { left, untilEnded } from './until-ended.ts'
import { createKeeping, createTelling, type KeepingParts } from './telling.ts'
import { isEnded, isThere, isUnsent, mayBeOut } from './views.ts'

/** What all try-ons of a runner have in common. */
export interface CarryOutParts extends KeepingParts {
  items: Items
  options: Pick<RoomOptions, 'baseUrl' | 'apiKey' | 'fetch' | 'putPhoto' | 'timing' | 'clock' | 'budget'>
  storage: AtomicStorage
  customerEmail: string | undefined
}

export interface CarryOut {
  /**
   * Resolves once it has ended, or waits for what nobody here can mend; rejects where it needs another turn, as after the
   * signal, at which it is left.
   */
  carryOut(item: Item, signal: AbortSignal): Promise<'ended' | 'again'>
  /** Whether the job of a submission is known whose outcome is not. Rejects where that cannot be read. */
  hasJob(item: Item): Promise<boolean>
  /** Removes what storage holds of a consent that has ended. */
  wipe(item: Item): Promise<void>
  /** Lets go of what is still at work, and tells of jobs that no database took: they may be found by their IDs. */
  close(): Promise<void>
}

/** A record is gone with its entry, and not before: what is not there would be paid for again. In ms, a hundred years. */
const retentionMs = 3_155_760_000_000

/** The room of one turn of an item. */
interface OwnRoom extends GuardedKey {
  room: Core
}

/** The job that was told of an item: that stands beside its record, which may have lost it with a process. */
const toldJob = ({ attempt }: Item) => attempt?.jobId ?? null

/** Carries try-ons out, each in a room of its own that any process can go on with. */
export function createCarryOut(parts: CarryOutParts): CarryOut {
  const { options, storage, items, customerEmail, clock, onError } = parts
  const funnels: KnownFunnels = new Map()
  const rooms = new Set<Core>()
  const inOrder = createFirsts(clock)
  const address = customerEmail === undefined ? null : new Private(customerEmail)
  const { keep, close } = createKeeping(parts)

  function roomOf(
    item: Item,
    baseUrl: RoomOptions['baseUrl'],
    apiKey: RoomOptions['apiKey'] = options.apiKey,
  ): OwnRoom {
    const { namespace, visitor } = item
    const key = keyWhile(() => items.stands(item), clock, apiKey)
    const own = {
      baseUrl,
      apiKey: key.apiKey,
      storage,
      namespace,
      uniqueUserId: visitor,
      retentionMs,
      photos: false,
    } as const
    /** Whatever has become of its record, or of its turn: somebody goes on with it. */
    const onAnswer: Outside['onAnswer'] = ({ attemptId: id, startedAt }, outcome) => {
      if (outcome.kind !== 'accepted') return
      const { jobId } = outcome.data
      let isFollowed = true
      const learn = async () => void (isFollowed = await items.learn(item, { id, jobId, startedAt }))
      keep(jobId, learn).then(
        // nobody follows it: it may be found by its ID
        () => isFollowed || onError(new TryOnError({ kind: 'stopped', reason: 'startedOver' }, jobId)),
        () => undefined,
      )
    }
    const outside = { funnels, claimsInMemory: false as const, customerEmail: address, onAnswer }
    const room = createRoom({ ...options, ...own }, outside)
    return { ...key, room }
  }

  /** Of its job another process may know more than what was told as its end: then it is none. */
  const afterEnd = async (item: Item) => ((await items.stands(item)) ? 'again' : 'ended')

  /** Null where there is none any more. */
  async function photoOf({ order: { photo } }: Item): Promise<PhotoInput | null> {
    return 'imageUrl' in photo ? photo : items.photo(photo.hash)
  }

  /** What cannot be begun, or gone on with, is told, and ends. */
  async function refuse(item: Item, problem: Problem, state: Item['state'] = 'rejected'): Promise<void> {
    await items.save(item, { state, isEnded: true, attempt: item.attempt, result: null, message: null, problem })
  }

  /** The try-on of an item; of a job that was told what follows that, whatever its record has come to. */
  async function tryOnOf(room: Core, item: Item): Promise<TryOn> {
    const { order, attempt } = item
    const job = toldJob(item)
    if (job === null) return room.tryOn(order)
    const listed = (await room.list()).find(({ jobId }) => jobId === job)
    return listed ? listed.open() : room.claim(await room.ticketOf(order, attempt))
  }

  /** Whether there is something to follow. */
  async function begin(tryOn: TryOn, item: Item, baseUrl: string): Promise<boolean> {
    await tryOn.ready
    if (tryOn.get().can.resume) await tryOn.resume()
    const view = tryOn.get()
    const isAgain = isUnsent(view)
    if ((isThere(view) && !isAgain) || toldJob(item) !== null) return true
    if (!isAgain && mayBeOut(item.state, view)) {
      await refuse(item, { kind: 'recordUnreadable' }, 'outcomeUnknown')
      return false
    }
    const photo = await photoOf(item)
    if (photo === null) {
      await refuse(item, { kind: 'photo', reason: 'missing' })
      return false
    }
    if ((await items.begin(item, baseUrl)) !== baseUrl) throw new Error('another process was first')
    await tryOn[isAgain ? 'retry' : 'start'](photo, { customerEmail })
    return true
  }

  /** Another process may be first; what is wrong with what was given nobody mends by trying again. */
  const beginOrRefuse = (tryOn: TryOn, item: Item, baseUrl: string) =>
    begin(tryOn, item, baseUrl).catch(async (error: unknown) => {
      const kind = isTryOnError(error) ? error.problem.kind : null
      if (kind === 'notAllowed') return true
      if (!isTryOnError(error) || (kind !== 'input' && kind !== 'photo')) throw error
      await refuse(item, error.problem)
      return false
    })

  /** Where the photo is, for the next ones with it; where it is not is looked at anew. */
  function learnUpload({ photo }: Order, { state }: TryOnView, now: RoomPhoto | null): void {
    if (!('hash' in photo)) return
    const isRefused = state === 'failed' || state === 'rejected'
    const imageUrl = isRefused ? null : (now?.imageUrl ?? null)
    if (isRefused || imageUrl !== null) void items.uploaded(photo.hash, imageUrl).catch(() => undefined)
  }

  async function follow({ room, over, failure }: OwnRoom, item: Item, baseUrl: string, ends: AbortSignal) {
    const { order } = item
    const { tell, told } = createTelling(keep, items, item)
    const signal = AbortSignal.any([ends, over])
    return inOrder(JSON.stringify([order.photo, order.funnelIds]), async (passed) => {
      if (ends.aborted) throw left()
      if (!(await items.stands(item))) return 'ended'
      const tryOn = await tryOnOf(room, item)
      if (!(await beginOrRefuse(tryOn, item, baseUrl))) return afterEnd(item)
      const onState = (view: TryOnView) => {
        tell(view)
        if (view.state !== 'preparing') passed()
        learnUpload(order, view, room.photo.get())
      }
      const view = await untilEnded(tryOn, { signal, failure, onState })
        .catch((error: unknown) => {
          if (over.aborted) return null
          throw error
        })
        .finally(() => {
          // nobody follows what it would go on with
          room.close()
          return told()
        })
      if (view === null) return 'ended'
      return isEnded(view) ? afterEnd(item) : 'again'
    })
  }

  async function carry(item: Item, signal: AbortSignal): Promise<'ended' | 'again'> {
    const baseUrl = resolvedBaseUrl(options.baseUrl)
    if (item.begunAt !== null && item.begunAt !== baseUrl) return endElsewhere(item, item.begunAt, baseUrl)
    const current = () => (resolvedBaseUrl(options.baseUrl) === baseUrl ? baseUrl : '')
    const followed = withRoom(roomOf(item, current), (own) => follow(own, item, baseUrl, signal))
    // what was written here since it was forgotten
    const clearUp = async () => (await items.isNamed(item)) || wipe(item)
    const to = await followed.catch(async (error: unknown) => {
      await clearUp().catch(() => undefined)
      throw error
    })
    await clearUp()
    return to
  }

  // what stays is how often it was reset, by which a late answer is known to be nobody's
  const wipe = (item: Item) => withRoom(roomAt(item), ({ room }) => room.reset())

  async function withRoom<T>(own: OwnRoom, work: (own: OwnRoom) => Promise<T>): Promise<T> {
    const { room } = own
    rooms.add(room)
    try {
      return await work(own)
    } finally {
      rooms.delete(room)
      room.close()
    }
  }

  /** What its record has come to, which is asked where it was begun; null where there is none. */
  const viewOf = (item: Item): Promise<TryOnView | null> =>
    withRoom(roomAt(item), async ({ room }) => {
      const view = await room.tryOn(item.order).ready
      return isThere(view) ? view : null
    })

  /** What was begun at another installation is not gone on with: a job and a key belong to one. */
  async function endElsewhere(item: Item, begunAt: string, baseUrl: string): Promise<'ended' | 'again'> {
    const known = toldJob(item) === null ? await viewOf(item) : null
    const attempt = known?.attempt ?? item.attempt
    // what may not be discarded may be paid for, or is another process's yet; where nothing stands one may be about to begin
    const mayBePaid = known === null || !known.can.discard
    const state = attempt?.jobId != null ? 'stalled' : mayBePaid ? 'outcomeUnknown' : 'rejected'
    const problem = { kind: 'input', at: 'baseUrl', given: baseUrl, valid: `${begunAt}, where it was begun` } as const
    await refuse({ ...item, attempt }, problem, state)
    return afterEnd(item)
  }

  /** For what is kept, also at another base URL, where nothing is asked for. */
  const roomAt = (item: Item) =>
    roomOf(item, item.begunAt ?? options.baseUrl, () => Promise.reject(new Error('nothing is asked for here')))

  return {
    carryOut: carry,
    hasJob: async (item) => toldJob(item) !== null || (await viewOf(item))?.attempt?.jobId != null,
    wipe,
    close() {
      rooms.forEach((room) => room.close())
      return close()
    },
  }
}
