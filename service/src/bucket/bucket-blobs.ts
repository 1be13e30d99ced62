import { uploadExpiryMs } from 'fitting-room/contract'
import { isBlobName } from '../blob-name.ts'
import { LineFull, mostOfClient } from '../drawing/not-drawn.ts'
import { PhotoNotReadable } from '../photo-problems.ts'
import type { Blob, BlobStore, Line, PhotoIntake } from '../ports.ts'
import { photoLimits } from '../photo-limits.ts'
import type { Uploads } from '../uploads.ts'
import type { Bucket, Opened } from './bucket.ts'

/** Where shoppers put their photos as they are. */
const arrived = (name: string) => `arrived/${name}`
/** Where photos without their metadata are, and pictures. */
const kept = (name: string) => `kept/${name}`

/** Whose looks there are, and how often one is begun anew where another photo was put there meanwhile. */
const kinds = ['job', 'upload'] as const satisfies Line['kind'][]
const mostLooks = 5

/**
 * Photos and pictures in a bucket. Nobody sees a photo arrive there, so it is looked at when it is wanted first: only then is
 * its size checked and its metadata removed, and until then nobody but the service can read it. One that is none is removed.
 * `willKeep` is told of each one before it is written, so that it is deleted one day though somebody deletes it just now. `get`
 * rejects with `PhotoNotReadable`, or `LineFull` where that client has too many looked at.
 */
export function bucketBlobs(
  bucket: Bucket,
  takePhoto: PhotoIntake,
  willKeep: (name: string) => Promise<unknown>,
): BlobStore {
  /** Those that are looked at just now, by kind of line and name: whoever else wants one waits for that. */
  const looks = new Map<string, { line: Line; found: Promise<Blob | null> }>()

  const ofClient = (client: string) =>
    [...looks.values()].filter(({ line: { kind, of } }) => kind === 'upload' && of === client).length

  async function lookAt(name: string, line: Line, again = mostLooks): Promise<Blob | null> {
    const photo = await bucket.open(arrived(name))
    // it was taken in before, or is by somebody else meanwhile
    if (photo === null) return bucket.get(kept(name))
    const taken = await takeIn(photo, line)
    // what was put there since is the photo, and what is gone was taken in, or has had its time
    const isOld = async () => again > 0 && (await bucket.version(arrived(name))) !== photo.version
    if (await isOld()) return lookAt(name, line, again - 1)
    if (taken) {
      await willKeep(name)
      await bucket.put(kept(name), taken)
      if (await isOld()) return lookAt(name, line, again - 1)
    }
    await bucket.remove(arrived(name))
    if (taken) return taken
    throw new PhotoNotReadable()
  }

  /** Null where it is none. */
  async function takeIn(photo: Opened, line: Line): Promise<Blob | null> {
    if (photo.isPacked) return photo.body?.cancel().then(() => null) ?? null
    try {
      const taken = await takePhoto(photo, photoLimits, line)
      if (taken === 'tooSlow') throw new Error('the bucket is too slow')
      return taken === 'tooLarge' ? null : taken
    } catch (error) {
      if (error instanceof PhotoNotReadable) return null
      throw error
    }
  }

  async function get(name: string, line: Line = { kind: 'upload', of: name }): Promise<Blob | null> {
    if (!isBlobName(name)) return null
    const own = `${line.kind} ${name}`
    // a job does not wait in the line of whoever only wants to see it
    const look = looks.get(`job ${name}`) ?? looks.get(own)
    if (look) return look.found
    // before anything is read: what lies in a bucket is asked for again at no cost
    if (line.kind === 'upload' && ofClient(line.of) >= mostOfClient) throw new LineFull()
    const found = lookAt(name, line).finally(() => looks.delete(own))
    looks.set(own, { line, found })
    return found
  }

  return {
    put: (name, blob) => bucket.put(kept(name), blob),
    get,
    async open(name, line) {
      const found = isBlobName(name) ? await bucket.read(kept(name)) : null
      return found ?? get(name, line)
    },
    async remove(name) {
      // what is looked at just now would be put back
      await Promise.allSettled(kinds.flatMap((kind) => looks.get(`${kind} ${name}`)?.found ?? []))
      await Promise.all([arrived(name), kept(name)].map((each) => bucket.remove(each)))
    },
  }
}

/** Upload targets that are the bucket's own; the service itself takes photos at those of before alone. */
export const bucketUploads = (bucket: Bucket, before: Uploads): Uploads => ({
  sign: (name, type) => bucket.presigned(arrived(name), type, uploadExpiryMs / 1000),
  verify: (url, now) => before.verify(url, now),
})
