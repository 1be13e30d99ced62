import { guarded } from './platform/guarded.ts'
import type { Shopper } from './records/epochs.ts'
import type { AttemptRecord } from './rules/record.ts'
import type { RoomEvent } from './rules/room-event.ts'
import type { TryOnView } from './rules/view.ts'

/** Where a try-on stands on this page. */
export interface Stand {
  view: TryOnView
  /** Null on a page that only looks on. */
  record: AttemptRecord | null
  product: { productId: string; variantId: string }
  /** Whether somebody watches it on a page that is visible. */
  isSeen: boolean
  /** Whose it is. */
  by: Shopper
}

/** What knows what was told before. */
export interface Teller {
  stand(stand: Stand): void
  /** The attempt is forgotten for good. */
  discard(record: AttemptRecord, by: Shopper): void
  /** Until it is noted what was told; null where it is. */
  settling(): Promise<void> | null
}

/** Tells whoever listens to a room; what that takes is loaded with the first who does. */
export interface Telling extends Teller {
  on(listener: (event: RoomEvent) => void): { unsubscribe(): void }
}

/** `standAgain` has every try-on of the room say where it stands. */
export function createTelling(
  load: (tell: (event: RoomEvent) => void, isHeard: () => boolean) => Promise<Teller>,
  standAgain: () => void,
): Telling {
  const listeners = new Set<(event: RoomEvent) => void>()
  let loading: Promise<Teller> | null = null
  let loaded: Teller | null = null

  // who comes while it is told hears the next one
  const tell = (event: RoomEvent) =>
    [...listeners].forEach((listener) => listeners.has(listener) && listener({ ...event }))
  const isHeard = () => listeners.size > 0

  /** What happens meanwhile waits with its record. */
  function use(how: (teller: Teller) => void): void {
    if (!isHeard()) return
    const begun = (loading ??= load(tell, isHeard).then((teller) => (loaded = teller)))
    // what could not be loaded is asked for again
    begun.then(how, () => loading === begun && (loading = null))
  }

  return {
    on(listener) {
      const heard = guarded(listener)
      listeners.add(heard)
      standAgain()
      return { unsubscribe: () => void listeners.delete(heard) }
    },
    stand: (stand) => use((teller) => teller.stand(stand)),
    discard: (record, by) => use((teller) => teller.discard(record, by)),
    // what is yet to be loaded has told nothing
    settling: () => loaded?.settling() ?? null,
  }
}
