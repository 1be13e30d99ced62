import type { Clock } from 'fitting-room'

/** The platform's time, `times` as fast, for what waits at a real socket. */
export function scaledClock(times: number): Clock {
  const began = Date.now()
  return {
    now: () => began + (Date.now() - began) * times,
    monotonic: () => performance.now() * times,
    setTimeout: (run, ms) => setTimeout(run, ms / times),
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
  }
}
