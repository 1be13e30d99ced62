import { deferred } from '../../src/platform/deferred.ts'
import { withinLimit } from '../../src/platform/clock.ts'
import type { Clock } from '../../src/ports.ts'
import type { Items, RunnerEntry } from './items.types.ts'

interface RunnerEvents {
  on(listener: (entry: RunnerEntry) => unknown): { unsubscribe(): void }
  /** Resolves once `isSo`, which is asked again and again; rejects where it was closed before. */
  until(isSo: () => Promise<boolean>): Promise<void>
  /** Does something again and again, until it is closed. */
  repeat(work: () => Promise<void>): void
  /** Resolves once all have heard of what there was. */
  close(): Promise<void>
}

/** How often the database is looked at, and how long a look may take, in ms. */
const everyMs = 1_000
const lookLimitMs = 10_000

/** Tells of what any process has written down, each change once to each listener. */
export function createEvents(
  items: Pick<Items, 'changedSince' | 'now'>,
  clock: Clock,
  onError: (error: unknown) => void,
): RunnerEvents {
  const closing = deferred()
  let isClosed = false
  const running = new Set<Promise<void>>()
  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = clock.setTimeout(resolve, everyMs)
      void closing.promise.then(() => {
        clock.clearTimeout(timer)
        resolve()
      })
    })
  /** Null where it failed, or took too long: it is told, and tried again. */
  const looked = <T>(look: () => Promise<T>): Promise<T | null> =>
    withinLimit(clock, lookLimitMs, look()).catch((error: unknown) => {
      onError(error)
      return null
    })

  async function follow(isWanted: () => boolean, tell: (entry: RunnerEntry) => void): Promise<void> {
    let from: number | null = null
    let since = 0
    let told = new Map<string, number>()
    for (let isLast = false; isWanted() && !isLast;) {
      isLast = isClosed
      if (from === null) {
        from = await looked(items.now)
        since = from ?? 0
      } else {
        const begin = from
        const changed = await looked(() => items.changedSince(since))
        const news = (changed ?? []).filter(
          ({ entry: { id }, changedAt }) => changedAt > begin && told.get(id) !== changedAt,
        )
        for (const { entry } of news) if (isWanted()) tell(entry)
        if (changed) told = new Map(changed.map(({ entry: { id }, changedAt }) => [id, changedAt]))
        since = Math.max(since, ...told.values())
      }
      if (!isLast) await pause()
    }
  }

  function run(work: Promise<void>): void {
    const ended = work.catch(onError).finally(() => running.delete(ended))
    running.add(ended)
  }

  return {
    on(listener) {
      let isWanted = true
      const tell = (entry: RunnerEntry) => void Promise.resolve(entry).then(listener).catch(onError)
      run(follow(() => isWanted, tell))
      return { unsubscribe: () => void (isWanted = false) }
    },
    async until(isSo) {
      while (!(await looked(isSo))) {
        if (isClosed) throw new Error('the runner was closed')
        await pause()
      }
    },
    repeat(work) {
      const again = async () => {
        while (!isClosed) {
          await looked(work)
          await pause()
        }
      }
      run(again())
    },
    async close() {
      isClosed = true
      closing.resolve()
      await Promise.all(running)
    },
  }
}
