import type { Config } from './config.ts'
import type { BlobStore, Clock, Store } from './ports.ts'

const hourMs = 3_600_000
/** For how long a try-on is kept, in ms: what is older is not found, whether or not it is gone already. */
export const pictureMs = ({ keep }: Config) => keep.pictureDays * 24 * hourMs

export interface RetentionParts {
  config: Config
  store: Store
  blobs: BlobStore
  clock: Clock
  report: (error: unknown) => void
}

/** Deletes what has had its time, photos and try-ons with their pictures, until all of it is gone or `isOver` says so. */
export async function deleteExpired(parts: RetentionParts, isOver = () => false): Promise<void> {
  const { config, store, blobs, clock, report } = parts
  // what is deleted too early is gone: of two clocks one that is ahead decides nothing
  const now = Math.min(clock.now(), (await store.now?.()) ?? Infinity)
  // what is of no use, or could not be removed at an earlier look, is older than anything in use
  const before = (ms: number) => Math.floor(Math.max(now - ms, now / 1000))
  const until = { photos: before(config.keep.photoHours * hourMs), jobs: before(pictureMs(config)) }

  async function remove(names: string[]): Promise<string[]> {
    const ends = await Promise.allSettled(names.map(blobs.remove))
    const [failed, ...more] = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
    if (failed) report(new Error(`${1 + more.length} files are not deleted yet`, { cause: failed }))
    return names.filter((_, at) => ends[at]?.status === 'fulfilled')
  }

  while (!isOver() && (await store.expire(until, remove)) > 0);
  if (!isOver()) await store.tidy?.()
}

/** How often that is looked for, in ms. */
const lookMs = 10 * 60_000

/** Deletes at once and from time to time, until it is stopped. */
export function keepDeleting(parts: RetentionParts): () => Promise<void> {
  let last = Promise.resolve()
  let isOver = false
  const next = () => (last = last.then(() => deleteExpired(parts, () => isOver)).catch(parts.report))
  void next()
  const timer = setInterval(next, lookMs)
  timer.unref()
  return () => {
    isOver = true
    clearInterval(timer)
    return last
  }
}
