import { assign, sendParent, setup, type fromPromise } from './setup.ts'
import type { Outcome } from '../src/rules/outcome.ts'
import type { SteadyClock } from '../src/ports.ts'
import { askedWaitMs, waitAfter } from '../src/rules/backoff.ts'
import { its } from './try-on.rows.ts'
import type { Trouble } from '../src/rules/view.ts'
import { troubleKind, type Wait } from './trouble.ts'

/** One request that may be repeated; `of` is given to `send` as it is. */
export interface RequestInput<T = unknown> {
  /** What the parent calls it. */
  name: string
  clock: SteadyClock
  /** How many failures in a row are followed by another try; waits that the service asks for are none. */
  repeats: number
  /** No wait ends later than this, in ms of the page's own time. */
  until: number
  of: T
}

export interface RequestContext extends RequestInput {
  failures: number
  outcome: Outcome<unknown> | null
  waitMs: number
  trouble: Trouble | null
}

function told({ name, trouble }: Pick<RequestContext, 'name' | 'trouble'>, isOut: boolean) {
  const wait: Wait | null = trouble && { trouble, isOut }
  return { type: 'waiting', of: name, wait }
}

/**
 * A request that is safe to repeat: tries with backoff (contract §7, rules 2 and 3) while there is time, then its last
 * outcome. The parent hears of what holds it up.
 */
export const requestMachine = setup({
  types: {
    input: {} as RequestInput,
    context: {} as RequestContext,
    events: {} as { type: 'wake' },
    output: {} as Outcome<unknown>,
  },
  actors: {
    ...({} as { send: ReturnType<typeof fromPromise<Outcome<unknown>, unknown>> }),
  },
  guards: {
    mayRepeat: ({ context }, outcome: Outcome<unknown>) =>
      outcome.kind === 'throttled' || (outcome.kind === 'unavailable' && context.failures < context.repeats),
    /** For requests that may have done, without an answer, what a second one would do again. */
    isUnsafe: (_scope, _outcome: Outcome<unknown>) => false,
    isInTime: ({ context }) => context.clock.elapsed() + context.waitMs < context.until,
    mayTryNow: ({ context }) => context.trouble?.kind !== 'throttled',
  },
  actions: {
    take: assign((_, outcome: Outcome<unknown>) => ({ outcome })),
    planWait: assign(({ context: { clock, failures, trouble } }, outcome: Outcome<unknown>) => {
      if (outcome.kind === 'accepted') return {}
      const waitMs = waitAfter(outcome, failures)
      const now = clock.now()
      return {
        waitMs,
        failures: askedWaitMs(outcome) === null ? failures + 1 : failures,
        trouble: { kind: troubleKind(outcome), since: trouble?.since ?? now, nextTryAt: now + waitMs },
      }
    }),
    tellWait: sendParent(({ context }: { context: RequestContext }) => told(context, false)),
    tellTry: sendParent(({ context }: { context: RequestContext }) => told(context, true)),
    tellEnd: sendParent(({ context: { name } }: { context: RequestContext }) => told({ name, trouble: null }, true)),
  },
  delays: { wait: ({ context }: { context: RequestContext }) => context.waitMs },
}).createMachine({
  id: 'request',
  context: ({ input }) => ({ ...input, failures: 0, outcome: null, waitMs: 0, trouble: null }),
  initial: 'sending',
  states: {
    sending: {
      invoke: {
        src: 'send',
        input: ({ context }: { context: RequestContext }) => context.of,
        onDone: [
          { guard: its('isUnsafe'), target: 'done', actions: its('take') },
          { guard: its('mayRepeat'), target: 'planning', actions: [its('take'), its('planWait')] },
          { target: 'done', actions: its('take') },
        ],
      },
    },
    planning: { always: [{ guard: 'isInTime', target: 'waiting' }, { target: 'done' }] },
    waiting: {
      entry: 'tellWait',
      exit: 'tellTry',
      after: { wait: 'sending' },
      on: { wake: { guard: 'mayTryNow', target: 'sending' } },
    },
    done: { entry: 'tellEnd', type: 'final' },
  },
  output: ({ context }) => context.outcome as Outcome<unknown>,
})
