import { assertEvent, assign, fromPromise, setup } from 'xstate'
import type { Funnel, VisitorStatus } from '../src/contract/resources.ts'
import type { Outcome } from '../src/rules/outcome.ts'
import type { Problem } from '../src/rules/problem.ts'
import { askedWaitMs, waitAfter } from '../src/rules/backoff.ts'
import { mayBeRunning, type AttemptRecord } from '../src/rules/record.ts'
import { requestMachine } from './request.machine.ts'
import type { Polled, TryOnContext, TryOnEvent, TryOnInput, Written } from './try-on.types.ts'

const provided = <Output, Input = TryOnContext>() =>
  fromPromise<Output, Input>(() => Promise.reject(new Error('provided by the room')))

/** The named parts of the try-on machine; the actors are placeholders that the room provides. */
export const tryOnSetup = setup({
  types: { context: {} as TryOnContext, events: {} as TryOnEvent, input: {} as TryOnInput, tags: {} as 'busy' },
  actors: {
    restore: provided<Written>(),
    consent: provided<Written>(),
    lookUpFunnel: requestMachine,
    uploadPhoto: requestMachine,
    askVisitor: requestMachine,
    register: requestMachine,
    writeStop: provided<Written>(),
    writeRegistration: provided<Written>(),
    probe: provided<Written>(),
    claim: provided<Written>(),
    submit: provided<Written>(),
    poll: provided<Polled>(),
    keyChanged: provided<boolean>(),
    leave: provided<Written>(),
    discard: provided<Written>(),
  },
  guards: {
    isPhase: ({ context }, phase: AttemptRecord['phase']) => context.record?.phase === phase,
    hasNoRecord: ({ context }) => context.record === null,
    hasJob: ({ context }) => context.record?.job !== undefined,
    isPrepared: ({ context }) => context.record?.funnel !== undefined && context.record.photo.imageUrl !== undefined,
    isCurrent: ({ context }) => !context.archived,
    keepsOthersOut: ({ context }) => context.exclusive,
    isEmailNeeded: ({ context }) => context.emailNeeded,
    asksVisitor: ({ context }) =>
      context.askVisitorFirst && context.customerEmail === null && context.record?.phase === 'consented',
    isUnread: ({ context }) => context.problem?.kind === 'storageUnreadable',
    wasNotSent: ({ context }) => context.record?.problem?.kind === 'notSent',
    mayPollNow: ({ context }) => !context.held,
    isOvertaken: ({ context }) => context.overtaken,
    waitsPastDeadline: ({ context }) =>
      context.record?.phase === 'throttled' && (context.record.until ?? 0) > deadlineOf(context),
    isPastDeadline: ({ context }, { outcome }: Polled) =>
      context.clock.now() + (askedWaitMs(outcome) ?? 0) >= deadlineOf(context),
    mayDiscard: ({ context, event }) =>
      (event.type === 'discard' && event.abandonPaidJob) || !(context.record !== null && mayBeRunning(context.record)),
    isTrue: (_, answer: boolean) => answer,
    isAccepted: (_, outcome: Outcome<unknown>) => outcome.kind === 'accepted',
    /** Nothing more is to be polled, or this page is not the one to poll it. */
    isSettled: (_, polled: Polled) => !isRepeated(polled.outcome) && !isRunning(recordIn(polled)),
    stands: (_, written: Written) => written.kind === 'stands',
    isClaimed: (_, written: Written) => recordIn(written)?.phase === 'claimed',
    isUnchanged: ({ context }, written: Written) => recordIn(written) === context.record,
    isJob: (_, written: Written) => recordIn(written)?.job !== undefined,
    isThisAttempt: ({ context }, written: Written) => isSameAttempt(recordIn(written), context.record),
    isJobOfThisAttempt: ({ context }, written: Written) =>
      recordIn(written)?.job !== undefined && isSameAttempt(recordIn(written), context.record),
  },
  actions: {
    take: assign((_, written: Written) => {
      if (written.kind === 'overtaken') return { overtaken: true }
      const { durable, problem = null } = written
      return { overtaken: false, record: recordIn(written), durable, problem, refusal: null }
    }),
    takeConsent: assign(({ event }) => {
      assertEvent(event, ['start', 'retry'])
      const { consent } = event
      return { consent, customerEmail: consent.customerEmail ?? null, ...fresh }
    }),
    takeForm: assign(({ event }) => {
      assertEvent(event, 'submitEmail')
      return { form: event.form, problem: null }
    }),
    takeProblem: assign((_, problem: Problem) => ({ problem })),
    takeRefusal: assign((_, outcome: Outcome<unknown>) => {
      if (outcome.kind === 'accepted') throw new TypeError('an accepted request is no refusal')
      return { refusal: outcome }
    }),
    takeFunnel: assign(({ context }, outcome: Outcome<unknown>) => ({
      record: context.record && { ...context.record, funnel: dataOf<Funnel>(outcome) },
    })),
    takePhoto: assign(({ context }, outcome: Outcome<unknown>) => ({
      record: context.record && { ...context.record, photo: dataOf<AttemptRecord['photo']>(outcome) },
    })),
    takeVisitor: assign((_, outcome: Outcome<unknown>) => ({
      emailNeeded: outcome.kind === 'accepted' && dataOf<VisitorStatus>(outcome).requestsLeft === 0,
    })),
    forgetForm: assign({ form: null, emailNeeded: false }),
    countDeadline: assign(({ context: { record, clock } }) => ({
      deadlineFrom: record?.job?.acceptedAt ?? record?.startedAt ?? clock.now(),
      failures: 0,
    })),
    restartDeadline: assign(({ context }) => ({ deadlineFrom: context.clock.now(), failures: 0, problem: null })),
    lookAtClock: assign(({ context }) => ({ now: context.clock.now() })),
    planPoll: assign(({ context }, { outcome }: Polled) => {
      if (outcome.kind === 'accepted')
        return { failures: 0, waitMs: context.pollIntervalMs, waitingUntil: null, held: false }
      const waitMs = waitAfter(outcome, context.failures)
      const held = outcome.kind === 'throttled'
      return { failures: context.failures + 1, waitMs, waitingUntil: context.clock.now() + waitMs, held }
    }),
    planSubmission: assign(({ context }) => ({
      failures: context.failures + 1,
      waitingUntil: context.record?.until ?? null,
      waitMs: Math.max(0, (context.record?.until ?? 0) - context.clock.now()),
    })),
    stopWaiting: assign({ waitingUntil: null }),
  },
  delays: { wait: ({ context }) => context.waitMs, tick: 1_000, keyCheck: 60_000 },
})

function deadlineOf({ deadlineFrom, deadlineMs }: TryOnContext): number {
  return deadlineFrom + deadlineMs
}

/** What a new consent leaves behind of the one before. */
const fresh = { upload: null, problem: null, failures: 0, refusal: null, emailNeeded: false } as const

const isRepeated = (outcome: Outcome<unknown>) => outcome.kind === 'unavailable' || outcome.kind === 'throttled'

/** The record that a write or a read has left standing. */
const recordIn = (written: Written): AttemptRecord | null => (written.kind === 'stands' ? written.record : null)

const isRunning = (record: AttemptRecord | null) => record?.phase === 'accepted' || record?.phase === 'preview'

const isSameAttempt = (one: AttemptRecord | null, other: AttemptRecord | null) =>
  one !== null && one.attemptId === other?.attemptId

function dataOf<T>(outcome: Outcome<unknown>): T {
  if (outcome.kind !== 'accepted') throw new TypeError(`no data in an outcome that is ${outcome.kind}`)
  return outcome.data as T
}
