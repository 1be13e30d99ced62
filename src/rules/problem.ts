import * as is from '../contract/schema.ts'
import type { Requested, Situation, Unusable } from './outcome.ts'
import { intents, tryOnStates, type Intent, type TryOnState } from './words.ts'

/** What a problem says of the request that it came from. */
export interface RequestFacts {
  /** The operation of the contract, or `putPhoto`, the photo's PUT. */
  operation: Requested
  /** What exactly happened, by the outcome table. */
  situation: Situation
  /** The HTTP status; null where no answer came. */
  status: number | null
  /** The service's `error` text, for developers; null where it said none. */
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

/** No usable answer, after the bounded number of tries. */
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

/** An answer that is not of the contract; `at` is the path of the field that does not fit. */
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

/** The photo is missing, empty, of a type that the service does not take, not readable, or no http(s) URL. */
export interface PhotoProblem {
  kind: 'photo'
  reason: 'missing' | 'empty' | 'type' | 'unreadable' | 'url'
}

/** An option, a product or an intent's input that can not be used. */
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

/** Storage did not take what has to stand there first: a claim, or a paid attempt in the archive. Nothing was sent. */
export interface StorageProblem {
  kind: 'storage'
}

/** Storage could not be read, so a try-on may be there that is not shown. */
export interface StorageUnreadableProblem {
  kind: 'storageUnreadable'
}

/** A record that is corrupt, newer than this version or from the future was left as it is. */
export interface RecordUnreadableProblem {
  kind: 'recordUnreadable'
}

/** The consent is over ten minutes old; nothing was sent. */
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

/** The wait was ended by the caller, the try-on was started over, or the room was closed. */
export interface StoppedProblem {
  kind: 'stopped'
  reason: 'aborted' | 'startedOver' | 'unanswered' | 'closed'
}

/** Something broke that nobody had foreseen. */
export interface InternalProblem {
  kind: 'internal'
  /** Whether something had been sent that may have been paid for. */
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
  | InputProblem
  | StorageProblem
  | StorageUnreadableProblem
  | RecordUnreadableProblem
  | ConsentExpiredProblem
  | NotAllowedProblem
  | PaidJobProblem
  | StoppedProblem
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

/** A problem as storage and other pages hand it over. */
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
  is.object({ kind: is.oneOf('photo'), reason: is.oneOf('missing', 'empty', 'type', 'unreadable', 'url') }),
  is.object({
    kind: is.oneOf('input'),
    at: text,
    given: is.optional(text),
    valid: is.optional(text),
    example: is.optional(text),
  }),
  is.object({ kind: is.oneOf('notAllowed'), intent: is.oneOf(...intents), state: is.oneOf(...tryOnStates) }),
  is.object({ kind: is.oneOf('stopped'), reason: is.oneOf('aborted', 'startedOver', 'unanswered', 'closed') }),
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

const said = (of: { status: number | null; error: string | null; situation: Situation }) =>
  ` (${of.status === null ? of.situation : of.error === null ? of.status : `${of.status}: ${of.error}`})`

type Of<Kind extends ProblemKind> = Extract<Problem, { kind: Kind }>

const texts: { [Kind in ProblemKind]: string | ((of: Of<Kind>) => string) } = {
  refused: (of) =>
    of.at === undefined
      ? `${of.operation} was refused${said(of)}; correct it and start anew`
      : `${of.operation} was not sent: "${of.at}" breaks the contract`,
  key: ({ situation }) =>
    situation === 'noKey'
      ? 'apiKey gave no key; resume() when it does'
      : 'the API key was refused; resume() with a valid one',
  emailRequired: 'an e-mail address is asked for first; submitEmail() gives it',
  limitReached: 'the try-on limit is reached',
  throttled: ({ operation }) => `${operation} has to wait: too many requests`,
  unavailable: (of) => `${of.operation} got no usable answer${said(of)}`,
  notSent: ({ operation, situation }) => `${operation} could not be sent (${situation})`,
  outcomeUnknown: (of) => `the submission may have started a job${said(of)}; retry() pays for a new one`,
  protocol: (of) => `${of.operation} answered against the contract${said(of)}${of.at ? ` at "${of.at}"` : ''}`,
  interrupted: 'the page ended before the answer: there may be a job; retry() pays for a new one',
  jobFailed: ({ error }) => `the job failed: ${error}`,
  deadline: 'the job is not finished; resume() goes on with it',
  photo: ({ reason }) => photoTexts[reason],
  input: ({ at, given, valid, example }) =>
    `"${at}" is not valid` +
    (given === undefined ? '' : `: given ${given}`) +
    (valid === undefined ? '' : `; valid is ${valid}`) +
    (example === undefined ? '' : `, for example ${example}`),
  storage: 'storage did not take what comes first, so nothing was sent',
  storageUnreadable: 'storage could not be read; resume() reads it again',
  recordUnreadable: 'a stored record can not be read, and was left as it is',
  consentExpired: 'the consent is too old, so nothing was sent; the shopper has to give it again',
  internal: ({ sent }) => `something broke unforeseen; ${sent ? 'the submission may have been' : 'nothing was'} sent`,
  notAllowed: ({ intent, state }) => `${intent}() is not allowed in state "${state}"`,
  paidJob: 'a paid job may be running; discard({ abandonPaidJob: true }) forgets it',
  stopped: ({ reason }) => `the wait ended: ${reason}`,
}

const photoTexts = {
  missing: 'there is no photo; start(photo) takes a File, a Blob or { imageUrl }',
  empty: 'the photo is an empty file',
  type: 'the photo is not a JPEG, PNG, WebP, HEIC, HEIF or AVIF image',
  unreadable: 'the photo could not be read',
  url: 'this is neither a photo nor an { imageUrl } with an http(s) URL',
} as const

/** What happened, for developers; texts for shoppers are the UI's. */
export function explain(of: Problem): string {
  const text = texts[of.kind] as string | ((of: Problem) => string)
  return typeof text === 'string' ? text : text(of)
}

class ErrorOf<P extends Problem> extends Error {
  override readonly name = 'TryOnError'
  readonly problem: P
  /** The job that is known, which may have been paid for; null where none is. */
  readonly jobId: string | null

  constructor(of: P, jobId: string | null = null, cause?: unknown) {
    const told = jobId === null ? explain(of) : `${explain(of)} (job ${jobId})`
    super(told, cause === undefined ? undefined : { cause })
    this.problem = of
    this.jobId = jobId
  }

  /** The problem's. */
  get kind(): P['kind'] {
    return this.problem.kind
  }
}

type EachError<P extends Problem> = P extends Problem ? ErrorOf<P> : never

/** What intents and `result()` reject with: a problem, and the job ID wherever one is known. */
export type TryOnError = EachError<Problem>

interface TryOnErrorClass {
  new <P extends Problem>(problem: P, jobId?: string | null, cause?: unknown): EachError<P>
  readonly prototype: TryOnError
}

// a class is no union, but each of its objects is one member of it: so `kind` narrows `problem`
export const TryOnError = ErrorOf as TryOnErrorClass

/** Whether something is a `TryOnError`, of another realm or another copy of this package, too. */
export function isTryOnError(value: unknown): value is TryOnError {
  const { name, problem: of }: { name?: unknown; problem?: { kind?: unknown } | null } = Object(value)
  return name === 'TryOnError' && typeof of?.kind === 'string'
}
