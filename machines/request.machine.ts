import { assign, fromPromise, sendParent, setup } from 'xstate'
import type { Outcome } from '../src/rules/outcome.ts'
import type { Clock } from '../src/ports.ts'
import { waitAfter } from '../src/rules/backoff.ts'

/** One request that may be repeated; `of` is given to `send` as it is. */
export interface RequestInput<T = unknown> {
  clock: Clock
  repeats: number
  of: T
}

export interface RequestContext extends RequestInput {
  failures: number
  outcome: Outcome<unknown> | null
  waitMs: number
}

/**
 * A request that is safe to repeat: a bounded number of tries with backoff (spec §7, rules 2 and 3), then its last
 * outcome. The parent hears of every wait.
 */
export const requestMachine = setup({
  types: {
    input: {} as RequestInput,
    context: {} as RequestContext,
    output: {} as Outcome<unknown>,
  },
  actors: {
    send: fromPromise<Outcome<unknown>, unknown>(() => Promise.reject(new Error('provided by the room'))),
  },
  guards: {
    mayRepeat: ({ context }, outcome: Outcome<unknown>) =>
      (outcome.kind === 'unavailable' || outcome.kind === 'throttled') && context.failures < context.repeats,
  },
  actions: {
    planWait: assign(({ context }, outcome: Outcome<unknown>) => ({
      failures: context.failures + 1,
      waitMs: waitAfter(outcome, context.failures),
    })),
    tellWait: sendParent(({ context }: { context: RequestContext }) => ({
      type: 'waiting',
      until: context.clock.now() + context.waitMs,
    })),
    tellEnd: sendParent({ type: 'waiting', until: null }),
  },
  delays: { wait: ({ context }: { context: RequestContext }) => context.waitMs },
}).createMachine({
  id: 'request',
  context: ({ input }) => ({ ...input, failures: 0, outcome: null, waitMs: 0 }),
  initial: 'sending',
  states: {
    sending: {
      invoke: {
        src: 'send',
        input: ({ context }: { context: RequestContext }) => context.of,
        onDone: [
          {
            guard: { type: 'mayRepeat', params: ({ event }) => event.output },
            target: 'waiting',
            actions: { type: 'planWait', params: ({ event }) => event.output },
          },
          { target: 'done', actions: assign({ outcome: ({ event }) => event.output }) },
        ],
      },
    },
    waiting: { entry: 'tellWait', exit: 'tellEnd', after: { wait: 'sending' } },
    done: { type: 'final' },
  },
  output: ({ context }) => context.outcome as Outcome<unknown>,
})
