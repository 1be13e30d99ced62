import { endpoints, ipWindowMs, type Operation } from 'fitting-room/contract'
import type { Clock } from './ports.ts'

const thresholds = Object.values(endpoints).map(({ threshold }) => threshold)
/** More of a client's requests never matter. */
const highestThreshold = Math.max(...thresholds)
/** So many of them pass, whatever they ask. */
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
  /** When the latest requests came of each client that has asked since a moment, oldest first. */
  #seen = new Map<string, number[]>()
  #since = -Infinity
  /** The same of those that had asked in the window before it. */
  #before = new Map<string, number[]>()

  /** How many clients are remembered. */
  get size(): number {
    return new Set([...this.#seen.keys(), ...this.#before.keys()]).size
  }

  /** Counts a request; gives 0 when it passes, else the whole seconds until only `threshold - 1` others are left. */
  count(client: string, threshold: number, now: number): number {
    if (!isRecent(this.#since, now)) this.#forget(now)
    const times = this.#seen.get(client) ?? this.#remembered(client)
    times.push(now)
    // as long as there are few it does not matter which of them still count
    if (times.length <= lowestThreshold) return 0
    const recent = times.filter((at) => isRecent(at, now)).slice(-highestThreshold - 1)
    this.#seen.set(client, recent)
    if (recent.length <= threshold) return 0
    return Math.max(1, Math.ceil(((recent.at(-threshold) ?? now) + ipWindowMs - now) / 1000))
  }

  #remembered(client: string): number[] {
    const times = this.#before.get(client) ?? []
    this.#seen.set(client, times)
    return times
  }

  /** Those who were silent for a whole window, all at once. */
  #forget(now: number): void {
    this.#since = now
    this.#before = this.#seen
    this.#seen = new Map()
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
