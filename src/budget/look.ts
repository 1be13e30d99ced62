import { weightOf, weightUpTo, type Histogram } from './durations.ts'

/** How long jobs of one kind took: to the preview, to the final picture, and the second as a multiple of the first. */
export interface JobTimes {
  preview: Histogram
  final: Histogram
  ratio: Histogram
}

export const noTimes: JobTimes = { preview: {}, final: {}, ratio: {} }

/** What is known of a job that is not done. Times are ms since its acceptance. */
export interface Look {
  etaMs: number
  /** Of the last look, which found nothing new; 0 where there was none. */
  lookedMs: number
  /** When the preview was seen; null until it is. */
  previewMs: number | null
  /** What a look costs others: 0 where nobody else is there, 1 and more in a crowd. */
  price: number
}

/** How long a ready picture may have waited, on average, before somebody looks, in ms: alone, and for each 1 of the price. */
const patienceMs = 130
const patiencePerPriceMs = 900
const greatestPatienceMs = 2_500
/** The least time between two looks, in ms: alone, and as a multiple for each 1 of the price. */
const floorMs = 800
const floorPerPrice = 2.5
/** Above this price nobody looks for a preview. */
const previewPrice = 0.3
/** What is thought before anything was seen weighs as much as one job. */
const priorWeight = 1
/** A picture that is there after 10 s mostly had its preview after 6. */
const usualRatio = 1 / 0.6
const resolutionMs = 100
const longestMs = 60_000

/**
 * How long after the last look the next one is due, in ms: when a picture would have been ready for as long as its look is
 * worth, by what earlier jobs took, and by the service's estimate where there were none.
 */
export function nextLookMs(times: JobTimes, { etaMs, lookedMs, previewMs, price }: Look): number {
  const patience = Math.min(greatestPatienceMs, patienceMs + patiencePerPriceMs * price)
  const isReadyBy = readiness(times, etaMs, previewMs, price <= previewPrice)
  const before = isReadyBy(lookedMs)
  const open = Math.max(1e-6, 1 - before)
  const floor = floorMs * (1 + floorPerPrice * price)
  let waited = 0
  for (let ms = resolutionMs; ms < longestMs; ms += resolutionMs) {
    waited += (resolutionMs * (isReadyBy(lookedMs + ms) - before)) / open
    if (waited >= patience) return Math.max(floor, ms)
  }
  return longestMs
}

/** The probability that what is waited for is there by then. */
function readiness(times: JobTimes, etaMs: number, previewMs: number | null, wantsPreview: boolean) {
  const final = mixed(times.final, (ms) => prior(ms, etaMs))
  if (previewMs === null) return wantsPreview ? mixed(times.preview, (ms) => prior(ms, 0.6 * etaMs)) : final
  const whole = Math.max(1, previewMs)
  return mixed(
    times.ratio,
    // what the preview tells of it where nothing was seen yet, and what is thought without it
    (multiple) => (final(multiple * whole) + near(multiple, usualRatio, 4)) / 2,
    (ms) => ms / whole,
  )
}

function mixed(seen: Histogram, thought: (value: number) => number, valueOf = (ms: number) => ms) {
  const all = weightOf(seen) + priorWeight
  return (ms: number) => {
    const value = valueOf(ms)
    return (weightUpTo(seen, value) + priorWeight * thought(value)) / all
  }
}

/** Mostly about as estimated; but estimates may be far off. */
function prior(ms: number, estimateMs: number): number {
  if (ms <= 1_000) return 0
  const anywhere = Math.min(1, Math.log(ms / 1_000) / Math.log(300))
  return 0.85 * near(ms, estimateMs, 6) + 0.15 * anywhere
}

/** Half of it is below the estimate, and the more of it close by the sharper it is. */
const near = (value: number, estimate: number, sharpness: number) => 1 / (1 + (value / estimate) ** -sharpness)
