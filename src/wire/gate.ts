import { endpoints, type Operation } from '../contract/endpoints.ts'
import { ipWindowMs } from '../contract/limits.ts'
import type { Outcome } from '../rules/outcome.ts'
import type { Clock } from '../ports.ts'

/** The one way out for a room's requests: it keeps count, so that no request is sent only to be refused (contract §8). */
export interface Gate {
  /** How long to wait in ms; 0 lets the request go and counts it. */
  delayOf(operation: Operation): number
  /** Remembers what the service said of the shared count. */
  learn(operation: Operation, outcome: Outcome<unknown>): void
}

export function createGate(clock: Clock): Gate {
  /** When the last requests went out, oldest first, on the monotonic clock. */
  let sent: number[] = []
  /** A refusal at one threshold closes every operation whose threshold is no higher. */
  const closed = new Map<number, number>()

  return {
    delayOf(operation) {
      const now = clock.monotonic()
      const { threshold } = endpoints[operation]
      sent = sent.filter((sentAt) => sentAt > now - ipWindowMs)
      const full = sent.at(-threshold)
      const untilRoom = full === undefined ? 0 : full + ipWindowMs - now
      const untilOpen = Math.max(0, ...[...closed].map(([of, until]) => (of >= threshold ? until - now : 0)))
      const wait = Math.ceil(Math.max(untilRoom, untilOpen))
      if (wait === 0) sent.push(now)
      return wait
    },
    learn(operation, outcome) {
      if (outcome.kind !== 'throttled' || outcome.situation !== 'ipLimit' || outcome.retryAfterMs === null) return
      closed.set(endpoints[operation].threshold, clock.monotonic() + outcome.retryAfterMs)
    },
  }
}
