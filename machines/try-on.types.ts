import type { Outcome, Unusable } from '../src/rules/outcome.ts'
import type { Clock, UploadProgress } from '../src/ports.ts'
import type { Problem } from '../src/rules/problem.ts'
import type { AttemptRecord } from '../src/rules/record.ts'
import type { Private } from './private.ts'

/** What the shopper agreed to send; the photo waits in the room under `photoId`. */
export interface Consent {
  photoId: string
  customerEmail?: Private<string> | undefined
  customKey?: string | undefined
  moreLooksConsent?: boolean | undefined
}

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
  /** Storage held something else than was expected, so nothing was written: another page went first. */
  | { kind: 'overtaken' }

/** What a poll came to, and what it wrote. */
export type Polled = Written & { outcome: Outcome<unknown> }

export interface TryOnInput {
  clock: Clock
  pollIntervalMs: number
  deadlineMs: number
  askVisitorFirst: boolean
  /** Whether other pages are kept out by a lock or an atomic update. */
  exclusive: boolean
  /** An archived attempt can be followed, but nothing new is started in its place. */
  archived: boolean
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
  /** Epoch ms of the last look at the clock, for the estimated progress. */
  now: number
  /** Epoch ms from which the deadline counts: acceptance, or the shopper's word to go on. */
  deadlineFrom: number
  /** Epoch ms; null while nothing has to wait. */
  waitingUntil: number | null
  waitMs: number
  /** Whether the service asked for this wait. */
  held: boolean
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
  /** The input of an intent was refused before it could change anything. */
  | { type: 'refused'; problem: Problem }
  | { type: 'uploaded'; progress: UploadProgress }
  | { type: 'waiting'; until: number | null }
  /** The page is visible, shown or online again. */
  | { type: 'wake' }
