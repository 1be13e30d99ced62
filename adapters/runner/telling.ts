import type { Clock } from '../../src/ports.ts'
import type { TryOnView } from '../../src/rules/view.ts'
import type { Item, Items } from './items.ts'
import { isEnded } from './views.ts'

type Told = Parameters<Items['save']>[1]

export interface TellingParts {
  items: Items
  clock: Clock
  /** Jobs that no database has yet. */
  untold: Set<string>
  /** Whether this process ends, and can wait no longer. */
  isClosed: () => boolean
}

export interface Telling {
  tell(view: TryOnView): void
  /** Resolves once the last view is written down; rejects where that failed. */
  told(): Promise<unknown>
}

/** After how long a job that the database has not is told it again, in ms. */
const tellAgainMs = 1_000

/** Tells the database what an item comes to; a job that only this process knows, until it is taken. */
export function createTelling({ items, clock, untold, isClosed }: TellingParts, item: Item): Telling {
  let latest: Told | null = null
  let told: Promise<unknown> = Promise.resolve()

  async function keep(to: Told): Promise<void> {
    const jobId = to.attempt?.jobId ?? null
    if (jobId !== null) untold.add(jobId)
    for (;;) {
      try {
        await items.save(item, to)
        if (jobId !== null) untold.delete(jobId)
        return
      } catch (error) {
        if (jobId === null || to !== latest || isClosed()) throw error
        await new Promise<void>((resolve) => void clock.setTimeout(resolve, tellAgainMs))
      }
    }
  }

  return {
    tell(view: TryOnView) {
      const { state, attempt, result, problem, message } = view
      const to = (latest = { state, isEnded: isEnded(view), attempt, result, problem, message })
      // of those before the last one nobody need know
      told = told.catch(() => undefined).then(() => keep(to))
      told.catch(() => undefined)
    },
    told: () => told,
  }
}
