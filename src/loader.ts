import type { Clock } from './ports.ts'
import { TryOnError } from './rules/try-on-error.ts'

/** A failure that comes faster than this, in ms, is one that the browser has kept. */
const keptMs = 100

/** Loads with `load`; a failure is told as a `TryOnError` of kind `core`, and the next call tries again. */
export function createLoader<T>(load: () => PromiseLike<T>, clock: Clock): () => Promise<T> {
  let hasFailed = false
  return async () => {
    const begunAt = clock.monotonic()
    try {
      return await load()
    } catch (cause) {
      const isKept = hasFailed && clock.monotonic() - begunAt < keptMs
      hasFailed = true
      const reload = isKept && globalThis.navigator?.onLine !== false
      throw new TryOnError({ kind: 'core', reload }, null, cause)
    }
  }
}
