import type { Clock } from 'fitting-room'

interface ScaledClock extends Clock {
  /** Moves time on by `ms` at once, running what falls due. */
  skip(ms: number): void
}

/** The platform's time, `times` as fast, for what waits at a real socket. */
export function scaledClock(times: number): ScaledClock {
  const began = Date.now()
  let skipped = 0
  const waiting = new Map<object, { run: () => void; due: number; timer: NodeJS.Timeout }>()
  const monotonic = () => performance.now() * times + skipped

  function arm(id: object, run: () => void, due: number): void {
    const fire = () => {
      waiting.delete(id)
      run()
    }
    waiting.set(id, { run, due, timer: setTimeout(fire, Math.max(0, due - monotonic()) / times) })
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
