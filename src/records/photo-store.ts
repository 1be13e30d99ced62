import { askWithin, withinLimit } from '../platform/clock.ts'
import { succeeds } from '../platform/succeeds.ts'
import type { Clock, MaybePromise, PhotoStore, StoredPhoto } from '../ports.ts'
import { dueNow } from '../rules/copies.ts'
import type { Catalog } from './catalog.ts'

/** How long one call may take, in ms. */
const storeLimitMs = 5_000

/** A photo store whose calls all settle: what throws or takes too long rejects, but for a removal. */
export interface BoundedPhotoStore {
  get(key: string): Promise<StoredPhoto | undefined>
  /** `confirm` is asked once the photo is there, however late; where it says no, the photo is taken away again. */
  set(key: string, photo: StoredPhoto, confirm: () => Promise<boolean>): Promise<void>
  /** Resolves with whether all that was being written has ended, one way or the other; what hangs is not waited for twice. */
  landed(): Promise<boolean>
  /** Resolves with whether it is gone. */
  remove(key: string): Promise<boolean>
  /** Every key that it has, as far as it can tell. */
  keys(): Promise<readonly string[]>
  /** As `remove`, and listed no more; what could not be removed is due then, and is tried again when a room opens. */
  strikeOut(key: string): Promise<boolean>
}

export function boundedPhotoStore(store: PhotoStore, clock: Clock, catalog: Catalog): BoundedPhotoStore {
  const bounded = <T>(work: () => MaybePromise<T>) => askWithin(clock, storeLimitMs, work)
  const remove = (key: string) => succeeds(bounded(() => store.remove(key)))
  const writing = new Set<Promise<void>>()

  async function write(key: string, photo: StoredPhoto, confirm: () => Promise<boolean>): Promise<void> {
    await store.set(key, photo)
    // where nobody can say, nobody could find it to remove it either
    if (await confirm().catch(() => false)) return
    await strikeOut(key)
    throw new Error('nobody wants this photo any more')
  }

  async function strikeOut(key: string): Promise<boolean> {
    const isGone = await remove(key)
    const seen = (await catalog.entries().catch(() => null))?.[key]
    if (seen !== undefined || !isGone) await catalog.reschedule({ [key]: { seen, next: isGone ? null : dueNow } })
    return isGone
  }
  return {
    get: (key) => bounded(() => store.get(key)),
    set: (key, photo, confirm) =>
      bounded(() => {
        const done = write(key, photo, confirm).finally(() => writing.delete(done))
        writing.add(done)
        return done
      }),
    async landed() {
      const isLanded = await succeeds(withinLimit(clock, storeLimitMs, Promise.allSettled(writing)))
      if (!isLanded) writing.clear()
      return isLanded
    },
    remove,
    // what is no text is no key of this library
    keys: () => bounded(async () => ((await store.keys?.()) ?? []).filter((key) => typeof key === 'string')),
    strikeOut,
  }
}
