import { ipWindowMs } from '../contract/limits.ts'
import type { Outcome } from '../rules/outcome.ts'

/** For how long the service refused it because of the shared count; null where it may never have counted it. */
export function refusedMsOf(outcome: Outcome<unknown>): number | null {
  if (outcome.kind === 'accepted') return 0
  // one that may come back at once was refused all the same
  if (outcome.kind === 'throttled' && outcome.situation === 'ipLimit')
    return Math.max(1, outcome.retryAfterMs ?? ipWindowMs)
  return outcome.answer.status === null ? null : 0
}
