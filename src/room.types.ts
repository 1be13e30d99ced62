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

/** What `room.history` holds of each attempt. */
export type HistoryEntry = ListedAttempt

/** One page's or kiosk's runtime: one store's API, one visitor, one storage, many try-ons. */
export interface FittingRoom {
  /** The same product variant again is the same try-on; it resumes what storage holds. */
  tryOn(product: TryOnProduct): TryOn
  /** Whose the room's try-ons are to the service; of which nothing is known before storage was read. */
  readonly visitor: Readable<Visitor>
  /** The photo that `start()` without one takes. */
  readonly photo: Readable<RoomPhoto | null>
  /** What `list()` gives, kept up to date while somebody watches; empty until storage was read. */
  readonly history: Readable<readonly HistoryEntry[]>
  /** All seven operations, and a photo's PUT; their requests ask the room's budget. */
  readonly client: Client
  /** Every try-on and archived attempt, newest first. Rejects with kind `storageUnreadable`, `core`, `input` or `stopped`. */
  list(): Promise<ListedAttempt[]>
  /**
   * The try-on of another device's ticket, which follows its job: it stands in the archive, and nothing of that device's
   * visitor is learnt. Rejects with kind `ticket`, with `recordUnreadable` where something stands in its place, or with `core`
   * where the code for it cannot be loaded.
   */
  claim(ticket: string): Promise<TryOn>
  /**
   * Hears what happens to attempts, each thing once, whatever reloads and pages there are: the page that runs a try-on tells
   * of it. What happens while nobody listens waits with its record. After a crash something may be told again, with the same
   * `key`. Nothing personal is told.
   */
  on(listener: (event: RoomEvent) => void): { unsubscribe(): void }
  /** What is kept of the room's shoppers, until when; rejects with kind `storageUnreadable`. */
  stored(): Promise<Stored[]>
  /**
   * Loads the code that an intent and its photo need before there is one, as when the pointer is over the button; nothing is
   * read or sent. Rejects with kind `core`, or `photo` where it is only that one's that could not be loaded.
   */
  preload(): Promise<void>
  /** Resolves once storage has been read. Rejects with kind `core`, `input` (no usable base URL) or `stopped` (closed before). */
  readonly ready: Promise<void>
  /** Wipes everything of every visitor, in every tab; rejects with kind `storage` when something could not be wiped. */
  reset(): Promise<void>
  /**
   * Stops what goes on by itself; what is kept stays, and using the room again reopens it. What may be paid for, and storage
   * has not taken, is written again every 5 s until it has.
   */
  close(): void
}

/** The room itself, which the door loads when more is asked for than what a product card shows. */
export interface Core extends FittingRoom, Pick<SaidNow, 'said'> {
  /** How often storage was reset, as far as is known. */
  counts(): Counts
  /** The ticket of an attempt that need not stand in storage; rejects with kind `ticket` where it has no job. */
  ticketOf(of: Variant, attempt: AttemptView | null): Promise<string>
  /** `onCounted` is told how often that is with this time, as soon as it counts; never, where storage does not take it. */
  reset(onCounted?: (counts: Counts) => void): Promise<void>
}

/** What stood before the room was loaded. */
export interface Outside {
  /** What pages know a try-on as. */
  tryOn?: FittingRoom['tryOn'] | undefined
  /** The shopper has gone, and nothing of theirs is shown any more. */
  onForget?: (() => void) | undefined
  /** The funnels that other rooms of one installation were told of. */
  funnels?: KnownFunnels | undefined
  /** Whether a claim is sent that only memory holds: not where its consent outlasts this process, and is carried out again. */
  mayClaimInMemory?: (() => boolean) | undefined
  /** The answer to a claim has come, be it that nobody waits for it any more; it is not written yet. */
  onAnswer?: ((claimed: AttemptRecord, outcome: Outcome<GenerationStarted>) => void) | undefined
  /** Sent with what goes on by itself, of which nothing stored knows an address. */
  customerEmail?: Private<string> | null
}
