import type { Outcome } from './outcome.ts'

/** The longest pause between two tries, in ms. */
const longestMs = 30_000

/** The pause after `failures` in a row, in ms: up to a bound that doubles, so that pages do not come back together. */
function backoffMs(failures: number): number {
  const full = Math.min(longestMs, 1_000 * 2 ** Math.min(failures, 10))
  return Math.round(full * Math.random())
}

/** The wait that the service asked for, in ms; null where it asked for none that is known. */
export function askedWaitMs(outcome: Outcome<unknown>): number | null {
  return (outcome.kind === 'throttled' && outcome.retryAfterMs) || null
}

/** How long to wait before the next try, in ms: what the service asked for, else the backoff. */
export function waitAfter(outcome: Outcome<unknown>, failures: number): number {
  return askedWaitMs(outcome) ?? backoffMs(failures)
}
