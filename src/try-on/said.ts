import type { SteadyClock } from '../ports.ts'
import type { Catalog } from '../records/catalog.ts'
import type { Shopper } from '../records/epochs.ts'
import { wasReset, type Counts } from '../rules/counts.ts'
import { stopped } from '../rules/try-on-error.ts'
import type { Call } from './intents.ts'

/** When something was said, in ms of the page's own time, and by which shopper. */
export interface Said {
  at: number
  by: Shopper
  /** Which attempt that one saw, or null for none, where it was not of now; undefined where nobody knows. */
  saw: string | null | undefined
}

/** An intent of this page's shopper, or of another page's. */
export interface Word {
  call: Call
  said: Said
  /** Which attempt its shopper saw, where any. */
  seen?: string | null | undefined
  /** Which one its shopper has begun by the word before it, where that was not seen yet. */
  begun?: string | undefined
  /** Another page's shopper has said it. */
  isPassed?: boolean
  /** What is said after it may be heard: it has taken effect, or can be left. */
  isHeard?(): void
}

/** What is being said to a room, which may have been said before it was loaded. */
export interface SaidNow {
  sayNow(): Said
  /**
   * What `run` says was said so many ms ago, when storage had been reset that often, null where nobody could tell, and by a
   * shopper who saw that attempt, or null for none, where that is known. Throws where that one has gone, or may have, as the
   * page was away and nobody has read since what storage counts.
   */
  said<T>(ago: number, epochs: Counts | null | undefined, run: () => T, seen?: string | null, wasAway?: boolean): T
}

export function createSaidNow(
  clock: SteadyClock,
  { counts, isSeen, shopper, wasResetSince }: Pick<Catalog, 'counts' | 'isSeen' | 'shopper' | 'wasResetSince'>,
): SaidNow {
  let agoMs = 0
  let saw: Said['saw']
  return {
    sayNow: () => ({ at: clock.elapsed() - agoMs, by: shopper(), saw }),
    said(ago, epochs, run, seen, wasAway = false) {
      const isMissed = wasAway && !isSeen()
      const isFormer = epochs
        ? isMissed || wasReset(epochs, counts())
        : epochs === null && wasResetSince(clock.now() - ago)
      if (isFormer) throw stopped('startedOver')
      agoMs = ago
      saw = seen
      try {
        return run()
      } finally {
        agoMs = 0
        saw = undefined
      }
    },
  }
}
