import type { Clock } from '../ports.ts'

/** The platform's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
}

/** Rejects with `TimeLimit` when `work` takes longer than `ms`; the work itself goes on. */
export function withinLimit<T>(clock: Clock, ms: number, work: PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => reject(new TimeLimit(ms)), ms)
    const done = () => clock.clearTimeout(timer)
    work.then(
      (value) => (done(), resolve(value)),
      (error: unknown) => (done(), reject(error)),
    )
  })
}

/** A time limit passed; what it limited may still finish. */
class TimeLimit extends Error {
  override readonly name = 'TimeLimit'
  constructor(ms: number) {
    super(`no answer within ${ms} ms`)
  }
}
