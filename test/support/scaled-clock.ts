import type { Clock } from 'fitting-room'

interface ScaledClock extends Clock {
  /** Moves time on by `ms` at once, running what falls due. */
  skip(ms: number): void
}

/**
 * The platform's time, `times` as fast, for what waits at a real socket. What falls due is run once `answered`, asked then,
 * has resolved: what a slow machine has still to answer is not late.
 */
export function scaledClock(times: number, answered: () => Promise<unknown> = async () => {}): ScaledClock {
  const began = Date.now()
  let skipped = 0
  const waiting = new Map<object, { run: () => void; due: number; timer: NodeJS.Timeout }>()
  const monotonic = () => performance.now() * times + skipped

  function arm(id: object, run: () => void, due: number): void {
    const fire = async () => {
      await answered()
      // and whoever has waited for that has heard it
      setImmediate(() => waiting.get(id)?.timer === timer && waiting.delete(id) && run())
    }
    const timer = setTimeout(() => void fire(), Math.max(0, due - monotonic()) / times)
    waiting.set(id, { run, due, timer })
  }

  return {
    now: () => began + (Date.now() - began) * times + skipped,
    monotonic,
    setTimeout(run, ms) {
      const id = {}
      arm(id, run, monotonic() + ms)
      return id
    },
    clearTimeout(id) {
      clearTimeout(waiting.get(id as object)?.timer)
      waiting.delete(id as object)
    },
    skip(ms) {
      skipped += ms
      for (const [id, { run, due, timer }] of waiting) {
        clearTimeout(timer)
        arm(id, run, due)
      }
    },
  }
}
