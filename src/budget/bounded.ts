import { askWithin } from '../platform/clock.ts'
import type { Budget, Clock } from '../ports.ts'

/** How long a budget may think, and for how long it may let a request wait before it is asked again, in ms. */
const askLimitMs = 3_000
const leastWaitMs = 200
const longestWaitMs = 600_000

/** How long one that did not answer is done without, in ms. */
const restMs = 60_000

/**
 * An application's budget, whose failures are told and stand between nothing: one that breaks, hangs or says what is no
 * time lets the request go, and what comes back is not kept from its record.
 */
export function boundedBudget(budget: Budget, clock: Clock, onError: (error: unknown) => void = console.error): Budget {
  let restsUntil = -Infinity
  return {
    async ask(request) {
      if (clock.monotonic() < restsUntil) return 0
      const askedAt = clock.monotonic()
      try {
        const waitMs = await askWithin(clock, askLimitMs, () => budget.ask(request))
        return waitMs > 0 ? Math.min(Math.max(waitMs, leastWaitMs), longestWaitMs) : 0
      } catch (error) {
        if (clock.monotonic() - askedAt >= askLimitMs) restsUntil = clock.monotonic() + restMs
        onError(error)
        return 0
      }
    },
    learn: (request, refusedMs) =>
      void Promise.resolve()
        .then(() => budget.learn(request, refusedMs))
        .catch(onError),
    price() {
      try {
        const price = budget.price()
        return price > 0 ? Math.min(price, 10) : 0
      } catch (error) {
        onError(error)
        return 0
      }
    },
  }
}
