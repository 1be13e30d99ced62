import { endpoints, ipWindowMs, type Operation } from 'fitting-room/contract'
import type { Clock } from './ports.ts'

/** More of a client's requests never matter, and so few of them stop nothing. */
const thresholds = Object.values(endpoints).map(({ threshold }) => threshold)
const highestThreshold = Math.max(...thresholds)
const lowestThreshold = Math.min(...thresholds)
/** What is further ahead than another process's clock may be was counted before the clock was set back, in ms. */
const aheadMs = 5_000

/** The shared count of each client IP over the last 60 s: a sliding window (contract §8). */
export interface RequestCount {
  /** Counts a request; gives 0 when it passes, else the whole seconds until it would. */
  count(ip: string, operation: Operation): number | Promise<number>
}

const isRecent = (at: number, now: number) => at > now - ipWindowMs && at <= now + aheadMs

/** Who came when, in the last 60 s; times in epoch ms. */
export class RecentRequests {
  /** When a client's latest requests came, oldest first. The last one to ask is last. */
  readonly #seen = new Map<string, number[]>()

  /** How many clients are remembered. */
  get size(): number {
    return this.#seen.size
  }

  /** Counts a request; gives 0 when it passes, else the whole seconds until only `threshold - 1` others are left. */
  count(client: string, threshold: number, now: number): number {
    const before = this.#seen.get(client) ?? []
    // as long as there are few it does not matter which of them still count
    const recent = before.length < lowestThreshold ? before : before.filter((at) => isRecent(at, now))
    recent.push(now)
    if (recent.length > highestThreshold + 1) recent.shift()
    this.#seen.delete(client)
    this.#seen.set(client, recent)
    this.#forget(now)
    if (recent.length <= threshold) return 0
    return Math.max(1, Math.ceil(((recent.at(-threshold) ?? now) + ipWindowMs - now) / 1000))
  }

  /** Those who were silent for the whole window are the first ones. */
  #forget(now: number): void {
    for (const [client, seen] of this.#seen) {
      if (isRecent(seen.at(-1) ?? 0, now)) return
      this.#seen.delete(client)
    }
  }
}

/** The count of one process. */
export class IpLimiter implements RequestCount {
  readonly #clock: Clock
  readonly #recent = new RecentRequests()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How many clients are remembered. */
  get size(): number {
    return this.#recent.size
  }

  count(ip: string, operation: Operation): number {
    return this.#recent.count(ip, endpoints[operation].threshold, this.#clock.now())
  }
}
