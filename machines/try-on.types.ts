import type { Outcome, Unusable } from '../src/rules/outcome.ts'
import type { SteadyClock, UploadProgress } from '../src/ports.ts'
import type { Problem } from '../src/rules/problem.ts'
import type { AttemptRecord } from '../src/rules/record.ts'
import type { Private } from './private.ts'
import type { Wait } from './trouble.ts'

/** What the shopper agreed to send; the photo waits in the room under `photoId`. */
export interface Consent {
  /** What the attempt is called that it begins, so that whoever asks for it knows it again. */
  attemptId: string
  photoId: string
  /** It is as it was given, with all that it tells. */
  metadataKept?: boolean | undefined
  /** It comes in place of another attempt. */
  isRetry?: boolean | undefined
  customerEmail?: Private<string> | undefined
  customKey?: string | undefined
  moreLooksConsent?: boolean | undefined
  /** The version of the notice that was agreed to. */
  notice?: string | undefined
}

/** What `submitEmail` takes. */
export interface EmailForm {
  email: string
  name?: string | undefined
}

/** What is there after a write or a read; `durable` says whether storage holds it. */
export type Written =
  /** This record stands. */
  | { kind: 'stands'; record: AttemptRecord; durable: boolean; problem?: Problem | null }
  /** There is no record. */
  | { kind: 'none'; durable: boolean; problem?: Problem | null }
  /** Storage held something else than was expected: another page went first. What was paid for was written to the archive. */
  | { kind: 'overtaken'; archived?: AttemptRecord }

/** What was read, and whether the storage that had it keeps other pages out; where nothing is said, what is known of it stays. */
export type Restored = Written & { exclusive?: boolean | undefined }

/** What a poll came to, and what it wrote. */
export type Polled = Written & { outcome: Outcome<unknown> }

export interface TryOnInput {
  clock: SteadyClock
  /** How long until the next poll of the record's job, in ms; `ageMs` is the job's age, null before the first poll. */
  nextLookMs: (record: AttemptRecord, ageMs: number | null) => number
  deadlineMs: number
  askVisitorFirst: boolean
  /** Whether other pages are kept out by a lock or an atomic update, as far as is known before anything is read. */
  exclusive: boolean
  /** An archived attempt can be followed, but nothing new is started in its place. */
  archived: boolean
  /** The address of a consent that is gone on with, where whoever runs it knows it. */
  customerEmail?: Private<string> | null
}

export interface TryOnContext extends TryOnInput {
  /** The attempt as storage holds it, or should hold it where storage fails. */
  record: AttemptRecord | null
  durable: boolean
  /** Storage holds something else than `record`. */
  overtaken: boolean
  problem: Problem | null
  consent: Consent | null
  /** The address that this page's shopper gave with the consent; never persisted. */
  customerEmail: Private<string> | null
  form: Private<EmailForm> | null
  /** What ended the preparation or the registration, until it is written down. */
  refusal: Unusable | null
  emailNeeded: boolean
  upload: UploadProgress | null
  /** When the shopper last gave or renewed the consent, in ms of the page's own time, which includes sleep. */
  wordAt: number
  /** When a look at the job was last answered, in ms of the page's own time. */
  lookedAt: number
  /** When the job was accepted, on the monotonic clock as all that follows. */
  jobAt: number
  /** From when the deadline counts: acceptance, or the shopper's word to go on. */
  deadlineFrom: number
  /** How old the job was at the last look at the clock, in ms, for the estimated progress. */
  elapsedMs: number
  /** What holds requests up, each under its own name. */
  waits: Readonly<Record<string, Wait>>
  waitMs: number
  /** Failures in a row, for the backoff. */
  failures: number
}

export type TryOnEvent =
  | { type: 'start' | 'retry'; consent: Consent }
  | { type: 'submitEmail'; form: Private<EmailForm> }
  | { type: 'resume' }
  | { type: 'startOver' }
  | { type: 'discard'; abandonPaidJob: boolean }
  /** The answer to a submission that had been given up waiting for. */
  | { type: 'lateAnswer'; written: Written }
  /** Whether storage has taken what only memory had. */
  | { type: 'kept'; durable: boolean }
  /** The input of an intent was refused before it could change anything. */
  | { type: 'refused'; problem: Problem }
  | { type: 'uploaded'; progress: UploadProgress }
  /** What holds a request up; null once nothing does. */
  | { type: 'waiting'; of: string; wait: Wait | null }
  /** The page is visible, shown or online again. */
  | { type: 'wake' }
