import { uploadExpiryMs } from 'fitting-room/contract'
import { PhotoNotReadable } from '../photo-problems.ts'
import type { Blob, BlobStore } from '../ports.ts'
import { largestPhoto, type Uploads } from '../uploads.ts'
import { TooLarge, type Bucket } from './bucket.ts'

/** Where shoppers put their photos as they are. */
const arrived = (name: string) => `arrived/${name}`
/** Where photos without their metadata are, and pictures. */
const kept = (name: string) => `kept/${name}`

/**
 * Photos and pictures in a bucket. Nobody sees a photo arrive there, so it is looked at when it is wanted first: only then is
 * its size checked and its metadata removed, and until then nobody but the service can read it. `get` rejects with
 * `PhotoNotReadable`.
 */
export function bucketBlobs(bucket: Bucket, cleaned: (photo: Uint8Array) => Promise<Blob>): BlobStore {
  async function takeIn(name: string): Promise<Blob | null> {
    const photo = await bucket.get(arrived(name), largestPhoto)
    // somebody else may have taken it in meanwhile
    if (photo === null) return bucket.get(kept(name))
    const blob = await cleaned(photo.bytes)
    await bucket.put(kept(name), blob)
    await bucket.remove(arrived(name))
    return blob
  }

  return {
    put: (name, blob) => bucket.put(kept(name), blob),
    get: async (name) =>
      (await bucket.get(kept(name))) ??
      (await takeIn(name).catch((error: unknown) => {
        throw error instanceof TooLarge ? new PhotoNotReadable() : error
      })),
    async remove(name) {
      await Promise.all([arrived(name), kept(name)].map((each) => bucket.remove(each)))
    },
  }
}

/** Upload targets that are the bucket's own; the service takes no photo itself. */
export const bucketUploads = (bucket: Bucket): Uploads => ({
  sign: (name, type) => bucket.presigned(arrived(name), type, uploadExpiryMs / 1000),
  verify: () => null,
})
