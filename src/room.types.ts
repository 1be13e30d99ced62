import type { Private } from '../machines/private.ts'
import type { Readable } from './ports.ts'
import type { Counts } from './rules/counts.ts'
import type { Listed } from './records/listing.ts'
import type { Variant } from './records/names.ts'
import type { Stored } from './records/stored.ts'
import type { GenerationStarted } from './contract/resources.ts'
import type { Outcome } from './rules/outcome.ts'
import type { AttemptRecord } from './rules/record.ts'
import type { RoomEvent } from './rules/room-event.ts'
import type { AttemptView } from './rules/view.ts'
import type { TryOnProduct } from './options.ts'
import type { KnownFunnels } from './shopper/funnels.ts'
import type { RoomPhoto } from './shopper/photos.ts'
import type { Visitor } from './shopper/unknown-visitor.ts'
import type { SaidNow } from './try-on/said.ts'
import type { TryOn } from './try-on/try-on.types.ts'
import type { Client } from './wire/operations.ts'

/** One attempt that storage holds, current or archived; `open()` gives the try-on that follows it. */
export type ListedAttempt = Listed<TryOn>

/** One attempt in `room.history`. */
export type HistoryEntry = ListedAttempt

/** One page's or kiosk's runtime: one store's API, one visitor, one storage, many try-ons. */
export interface FittingRoom {
  /** The try-on of a product variant, always the same one for the same variant; it resumes what storage holds. */
  tryOn(product: TryOnProduct): TryOn
  /** The shopper as the service knows them; nothing is known before storage has been read. */
  readonly visitor: Readable<Visitor>
  /** The photo that `start()` uses if it is given none. */
  readonly photo: Readable<RoomPhoto | null>
  /** What `list()` gives, live while subscribed to; what is under way then continues. Empty until storage is read. */
  readonly history: Readable<readonly HistoryEntry[]>
  /** The contract's seven operations and the photo's PUT; each request asks the room's budget first. */
  readonly client: Client
  /** All attempts, newest first. Rejects with kind `storageUnreadable`, `core`, `input` or `stopped`. */
  list(): Promise<ListedAttempt[]>
  /**
   * Opens the try-on of another device's ticket, which follows that job; it is in the archive here, and nothing is
   * learnt about that device's visitor. Rejects with kind `ticket`, with `recordUnreadable` if what is stored in its
   * place cannot be read, or with `core` if the code for it cannot be loaded.
   */
  claim(ticket: string): Promise<TryOn>
  /**
   * Calls `listener` once for each event of an attempt, across reloads and tabs: the page that runs a try-on reports
   * it. Events that nobody listens to wait with their record. After a crash one may be reported again, with the same
   * `key`. Nothing personal is in them.
   */
  on(listener: (event: RoomEvent) => void): { unsubscribe(): void }
  /** What is kept of the room's shoppers, and until when; rejects with kind `storageUnreadable`. */
  stored(): Promise<Stored[]>
  /**
   * Loads the core and the code for photos early, for example when the pointer is over the button; nothing is read or
   * sent. Rejects with kind `core`, or with `photo` if only the code for photos could not be loaded.
   */
  preload(): Promise<void>
  /** Resolves once storage has been read. Rejects with kind `core`, `input` (no usable base URL) or `stopped` (closed before). */
  readonly ready: Promise<void>
  /** Wipes all that the room keeps of every visitor, in every tab; rejects with kind `storage` if that fails. */
  reset(): Promise<void>
  /**
   * Stops everything that continues by itself; what is kept stays, and using the room again reopens it. What may be
   * paid for and storage has not taken yet is written again every 5 s until it has.
   */
  close(): void
}

/** The room itself; the door, the entry module, loads it once more is needed than a product card shows. */
export interface Core extends FittingRoom, Pick<SaidNow, 'said'> {
  /** How often storage was reset, as far as is known. */
  counts(): Counts
  /** The ticket of an attempt, which need not be in storage; rejects with kind `ticket` if it has no job. */
  ticketOf(of: Variant, attempt: AttemptView | null): Promise<string>
  /** `onCounted` gets the counts including this reset, once it is stored; it is never called if storage refuses it. */
  reset(onCounted?: (counts: Counts) => void): Promise<void>
}

/** What the maker of the core passes in: the door that loads it, or the runner. */
export interface Outside {
  /** The try-on that the page already has for a product. */
  tryOn?: FittingRoom['tryOn'] | undefined
  /** Called when the shopper has gone: nothing of theirs may be shown any more. */
  onForget?: (() => void) | undefined
  /** Funnels that other rooms of the same installation have already looked up. */
  funnels?: KnownFunnels | undefined
  /** Whether to submit if only memory holds the claim: not if another process would carry out the consent again. */
  claimsInMemory?: false
  /** Called when the answer to a claim arrives, even if nobody waits for it any more; it is not stored yet. */
  onAnswer?: ((claimed: AttemptRecord, outcome: Outcome<GenerationStarted>) => void) | undefined
  /** The e-mail address for submissions that continue by themselves, as none is ever stored. */
  customerEmail?: Private<string> | null
}
