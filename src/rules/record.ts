import { funnelId, jobId } from '../contract/ids.ts'
import { funnel, httpUrl, jobSuccess, type GenerationStarted, type PolledJob } from '../contract/resources.ts'
import * as is from '../contract/schema.ts'
import { askedWaitMs, waitAfter } from './backoff.ts'
import { mayBePaid } from './copies.ts'
import type { Outcome, Unusable } from './outcome.ts'
import { jobPhases, phases, unsentPhases, type Phase } from './phases.ts'
import { problem, problemOf } from './problem.ts'

/** How long a consent may go on by itself after a reload, in ms. */
export const consentLifetimeMs = 600_000

/** Until when the word holds that the shopper gave at that time, by the same clock. */
export const wordEndsAt = (wordAt: number): number => wordAt + consentLifetimeMs

/** How far ahead of this clock something may have been written, in ms: what comes from further ahead is of no known age. */
export const clockSlackMs = 300_000

const epochMs = is.integerFrom(0)

/** A phase that an attempt has stood in, or that nobody knew then what had come of its claim. */
export type Passed = Phase | 'outcomeUnknown'

/**
 * What is persisted of one attempt. Times are epoch ms. Never in it: e-mail address, key, signed URL, photo bytes.
 */
export const attemptRecord = is.object({
  /** Version 0.1.0 wrote 1. */
  version: is.oneOf(1, 2),
  savedAt: epochMs,
  attemptId: is.nonEmpty,
  startedAt: epochMs,
  phase: is.oneOf(...phases),
  /** Which claim it was last submitted by: each page makes its own. */
  claim: is.optional(is.text),
  productId: is.nonEmpty,
  variantId: is.nonEmpty,
  funnelIds: is.listOf(funnelId),
  /** The room's photo by its ID until it is uploaded, then its URL. */
  photo: is.object({ id: is.text, imageUrl: is.optional(httpUrl), metadataKept: is.optional(is.boolean) }),
  customKey: is.optional(is.text),
  moreLooksConsent: is.optional(is.boolean),
  /** Which notice the shopper agreed to when it was started, by its version. */
  notice: is.optional(is.text),
  funnel: is.optional(funnel),
  /** When the shopper last gave the word for this attempt; absent where that is `startedAt`. */
  consentedAt: is.optional(epochMs),
  /** When what is throttled may be sent again. */
  until: is.optional(epochMs),
  /** How long that wait was when it began. */
  waitMs: is.optional(is.integerFrom(0)),
  job: is.optional(is.object({ jobId, etaSeconds: is.integer, acceptedAt: epochMs })),
  result: is.optional(jobSuccess),
  /** The temporary picture that came before the final one. */
  preview: is.optional(jobSuccess),
  problem: is.optional(problem),
  /** It came in place of another one, by `retry()`. */
  retried: is.optional(is.boolean),
  /** What it has stood in before, in that order. */
  passed: is.optional(is.listOf(is.oneOf(...phases, 'outcomeUnknown'))),
  /** A ticket has brought it: its job is another device's, whose visitor is nobody here. */
  elsewhere: is.optional(is.boolean),
})
export type AttemptRecord = is.TypeOf<typeof attemptRecord>

/** How a record stands in storage: what is no record of this version or the one before is left alone. */
export const recordCodec = {
  read(stored: unknown): AttemptRecord | 'unreadable' {
    const record = attemptRecord.safeParse(stored).data
    return record && isConsistent(record) ? record : 'unreadable'
  },
  write: (record: AttemptRecord): object => record,
}

/** Whether a record has a job where its phase says so, and none where nothing can have been answered yet. */
function isConsistent({ phase: reached, job }: AttemptRecord): boolean {
  if (reached === 'claimed' || unsentPhases.includes(reached)) return job === undefined
  return job !== undefined || !jobPhases.includes(reached)
}

/** How long ago the shopper gave the word, in ms: Infinity where a clock that ran ahead leaves no way to know. */
export function ageOfWord(record: AttemptRecord, now: number): number {
  const age = now - wordOf(record)
  return age < -clockSlackMs ? Infinity : Math.max(0, age)
}

/** The next phase of a record: `change` over it, without the traces of the phase before but that it was. */
export function advance(record: AttemptRecord, now: number, change: Partial<AttemptRecord>): AttemptRecord {
  const { until: _until, waitMs: _waitMs, problem: why, ...lasting } = record
  const marks: Passed[] = record.phase === 'claimed' && why ? ['claimed', 'outcomeUnknown'] : [record.phase]
  const passed = [...new Set([...(record.passed ?? []), ...marks])]
  // of two copies the later one has come further, whatever the clock did
  return { ...lasting, passed, ...change, version: 2, savedAt: Math.max(record.savedAt + 1, whole(now)) }
}

/** Clocks may give fractions. */
export const whole = Math.round

/** When the shopper last gave the word for this attempt, in epoch ms. */
export const wordOf = ({ consentedAt, startedAt }: AttemptRecord): number => consentedAt ?? startedAt

/** What is left of a wait, in ms: never more than was asked for, whatever became of the wall clock since. */
export function waitLeftMs({ until, waitMs, savedAt }: AttemptRecord, now: number): number {
  if (until === undefined) return 0
  return Math.min(Math.max(0, until - now), waitMs ?? until - savedAt)
}

/** Whether nothing was sent yet, and what is left to do goes on by itself. */
export function isUnsent({ phase: reached }: AttemptRecord): boolean {
  return unsentPhases.includes(reached)
}

/** Whether nothing was sent while the shopper's word for it held, or can be before it does no more. */
export const isUnsentTooLong = (record: AttemptRecord, now: number): boolean =>
  isUnsent(record) && ageOfWord(record, now) + waitLeftMs(record, now) >= consentLifetimeMs

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
      return advance(claim, now, { phase: 'accepted', job: { jobId: id, etaSeconds, acceptedAt: whole(now) } })
    }
    case 'throttled':
    case 'notSent':
      return heldUp(claim, outcome, now, waitAfter(outcome, failures))
    case 'outcomeUnknown':
      return advance(claim, now, { phase: 'claimed', problem: problemOf(outcome) })
    default:
      return recordOfStop(claim, outcome, now)
  }
}

/** What the last outcome of any other request makes of the record. */
export function recordOfStop(record: AttemptRecord, outcome: Unusable, now: number): AttemptRecord {
  // the service is there or not, but it has refused nothing
  const isHeldUp = outcome.kind === 'throttled' || outcome.kind === 'unavailable'
  if (isHeldUp && outcome.operation !== 'registerCustomer')
    return heldUp(record, outcome, now, askedWaitMs(outcome) ?? 0)
  return advance(record, now, { phase: stopPhase(outcome), problem: problemOf(outcome) })
}

function heldUp(record: AttemptRecord, outcome: Unusable, now: number, wait: number): AttemptRecord {
  const waitMs = whole(wait)
  return advance(record, now, { phase: 'throttled', until: whole(now) + waitMs, waitMs, problem: problemOf(outcome) })
}

function stopPhase(outcome: Unusable): Phase {
  if (outcome.kind === 'rejected' && outcome.reason === 'key') return 'unauthorized'
  // a refused address is asked for again
  if (outcome.operation === 'registerCustomer') return 'awaitingEmail'
  if (outcome.kind === 'rejected' && outcome.reason === 'email') return 'awaitingEmail'
  return outcome.kind === 'limitReached' || outcome.kind === 'protocolError' ? outcome.kind : 'rejected'
}

/** What a polled job makes of the record (contract §2, storageStatus rules); the same record where nothing is new. */
export function recordOfPoll(record: AttemptRecord, job: PolledJob, now: number): AttemptRecord {
  if (job.status === 'ERROR') {
    return advance(record, now, { phase: 'failed', problem: { kind: 'jobFailed', error: job.error } })
  }
  const told = job.status === 'SUCCESS' ? job : record.result
  const result = record.elsewhere && told ? { ...told, uniqueUserId: null } : told
  const stillRunning = job.status === 'PROCESSING' || job.storageStatus === 'PENDING'
  const reached = stillRunning ? (result ? 'preview' : 'accepted') : 'final'
  if (reached === record.phase && JSON.stringify(result) === JSON.stringify(record.result)) return record
  // there is a picture to show while the final one loads
  const preview = reached === 'final' && record.phase === 'preview' ? { preview: record.result } : {}
  return advance(record, now, { phase: reached, ...(result && { result }), ...preview })
}

/** Whether a paid job may still be running. */
export function mayBeRunning(record: AttemptRecord): boolean {
  return mayBePaid(record) && record.phase !== 'final' && record.phase !== 'failed'
}

/** Whether a result may be reached yet: not of a job that the service does not know. */
export const isOwed = (record: AttemptRecord): boolean =>
  record.job !== undefined && mayBeRunning(record) && Object(record.problem).status !== 404
