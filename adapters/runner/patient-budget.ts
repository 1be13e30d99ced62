import { boundedBudget } from '../../src/budget/bounded.ts'
import { askWithin } from '../../src/platform/clock.ts'
import type { Budget, Clock } from '../../src/ports.ts'

/** How long it may think, in ms, and how long is waited where it could not tell. */
const askLimitMs = 2_500
const againMs = 1_000

/** Nobody stands before a runner's screen: what the budget cannot tell of waits, in place of being sent uncounted. */
export function patientBudget(budget: Budget, clock: Clock, onError: (error: unknown) => void): Budget {
  return {
    ...boundedBudget(budget, clock, onError),
    ask: (request) =>
      askWithin(clock, askLimitMs, () => budget.ask(request)).catch((error: unknown) => {
        onError(error)
        return againMs
      }),
  }
}
