import type { Phase } from '../src/rules/phases.ts'
import { following } from './try-on.following.ts'
import { needsEmail } from './try-on.needs-email.ts'
import { preparing } from './try-on.preparing.ts'
import { asked, begins, discards, ended, follows, given, goesOn, its, readdressed } from './try-on.rows.ts'
import { tryOnSetup } from './try-on.setup.ts'
import { submitting } from './try-on.submitting.ts'
import type { TryOnContext, TryOnInput } from './try-on.types.ts'

/** The one way from a record's phase to the state that it means, after a reload as after every write. */
export const stateOfPhase = {
  consented: 'preparing.gathering',
  claimed: 'outcomeUnknown',
  throttled: 'submitting.waiting',
  awaitingEmail: 'needsEmail',
  emailRegistered: 'resuming',
  unauthorized: 'unauthorized',
  limitReached: 'limitReached',
  rejected: 'rejected',
  protocolError: 'protocolError',
  accepted: 'following',
  preview: 'following',
  final: 'final',
  failed: 'failed',
} as const satisfies Record<Phase, string>

const isPhase = (phase: Phase) => ({ type: 'isPhase', params: phase }) as const
const routes = (Object.keys(stateOfPhase) as Phase[]).map((phase) => ({
  guard: isPhase(phase),
  target: stateOfPhase[phase],
}))

/** What storage holds is not of this run, so that only its age is known. */
const booted = { target: 'booting', actions: its('takeStored') } as const

/** What is known before storage is read. */
export const freshContext = (input: TryOnInput): TryOnContext => ({
  customerEmail: null,
  ...input,
  record: null,
  durable: true,
  overtaken: false,
  problem: null,
  consent: null,
  form: null,
  refusal: null,
  emailNeeded: false,
  upload: null,
  wordAt: 0,
  lookedAt: 0,
  jobAt: 0,
  deadlineFrom: 0,
  elapsedMs: 0,
  waits: {},
  waitMs: 0,
  failures: 0,
})

/** One durable flow for one product variant, from photo to final picture. */
export const tryOnMachine = tryOnSetup.createMachine({
  id: 'tryOn',
  context: ({ input }) => freshContext(input),
  initial: 'restoring',
  on: {
    refused: { actions: given('takeProblem', 'problem') },
    kept: { actions: given('takeKept', 'durable') },
    /** What comes too late for the state that asked for it, the failure of an actor too, ends nothing. */
    '*': {},
  },
  states: {
    restoring: {
      tags: 'busy',
      /** What was read may be older than the answer. */
      on: { lateAnswer: { target: 'restoring', reenter: true } },
      invoke: { ...asked('restore'), onDone: booted },
    },

    /**
     * A record that this page has not written itself: without a lock or an atomic update another page may be at it, so
     * nothing is submitted by itself.
     */
    booting: {
      always: [
        { guard: 'keepsOthersOut', target: 'routing' },
        { guard: isPhase('consented'), target: 'leaving' },
        { guard: isPhase('emailRegistered'), target: 'needsEmail' },
        { guard: isPhase('throttled'), target: 'stalled' },
        { target: 'routing' },
      ],
    },

    routing: {
      always: [
        { guard: 'isOvertaken', target: 'restoring' },
        { guard: 'hasNoRecord', target: 'idle' },
        /** What was not sent in time waits for the shopper's word. */
        { guard: 'waitsInVain', target: 'stalled' },
        { guard: 'gaveUpPreparing', target: 'stalled' },
        ...routes,
      ],
    },

    /** Goes on where the record stands: with its job, with its submission, or with what that still needs. */
    resuming: {
      always: [
        { guard: 'hasJob', target: 'following' },
        /** A claim without an answer is never submitted again without the shopper's word. */
        { guard: isPhase('claimed'), target: 'outcomeUnknown' },
        { guard: 'isTooLate', target: 'stalled' },
        { guard: 'isPrepared', target: 'submitting' },
        { target: 'preparing.gathering' },
      ],
    },

    idle: {
      on: {
        start: begins,
        discard: discards,
        resume: { guard: 'isUnread', target: 'restoring' },
        /** Storage that was emptied meanwhile has it anew. */
        lateAnswer: { guard: given('isStored', 'written'), target: 'restoring' },
      },
    },

    preparing,
    submitting,
    needsEmail,
    following,

    stalled: { on: { ...ended, resume: goesOn } },

    unauthorized: {
      initial: 'waiting',
      on: { ...ended, resume: goesOn },
      states: {
        waiting: { after: { keyCheck: 'checking' } },
        checking: {
          invoke: { ...asked('keyChanged'), onDone: [{ ...follows, guard: its('isTrue') }, { target: 'waiting' }] },
        },
      },
    },

    /** Where its picture is may change later. */
    final: { on: { ...ended, ...readdressed } },
    failed: { on: ended },
    limitReached: { on: ended },
    rejected: { on: ended },
    outcomeUnknown: { on: ended },
    protocolError: { on: { ...ended, resume: { ...follows, guard: 'hasJob' } } },

    /** Nothing goes on by itself after what was not foreseen. */
    broken: { always: [{ guard: 'isUnderWay', target: 'stalled' }, { target: 'routing' }] },

    leaving: { tags: 'busy', invoke: { ...asked('leave'), onDone: booted } },
    discarding: { tags: 'busy', invoke: { ...asked('discard'), onDone: booted } },
  },
})
