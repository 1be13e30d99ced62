import { assign } from 'xstate'
import type { Phase } from '../src/rules/record.ts'
import { begins, breaks, discards, ended, goesOn, leaves, reading } from './try-on.rows.ts'
import { preparing } from './try-on.preparing.ts'
import { dataOf, tryOnSetup } from './try-on.setup.ts'
import type { Step } from './try-on.types.ts'

/** The one way from a record's phase to the state that it means, after a reload as after every step. */
const stateOf = {
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

/** One durable flow for one product variant, from photo to final picture. */
export const tryOnMachine = tryOnSetup.createMachine({
  id: 'tryOn',
  context: ({ input }) => ({
    ...input,
    record: null,
    durable: true,
    problem: null,
    consent: null,
    customerEmail: null,
    form: null,
    stop: null,
    emailNeeded: false,
    upload: null,
    now: input.clock.now(),
    deadlineFrom: 0,
    waitingUntil: null,
    waitMs: 0,
    held: false,
    failures: 0,
  }),
  initial: 'restoring',
  on: {
    waiting: { actions: assign({ waitingUntil: ({ event }) => event.until }) },
    refused: { actions: { type: 'takeProblem', params: ({ event }) => event.problem } },
  },
  states: {
    restoring: {
      tags: 'busy',
      /** What was read may be older than the answer. */
      on: { answered: { target: 'restoring', reenter: true } },
      invoke: {
        src: 'restore',
        input: ({ context }) => context,
        onDone: {
          target: 'booting',
          actions: [{ type: 'take', params: ({ event }) => event.output }, 'countDeadline'],
        },
      },
    },

    /**
     * A record that this page has not written itself: without a lock or an atomic update another page may be at it, so
     * nothing is submitted by itself.
     */
    booting: {
      always: [
        { guard: 'isAlone', target: 'routing' },
        { guard: { type: 'isPhase', params: 'consented' }, target: 'leaving' },
        { guard: { type: 'isPhase', params: 'emailRegistered' }, target: 'needsEmail' },
        { guard: { type: 'isPhase', params: 'throttled' }, target: 'stalled' },
        { target: 'routing' },
      ],
    },

    routing: {
      always: [
        { guard: 'hasNoRecord', target: 'idle' },
        { guard: 'waitsPastDeadline', target: 'stalled' },
        ...Object.entries(stateOf).map(([phase, target]) => ({
          guard: { type: 'isPhase', params: phase as Phase } as const,
          target,
        })),
      ],
    },

    /** Goes on where the record stands: with its job, with its submission, or with what that still needs. */
    resuming: {
      always: [
        { guard: 'hasJob', target: 'following' },
        /** A claim without an answer is never submitted again without the shopper's word. */
        { guard: { type: 'isPhase', params: 'claimed' }, target: 'outcomeUnknown' },
        { guard: 'isPrepared', target: 'submitting' },
        { target: 'preparing.gathering' },
      ],
    },

    idle: {
      on: { start: begins, discard: discards, resume: { guard: 'isUnread', target: 'restoring' } },
    },

    preparing,

    submitting: {
      initial: 'probing',
      states: {
        /** Nothing is out yet. */
        probing: {
          on: { startOver: leaves, discard: discards },
          invoke: {
            src: 'probe',
            onError: breaks,
            input: ({ context }) => context,
            onDone: [
              { guard: { type: 'isUnchanged', params: ({ event }) => event.output }, target: 'claiming' },
              { guard: { type: 'isGone', params: ({ event }) => event.output }, target: '#tryOn.restoring' },
              { target: '#tryOn.routing', actions: { type: 'take', params: ({ event }) => event.output } },
            ],
          },
        },
        claiming: {
          tags: 'busy',
          invoke: {
            src: 'claim',
            onError: breaks,
            input: ({ context }) => context,
            onDone: [
              {
                guard: { type: 'isClaimed', params: ({ event }) => event.output },
                target: 'sending',
                actions: { type: 'take', params: ({ event }) => event.output },
              },
              /** Storage holds something else: another page went first. */
              { guard: { type: 'isGone', params: ({ event }) => event.output }, target: '#tryOn.restoring' },
              { target: '#tryOn.routing', actions: { type: 'take', params: ({ event }) => event.output } },
            ],
          },
        },
        sending: {
          on: { discard: discards },
          invoke: {
            src: 'submit',
            onError: '#tryOn.routing',
            input: ({ context }) => context,
            onDone: [
              { guard: { type: 'isGone', params: ({ event }) => event.output }, target: '#tryOn.restoring' },
              {
                target: '#tryOn.answered',
                actions: { type: 'take', params: ({ event }) => event.output },
              },
            ],
          },
        },
        waiting: {
          entry: 'planSubmission',
          exit: 'stopWaiting',
          after: { wait: 'probing' },
          on: { wake: { guard: 'wasNotSent', target: 'probing' }, startOver: leaves, discard: discards },
        },
      },
    },

    /** A job that was just accepted starts the deadline; a wait of the submission does not move it. */
    answered: {
      always: [{ guard: 'hasJob', target: 'routing', actions: 'countDeadline' }, { target: 'routing' }],
    },

    needsEmail: {
      initial: 'asking',
      states: {
        asking: {
          on: { submitEmail: { target: 'registering', actions: 'takeForm' }, startOver: leaves, discard: discards },
        },
        registering: {
          on: { startOver: leaves, discard: discards },
          invoke: {
            src: 'register',
            onError: breaks,
            input: reading,
            onDone: [
              {
                guard: { type: 'isRegisteredInVain', params: ({ event }) => event.output },
                target: '#tryOn.restoring',
              },
              {
                guard: { type: 'isAccepted', params: ({ event }) => event.output },
                target: '#tryOn.resuming',
                actions: [
                  { type: 'take', params: ({ event }) => dataOf<Step>(event.output) },
                  'forgetForm',
                  'restartDeadline',
                ],
              },
              {
                target: '#tryOn.preparing.settling',
                actions: { type: 'takeStop', params: ({ event }) => event.output },
              },
            ],
          },
        },
      },
    },

    following: {
      type: 'parallel',
      entry: 'lookAtClock',
      on: { startOver: leaves, discard: discards },
      states: {
        poll: {
          initial: 'polling',
          states: {
            polling: {
              invoke: {
                src: 'poll',
                onError: breaks,
                input: ({ context }) => context,
                onDone: [
                  { guard: { type: 'isGone', params: ({ event }) => event.output }, target: '#tryOn.restoring' },
                  {
                    guard: { type: 'isSettled', params: ({ event }) => event.output },
                    target: '#tryOn.routing',
                    actions: { type: 'take', params: ({ event }) => event.output },
                  },
                  {
                    guard: { type: 'isPastDeadline', params: ({ event }) => event.output },
                    target: '#tryOn.stalled',
                    actions: { type: 'take', params: ({ event }) => event.output },
                  },
                  {
                    target: 'waiting',
                    actions: [
                      { type: 'take', params: ({ event }) => event.output },
                      { type: 'planPoll', params: ({ event }) => event.output },
                    ],
                  },
                ],
              },
            },
            waiting: {
              exit: 'stopWaiting',
              after: { wait: 'polling' },
              on: { wake: { guard: 'mayPollNow', target: 'polling' } },
            },
          },
        },
        clock: {
          initial: 'ticking',
          states: { ticking: { after: { tick: { target: 'ticking', reenter: true, actions: 'lookAtClock' } } } },
        },
      },
    },

    stalled: { on: { ...ended, resume: goesOn } },

    unauthorized: {
      initial: 'waiting',
      on: { ...ended, resume: goesOn },
      states: {
        waiting: { after: { keyCheck: 'checking' } },
        checking: {
          invoke: {
            src: 'keyChanged',
            input: ({ context }) => context,
            onDone: [{ guard: ({ event }) => event.output, ...goesOn }, { target: 'waiting' }],
          },
        },
      },
    },

    final: { on: ended },
    failed: { on: ended },
    limitReached: { on: ended },
    rejected: { on: ended },
    outcomeUnknown: {
      on: {
        ...ended,
        answered: [
          {
            guard: { type: 'isJobOfThisAttempt', params: ({ event }) => event.step },
            target: 'answered',
            actions: { type: 'take', params: ({ event }) => event.step },
          },
          {
            guard: { type: 'isThisAttempt', params: ({ event }) => event.step },
            target: 'booting',
            actions: { type: 'take', params: ({ event }) => event.step },
          },
        ],
      },
    },
    protocolError: { on: { ...ended, resume: { guard: 'hasJob', ...goesOn } } },

    leaving: {
      tags: 'busy',
      invoke: {
        src: 'leave',
        onError: breaks,
        input: ({ context }) => context,
        onDone: { target: 'booting', actions: { type: 'take', params: ({ event }) => event.output } },
      },
    },
    discarding: {
      tags: 'busy',
      invoke: {
        src: 'discard',
        onError: breaks,
        input: ({ context }) => context,
        onDone: { target: 'booting', actions: { type: 'take', params: ({ event }) => event.output } },
      },
    },
  },
})
