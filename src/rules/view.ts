import type { Funnel, JobSuccess } from '../contract/resources.ts'
import type { UploadProgress } from '../ports.ts'
import type { Problem } from './problem.ts'
import type { Intent } from './words.ts'

/** A picture, temporary in `preview`, lasting in `result`, as the service describes it (contract §2, Success). */
export interface TryOnResult extends JobSuccess {
  /** An http(s) address of the picture to show. */
  imageUrl: string
  /** `PENDING` for a temporary picture that another one follows. */
  storageStatus?: 'PENDING' | 'READY' | null | undefined
  /** The picture's lasting address, once it is known. */
  permanentUrl?: string | null | undefined
  /** Try-ons that the visitor has left before an e-mail address is asked for; −1 for no limit. */
  requestsLeft: number
  /** Try-ons counted in the current e-mail collection period. */
  totalRequests: number
  /** The visitor's ID; null if there is none, or if it belongs to another device. */
  uniqueUserId: string | null
}

/** The attempt that a view shows. */
export interface AttemptView {
  /** The room's own ID for it, a new one for each consent. */
  id: string
  /** Null until the service has given one. */
  jobId: string | null
  /** When the shopper consented, in epoch ms. */
  startedAt: number
}

/** How far the upload or the generation has come. */
export interface Progress {
  phase: 'upload' | 'generation'
  /** 0 to 1. */
  value: number
  /** False if `value` is an estimate. */
  exact: boolean
  /** The bytes of an upload; null for a generation. */
  bytes: UploadProgress | null
}

/** What delays a try-on that continues by itself. */
export interface Trouble {
  /** The device is offline, the service gives no usable answer, or it asked to wait. */
  kind: 'offline' | 'unavailable' | 'throttled'
  /** When it began, in epoch ms. */
  since: number
  /** When the request is made again, in epoch ms. */
  nextTryAt: number
}

interface ViewFields {
  /** Null while there is no attempt. */
  attempt: AttemptView | null
  /** Null until it is looked up. */
  funnel: Funnel | null
  /** The service's estimate, in seconds. */
  etaSeconds: number | null
  progress: Progress | null
  /** The temporary picture, never the final one; `final` still has it, to show while the final one loads. */
  preview: TryOnResult | null
  /** The final picture. */
  result: TryOnResult | null
  /** The merchant's text: render it as text. */
  message: string | null
  /** Why the try-on stopped or waits, or what was wrong with the last input. */
  problem: Problem | null
  /** What delays the try-on while it continues by itself; null while nothing does. */
  trouble: Trouble | null
  /** Epoch ms until which a request waits; null when none does. */
  waitingUntil: number | null
  /** False when only memory holds this try-on, so that a reload would lose it. */
  durable: boolean
  /** True if the photo could not be made ready here and goes as it is, with metadata such as place and time. */
  metadataKept: boolean
  /** False if nothing keeps another page from submitting at the same time. */
  exclusive: boolean
  /** Which intents are permitted now. */
  can: Readonly<Record<Intent, boolean>>
}

/** What a UI renders; `state`, or the coarser `group`, tells views apart. */
export type TryOnView = Readonly<
  ViewFields &
    (
      | { state: 'restoring'; group: 'waiting'; attempt: null; problem: null; preview: null; result: null }
      | { state: 'idle'; group: 'ready'; attempt: null; preview: null; result: null }
      /** The attempt is null until the consent is stored. */
      | { state: 'preparing'; group: 'busy' }
      | { state: 'submitting' | 'processing'; group: 'busy'; attempt: AttemptView }
      | { state: 'preview'; group: 'busy'; attempt: AttemptView; preview: TryOnResult }
      /** The problem is null unless an address was refused. */
      | { state: 'needsEmail'; group: 'asks'; attempt: AttemptView }
      | { state: 'final'; group: 'done'; attempt: AttemptView; result: TryOnResult }
      /** The attempt is null if not even the consent could be stored. */
      | { state: 'stalled'; group: 'stopped'; problem: Problem }
      /** The message is empty if the service sent none. */
      | { state: 'limitReached'; group: 'stopped'; attempt: AttemptView; problem: Problem; message: string }
      | {
          state: 'unauthorized' | 'failed' | 'outcomeUnknown' | 'rejected' | 'protocolError'
          group: 'stopped'
          attempt: AttemptView
          problem: Problem
        }
    )
>
