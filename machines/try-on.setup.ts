import { assertEvent, assign, fromPromise, setup } from 'xstate'
import type { Funnel, VisitorStatus } from '../src/contract/resources.ts'
import type { Outcome, Unusable } from '../src/rules/outcome.ts'
import type { Problem } from '../src/rules/problem.ts'
import { waitAfter } from '../src/rules/backoff.ts'
import { mayBeRunning, type AttemptRecord } from '../src/rules/record.ts'
import { requestMachine } from './request.machine.ts'
import type { PollStep, Step, TryOnContext, TryOnEvent, TryOnInput } from './try-on.types.ts'

const provided = <Output, Input = TryOnContext>() =>
  fromPromise<Output, Input>(() => Promise.reject(new Error('provided by the room')))

/** The named parts of the try-on machine; the actors are placeholders that the room provides. */
export const tryOnSetup = setup({
  types: { context: {} as TryOnContext, events: {} as TryOnEvent, input: {} as TryOnInput, tags: {} as 'busy' },
  actors: {
    restore: provided<Step>(),
    consent: provided<Step>(),
    lookUpFunnel: requestMachine,
    uploadPhoto: requestMachine,
    askVisitor: requestMachine,
    register: requestMachine,
    settle: provided<Step>(),
    probe: provided<Step>(),
    claim: provided<Step>(),
    submit: provided<Step>(),
    poll: provided<PollStep>(),
    keyChanged: provided<boolean>(),
    leave: provided<Step>(),
    discard: provided<Step>(),
  },
  guards: {
    isPhase: ({ context }, phase: AttemptRecord['phase']) => context.record?.phase === phase,
    hasNoRecord: ({ context }) => context.record === null,
    hasJob: ({ context }) => context.record?.job !== undefined,
    isPrepared: ({ context }) => context.record?.funnel !== undefined && context.record.photo.imageUrl !== undefined,
    isCurrent: ({ context }) => !context.archived,
    isAlone: ({ context }) => context.exclusive,
    isEmailNeeded: ({ context }) => context.emailNeeded,
    asksVisitor: ({ context }) =>
      context.askVisitorFirst && context.customerEmail === null && context.record?.phase === 'consented',
    isUnread: ({ context }) => context.problem?.kind === 'storageUnreadable',
    wasNotSent: ({ context }) => context.record?.problem?.kind === 'notSent',
    mayPollNow: ({ context }) => !context.held,
    waitsPastDeadline: ({ context }) =>
      context.record?.phase === 'throttled' && (context.record.until ?? 0) > deadlineOf(context),
    isPastDeadline: ({ context }, { outcome }: PollStep) =>
      context.clock.now() + heldMs(outcome) >= deadlineOf(context),
    mayDiscard: ({ context, event }) =>
      (event.type === 'discard' && event.abandonPaidJob) || !(context.record !== null && mayBeRunning(context.record)),
    isAccepted: (_, outcome: Outcome<unknown>) => outcome.kind === 'accepted',
    isSettled: (_, { record, outcome }: PollStep) =>
      !isRepeated(outcome) && record?.phase !== 'accepted' && record?.phase !== 'preview',
    isClaimed: (_, { record }: Step) => record?.phase === 'claimed',
    isUnchanged: ({ context }, { record }: Step) => record === context.record,
    isGone: (_, { record }: Step) => record === null,
    isRegisteredInVain: (_, outcome: Outcome<unknown>) =>
      outcome.kind === 'accepted' && dataOf<Step>(outcome).record === null,
    isThisAttempt: ({ context }, { record }: Step) => record?.attemptId === context.record?.attemptId,
    isJobOfThisAttempt: ({ context }, { record }: Step) =>
      record?.job !== undefined && record.attemptId === context.record?.attemptId,
  },
  actions: {
    take: assign((_, { record, durable, problem = null }: Step) => ({ record, durable, problem, stop: null })),
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
    takeStop: assign((_, outcome: Outcome<unknown>) => ({ stop: outcome as Unusable })),
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
    planPoll: assign(({ context }, { outcome }: PollStep) => {
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
const fresh = { upload: null, problem: null, failures: 0, stop: null, emailNeeded: false } as const

const isRepeated = (outcome: Outcome<unknown>) => outcome.kind === 'unavailable' || outcome.kind === 'throttled'

/** How long the service said to stay away, in ms. */
function heldMs(outcome: Outcome<unknown>): number {
  return (outcome.kind === 'throttled' && outcome.retryAfterMs) || 0
}

export function dataOf<T>(outcome: Outcome<unknown>): T {
  if (outcome.kind !== 'accepted') throw new TypeError(`no data in an outcome that is ${outcome.kind}`)
  return outcome.data as T
}
