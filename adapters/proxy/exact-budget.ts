import { endpoints, type Operation } from '../../src/contract/endpoints.ts'
import { ipWindowMs } from '../../src/contract/limits.ts'
import type { Budget, Clock } from '../../src/ports.ts'

/**
 * Up to which count of the last minute's requests each operation is sent, so that what matters more still finds room: the
 * reads of those who begin stop first, polls next, and a consent that is given goes up to the threshold (contract §8).
 */
const levels: Readonly<Record<Operation, number>> = {
  getContext: 104,
  getFunnel: 104,
  createUpload: 104,
  getRequestsLeft: 104,
  getGeneration: 116,
  createGeneration: endpoints.createGeneration.threshold,
  registerCustomer: endpoints.registerCustomer.threshold,
}

/** A registration is refused from a lower count on than all others, so they make room for one that waits. */
const roomForRegistration = endpoints.registerCustomer.threshold - 6

/**
 * The budget of one process that sends everything that goes out through its IP: it counts exactly, and is refused only
 * what others send from there.
 */
export function exactBudget(clock: Clock): Budget {
  let sent: number[] = []
  /** Until when a registration is waited for. */
  let registrationUntil = -Infinity
  /** Until when the service refuses what has that threshold, or a lower one. */
  const closed = new Map<number, number>()

  function levelOf(operation: Operation, now: number): number {
    const yields = operation !== 'registerCustomer' && operation !== 'createGeneration' && now < registrationUntil
    return yields ? roomForRegistration : levels[operation]
  }

  return {
    ask({ operation }) {
      const now = clock.monotonic()
      sent = sent.filter((at) => at > now - ipWindowMs)
      const full = sent.at(-levelOf(operation, now))
      const { threshold } = endpoints[operation]
      const open = [...closed].map(([of, until]) => (of >= threshold ? until - now : 0))
      const waitMs = Math.max(0, full === undefined ? 0 : full + ipWindowMs - now, ...open)
      if (operation === 'registerCustomer') registrationUntil = waitMs > 0 ? now + ipWindowMs : -Infinity
      if (waitMs === 0) sent.push(now)
      return waitMs
    },
    learn({ operation }, refusedMs) {
      if (refusedMs) closed.set(endpoints[operation].threshold, clock.monotonic() + Math.min(refusedMs, ipWindowMs))
    },
    price: () => 0,
  }
}
