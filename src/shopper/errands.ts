import type { Shopper } from '../records/epochs.ts'

/** Requests on behalf of the room's shopper that several try-ons may be waiting for: one of a name at a time. */
export interface Errands {
  /** The one of that name that is under way, or a new one; its signal is aborted once its shopper has gone, or the room is closed. */
  run<T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>
  isRunning(name: string): boolean
  /** The room is closed: what waits for its key does not leave any more. */
  end(): void
}

export function createErrands(shopper: () => Shopper): Errands {
  let life: AbortController | null = null
  const running = new Map<string, Promise<unknown>>()

  function end(): void {
    life?.abort()
    life = null
    running.clear()
  }

  function begin(): AbortSignal {
    const begun = new AbortController()
    life = begun
    shopper().addEventListener('abort', () => (life === begun ? end() : undefined), { once: true })
    return begun.signal
  }

  return {
    run<T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
      const same = running.get(name) as Promise<T> | undefined
      if (same) return same
      const done = work(life?.signal ?? begin()).finally(() => running.get(name) === done && running.delete(name))
      running.set(name, done)
      return done
    },
    isRunning: (name) => running.has(name),
    end,
  }
}
