import type { Funnel, JobSuccess } from '../contract/resources.ts'
import type { UploadProgress } from '../ports.ts'
import type { Problem } from './problem.ts'
import type { Intent } from './words.ts'

/** A picture, temporary in `preview` and lasting in `result`, with all that the service says of it (contract §2, Success). */
export interface TryOnResult extends JobSuccess {
  /** An http(s) address of the picture to show. */
  imageUrl: string
  /** `PENDING` of a temporary picture, which another one follows. */
  storageStatus?: 'PENDING' | 'READY' | null | undefined
  /** Where the picture lasts, once that is known. */
  permanentUrl?: string | null | undefined
  /** Try-ons that the visitor has left before an e-mail address is asked for; −1 for no limit. */
  requestsLeft: number
  /** Try-ons that were counted in this period of collecting addresses. */
  totalRequests: number
  /** The service's visitor; null where there is none, or where it is another device's. */
  uniqueUserId: string | null
}

/** The attempt that a view is of. */
export interface AttemptView {
  /** The room's own, and another one for each consent. */
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
  /** False where the value is an estimate. */
  exact: boolean
  /** Of an upload, in bytes. */
  bytes: UploadProgress | null
}

/** What holds a try-on up while it goes on by itself. */
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
  /** The temporary picture, which `final` still has while the other one loads; never the final one. */
  preview: TryOnResult | null
  /** The final picture. */
  result: TryOnResult | null
  /** The merchant's text: render it as text. */
  message: string | null
  /** Why the try-on stopped or waits, or what was wrong with the last input. */
  problem: Problem | null
  /** What holds the try-on up while it goes on by itself; null while nothing does. */
  trouble: Trouble | null
  /** Epoch ms until which a request waits; null when none does. */
  waitingUntil: number | null
  /** False when only memory holds this try-on, so that a reload would lose it. */
  durable: boolean
  /** The photo could not be made ready here: it went as it is, with what it tells of place and time. */
  metadataKept: boolean
  /** False where no lock or atomic update exists. */
  exclusive: boolean
  /** Which intents are permitted now. */
  can: Readonly<Record<Intent, boolean>>
}

/** What a UI renders, told apart by `state`, or by its `group`. */
export type TryOnView = Readonly<
  ViewFields &
    (
      | { state: 'restoring'; group: 'waiting'; attempt: null; problem: null; preview: null; result: null }
      | { state: 'idle'; group: 'ready'; attempt: null; preview: null; result: null }
      /** The attempt is null until the consent is written down. */
      | { state: 'preparing'; group: 'busy' }
      | { state: 'submitting' | 'processing'; group: 'busy'; attempt: AttemptView }
      | { state: 'preview'; group: 'busy'; attempt: AttemptView; preview: TryOnResult }
      /** The problem is null until an address was refused. */
      | { state: 'needsEmail'; group: 'asks'; attempt: AttemptView }
      | { state: 'final'; group: 'done'; attempt: AttemptView; result: TryOnResult }
      /** The attempt is null where not even the consent could be written down. */
      | { state: 'stalled'; group: 'stopped'; problem: Problem }
      /** The message is empty where the service sent none. */
      | { state: 'limitReached'; group: 'stopped'; attempt: AttemptView; problem: Problem; message: string }
      | {
          state: 'unauthorized' | 'failed' | 'outcomeUnknown' | 'rejected' | 'protocolError'
          group: 'stopped'
          attempt: AttemptView
          problem: Problem
        }
    )
>
