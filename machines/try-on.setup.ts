import type { Funnel, VisitorStatus } from '../src/contract/resources.ts'
import type { Outcome, Unusable } from '../src/rules/outcome.ts'
import type { UploadProgress } from '../src/ports.ts'
import type { Problem } from '../src/rules/problem.ts'
import { TryOnError } from '../src/rules/try-on-error.ts'
import { askedWaitMs, waitAfter } from '../src/rules/backoff.ts'
import { mayBePaid } from '../src/rules/copies.ts'
import {
  ageOfWord,
  isUnsent,
  mayBeRunning,
  waitLeftMs,
  wordOf,
  type AttemptRecord,
  wordEndsAt,
} from '../src/rules/record.ts'
import { assign, sendTo, setup, type fromPromise } from './setup.ts'
import { requestMachine } from './request.machine.ts'
import type { Private } from './private.ts'
import { troubleKind, type Wait } from './trouble.ts'
import type {
  Consent,
  EmailForm,
  Polled,
  Restored,
  TryOnContext,
  TryOnEvent,
  TryOnInput,
  Written,
} from './try-on.types.ts'

/** What the room does for the machine. */
interface Provided {
  restore: Work<Restored>
  consent: Work<Written>
  writeStop: Work<Written>
  writeRegistration: Work<Written>
  renew: Work<Written>
  probe: Work<Written>
  claim: Work<Written>
  submit: Work<Written>
  poll: Work<Polled>
  keyChanged: Work<boolean>
  leave: Work<Written>
  discard: Work<Written>
}

type Work<Output> = ReturnType<typeof fromPromise<Output, TryOnContext>>

/** The named parts of the try-on machine, of whose actors the room provides what they do. */
export const tryOnSetup = setup({
  types: { context: {} as TryOnContext, events: {} as TryOnEvent, input: {} as TryOnInput, tags: {} as 'busy' },
  actors: {
    ...({} as Provided),
    lookUpFunnel: requestMachine,
    uploadPhoto: requestMachine,
    askVisitor: requestMachine,
    register: requestMachine,
  },
  guards: {
    isPhase: ({ context }, phase: AttemptRecord['phase']) => context.record?.phase === phase,
    hasNoRecord: ({ context }) => context.record === null,
    hasJob: ({ context }) => context.record?.job !== undefined,
    isPrepared: ({ context }) => isPrepared(context.record),
    isCurrent: ({ context }) => !context.archived,
    keepsOthersOut: ({ context }) => context.exclusive,
    isEmailNeeded: ({ context }) => context.emailNeeded,
    asksVisitor: ({ context }) =>
      context.askVisitorFirst && context.customerEmail === null && context.record?.phase !== 'emailRegistered',
    isUnread: ({ context }) => context.problem?.kind === 'storageUnreadable' || context.problem?.kind === 'internal',
    wasNotSent: ({ context }) => context.record?.problem?.kind === 'notSent',
    /** A page that is shown, and then online, looks once. */
    mayPollNow: ({ context }) =>
      context.waits.poll?.trouble.kind !== 'throttled' && context.clock.elapsed() - context.lookedAt >= wakeMs,
    /** What was accepted just now need not be asked for yet. */
    isFresh: ({ context: { record, clock, jobAt, ...context } }) =>
      record?.phase === 'accepted' && clock.monotonic() - jobAt < freshMs && context.nextLookMs(record, null) > 0,
    isOvertaken: ({ context }) => context.overtaken,
    isUnderWay: ({ context: { record } }) => record !== null && (isUnsent(record) || isRunning(record)),
    isTooLate: ({ context }) => isTooLate(context.record, context),
    waitsInVain: ({ context }) =>
      context.record !== null && isUnsent(context.record) && isTooLate(context.record, context),
    gaveUpPreparing: ({ context: { record } }) => record?.phase === 'throttled' && !isPrepared(record),
    isPastDeadline: ({ context }) => leftMs(context) <= 0,
    /** The service wants no look before the deadline. */
    isPutOff: ({ context }, { outcome }: Polled) => !isHeld(outcome) && leftMs(context) <= (askedWaitMs(outcome) ?? 0),
    mayDiscard: ({ context, event }) =>
      (event.type === 'discard' && event.abandonPaidJob) || !(context.record !== null && mayBeRunning(context.record)),
    isTrue: (_, answer: boolean) => answer,
    isAccepted: (_, outcome: Outcome<unknown>) => outcome.kind === 'accepted',
    isThrottled: (_, outcome: Outcome<unknown>) => outcome.kind === 'throttled',
    isPhotoGone: (_, error: unknown) => error instanceof TryOnError && error.kind === 'photo',
    /** Nothing more is to be polled, or this page is not the one to poll it. */
    isSettled: (_, polled: Polled) => !isRepeated(polled.outcome) && !isRunning(recordIn(polled)),
    stands: (_, written: Written) => written.kind === 'stands',
    isStored: (_, written: Written) => written.kind === 'stands' && written.durable,
    isClaimed: (_, written: Written) => recordIn(written)?.phase === 'claimed',
    isUnchanged: ({ context }, written: Written) => recordIn(written) === context.record,
    isUnchangedTooLate: ({ context }, written: Written) =>
      recordIn(written) === context.record && isTooLate(context.record, context),
    mayWait: ({ context }, written: Written) =>
      recordIn(written)?.phase === 'throttled' && !isTooLate(recordIn(written), context),
    isJob: (_, written: Written) => recordIn(written)?.job !== undefined,
    isNoNews: ({ context: { record } }, written: Written) =>
      !isSameAttempt(recordIn(written), record) || record?.job !== undefined,
    isOtherAddress({ context: { record } }, written: Written) {
      const told = recordIn(written)
      return isSameAttempt(told, record) && told?.phase === 'final' && told.savedAt > record!.savedAt
    },
  },
  actions: {
    take: assign((_, written: Written) => taken(written)),
    takeStored: assign(({ context }, written: Restored) => ({
      ...taken(written),
      ...timesOf(written, context),
      exclusive: written.exclusive ?? context.exclusive,
    })),
    takeConsent: assign(({ context }, consent: Consent) => ({
      ...fresh,
      consent,
      customerEmail: consent.customerEmail ?? null,
      wordAt: context.clock.elapsed(),
    })),
    takeForm: assign(({ context }, form: Private<EmailForm>) => ({
      form,
      problem: null,
      wordAt: context.clock.elapsed(),
    })),
    takeProblem: assign((_, problem: Problem) => ({ problem })),
    takeKept: assign((_, durable: boolean) => ({ durable })),
    takeFailure: assign((_, error: unknown) => (error instanceof TryOnError ? { problem: error.problem } : {})),
    takeBreak: assign(({ context: { record } }) => ({
      overtaken: false,
      problem: { kind: 'internal' as const, sent: record !== null && mayBePaid(record) },
    })),
    takeRefusal: assign((_, outcome: Outcome<unknown>) => ({ refusal: outcome as Unusable })),
    takeFunnel: assign(({ context }, outcome: Outcome<unknown>) => ({
      record: context.record && { ...context.record, funnel: dataOf<Funnel>(outcome) },
    })),
    takePhoto: assign(({ context }, outcome: Outcome<unknown>) => ({
      record: context.record && {
        ...context.record,
        photo: { ...context.record.photo, ...dataOf<AttemptRecord['photo']>(outcome) },
      },
    })),
    takeUpload: assign((_, progress: UploadProgress) => ({ upload: progress })),
    takeVisitor: assign((_, outcome: Outcome<unknown>) => ({
      emailNeeded: outcome.kind === 'accepted' && dataOf<VisitorStatus>(outcome).requestsLeft === 0,
    })),
    forgetForm: assign(() => ({ form: null, emailNeeded: false })),
    hearWord: assign(({ context }) => ({ wordAt: context.clock.elapsed(), failures: 0, problem: null })),
    startJob: assign(({ context: { clock } }) => ({
      jobAt: clock.monotonic(),
      deadlineFrom: clock.monotonic(),
      failures: 0,
    })),
    restartDeadline: assign(({ context }) => ({ deadlineFrom: context.clock.monotonic(), failures: 0, problem: null })),
    lookAtClock: assign(({ context }) => ({ elapsedMs: Math.max(0, context.clock.monotonic() - context.jobAt) })),
    planPoll: assign(({ context }, { outcome }: Polled) => {
      if (outcome.kind === 'accepted')
        return { lookedAt: context.clock.elapsed(), failures: 0, waitMs: nextLookMs(context), waits: {} }
      const askedMs = waitAfter(outcome, context.failures)
      const isNamed = askedWaitMs(outcome) !== null && !isHeld(outcome)
      const waitMs = isNamed ? askedMs : beforeDeadline(askedMs, context)
      const failures = askedWaitMs(outcome) === null ? context.failures + 1 : context.failures
      return { failures, waitMs, waits: waiting('poll', outcome, waitMs, context) }
    }),
    planFirstPoll: assign(({ context }) => ({ waitMs: nextLookMs(context, true) })),
    planSubmission: assign(({ context }) => {
      const { record, clock, failures } = context
      if (record === null) return {}
      const waitMs = waitLeftMs(record, clock.now())
      return { failures: failures + 1, waitMs, waits: waiting('submission', record.problem, waitMs, context) }
    }),
    noteWait: assign(({ context }, { of, wait }: { of: string; wait: Wait | null }) => {
      const { [of]: _before, ...others } = context.waits
      return { waits: wait === null ? others : { ...others, [of]: wait } }
    }),
    wakeRequest: sendTo(
      (_, name: string) => name,
      () => ({ type: 'wake' }),
    ),
    endWait: assign(({ context }) => ({
      waits: Object.fromEntries(Object.entries(context.waits).map(([of, wait]) => [of, { ...wait, isOut: true }])),
    })),
    forgetWaits: assign(() => ({ waits: {} })),
  },
  delays: {
    wait: ({ context }) => context.waitMs,
    deadline: ({ context }) => Math.max(0, leftMs(context)),
    tick: () => 1_000,
    keyCheck: () => 60_000,
  },
})

function nextLookMs({ record, clock, jobAt, ...context }: TryOnContext, isFirst = false): number {
  const plannedMs = record === null ? 0 : context.nextLookMs(record, isFirst ? null : clock.monotonic() - jobAt)
  return beforeDeadline(plannedMs, { clock, ...context })
}

/** How long until the deadline, in ms. */
const leftMs = ({ clock, deadlineFrom, deadlineMs }: Deadline) => deadlineFrom + deadlineMs - clock.monotonic()

type Deadline = Pick<TryOnContext, 'clock' | 'deadlineFrom' | 'deadlineMs'>

/** The last look before the deadline always goes out, and one at it. */
function beforeDeadline(plannedMs: number, context: Deadline): number {
  const left = leftMs(context)
  return Math.max(0, Math.min(plannedMs, left > 2 * lastLookMs ? left - lastLookMs : left))
}

/** Whether a look lets nobody go first: the last ones before the deadline, and the first one that the shopper asks for. */
export function isUrgent({ clock, jobAt, lookedAt, ...context }: TryOnContext): boolean {
  const isAsked = context.deadlineFrom > jobAt && clock.elapsed() - lookedAt > clock.monotonic() - context.deadlineFrom
  return isAsked || leftMs({ clock, ...context }) <= 2 * lastLookMs
}

/** The room's own budget lets it wait: the service has not been asked. */
const isHeld = (outcome: Outcome<unknown>) => outcome.kind === 'throttled' && outcome.situation === 'held'

/** The least time between two looks that nobody planned, in ms. */
const wakeMs = 1_000

/** How long a job counts as accepted just now, in ms. */
const freshMs = 1_000

/** How long before the deadline the last look goes out, in ms. */
const lastLookMs = 1_000

/** What a new consent leaves behind of the one before. */
const fresh = { upload: null, problem: null, failures: 0, refusal: null, emailNeeded: false } as const

const isRepeated = (outcome: Outcome<unknown>) => outcome.kind === 'unavailable' || outcome.kind === 'throttled'

/** The record that a write or a read has left standing. */
const recordIn = (written: Written): AttemptRecord | null => (written.kind === 'stands' ? written.record : null)

function taken(written: Written) {
  if (written.kind === 'overtaken') return { overtaken: true }
  const { durable, problem = null } = written
  return { overtaken: false, record: recordIn(written), durable, problem, refusal: null }
}

/** A word ages while the machine sleeps, a job is given its time awake; of what others did only the age is known. */
function timesOf(written: Written, { record: known, clock, wordAt, jobAt, deadlineFrom }: TryOnContext) {
  const record = recordIn(written)
  if (record === null) return {}
  const since = (epochMs: number) => clock.monotonic() - Math.max(0, clock.now() - epochMs)
  const isKnown = isSameAttempt(record, known)
  const knowsWord = isKnown && known !== null && wordOf(known) === wordOf(record)
  const knowsJob = isKnown && known?.job?.jobId === record.job?.jobId
  const acceptedAt = since(record.job?.acceptedAt ?? record.startedAt)
  return {
    wordAt: knowsWord ? wordAt : clock.elapsed() - ageOfWord(record, clock.now()),
    ...(knowsJob ? { jobAt, deadlineFrom } : { jobAt: acceptedAt, deadlineFrom: acceptedAt }),
    failures: 0,
  }
}

/** Whether nothing may be sent for this record any more without the shopper's word, or not before that is so. */
function isTooLate(record: AttemptRecord | null, { clock, wordAt }: TryOnContext): boolean {
  const waitMs = record === null ? 0 : waitLeftMs(record, clock.now())
  return clock.elapsed() + waitMs >= wordEndsAt(wordAt)
}

/** The trouble began with the first of the failures in a row. */
function waiting(
  of: string,
  reason: Unusable | Problem | undefined,
  waitMs: number,
  { clock, waits }: TryOnContext,
): TryOnContext['waits'] {
  const now = clock.now()
  const kind = reason !== undefined && 'situation' in reason ? troubleKind(reason) : 'unavailable'
  const trouble = { kind, since: waits[of]?.trouble.since ?? now, nextTryAt: now + waitMs }
  return { [of]: { trouble, isOut: false } }
}

const isPrepared = (record: AttemptRecord | null) => record?.funnel !== undefined && record.photo.imageUrl !== undefined

const isRunning = (record: AttemptRecord | null) => record?.phase === 'accepted' || record?.phase === 'preview'

const isSameAttempt = (one: AttemptRecord | null, other: AttemptRecord | null) =>
  one !== null && one.attemptId === other?.attemptId

/** What was answered, where a guard has seen that it was. */
const dataOf = <T>(outcome: Outcome<unknown>): T => (outcome as Outcome<unknown> & { data: T }).data
