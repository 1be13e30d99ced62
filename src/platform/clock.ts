import type { Clock, MaybePromise, SteadyClock } from '../ports.ts'

/** By how much, in ms, the platform's two clocks may move apart before that is taken for a sleep, or for being set. */
const sleepMs = 60_000

/** What they move apart between two looks, in ms, with nothing having happened: no two of them run alike. */
const driftMs = 1_000

/** For how long several such steps are one sleep in parts, in ms. */
const partsMs = 600_000

/**
 * A clock that nobody can set back while a page runs: its whole epoch ms go on from where they began. Most platforms stop
 * the monotonic clock while the machine sleeps, so that the wall clock is what tells of it; a clock that was set forward
 * looks the same until it is set back.
 */
export function steadyClock(clock: Clock): SteadyClock & {
  /** Begins anew from the platform's time, as a page does that is loaded. */
  begin(): void
} {
  let first: number | null = null
  let last = NaN
  let seen = NaN
  let apartMs = 0
  let apartAt = -Infinity
  let sleptMs = 0

  /** The epoch ms at which the monotonic clock stood at zero: no earlier ones than at the beginning. */
  function epochOfZero(): number {
    const now = clock.now() - clock.monotonic()
    const movedMs = now - seen
    seen = now
    if (Math.abs(movedMs) > driftMs) {
      apartMs = movedMs + (clock.monotonic() - apartAt < partsMs ? apartMs : 0)
      apartAt = clock.monotonic()
    } else last += movedMs
    if (Math.abs(apartMs) > sleepMs) {
      sleptMs += Math.max(0, apartMs)
      apartMs = 0
      last = now
    }
    first ??= last = now
    return Math.max(first, last)
  }

  return {
    now: () => Math.max(0, Math.floor(epochOfZero() + clock.monotonic())),
    monotonic: () => clock.monotonic(),
    elapsed: () => (epochOfZero(), clock.monotonic() + sleptMs),
    setTimeout: (run, ms) => clock.setTimeout(run, ms),
    clearTimeout: (timer) => clock.clearTimeout(timer),
    begin() {
      first = null
      apartMs = 0
    },
  }
}

/** Rejects with `TimeLimit` when `work` takes longer than `ms`; the work itself goes on. Infinity is no limit. */
export function withinLimit<T>(clock: Clock, ms: number, work: PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    // a clock that is given in may know no such timer
    const timer =
      ms === Infinity ? null : clock.setTimeout(() => reject(new TimeLimit(`no answer within ${ms} ms`)), ms)
    const done = () => timer !== null && clock.clearTimeout(timer)
    work.then(
      (value) => (done(), resolve(value)),
      (error: unknown) => (done(), reject(error)),
    )
  })
}

/** What an application's own code says, which may throw, or answer at once; else as `withinLimit`. */
export const askWithin = <T>(clock: Clock, ms: number, ask: () => MaybePromise<T>): Promise<T> =>
  withinLimit(clock, ms, Promise.resolve().then(ask))

/** A time limit passed; what it limited may still finish. */
export class TimeLimit extends Error {}
