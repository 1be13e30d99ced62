import { deferred } from '../../src/platform/deferred.ts'
import type { Clock } from '../../src/ports.ts'
import type { Items, RunnerEntry } from './items.ts'

export interface RunnerEvents {
  on(listener: (entry: RunnerEntry) => void): { unsubscribe(): void }
  /** Resolves once `isSo`, which is asked again and again; rejects where it does, or where it was closed before. */
  until(isSo: () => Promise<boolean>): Promise<void>
  /** Resolves once all have heard of what there was. */
  close(): Promise<void>
}

/** How often the database is looked at while somebody listens, in ms. */
const everyMs = 1_000

/** Tells of what any process has written down, each change once to each listener. */
export function createEvents(
  items: Pick<Items, 'changedSince' | 'now'>,
  clock: Clock,
  onError: (error: unknown) => void,
): RunnerEvents {
  const closing = deferred()
  let isClosed = false
  const followed = new Set<Promise<void>>()
  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = clock.setTimeout(resolve, everyMs)
      void closing.promise.then(() => {
        clock.clearTimeout(timer)
        resolve()
      })
    })

  async function follow(isWanted: () => boolean, tell: (entry: RunnerEntry) => void): Promise<void> {
    const from = await items.now()
    let since = from
    let told = new Map<string, number>()
    for (let isLast = false; isWanted() && !isLast;) {
      isLast = isClosed
      const changed = await items.changedSince(since).catch((error: unknown) => {
        onError(error)
        return null
      })
      if (changed) {
        const news = changed.filter(({ entry: { id }, changedAt }) => changedAt > from && told.get(id) !== changedAt)
        for (const { entry } of news) if (isWanted()) tell(entry)
        told = new Map(changed.map(({ entry: { id }, changedAt }) => [id, changedAt]))
        since = Math.max(since, ...told.values())
      }
      if (!isLast) await pause()
    }
  }

  return {
    on(listener) {
      let isWanted = true
      const tell = (entry: RunnerEntry) => {
        try {
          listener(entry)
        } catch (error) {
          onError(error)
        }
      }
      const following = follow(() => isWanted, tell).catch(onError)
      followed.add(following)
      return { unsubscribe: () => void (isWanted = false) }
    },
    async until(isSo) {
      while (!(await isSo())) {
        if (isClosed) throw new Error('the runner was closed')
        await pause()
      }
    },
    async close() {
      isClosed = true
      closing.resolve()
      await Promise.all(followed)
    },
  }
}
