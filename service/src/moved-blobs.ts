import { openIn, type BlobStore } from './ports.ts'

/** Files where they are put now; those of before are where they were put then, until their time is over. */
export function movedBlobs(now: BlobStore, before: BlobStore): BlobStore {
  return {
    put: now.put,
    get: async (name) => (await now.get(name)) ?? before.get(name),
    open: async (name) => (await openIn(now, name)) ?? openIn(before, name),
    async remove(name) {
      await Promise.all([now.remove(name), before.remove(name)])
    },
  }
}
