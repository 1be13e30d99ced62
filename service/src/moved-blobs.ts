import { openIn, type BlobStore } from './ports.ts'

/** Files where they are put now; those of before are where they were put then, until their time is over. */
export function movedBlobs(now: BlobStore, before: BlobStore): BlobStore {
  return {
    async put(name, blob) {
      await now.put(name, blob)
      await before.remove(name)
    },
    // a folder is asked at once, and also while a bucket is away
    get: async (name, line) => (await before.get(name)) ?? now.get(name, line),
    open: async (name, line) => (await openIn(before, name)) ?? openIn(now, name, line),
    async remove(name) {
      await Promise.all([now.remove(name), before.remove(name)])
    },
  }
}
