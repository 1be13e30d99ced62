import * as z from 'zod/mini'
import { funnelId, jobId } from '../contract/ids.ts'
import { funnel, httpUrl, jobSuccess, type GenerationStarted, type PolledJob } from '../contract/resources.ts'
import { waitAfter } from './backoff.ts'
import type { Outcome, Unusable } from './outcome.ts'
import { problem, problemOf } from './problem.ts'

/** How long a consent may go on by itself after a reload, in ms. */
export const consentLifetimeMs = 600_000

/** How far from the future a record may come before it is no longer trusted, in ms. */
const clockSlackMs = 300_000

const nonEmpty = z.string().check(z.minLength(1))
const epochMs = z.int().check(z.minimum(0))

/** How far an attempt has come; each phase replaces the one before it in one write. */
const phase = z.enum([
  'consented',
  'claimed',
  'throttled',
  'awaitingEmail',
  'emailRegistered',
  'unauthorized',
  'limitReached',
  'rejected',
  'protocolError',
  'accepted',
  'preview',
  'final',
  'failed',
])
export type Phase = z.infer<typeof phase>

/**
 * What is persisted of one attempt. Times are epoch ms. Never in it: e-mail address, key, signed URL, photo bytes.
 */
const attemptRecord = z.object({
  version: z.literal(1),
  savedAt: epochMs,
  attemptId: nonEmpty,
  startedAt: epochMs,
  phase,
  productId: nonEmpty,
  variantId: nonEmpty,
  funnelIds: z.array(funnelId),
  /** The room's photo by its ID until it is uploaded, then its URL. */
  photo: z.object({ id: z.string(), imageUrl: z.optional(httpUrl) }),
  customKey: z.optional(z.string()),
  moreLooksConsent: z.optional(z.boolean()),
  funnel: z.optional(funnel),
  /** When a throttled submission may be sent again. */
  until: z.optional(epochMs),
  job: z.optional(z.object({ jobId, etaSeconds: z.int(), acceptedAt: epochMs })),
  result: z.optional(jobSuccess),
  problem: z.optional(problem),
})
export type AttemptRecord = z.infer<typeof attemptRecord>

/** Reads what storage holds: a record, nothing, or something that must be left alone. */
export function readRecord(stored: unknown, now: number): AttemptRecord | null | 'unreadable' {
  if (stored === undefined || stored === null) return null
  const read = attemptRecord.safeParse(stored)
  return read.success && read.data.savedAt <= now + clockSlackMs ? read.data : 'unreadable'
}

/** The record, where what cannot be read is as good as none. */
export const readable = (read: ReturnType<typeof readRecord>): AttemptRecord | null =>
  read === 'unreadable' ? null : read

/** The next phase of a record: `change` over it, without the traces of the phase before. */
export function advance(record: AttemptRecord, now: number, change: Partial<AttemptRecord>): AttemptRecord {
  const { until: _until, problem: _problem, ...lasting } = record
  return { ...lasting, ...change, savedAt: now }
}

/** What the answer to a submission makes of its claim (outcome table); `failures` in a row before it, for the backoff. */
export function recordOfSubmission(
  claim: AttemptRecord,
  outcome: Outcome<GenerationStarted>,
  now: number,
  failures: number,
): AttemptRecord {
  switch (outcome.kind) {
    case 'accepted': {
      const { jobId: id, etaSeconds } = outcome.data
      return advance(claim, now, { phase: 'accepted', job: { jobId: id, etaSeconds, acceptedAt: now } })
    }
    case 'throttled':
    case 'notSent': {
      const until = now + waitAfter(outcome, failures)
      return advance(claim, now, { phase: 'throttled', until, problem: problemOf(outcome) })
    }
    case 'outcomeUnknown':
      return advance(claim, now, { phase: 'claimed', problem: problemOf(outcome) })
    default:
      return recordOfStop(claim, outcome, now)
  }
}

/** What a definite stop of any request makes of the record. */
export function recordOfStop(record: AttemptRecord, outcome: Unusable, now: number): AttemptRecord {
  return advance(record, now, { phase: stopPhase(outcome), problem: problemOf(outcome) })
}

function stopPhase(outcome: Unusable): Phase {
  if (outcome.kind === 'rejected' && outcome.reason === 'key') return 'unauthorized'
  // a refused address is asked for again
  if (outcome.operation === 'registerCustomer') return 'awaitingEmail'
  if (outcome.kind === 'rejected' && outcome.reason === 'email') return 'awaitingEmail'
  return outcome.kind === 'limitReached' || outcome.kind === 'protocolError' ? outcome.kind : 'rejected'
}

/** What a polled job makes of the record (spec §2, storageStatus rules); the same record where nothing is new. */
export function recordOfPoll(record: AttemptRecord, job: PolledJob, now: number): AttemptRecord {
  if (job.status === 'ERROR') {
    return advance(record, now, { phase: 'failed', problem: { kind: 'jobFailed', error: job.error } })
  }
  const result = job.status === 'SUCCESS' ? job : record.result
  const stillRunning = job.status === 'PROCESSING' || job.storageStatus === 'PENDING'
  const reached = stillRunning ? (result ? 'preview' : 'accepted') : 'final'
  if (reached === record.phase && JSON.stringify(result) === JSON.stringify(record.result)) return record
  return advance(record, now, { phase: reached, ...(result && { result }) })
}

/** Whether money may have been spent on this attempt: then it is archived, never dropped. */
export function mayBePaid(record: AttemptRecord): boolean {
  return record.job !== undefined || record.phase === 'claimed'
}

/** Whether a paid job may still be running. */
export function mayBeRunning(record: AttemptRecord): boolean {
  return mayBePaid(record) && record.phase !== 'final' && record.phase !== 'failed'
}
