import * as z from 'zod/mini'
import type { Requested, Situation, Unusable } from './outcome.ts'

const text = z.string()
const operation = z.custom<Requested>((value) => typeof value === 'string')
const situation = z.custom<Situation>((value) => typeof value === 'string')
const answered = {
  operation,
  situation,
  status: z.nullable(z.int()),
  error: z.nullable(text),
  code: z.optional(text),
  message: z.optional(text),
  at: z.optional(text),
}

/** Why a try-on stopped or waits. `message` is the merchant's text: render it as text. */
export const problem = z.discriminatedUnion('kind', [
  /** The service refused the request, or it breaks the contract (`at` names the field). */
  z.object({ kind: z.literal('refused'), ...answered }),
  /** The service refused the key (401), or `apiKey()` gave none. */
  z.object({ kind: z.literal('key'), ...answered }),
  z.object({ kind: z.literal('emailRequired'), ...answered }),
  z.object({ kind: z.literal('limitReached'), ...answered }),
  z.object({ kind: z.literal('throttled'), ...answered }),
  /** No usable answer, after the bounded number of tries. */
  z.object({ kind: z.literal('unavailable'), ...answered }),
  /** The submission never left. */
  z.object({ kind: z.literal('notSent'), ...answered }),
  /** The submission may or may not have started a job. */
  z.object({ kind: z.literal('outcomeUnknown'), ...answered }),
  /** An answer that is not of the contract. */
  z.object({ kind: z.literal('protocol'), ...answered }),
  /** The page ended while a submission was out. */
  z.object({ kind: z.literal('interrupted') }),
  /** The job ended in ERROR. */
  z.object({ kind: z.literal('jobFailed'), error: text }),
  /** The deadline passed; the job may still finish. */
  z.object({ kind: z.literal('deadline') }),
  /** The photo is missing, empty, of a type the service does not take, or was not readable. */
  z.object({ kind: z.literal('photo'), reason: z.enum(['missing', 'empty', 'type', 'unreadable', 'url']) }),
  /** Input of an intent that breaks the contract; `at` names the field. */
  z.object({ kind: z.literal('input'), at: text }),
  /** The consent could neither be claimed nor taken back in storage; nothing was sent. */
  z.object({ kind: z.literal('storage') }),
  /** Storage could not be read, so a try-on may be there that is not shown. */
  z.object({ kind: z.literal('storageUnreadable') }),
  /** A record that is corrupt, newer than this version or from the future was left as it is. */
  z.object({ kind: z.literal('recordUnreadable') }),
  /** The consent is over ten minutes old; nothing was sent. */
  z.object({ kind: z.literal('consentExpired') }),
  /** The intent is not permitted in this state. */
  z.object({ kind: z.literal('notAllowed'), intent: text, state: text }),
  /** A paid job may be running; `discard({ abandonPaidJob: true })` forgets it. */
  z.object({ kind: z.literal('paidJob') }),
  /** The wait was ended by the caller, or the try-on was started over. */
  z.object({ kind: z.literal('stopped'), reason: z.enum(['aborted', 'startedOver', 'closed']) }),
])
export type Problem = z.infer<typeof problem>

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

/** What happened, for developers; texts for shoppers are the UI's. */
export function explain(of: Problem): string {
  switch (of.kind) {
    case 'refused':
      return of.at === undefined
        ? `${of.operation} was refused${said(of)}; correct the request and start a new attempt`
        : `${of.operation} was not sent: "${of.at}" breaks the contract`
    case 'key':
      return of.situation === 'noKey'
        ? 'apiKey gave no key that can be sent; resume() when it does'
        : 'the API key was refused (401); resume() with a valid key'
    case 'emailRequired':
      return 'the service asks for an e-mail address first; call submitEmail()'
    case 'limitReached':
      return 'the try-on limit is reached; show the message'
    case 'throttled':
      return `${of.operation} has to wait: too many requests from this address`
    case 'unavailable':
      return `${of.operation} got no usable answer${said(of)}`
    case 'notSent':
      return `${of.operation} could not be sent (${of.situation})`
    case 'outcomeUnknown':
      return `it is not known whether the submission started a job${said(of)}; retry() pays for a new one`
    case 'protocol':
      return `${of.operation} answered against the contract${said(of)}${of.at ? ` at "${of.at}"` : ''}`
    case 'interrupted':
      return 'the page ended before the answer came: a job may or may not have been started; retry() pays for a new one'
    case 'jobFailed':
      return `the job failed: ${of.error}`
    case 'deadline':
      return 'the job is not finished yet; resume() goes on with the same job'
    case 'photo':
      return photoTexts[of.reason]
    case 'input':
      return `"${of.at}" is not valid`
    case 'storage':
      return 'storage refused the claim, so nothing was sent'
    case 'storageUnreadable':
      return 'storage could not be read; resume() reads it again'
    case 'recordUnreadable':
      return 'a stored record is not readable by this version and was left as it is'
    case 'consentExpired':
      return 'the consent was given too long ago, so nothing was sent; start() asks anew'
    case 'notAllowed':
      return `${of.intent}() is not allowed in state "${of.state}"`
    case 'paidJob':
      return 'a paid job may be running; discard({ abandonPaidJob: true }) forgets it'
    case 'stopped':
      return `the wait ended: ${of.reason}`
  }
}

const said = (of: { status: number | null; error: string | null; situation: Situation }) =>
  of.status === null ? ` (${of.situation})` : ` (${of.status}${of.error === null ? '' : `: ${of.error}`})`

const photoTexts = {
  missing: 'there is no photo to try on with; start(photo) takes a File, a Blob or { imageUrl }',
  empty: 'the photo is an empty file',
  type: 'the photo is not a JPEG, PNG, WebP, HEIC, HEIF or AVIF image',
  unreadable: 'the photo could not be read',
  url: 'this is no photo: start(photo) takes a File, a Blob or { imageUrl } with an http(s) URL',
} as const

/** What intents and `result()` reject with: a problem, and the job ID wherever one is known. */
export class TryOnError extends Error {
  override readonly name = 'TryOnError'
  readonly problem: Problem
  readonly jobId: string | null

  constructor(of: Problem, jobId: string | null = null) {
    super(jobId === null ? explain(of) : `${explain(of)} (job ${jobId})`)
    this.problem = of
    this.jobId = jobId
  }

  get kind(): Problem['kind'] {
    return this.problem.kind
  }
}
