import * as is from '../contract/schema.ts'
import type { PhotoAdvice, ReachedLimit } from '../ports.ts'
import type { Requested, Situation, Unusable } from './outcome.ts'
import { intents, tryOnStates, type Intent, type TryOnState } from './words.ts'

/** What a problem says about the request that caused it. */
export interface RequestFacts {
  /** The operation of the contract, or `putPhoto`, the photo's PUT. */
  operation: Requested
  /** What exactly happened, by the outcome table. */
  situation: Situation
  /** The HTTP status; null where no answer came. */
  status: number | null
  /** The service's `error` text, for developers; null if it gave none. */
  error: string | null
  /** The service's `code`. */
  code?: string | undefined
  /** The merchant's text: render it as text. */
  message?: string | undefined
  /** The field that breaks the contract. */
  at?: string | undefined
}

/** The service refused the request, or it breaks the contract and was not sent (then `at` names the field). */
export interface RefusedProblem extends RequestFacts {
  kind: 'refused'
}

/** The service refused the key (401), or `apiKey()` gave none. */
export interface KeyProblem extends RequestFacts {
  kind: 'key'
}

/** The service asks for an e-mail address first. */
export interface EmailRequiredProblem extends RequestFacts {
  kind: 'emailRequired'
}

/** The customer's try-on limit; `message` is the merchant's text: render it as text. */
export interface LimitReachedProblem extends RequestFacts {
  kind: 'limitReached'
}

/** Too many requests from this address; the try-on waits. */
export interface ThrottledProblem extends RequestFacts {
  kind: 'throttled'
}

/** No usable answer after several tries. */
export interface UnavailableProblem extends RequestFacts {
  kind: 'unavailable'
}

/** The submission never left. */
export interface NotSentProblem extends RequestFacts {
  kind: 'notSent'
}

/** The submission may or may not have started a job. */
export interface OutcomeUnknownProblem extends RequestFacts {
  kind: 'outcomeUnknown'
}

/** An answer that does not match the contract; `at` is the path of the field that does not fit. */
export interface ProtocolProblem extends RequestFacts {
  kind: 'protocol'
}

/** The page ended while a submission was out: a job may or may not have been started. */
export interface InterruptedProblem {
  kind: 'interrupted'
}

/** The job ended in ERROR; `error` is the service's text, for developers. */
export interface JobFailedProblem {
  kind: 'jobFailed'
  error: string
}

/** The deadline passed; the job may still finish. */
export interface DeadlineProblem {
  kind: 'deadline'
}

/**
 * The photo is missing, empty, unreadable, of a type that the service does not take, or no http(s) URL; the code that
 * makes it ready could not be loaded, so it was not uploaded; or there is no camera that may be used.
 */
export interface PhotoProblem {
  kind: 'photo'
  reason: 'missing' | 'empty' | 'type' | 'unreadable' | 'url' | 'unprepared' | 'camera'
}

/**
 * The photo is unlikely to give a good picture, so nothing was sent: it is too small, too narrow a strip, or almost
 * black; or the application's own check says so. `start(photo, { despiteAdvice: true })` takes it all the same.
 */
export interface PhotoAdviceProblem {
  kind: 'photoAdvice'
  advice: PhotoAdvice | 'own'
  /** What the application's own check says to the shopper. */
  message?: string | undefined
}

/** An option, a product or an intent's input that cannot be used. */
export interface InputProblem {
  kind: 'input'
  /** The name of the field. */
  at: string
  /** What was given, as text; never a key or an address. */
  given?: string | undefined
  /** What is valid. */
  valid?: string | undefined
  example?: string | undefined
}

/** This device may send no more: none for this shopper, or none before `nextAt`. Nothing was sent. */
export interface DeviceLimitProblem extends ReachedLimit {
  kind: 'deviceLimit'
}

/**
 * There is no job yet to make a ticket for; or a ticket is not whole, is from another base URL or namespace, is older
 * than `retentionMs`, or was already claimed, or made, on this device.
 */
export interface TicketProblem {
  kind: 'ticket'
  reason: 'noJob' | 'broken' | 'foreign' | 'old' | 'repeated'
}

/**
 * There is no picture yet; or its server says that its address is dead, and the service knows no other one; or this
 * page could not read or show it, because its server does not permit that (CORS) or cannot be reached.
 */
export interface PictureProblem {
  kind: 'picture'
  reason: 'none' | 'gone' | 'unreadable'
}

/** Storage failed to save or remove what had to come first, so the action was not done and nothing was sent. */
export interface StorageProblem {
  kind: 'storage'
}

/** Storage could not be read, so there may be a try-on that is not shown. */
export interface StorageUnreadableProblem {
  kind: 'storageUnreadable'
}

/** The stored record is corrupt, from a newer version or dated in the future; it was left as it is. */
export interface RecordUnreadableProblem {
  kind: 'recordUnreadable'
}

/** The consent is over ten minutes old, or could not be acted on within one minute; nothing was sent. */
export interface ConsentExpiredProblem {
  kind: 'consentExpired'
}

/** The intent is not permitted in this state. */
export interface NotAllowedProblem {
  kind: 'notAllowed'
  intent: Intent
  state: TryOnState
}

/** A paid job may be running; `discard({ abandonPaidJob: true })` forgets it. */
export interface PaidJobProblem {
  kind: 'paidJob'
}

/** The caller ended the wait, the try-on was started over, another page did not answer, or the room was closed. */
export interface StoppedProblem {
  kind: 'stopped'
  reason: 'aborted' | 'startedOver' | 'unanswered' | 'closed'
}

/** The library's core could not be loaded: offline, removed by a deploy, or blocked. Nothing was sent. */
export interface CoreProblem {
  kind: 'core'
  /** True if only reloading the page may help: trying again failed at once. */
  reload: boolean
}

/** An unforeseen error. */
export interface InternalProblem {
  kind: 'internal'
  /** Whether something was sent that may have been paid for. */
  sent: boolean
}

/** Why a try-on stopped or waits, or why an intent was refused; told apart by `kind`. */
export type Problem =
  | RefusedProblem
  | KeyProblem
  | EmailRequiredProblem
  | LimitReachedProblem
  | ThrottledProblem
  | UnavailableProblem
  | NotSentProblem
  | OutcomeUnknownProblem
  | ProtocolProblem
  | InterruptedProblem
  | JobFailedProblem
  | DeadlineProblem
  | PhotoProblem
  | PhotoAdviceProblem
  | InputProblem
  | DeviceLimitProblem
  | TicketProblem
  | PictureProblem
  | StorageProblem
  | StorageUnreadableProblem
  | RecordUnreadableProblem
  | ConsentExpiredProblem
  | NotAllowedProblem
  | PaidJobProblem
  | StoppedProblem
  | CoreProblem
  | InternalProblem

export type ProblemKind = Problem['kind']

const text = is.text
const facts = {
  operation: is.that<Requested>((value) => typeof value === 'string'),
  situation: is.that<Situation>((value) => typeof value === 'string'),
  status: is.nullable(is.integer),
  error: is.nullable(text),
  code: is.optional(text),
  message: is.optional(text),
  at: is.optional(text),
}

/** A problem as storage and other pages hand it over: those of tickets are neither kept nor passed on. */
export const problem: is.Schema<Problem> = is.toldApart(
  'kind',
  is.object({
    kind: is.oneOf(
      'refused',
      'key',
      'emailRequired',
      'limitReached',
      'throttled',
      'unavailable',
      'notSent',
      'outcomeUnknown',
      'protocol',
    ),
    ...facts,
  }),
  is.object({
    kind: is.oneOf(
      'interrupted',
      'deadline',
      'storage',
      'storageUnreadable',
      'recordUnreadable',
      'consentExpired',
      'paidJob',
    ),
  }),
  is.object({ kind: is.oneOf('jobFailed'), error: text }),
  is.object({ kind: is.oneOf('picture'), reason: is.oneOf('none', 'gone', 'unreadable') }),
  is.object({
    kind: is.oneOf('photo'),
    reason: is.oneOf('missing', 'empty', 'type', 'unreadable', 'url', 'unprepared', 'camera'),
  }),
  is.object({
    kind: is.oneOf('photoAdvice'),
    advice: is.oneOf('small', 'narrow', 'dark', 'own'),
    message: is.optional(text),
  }),
  is.object({
    kind: is.oneOf('input'),
    at: text,
    given: is.optional(text),
    valid: is.optional(text),
    example: is.optional(text),
  }),
  is.object({
    kind: is.oneOf('deviceLimit'),
    limit: is.oneOf('perShopper', 'perHour'),
    nextAt: is.nullable(is.number),
  }),
  is.object({ kind: is.oneOf('notAllowed'), intent: is.oneOf(...intents), state: is.oneOf(...tryOnStates) }),
  is.object({ kind: is.oneOf('stopped'), reason: is.oneOf('aborted', 'startedOver', 'unanswered', 'closed') }),
  is.object({ kind: is.oneOf('core'), reload: is.boolean }),
  is.object({ kind: is.oneOf('internal'), sent: is.boolean }),
)

/** The problem that an outcome is. */
export function problemOf(outcome: Unusable): Problem {
  const { operation: of, situation: row, answer } = outcome
  const at = 'at' in outcome && outcome.at !== undefined ? { at: outcome.at } : {}
  // a refused registration may repeat the address
  const said = of === 'registerCustomer' ? { status: answer.status, error: null } : answer
  return { kind: kindOf(outcome), operation: of, situation: row, ...said, ...at }
}

function kindOf(outcome: Unusable) {
  if (outcome.kind === 'protocolError') return 'protocol' as const
  if (outcome.kind !== 'rejected') return outcome.kind
  return ({ email: 'emailRequired', key: 'key', request: 'refused' } as const)[outcome.reason]
}
