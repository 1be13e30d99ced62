import type { EmailForm } from '../../machines/try-on.types.ts'
import type { Readable } from '../ports.ts'
import type { TryOnResult, TryOnView } from '../rules/view.ts'
import type { TryOnState } from '../rules/words.ts'
import type { PhotoInput } from '../shopper/photo-input.ts'
import type { ResultOptions } from './result.ts'

export type { EmailForm }

/** What goes with one submission besides the photo (contract §2, GenerationRequest and UploadRequest). */
export interface StartOptions {
  /** The shopper's e-mail address: sent with the submission, which registers the visitor; never persisted. */
  customerEmail?: string | undefined
  /** Whether the shopper agrees to more looks; passed on to the merchant. Default: not sent. */
  moreLooksConsent?: boolean | undefined
  /** A name for the upload, 1 to 100 of `A-Z a-z 0-9 _ -`. Default: the service chooses. */
  customKey?: string | undefined
  /** The version of the notice that the shopper agreed to; required if the room has the option `notice`. */
  consent?: { notice: string } | undefined
  /** Takes the photo even if it is advised against. Default: false. */
  despiteAdvice?: boolean | undefined
}

export interface DiscardOptions {
  /** Forgets the attempt even while a paid job may be running. Default: false. */
  abandonPaidJob?: boolean | undefined
}

/**
 * One durable flow for one product variant. An intent resolves once it has taken effect; one that cannot be carried out
 * rejects with a `TryOnError`, of kind `notAllowed` if the state does not permit it. You need not catch it: the view
 * shows the problem too, except for `notAllowed` and `paidJob`.
 */
export interface TryOn extends Readable<TryOnView> {
  /** Reads storage; resolves with the first view after `restoring`. Rejects with kind `core`, `input` or `stopped`. */
  readonly ready: Promise<TryOnView>
  /** The shopper's consent to ONE submission, with this photo or, if none is given, the room's photo again. */
  start(photo?: PhotoInput, options?: StartOptions): Promise<void>
  /** Registers the e-mail address, then continues the same attempt. Rejects if it is refused; the view says why. */
  submitEmail(form: EmailForm): Promise<void>
  /** Continues the same job, or renews the consent for ten more minutes; in `idle` it reads storage again. */
  resume(): Promise<void>
  /** A NEW attempt, which may be paid for; the previous one is archived if it may have been paid for. */
  retry(photo?: PhotoInput, options?: StartOptions): Promise<void>
  /** Back to `idle`, keeping the photo; nothing is sent. The attempt is archived if it may have been paid for. */
  startOver(): Promise<void>
  /** Forgets the attempt; rejects with `paidJob` while a paid job may be running, unless `abandonPaidJob` is true. */
  discard(options?: DiscardOptions): Promise<void>
  /**
   * A text with which another device opens this try-on, by `room.claim()`: about 60 to 85 characters of
   * `A-Z a-z 0-9 .`, nothing about the shopper. Rejects with kind `ticket` while no job is known, or with `core` if its
   * code cannot be loaded.
   */
  ticket(): Promise<string>
  /**
   * The picture that the view shows, as bytes, to be saved or shared: the kept copy (`keepPictures`), else from its
   * server, which has to permit that (CORS; the contract does not promise it). If its address is dead, the job is
   * polled once more. Rejects with kind `picture`, or with what prevented the poll: `unavailable`, `throttled`, `key`,
   * `core`, `storageUnreadable` or `stopped`.
   */
  picture(): Promise<Blob>
  /**
   * To be called if the page's image could not show the final picture. The job is polled once more, by each page at
   * most once a minute: then either the view has another address, or this rejects as `picture()` does and the view
   * shows the problem. With the image's `address`, nothing is polled if the view already has another one.
   */
  pictureFailed(address?: string): Promise<void>
  /** Resolves at `final`; rejects if the try-on stops, with a `TryOnError` that has the problem and any job ID. */
  result(options?: ResultOptions): Promise<TryOnResult>
}

/**
 * Something that happened inside a try-on, for developers. It contains no personal data: no key, address or photo.
 * Events and states may change with any version.
 */
export interface InspectEvent {
  /** What arrived: an intent, or `done`, `error` or `after` of something that the try-on was waiting for. */
  type: string
  /** The internal states after it, for example `submitting.probing`; several if they are active in parallel. */
  states: readonly string[]
  /** The state that the view shows after it. */
  state: TryOnState
  /** When it next acts by itself, for example polls its job, in epoch ms; null if it waits for no time. */
  nextAt: number | null
  productId: string
  variantId: string
}

/** Is called with everything that happens inside the try-ons of a room. */
export type Inspect = (event: InspectEvent) => void
