import type { EmailForm } from '../../machines/try-on.types.ts'
import type { Readable } from '../ports.ts'
import type { TryOnResult, TryOnView } from '../rules/view.ts'
import type { TryOnState } from '../rules/words.ts'
import type { PhotoInput } from '../shopper/photo-input.ts'
import type { ResultOptions } from './result.ts'

export type { EmailForm }

/** What goes into one submission beside the photo (contract §2, GenerationRequest and UploadRequest). */
export interface StartOptions {
  /** The shopper's e-mail address: sent with the submission, which registers the visitor; never persisted. */
  customerEmail?: string | undefined
  /** Whether the shopper agrees to more looks; passed on to the merchant. Default: not said. */
  moreLooksConsent?: boolean | undefined
  /** A name for the upload, 1 to 100 of `A-Z a-z 0-9 _ -`. Default: the service chooses. */
  customKey?: string | undefined
  /** Which notice the shopper has agreed to, by its version; asked for where the room has the option `notice`. */
  consent?: { notice: string } | undefined
  /** The shopper wants that photo, whatever advice there is against it. Default: false. */
  despiteAdvice?: boolean | undefined
}

export interface DiscardOptions {
  /** Forgets the attempt even while a paid job may be running. Default: false. */
  abandonPaidJob?: boolean | undefined
}

/**
 * One durable flow for one product variant. Intents resolve once they have taken effect and reject with a
 * `TryOnError`: of kind `notAllowed` where the state does not permit them, else with what is wrong with the input. Nobody
 * has to listen to that: the view says it too, but for `notAllowed`.
 */
export interface TryOn extends Readable<TryOnView> {
  /** The first view that is not `restoring`; storage is read for it. Rejects with kind `core`, `input` or `stopped`. */
  readonly ready: Promise<TryOnView>
  /** The shopper's consent for ONE submission, with a photo or with the room's photo again. */
  start(photo?: PhotoInput, options?: StartOptions): Promise<void>
  /** Registers the visitor's address, then goes on with the same attempt. A refused address stays, with its problem. */
  submitEmail(form: EmailForm): Promise<void>
  /** Goes on with the same job or attempt. */
  resume(): Promise<void>
  /** A NEW attempt, which may be paid for; the one before it is archived. */
  retry(photo?: PhotoInput, options?: StartOptions): Promise<void>
  /** Back to idle with the photo kept; nothing is sent, and a known job is archived. */
  startOver(): Promise<void>
  /** Forgets the attempt; rejects with `paidJob` while a paid job may be running, unless told to abandon it. */
  discard(options?: DiscardOptions): Promise<void>
  /**
   * What another device opens this try-on with, by `room.claim()`: about 60 to 85 characters of `A-Z a-z 0-9 .`, nothing of the
   * shopper. Rejects with kind `ticket` while no job is known, with `core` where what makes it cannot be loaded.
   */
  ticket(): Promise<string>
  /**
   * The picture that the view shows, as bytes, to be saved or shared: as it is kept (`keepPictures`), else from its server,
   * which has to permit that (CORS; the contract promises none). Where its address is dead the job is asked once more.
   * Rejects with kind `picture`, or with what kept its job from being asked: `unavailable`, `throttled`, `key`, `core`,
   * `storageUnreadable` or `stopped`.
   */
  picture(): Promise<Blob>
  /**
   * Says that the page's image could not show the final picture; with the image's address nothing is asked where the view
   * has another one by now. The job is asked once more, by a page once a minute at the most: either the view has another
   * address then, or this rejects as `picture()` does, and the view says it.
   */
  pictureFailed(address?: string): Promise<void>
  /** Resolves at `final`; rejects at every stop with a `TryOnError` that carries the problem and the job ID. */
  result(options?: ResultOptions): Promise<TryOnResult>
}

/**
 * Something that has happened inside a try-on. Nothing private is in it: no key, no address, no photo. It is for
 * developers: which events and states there are may change with any version.
 */
export interface InspectEvent {
  /** What came in: an intent, or `done`, `error` or `after` of something that the try-on waited for. */
  type: string
  /** Where the try-on stands since then, for example `submitting.probing`; several where things run side by side. */
  states: readonly string[]
  /** What its view shows by then. */
  state: TryOnState
  /** When it goes on by itself, as with the next look at its job, in epoch ms; null where it waits for no time. */
  nextAt: number | null
  productId: string
  variantId: string
}

/** Hears what happens inside the try-ons of a room. */
export type Inspect = (event: InspectEvent) => void
