import type { Clock } from 'fitting-room'

/** Time that only a test moves. */
export interface ManualClock extends Clock {
  /** Moves time on by `ms`, running what falls due on the way, in order. */
  advance(ms: number): void
  /** Moves time to the next timer and runs it; false where none waits. */
  advanceToNext(): boolean
}

/** A clock for a room's `clock` option; `start` is in epoch ms. */
export function manualClock(start = Date.UTC(2026, 10, 1)): ManualClock {
  let now = start
  let count = 0
  const timers = new Map<number, { at: number; run: () => void }>()
  const next = () => [...timers].sort(([a, one], [b, two]) => one.at - two.at || a - b)[0]

  function runUntil(end: number): void {
    for (let due = next(); due && due[1].at <= end; due = next()) {
      timers.delete(due[0])
      now = Math.max(now, due[1].at)
      due[1].run()
    }
  }

  return {
    now: () => now,
    monotonic: () => now - start,
    setTimeout(run, ms) {
      timers.set(++count, { at: now + Math.max(0, ms), run })
      return count
    },
    clearTimeout: (timer) => void timers.delete(timer as number),
    advance(ms) {
      const end = now + ms
      runUntil(end)
      // what fell due may have moved time on
      now = Math.max(now, end)
    },
    advanceToNext() {
      const due = next()
      if (due) runUntil(due[1].at)
      return due !== undefined
    },
  }
}
