/**
 * How long something took the last times: a weight for each step of a logarithmic scale, by the step's number. What was
 * seen last weighs 1, what was seen before less and less.
 */
export type Histogram = Readonly<Record<string, number>>

/** By how much one step of the scale is longer than the one before. */
const step = 1.04
/** What is left of a weight with each further observation. */
const fading = 0.93
/** A weight below this is dropped. */
const least = 0.02
/** By how much the next one may miss what was seen. */
const blur = 1.03

const placeOf = (value: number) => Math.log(Math.max(value, 1e-3)) / Math.log(step)

/** With one observation more: it was between `low` and `high`. */
export function withObserved(seen: Histogram, low: number, high: number): Histogram {
  const [from, to] = [placeOf(low / blur), placeOf(high * blur)]
  const next: Record<string, number> = {}
  for (const [name, weight] of Object.entries(seen)) if (weight * fading >= least) next[name] = weight * fading
  for (let index = Math.floor(from); index < to; index += 1) {
    const share = (Math.min(to, index + 1) - Math.max(from, index)) / (to - from)
    next[index] = (next[index] ?? 0) + share
  }
  return Object.fromEntries(Object.entries(next).map(([name, weight]) => [name, Math.round(weight * 1e3) / 1e3]))
}

export const weightOf = (seen: Histogram): number => Object.values(seen).reduce((all, weight) => all + weight, 0)

/** The weight of what was at most `value`. */
export function weightUpTo(seen: Histogram, value: number): number {
  const place = placeOf(value)
  return Object.entries(seen).reduce((all, [index, weight]) => {
    return all + weight * Math.min(1, Math.max(0, place - Number(index)))
  }, 0)
}
