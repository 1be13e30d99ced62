import { endpoints, type Operation } from '../../src/contract/endpoints.ts'
import { ipWindowMs } from '../../src/contract/limits.ts'
import type { Budget, Clock } from '../../src/ports.ts'

/** Up to which count of the last minute's requests all but submissions are sent, so that a consent still finds room. */
const level = endpoints.createGeneration.threshold - 4

/** For how long a request counts, in ms: on their ways two may come closer to each other than they were sent. */
const countedMs = ipWindowMs + 1_000

/** A registration is refused from a lower count on than all others, so they make room for one that waits; not for ever. */
const roomForRegistration = endpoints.registerCustomer.threshold - 6
/** How long after others have made room they need not do so again, in ms. */
const roomEveryMs = 240_000

function levelOf(operation: Operation, isRegistrationAwaited: boolean): number {
  if (operation === 'registerCustomer') return endpoints.registerCustomer.threshold
  if (isRegistrationAwaited) return roomForRegistration
  return operation === 'createGeneration' ? endpoints.createGeneration.threshold : level
}

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

  return {
    ask({ operation }) {
      const now = clock.monotonic()
      sent = sent.filter((at) => at > now - countedMs)
      const full = sent.at(-levelOf(operation, now < registrationUntil))
      const { threshold } = endpoints[operation]
      const open = [...closed].map(([of, until]) => (of >= threshold ? until - now : 0))
      const waitMs = Math.max(0, full === undefined ? 0 : full + countedMs - now, ...open)
      if (operation === 'registerCustomer') {
        if (waitMs === 0) registrationUntil = Math.min(registrationUntil, now)
        else if (now >= registrationUntil + roomEveryMs) registrationUntil = now + ipWindowMs
      }
      if (waitMs === 0) sent.push(now)
      return waitMs
    },
    learn({ operation }, refusedMs) {
      if (refusedMs) closed.set(endpoints[operation].threshold, clock.monotonic() + Math.min(refusedMs, ipWindowMs))
    },
    price: () => 0,
  }
}
