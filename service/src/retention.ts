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
}

/** Deletes what has had its time, photos and try-ons with their pictures. */
export async function deleteExpired({ config, store, blobs, clock }: RetentionParts): Promise<void> {
  const now = clock.now()
  const until = { photos: Math.floor(now - config.keep.photoHours * hourMs), jobs: Math.floor(now - pictureMs(config)) }
  const remove = async (names: string[]) => void (await Promise.all(names.map(blobs.remove)))
  while ((await store.expire(until, remove)) > 0);
}

/** How often that is looked for, in ms. */
const lookMs = 10 * 60_000

/** Deletes at once and from time to time, until it is stopped. */
export function keepDeleting(parts: RetentionParts, report: (error: unknown) => void): () => Promise<void> {
  let last = Promise.resolve()
  const next = () => (last = last.then(() => deleteExpired(parts)).catch(report))
  void next()
  const timer = setInterval(next, lookMs)
  timer.unref()
  return () => {
    clearInterval(timer)
    return last
  }
}
