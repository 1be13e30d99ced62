import { endpoints, ipWindowMs, type Operation } from 'fitting-room/contract'
import type { Clock } from './ports.ts'

const highestThreshold = Math.max(...Object.values(endpoints).map(({ threshold }) => threshold))
/** How many addresses are remembered before idle ones are dropped. */
const sweepAt = 10_000

/** The shared count of each client IP over the last 60 s: a sliding window (contract §8). */
export class IpLimiter {
  readonly #clock: Clock
  /** When an address's latest requests came, oldest first; more than the highest threshold never matter. */
  readonly #seen = new Map<string, number[]>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts a request; resolves to 0 when it passes, else to the whole seconds until it would. */
  count(ip: string, operation: Operation): number {
    const now = this.#clock.now()
    const recent = (this.#seen.get(ip) ?? []).filter((at) => at > now - ipWindowMs)
    recent.push(now)
    this.#seen.set(ip, recent.slice(-highestThreshold - 1))
    if (this.#seen.size > sweepAt) this.#sweep(now)
    const { threshold } = endpoints[operation]
    // it passes once only `threshold - 1` others are left in the window
    const blocking = recent.length > threshold ? recent.at(-threshold) : undefined
    return blocking === undefined ? 0 : Math.max(1, Math.ceil((blocking + ipWindowMs - now) / 1000))
  }

  #sweep(now: number): void {
    for (const [ip, seen] of this.#seen) {
      if ((seen.at(-1) ?? 0) <= now - ipWindowMs) this.#seen.delete(ip)
    }
  }
}
