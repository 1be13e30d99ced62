import { asked, nothingSent, priceIn, refusedFor } from '../../src/budget/ip-count.ts'
import type { Budget, Clock } from '../../src/ports.ts'

/**
 * The budget of one process that sends everything that goes out through its IP: it counts exactly, and is refused only
 * what others send from there.
 */
export function exactBudget(clock: Clock): Budget {
  let known = nothingSent
  return {
    ask({ operation }) {
      const { waitMs, count } = asked(known, operation, clock.monotonic())
      known = count
      return waitMs
    },
    learn({ operation }, refusedMs) {
      if (refusedMs) known = refusedFor(known, operation, refusedMs, clock.monotonic())
    },
    price: () => priceIn(known, clock.monotonic()),
  }
}
