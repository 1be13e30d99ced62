import type { Clock } from '../../src/ports.ts'
import { TryOnError } from '../../src/rules/try-on-error.ts'
import type { TryOnView } from '../../src/rules/view.ts'
import type { Item, Items } from './items.ts'
import { isEnded } from './views.ts'

type Told = Parameters<Items['save']>[1]

export interface KeepingParts {
  items: Items
  clock: Clock
  onError: (error: unknown) => void
}

/** Has the database know what items come to: a job that only this process knows, until it is taken. */
export interface Keeping {
  /** Rejects where it is not taken, and is no job, or not `isWanted` any more. */
  keep(item: Item, to: Told, isWanted?: () => boolean): Promise<void>
  /** Waits no longer, and tells of jobs that no database took: they may be found by their IDs. */
  close(): void
}

/** After how long a job that the database has not is told it again, in ms. */
const tellAgainMs = 1_000

export function createKeeping({ items, clock, onError }: KeepingParts): Keeping {
  /** Jobs that no database has yet. */
  const untold = new Set<string>()
  let isClosed = false

  function tellUntold(): void {
    for (const jobId of untold) onError(new TryOnError({ kind: 'storage' }, jobId))
    untold.clear()
  }

  return {
    async keep(item, to, isWanted = () => true) {
      const jobId = to.attempt?.jobId ?? null
      if (jobId !== null) untold.add(jobId)
      for (;;) {
        try {
          await items.save(item, to)
          if (jobId !== null) untold.delete(jobId)
          return
        } catch (error) {
          if (isClosed) tellUntold()
          if (jobId === null || isClosed || !isWanted()) throw error
          await new Promise<void>((resolve) => void clock.setTimeout(resolve, tellAgainMs))
        }
      }
    },
    close() {
      isClosed = true
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
export function createTelling(keep: Keeping['keep'], item: Item): Telling {
  let latest: Told | null = null
  let told: Promise<unknown> = Promise.resolve()

  return {
    tell(view: TryOnView) {
      const { state, attempt, result, problem, message } = view
      const to = (latest = { state, isEnded: isEnded(view), attempt, result, problem, message })
      // of those before the last one nobody need know
      told = told.catch(() => undefined).then(() => keep(item, to, () => to === latest))
      told.catch(() => undefined)
    },
    told: () => told,
  }
}
