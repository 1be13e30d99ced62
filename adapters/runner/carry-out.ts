import { createRoom } from '../../src/room.ts'
import type { RoomOptions } from '../../src/options.ts'
import type { AtomicStorage, Clock } from '../../src/ports.ts'
import { isTryOnError } from '../../src/rules/try-on-error.ts'
import type { TryOnView } from '../../src/rules/view.ts'
import type { KnownFunnels } from '../../src/shopper/funnels.ts'
import type { RoomPhoto } from '../../src/shopper/photos.ts'
import type { PhotoInput } from '../../src/shopper/photo-input.ts'
import type { TryOn } from '../../src/try-on/try-on.types.ts'
import type { Item, Items, Order } from './items.ts'

/** What all try-ons of a runner have in common. */
export interface CarryOutParts {
  options: Pick<RoomOptions, 'baseUrl' | 'apiKey' | 'fetch' | 'putPhoto' | 'timing' | 'budget'> & { clock: Clock }
  storage: AtomicStorage
  items: Items
  customerEmail: string | undefined
}

/** A record is gone with its entry, and not before: what is not there would be paid for again. In ms, a hundred years. */
const retentionMs = 3_155_760_000_000

/** What goes on once the service, the network or an operator lets it, and how long until that is tried, in ms. */
const waits = new Set<TryOnView['state']>(['stalled', 'unauthorized'])
const waitMs = 60_000

const isWaiting = ({ state, can }: TryOnView) => waits.has(state) && can.resume
const isEnded = (view: TryOnView) => ['done', 'asks', 'stopped'].includes(view.group) && !isWaiting(view)

/** Carries try-ons out, each in a room of its own that any process can go on with. */
export function createCarryOut({ options, storage, items, customerEmail }: CarryOutParts) {
  const { clock } = options
  const funnels: KnownFunnels = new Map()
  const inOrder = createFirsts()

  const roomOf = ({ id, visitor }: Item, round: number) =>
    createRoom(
      { ...options, storage, namespace: `${id}:${round}`, uniqueUserId: visitor, retentionMs, photos: false },
      { funnels },
    )

  async function photoOf({ order: { photo } }: Item): Promise<PhotoInput> {
    if ('imageUrl' in photo) return photo
    const kept = await items.photo(photo.hash)
    if (kept === null) throw new Error('the photo of a try-on is gone')
    return kept
  }

  const pause = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const leave = () => {
        clock.clearTimeout(timer)
        reject(left())
      }
      const timer = clock.setTimeout(() => {
        signal.removeEventListener('abort', leave)
        resolve()
      }, waitMs)
      if (signal.aborted) leave()
      else signal.addEventListener('abort', leave)
    })

  async function begin(tryOn: TryOn, item: Item): Promise<void> {
    const { state, can } = await tryOn.ready
    if (can.resume) return tryOn.resume()
    if (state !== 'idle') return
    await tryOn.start(await photoOf(item), { customerEmail })
  }

  /** Where the photo is, for the next ones with it; where it is not is looked at anew. */
  function learnUpload({ photo }: Order, { state }: TryOnView, now: RoomPhoto | null): void {
    if (!('hash' in photo)) return
    const isRefused = state === 'failed' || state === 'rejected'
    const imageUrl = isRefused ? null : (now?.imageUrl ?? null)
    if (isRefused || imageUrl !== null) void items.uploaded(photo.hash, imageUrl).catch(() => undefined)
  }

  return {
    /** Resolves once it has ended; rejects where it needs another turn, as after the signal, at which it is left. */
    async carryOut(item: Item, signal: AbortSignal): Promise<void> {
      const { order } = item
      const room = roomOf(item, item.round)
      const tryOn = room.tryOn(order)
      let saved = Promise.resolve()
      const save = (view: TryOnView) => {
        const { state, attempt, result, problem, message } = view
        const to = { state, isEnded: isEnded(view), attempt, result, problem, message }
        saved = saved.catch(() => undefined).then(() => items.save(item, to))
      }
      const kind = JSON.stringify([order.photo, order.funnelIds])
      try {
        await inOrder(kind, async (passed) => {
          const onState = (view: TryOnView) => {
            save(view)
            if (view.state !== 'preparing') passed()
            learnUpload(order, view, room.photo.get())
          }
          for (;;) {
            // another process may be first
            await begin(tryOn, item).catch((error: unknown) => {
              if (!isTryOnError(error) || error.problem.kind !== 'notAllowed') throw error
            })
            if (isEnded(await stopped(tryOn, signal, onState))) return
            await pause(signal)
          }
        })
        await saved
      } finally {
        room.close()
      }
    },

    /** Removes what storage holds of it. */
    async forget(item: Item): Promise<void> {
      for (let round = 1; round <= item.round; round += 1) {
        const room = roomOf(item, round)
        await room.reset().finally(() => room.close())
      }
    },
  }
}

/** Follows a try-on until it has ended or waits, telling of each state once; rejects where it is left. */
function stopped(tryOn: TryOn, signal: AbortSignal, onState: (view: TryOnView) => void): Promise<TryOnView> {
  return new Promise((resolve, reject) => {
    let shown: TryOnView['state'] = 'idle'
    const look = () => {
      const view = tryOn.get()
      const { state } = view
      if (state !== 'restoring' && state !== shown) onState(view)
      shown = state
      if (isEnded(view) || isWaiting(view)) end(() => resolve(view))
      // of a submission that is out the answer is waited for
      else if (signal.aborted && state !== 'submitting') end(() => reject(left()))
    }
    const { unsubscribe } = tryOn.subscribe(look)
    signal.addEventListener('abort', look)
    function end(how: () => void): void {
      unsubscribe()
      signal.removeEventListener('abort', look)
      how()
    }
    look()
  })
}

const left = () => new Error('the runner was closed')

/** The first of each kind goes alone until it has passed: the others need not ask what it has learnt. */
function createFirsts() {
  const firsts = new Map<string, Promise<void>>()
  return async <T>(kind: string, work: (passed: () => void) => Promise<T>): Promise<T> => {
    const first = firsts.get(kind)
    let passed = () => {}
    if (first) await first
    else firsts.set(kind, new Promise((resolve) => (passed = resolve)))
    return work(passed).finally(passed)
  }
}
