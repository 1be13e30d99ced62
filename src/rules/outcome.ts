import type { Operation } from '../contract/endpoints.ts'
import { situationOf } from '../contract/errors.ts'
import { apiError, type ApiError } from '../contract/resources.ts'
import * as is from '../contract/schema.ts'

/** The seven operations of the contract, and the photo's PUT to its signed target. */
export type Requested = Operation | 'putPhoto'

/** What can be said of one HTTP exchange before its meaning is known. */
export type Exchange =
  /** A whole answer; `body` is the parsed JSON, or undefined where it is none. */
  | { came: 'answer'; status: number; body: unknown; retryAfter: string | null }
  /** No whole answer: the time limit passed, or the connection failed or was cut. */
  | { came: 'nothing'; why: 'timeout' | 'lost' | 'aborted' }
  /** The request provably never left: no connection was made, the browser was offline, or nobody wanted it any more. */
  | { came: 'notSent'; why: 'unreachable' | 'offline' | 'unwanted' }
  /** The room's budget held it back, so that the shared IP count stays free (contract §8). */
  | { came: 'held'; waitMs: number }
  /** The request was not made: no key could be read, it breaks the contract, or the base URL is another by now. */
  | { came: 'notMade'; why: 'noKey' | 'invalid' | 'moved'; at?: string }

/** What an exchange was, by the contract (contract §7). The order decides: the first that fits is meant. */
export type Situation = keyof typeof meanings

/** Which of the three columns an operation reads. */
export type Column = 'submission' | 'poll' | 'read'

type Meaning =
  | 'accepted'
  | 'rejected.email'
  | 'rejected.request'
  | 'rejected.key'
  | 'protocolError'
  | 'limitReached'
  | 'throttled'
  | 'unavailable'
  | 'outcomeUnknown'
  | 'notSent'

const row = <S extends Meaning, P extends Meaning, R extends Meaning>(submission: S, poll: P, read: R) => ({
  submission,
  poll,
  read,
})

/**
 * The outcome table: what each situation means for a submission (POST /generations), a poll, and every other request.
 * Only `rejected`, `limitReached`, `throttled` and `notSent` let a submission be sent again.
 */
export const meanings = {
  //                    submission          poll                read
  fits: /*           */ row('accepted', 'accepted', 'accepted'),
  misfit: /*         */ row('protocolError', 'protocolError', 'protocolError'),
  emailRequired: /*  */ row('rejected.email', 'protocolError', 'rejected.request'),
  keyRefused: /*     */ row('rejected.key', 'rejected.key', 'rejected.key'),
  tryOnLimit: /*     */ row('limitReached', 'throttled', 'throttled'),
  ipLimit: /*        */ row('throttled', 'throttled', 'throttled'),
  otherTooMany: /*   */ row('throttled', 'throttled', 'throttled'),
  held: /*           */ row('throttled', 'throttled', 'throttled'),
  serverTimeout: /*  */ row('outcomeUnknown', 'unavailable', 'unavailable'),
  tooEarly: /*       */ row('rejected.request', 'unavailable', 'unavailable'),
  clientClosed: /*   */ row('outcomeUnknown', 'protocolError', 'unavailable'),
  requestRefused: /* */ row('rejected.request', 'protocolError', 'rejected.request'),
  redirected: /*     */ row('outcomeUnknown', 'unavailable', 'unavailable'),
  serverError: /*    */ row('outcomeUnknown', 'unavailable', 'unavailable'),
  timeout: /*        */ row('outcomeUnknown', 'unavailable', 'unavailable'),
  lost: /*           */ row('outcomeUnknown', 'unavailable', 'unavailable'),
  aborted: /*        */ row('outcomeUnknown', 'unavailable', 'unavailable'),
  unreachable: /*    */ row('notSent', 'unavailable', 'unavailable'),
  offline: /*        */ row('notSent', 'unavailable', 'unavailable'),
  unwanted: /*       */ row('notSent', 'unavailable', 'unavailable'),
  noKey: /*          */ row('rejected.key', 'rejected.key', 'rejected.key'),
  invalid: /*        */ row('rejected.request', 'rejected.request', 'rejected.request'),
  moved: /*          */ row('rejected.request', 'unavailable', 'rejected.request'),
} as const

/** Which column of the table an operation reads. */
export function columnOf(operation: Requested): Column {
  if (operation === 'createGeneration') return 'submission'
  return operation === 'getGeneration' ? 'poll' : 'read'
}

/** What a refusing answer said; `message` may be the merchant's text. */
export interface Refusal {
  status: number | null
  error: string | null
  code?: string | undefined
  message?: string | undefined
}

/** What every outcome but `accepted` says of itself: whose it is, its row of the table, and the answer. */
interface Unaccepted {
  operation: Requested
  situation: Situation
  answer: Refusal
}

/** An outcome that gives no data: a refusal, a wait, or something unknown. */
export type Unusable = Unaccepted &
  (
    | /** A definite refusal: nothing was started. `reason` says what would help. */
      { kind: 'rejected'; reason: 'email' | 'request' | 'key'; at?: string }
    /** The customer's try-on limit; `answer.message` is the merchant's text (contract §7, rule 7). */
    | { kind: 'limitReached' }
    /** Too many requests; `retryAfterMs` is null when the wait is not known (contract §7, rules 3 and 4). */
    | { kind: 'throttled'; retryAfterMs: number | null }
    /** The submission may or may not have started a job (contract §7, rule 5). */
    | { kind: 'outcomeUnknown' }
    /** No usable answer to a request that is safe to repeat (contract §7, rule 2). */
    | { kind: 'unavailable' }
    /** The submission provably never left. */
    | { kind: 'notSent' }
    /** An answer that is not of the contract; `at` is the path of the field that does not fit (contract §7, rule 8). */
    | { kind: 'protocolError'; at?: string }
  )

/** The typed meaning of one exchange; `accepted` is the answer that the contract promises. */
export type Outcome<T> = { kind: 'accepted'; data: T } | Unusable

/** Reads one exchange by the table. `data` is the schema of what a 200 holds in its `data`. */
export function outcomeOf<T>(operation: Requested, exchange: Exchange, data: is.Schema<T>): Outcome<T> {
  if (exchange.came !== 'answer') return unanswered(operation, exchange)
  const { status, body } = exchange
  if (status >= 200 && status < 300) {
    const read = is.field('data', data).safeParse(body)
    if (status === 200 && read.success) return { kind: 'accepted', data: read.data }
    return unusable(operation, 'misfit', { status, error: null }, { at: status === 200 ? read.path : undefined })
  }
  const said = apiError.safeParse(body).data
  const situation = refusalOf(operation, status, said)
  const retryAfterMs = situation === 'ipLimit' ? secondsToMs(exchange.retryAfter) : null
  return unusable(operation, situation, { status, ...(said ?? { error: null }) }, { retryAfterMs })
}

/** Reads an exchange that brought no whole answer. */
export function unanswered(operation: Requested, exchange: Exclude<Exchange, { came: 'answer' }>): Unusable {
  const nothing: Refusal = { status: null, error: null }
  if (exchange.came === 'held') return unusable(operation, 'held', nothing, { retryAfterMs: exchange.waitMs })
  return unusable(operation, exchange.why, nothing, { at: 'at' in exchange ? exchange.at : undefined })
}

interface Details {
  /** Of what does not fit, or is not sent as it would not. */
  at?: string | undefined
  /** Of what is throttled. */
  retryAfterMs?: number | null
}

function unusable(
  operation: Requested,
  situation: Exclude<Situation, 'fits'>,
  answer: Refusal,
  { at, retryAfterMs = null }: Details,
): Unusable {
  const [kind, reason] = meanings[situation][columnOf(operation)].split('.')
  return {
    operation,
    situation,
    answer,
    kind,
    ...(reason && { reason }),
    ...(kind === 'throttled' && { retryAfterMs }),
    ...(at !== undefined && { at }),
  } as Unusable
}

function refusalOf(operation: Requested, status: number, body: ApiError | undefined): Exclude<Situation, 'fits'> {
  const known = body && situationOf(status, body)
  if (known === 'emailRequired') return 'emailRequired'
  if (known === 'tryOnLimitReached') return 'tryOnLimit'
  if (known === 'rateLimitExceeded') return 'ipLimit'
  // an upload target knows no key
  if (status === 401 && operation !== 'putPhoto') return 'keyRefused'
  if (status === 408 || status === 421) return 'serverTimeout'
  if (status === 425) return 'tooEarly'
  if (status === 429) return 'otherTooMany'
  if (status === 499) return 'clientClosed'
  if (status >= 400 && status < 500) return 'requestRefused'
  return status >= 300 && status < 400 ? 'redirected' : 'serverError'
}

/** Retry-After in whole seconds; a date or anything else is no known wait. */
function secondsToMs(retryAfter: string | null): number | null {
  return retryAfter !== null && /^\s*\d{1,6}\s*$/.test(retryAfter) ? Number(retryAfter) * 1000 : null
}
