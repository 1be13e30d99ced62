import type { Clock } from '../../src/ports.ts'
import { TryOnError } from '../../src/rules/try-on-error.ts'
import type { TryOnView } from '../../src/rules/view.ts'
import type { Item, Items } from './items.types.ts'
import { isEnded } from './views.ts'

type ToldOf = Parameters<Items['save']>[1]

export interface KeepingParts {
  clock: Clock
  onError: (error: unknown) => void
}

/** Has the database know what items come to: of a job that only this process knows, until it is taken. */
export interface Keeping {
  /** Rejects where it is not taken, and is of no job, or not `isWanted` any more. */
  keep(jobId: string | null, save: () => Promise<void>, isWanted?: () => boolean): Promise<void>
  /** Tries what is on its way once more, and tells of jobs that no database took: they may be found by their IDs. */
  close(): Promise<void>
}

/** After how long a job that the database has not is told it again, in ms. */
const tellAgainMs = 1_000

export function createKeeping({ clock, onError }: KeepingParts): Keeping {
  /** Jobs that no database has yet. */
  const untold = new Set<string>()
  const underWay = new Set<Promise<void>>()
  let isClosed = false

  function tellUntold(): void {
    for (const jobId of untold) onError(new TryOnError({ kind: 'storage' }, jobId))
    untold.clear()
  }

  async function kept(jobId: string | null, save: () => Promise<void>, isWanted: () => boolean): Promise<void> {
    if (jobId !== null) untold.add(jobId)
    for (;;) {
      try {
        await save()
        if (jobId !== null) untold.delete(jobId)
        return
      } catch (error) {
        if (jobId === null || isClosed || !isWanted()) throw error
        await new Promise<void>((resolve) => void clock.setTimeout(resolve, tellAgainMs))
      }
    }
  }

  return {
    keep(jobId, save, isWanted = () => true) {
      const saved = kept(jobId, save, isWanted)
      const ended = saved
        .catch(() => undefined)
        .then(() => {
          underWay.delete(ended)
          // an answer that came after the end
          if (isClosed && underWay.size === 0) tellUntold()
        })
      underWay.add(ended)
      return saved
    },
    async close() {
      isClosed = true
      await Promise.all(underWay)
      tellUntold()
    },
  }
}

export interface Telling {
  tell(view: TryOnView): void
  /** Resolves once the last view is written down; rejects where that failed. */
  told(): Promise<unknown>
}

/** Tells the database of each view of an item. */
export function createTelling(keep: Keeping['keep'], items: Items, item: Item): Telling {
  let latest: ToldOf | null = null
  let told: Promise<unknown> = Promise.resolve()

  return {
    tell(view: TryOnView) {
      const { state, attempt, result, problem, message } = view
      const to = (latest = { state, isEnded: isEnded(view), attempt, result, problem, message })
      // of those before the last one nobody need know
      told = told
        .catch(() => undefined)
        .then(() =>
          keep(
            attempt?.jobId ?? null,
            () => items.save(item, to),
            () => to === latest,
          ),
        )
      told.catch(() => undefined)
    },
    told: () => told,
  }
}
