import { endpoints, type Operation } from '../contract/endpoints.ts'
import { ipWindowMs } from '../contract/limits.ts'

/** What was sent through one client IP, and was refused there, as known to who sees all of it (contract §8). Times are ms of one clock. */
export interface IpCount {
  /** When the requests that still count went out, oldest first. */
  sent: readonly number[]
  /** Until when the service refuses what has that threshold, or a lower one. */
  closed: Readonly<Record<string, number>>
  /** Until when a registration is waited for; null where none has been. */
  registrationUntil: number | null
}

export const nothingSent: IpCount = { sent: [], closed: {}, registrationUntil: null }

/** Up to which count what runs already is sent, so that a consent still finds room. */
const running = endpoints.createGeneration.threshold - 4
/** Up to which count something is begun, so that what runs already is looked after. */
const beginning = endpoints.createGeneration.threshold - 12

/** For how long a request counts, in ms: on their ways two may come closer to each other than they were sent. */
const countedMs = ipWindowMs + 1_000

/** A registration is refused from a lower count on than all others, so they make room for one that waits; not for ever. */
const roomForRegistration = endpoints.registerCustomer.threshold - 6
/** How long after others have made room they need not do so again, in ms. */
const roomEveryMs = 240_000

/** How far ahead the clocks that write may be, in ms. */
const aheadMs = 5_000

/** From which count on a request costs others something, and what the last one that is let go costs them. */
const pricedFrom = 80
const highestPrice = 2

const levels: Readonly<Record<Operation, number>> = {
  createGeneration: endpoints.createGeneration.threshold,
  registerCustomer: endpoints.registerCustomer.threshold,
  getGeneration: running,
  createUpload: beginning,
  getFunnel: beginning,
  getRequestsLeft: beginning,
  getContext: beginning,
}

/** How long a request has to wait, in ms, and what is known then: one that need not is counted. */
export function asked(count: IpCount, operation: Operation, now: number): { waitMs: number; count: IpCount } {
  // what is far ahead was written before a clock was set back
  const sent = count.sent.filter((at) => at > now - countedMs && at <= now + aheadMs)
  const isOfNow = (until: number | null) => until !== null && until <= now + ipWindowMs + aheadMs
  let registrationUntil = isOfNow(count.registrationUntil) ? count.registrationUntil : null
  const isRegistration = operation === 'registerCustomer'
  const isRoomMade = !isRegistration && registrationUntil !== null && now < registrationUntil
  const full = sent.at(-(isRoomMade ? roomForRegistration : levels[operation]))
  const { threshold } = endpoints[operation]
  const open = Object.entries(count.closed).map(([of, until]) =>
    Number(of) >= threshold && isOfNow(until) ? until - now : 0,
  )
  const waitMs = Math.max(0, full === undefined ? 0 : full + countedMs - now, ...open)
  if (isRegistration && waitMs === 0 && registrationUntil !== null) registrationUntil = Math.min(registrationUntil, now)
  if (isRegistration && waitMs > 0 && (registrationUntil === null || now >= registrationUntil + roomEveryMs))
    registrationUntil = now + ipWindowMs
  return { waitMs, count: { ...count, sent: waitMs === 0 ? [...sent, now] : sent, registrationUntil } }
}

/** What is known once the service has refused a request for so many ms. */
export function refusedFor(count: IpCount, operation: Operation, refusedMs: number, now: number): IpCount {
  const until = now + Math.min(refusedMs, ipWindowMs)
  return { ...count, closed: { ...count.closed, [endpoints[operation].threshold]: until } }
}

/** What one request more costs the others: nothing where there is room for all. */
export function priceIn(count: IpCount, now: number): number {
  const filled = count.sent.filter((at) => at > now - countedMs).length - pricedFrom
  return Math.max(0, (highestPrice * filled) / (running - pricedFrom))
}
