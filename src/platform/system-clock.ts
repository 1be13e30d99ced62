import type { Clock } from '../ports.ts'

/** The longest time that a platform's timer can wait, in ms; a longer one would be over at once. */
const longestTimerMs = 2 ** 31 - 1

/** The platform's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  // the wall clock stands in where a runtime has no other
  monotonic: () => (globalThis.performance ?? Date).now(),
  setTimeout: startTimer,
  clearTimeout: (stop) => void (typeof stop === 'function' && stop()),
}

/** Runs after any number of ms, Infinity included, and gives what stops it. */
function startTimer(run: () => void, ms: number): () => void {
  let leftMs = ms
  let timer: ReturnType<typeof setTimeout>
  const wait = () => {
    const turnMs = Math.min(leftMs, longestTimerMs)
    leftMs -= turnMs
    timer = setTimeout(() => (leftMs > 0 ? wait() : run()), turnMs)
  }
  wait()
  return () => clearTimeout(timer)
}
