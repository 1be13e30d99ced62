import { endpoints, ipWindowMs, type Operation } from 'fitting-room/contract'
import type { Clock } from './ports.ts'

/** More of a client's requests never matter. */
export const highestThreshold = Math.max(...Object.values(endpoints).map(({ threshold }) => threshold))
/** What is further ahead than another process's clock may be was counted before the clock was set back, in ms. */
export const aheadMs = 5_000

/** The shared count of each client IP over the last 60 s: a sliding window (contract §8). */
export interface RequestCount {
  /** Counts a request; gives 0 when it passes, else the whole seconds until it would. */
  count(ip: string, operation: Operation): number | Promise<number>
}

/** The whole seconds until a request passes, by when the last ones came that matter; 0 where it does at once. */
export function secondsUntilFree(count: number, threshold: number, blockingAt: number, now: number): number {
  // it passes once only `threshold - 1` others are left in the window
  return count <= threshold ? 0 : Math.max(1, Math.ceil((blockingAt + ipWindowMs - now) / 1000))
}

/** The count of one process. */
export class IpLimiter implements RequestCount {
  readonly #clock: Clock
  /** When an address's latest requests came, oldest first; more than the highest threshold never matter. The last one to ask is last. */
  readonly #seen = new Map<string, number[]>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How many clients are remembered. */
  get size(): number {
    return this.#seen.size
  }

  count(ip: string, operation: Operation): number {
    const now = this.#clock.now()
    const recent = (this.#seen.get(ip) ?? []).filter((at) => at > now - ipWindowMs && at <= now + aheadMs)
    recent.push(now)
    this.#seen.delete(ip)
    this.#seen.set(ip, recent.slice(-highestThreshold - 1))
    this.#forget(now)
    const { threshold } = endpoints[operation]
    return secondsUntilFree(recent.length, threshold, recent.at(-threshold) ?? now, now)
  }

  /** Those who were silent for the whole window are the first ones. */
  #forget(now: number): void {
    for (const [ip, seen] of this.#seen) {
      if ((seen.at(-1) ?? 0) > now - ipWindowMs) return
      this.#seen.delete(ip)
    }
  }
}
