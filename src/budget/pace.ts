import { endpoints, type Operation } from '../contract/endpoints.ts'
import { ipWindowMs } from '../contract/limits.ts'

/** A while in which something is refused, in epoch ms, and for how long others are let go first after it, in ms. */
type Closure = { from: number; until: number; spreadMs?: number | undefined }

/**
 * What is known of the count that all devices behind one client IP share (contract §8), and what follows for one of them.
 * Times are epoch ms.
 */
export interface Pace {
  /** When this device's requests of the last minute went out, oldest first. */
  sent: readonly number[]
  /** When the service refuses what has that threshold, or a lower one. */
  closed: Readonly<Record<string, Closure>>
  /** How long after one try-on the next one may begin, in ms; 0 where nobody else seems to be there. */
  gapMs: number
  /** When the last try-on began. */
  begunAt: number
  /** What a request costs others: 0 where nothing is refused, 1 and more in a crowd. */
  price: number
  /** As of when that is. */
  pricedAt: number
}

export const freePace: Pace = { sent: [], closed: {}, gapMs: 0, begunAt: 0, price: 0, pricedAt: 0 }

/** After which time a price is half of what it was, in ms. */
const halfLifeMs = 900_000
/** What a refusal adds to it. */
const surcharge = 0.6

/** The least gap after a refusal, the one below which there is none, and the greatest one, in ms. */
const leastGapMs = 45_000
const freeGapMs = 35_000
const greatestGapMs = 3_600_000

/** When what was learnt is forgotten where nothing was refused since, in ms. */
const forgottenMs = 12 * 3_600_000

/** How often a try-on may begin where nothing else is sent than what it takes, in ms. */
const eachMs = 2_300

/** The price that is believed of a crowd that nothing is known of but its size. */
const hintedPrice = 2

/** By how much two pages' clocks may differ; what is further ahead was written by a clock that was set back since, in ms. */
const aheadMs = 60_000

/** By how much the rate rises with every try-on that was let in, in try-ons per ms. */
const rise = 0.05 / 60_000

/** How many of its own requests a minute cost a device nothing. */
const freeCount = 60
/** How much of the count is left for last looks, for what was begun, and for consents while one waits. */
const spareForLastLooks = 80
const spare = 12
const spareForConsents = 24

/** How long after a wait those come back that had begun, in ms: one after the other, and not at once. */
const greatestSpreadMs = 6_000

/** What so many devices go by before they have learnt anything: each at its own time, as `random` says from 0 to 1. */
export function paceOfMany(count: number, random: number, now: number): Pace {
  const gapMs = Math.min(greatestGapMs, count * eachMs)
  const pace = { ...freePace, pricedAt: now }
  return gapMs < freeGapMs ? pace : { ...pace, gapMs, begunAt: now - random * gapMs, price: hintedPrice }
}

/** By what was refused, and by what this device sends itself: many try-ons at once are a crowd, too. */
export const priceAt = (pace: Pace, now: number): number =>
  Math.max(learntPriceAt(pace, now), (recentIn(pace, now).length - freeCount) / freeCount)

// one that is ahead is of a clock that was set back since
const learntPriceAt = ({ price, pricedAt }: Pace, now: number) => price * 0.5 ** (Math.abs(now - pricedAt) / halfLifeMs)

/** Whether it is too old to be believed: nothing was refused for long. */
export const isForgotten = ({ pricedAt }: Pace, now: number): boolean => Math.abs(now - pricedAt) > forgottenMs

const recentIn = ({ sent }: Pace, now: number) => sent.filter((at) => at > now - ipWindowMs && at <= now)

/** What else counts for when a request may go out. */
export interface Asked {
  /** A try-on begins with it. */
  begins: boolean
  /** It lets nobody go first. */
  isUrgent?: boolean | undefined
  /** A consent of the same page waits for room. */
  isConsentAwaited?: boolean | undefined
}

/**
 * Up to which count of this device's own a request goes out. A submission finds room though others come before it, the
 * last look at a job though other looks do; and what was begun is brought to its end first.
 */
function levelOf(operation: Operation, { begins, isUrgent, isConsentAwaited }: Asked): number {
  const { threshold } = endpoints[operation]
  if (isUrgent || operation === 'registerCustomer' || (operation === 'createGeneration' && !begins)) return threshold
  const ofConsents = endpoints.createGeneration.threshold
  if (isConsentAwaited) return Math.min(threshold, ofConsents - spareForConsents)
  return begins ? ofConsents - spare : threshold - (operation === 'getGeneration' ? spareForLastLooks : spare)
}

/** How long a request has to wait, in ms. */
export function waitFor(pace: Pace, operation: Operation, asked: Asked, now: number): number {
  const { threshold } = endpoints[operation]
  const { begins } = asked
  const full = recentIn(pace, now).at(-levelOf(operation, asked))
  const untilRoom = full === undefined ? 0 : full + ipWindowMs - now
  // a clock that was set back lets nobody wait longer than was meant
  const untilOpen = Object.entries(pace.closed).map(([of, { from, until, spreadMs = 0 }]) => {
    // what has begun is not held back by the gap of those that begin
    const lateMs = asked.isUrgent ? 0 : begins ? spreadMs : spreadMs % greatestSpreadMs
    const end = Math.min(until, from + ipWindowMs) + lateMs
    return Number(of) >= threshold && from <= now + aheadMs ? Math.min(end - from, end - now) : 0
  })
  const { gapMs, begunAt } = pace
  const untilTurn = begins && begunAt <= now + aheadMs ? Math.min(gapMs, begunAt + gapMs - now) : 0
  return Math.ceil(Math.max(0, untilRoom, untilTurn, ...untilOpen))
}

/** A request goes out. */
export const sentIn = (pace: Pace, begins: boolean, now: number): Pace => ({
  ...pace,
  sent: [...recentIn(pace, now), now],
  ...(begins && { begunAt: now }),
})

/** A submission was taken: there is room for a little more. */
export function widened(pace: Pace): Pace {
  if (pace.gapMs === 0) return pace
  const gapMs = 1 / (1 / pace.gapMs + rise)
  return { ...pace, gapMs: gapMs < freeGapMs ? 0 : gapMs }
}

interface Refused {
  /** For how long, in ms. */
  refusedMs: number
  /** Whether earlier requests of the same try-on were let in. */
  hadPassed: boolean
  /** From 0 to 1. */
  random: number
}

/** A request was refused. */
export function refusedIn(
  pace: Pace,
  operation: Operation,
  { refusedMs, hadPassed, random }: Refused,
  now: number,
): Pace {
  const { threshold } = endpoints[operation]
  const begins = operation !== 'getGeneration' && !hadPassed
  const closing = pace.closed[threshold]
  // what was out when the service closed is refused for the same reason, and tells nothing new
  if (closing && closing.from <= now + aheadMs && now < closing.until) return pace
  const gapMs = begins ? widerGap(pace.gapMs, refusedMs) : pace.gapMs
  // nothing in the window outlasts it
  const until = now + Math.min(refusedMs, ipWindowMs)
  const closure = { from: now, until, spreadMs: random * (begins ? gapMs : greatestSpreadMs) }
  const closed = { ...pace.closed, [threshold]: closure }
  // it has not begun
  const begunAt = begins ? 0 : pace.begunAt
  return { ...pace, price: learntPriceAt(pace, now) + surcharge, pricedAt: now, gapMs, begunAt, closed }
}

function widerGap(gapMs: number, refusedMs: number): number {
  // how much more comes than is let in, if it comes evenly
  const load = Math.min(4, ipWindowMs / Math.max(1, ipWindowMs - refusedMs))
  return Math.min(greatestGapMs, Math.max(leastGapMs, gapMs * 1.7 * load ** 0.5))
}
