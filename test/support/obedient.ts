import { endpoints, ipWindowMs } from 'fitting-room/contract'
import type { Budget, Clock } from 'fitting-room'

/** A budget that counts its own requests and waits as long as it is told, and no longer: all come back in one moment. */
export function obedientBudget(clock: Pick<Clock, 'monotonic'>): Budget {
  let sent: number[] = []
  const closed = new Map<number, number>()
  return {
    ask({ operation }) {
      const now = clock.monotonic()
      const { threshold } = endpoints[operation]
      sent = sent.filter((at) => at > now - ipWindowMs)
      const full = sent.at(-threshold)
      const untilOpen = [...closed].map(([of, until]) => (of >= threshold ? until - now : 0))
      const waitMs = Math.ceil(Math.max(0, full === undefined ? 0 : full + ipWindowMs - now, ...untilOpen))
      if (waitMs === 0) sent.push(now)
      return waitMs
    },
    learn({ operation }, refusedMs) {
      if (refusedMs) closed.set(endpoints[operation].threshold, clock.monotonic() + refusedMs)
    },
    price: () => 0,
  }
}
