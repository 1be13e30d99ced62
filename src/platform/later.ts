import type { Clock } from '../ports.ts'

/** How much later something is done once more, in ms. */
const laterMs = 5_000

/** Has something done once more, a while later. */
export interface Later {
  /** While nothing is up only what is owed. Asked for again meanwhile it is put off no further. */
  later(run: () => void, isOwed?: boolean): void
  /** Nothing waits any more: what is owed is done at once. */
  endWait(): void
}

export function createLater(clock: Clock, isUp: () => boolean): Later {
  const waiting = new Map<() => void, { timer: unknown; isOwed: boolean }>()
  return {
    later(run, isOwed = false) {
      if (waiting.has(run) || !(isUp() || isOwed)) return
      const timer = clock.setTimeout(() => {
        waiting.delete(run)
        run()
      }, laterMs)
      waiting.set(run, { timer, isOwed })
    },
    endWait() {
      for (const [run, { timer, isOwed }] of waiting) {
        clock.clearTimeout(timer)
        waiting.delete(run)
        if (isOwed) run()
      }
    },
  }
}
