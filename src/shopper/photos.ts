import { createAtom } from '@xstate/store'
import * as z from 'zod/mini'
import type { Client } from '../wire/client.ts'
import { uploadExpiryMs } from '../contract/limits.ts'
import { httpUrl, type ImageType, type UploadTarget } from '../contract/resources.ts'
import type { Journal } from '../records/journal.ts'
import type { Keys } from '../records/keys.ts'
import type { Outcome } from '../rules/outcome.ts'
import type { BoundedPhotoStore } from '../records/photo-store.ts'
import type { Clock, Readable, StoredPhoto, UploadProgress } from '../ports.ts'
import { guarded } from '../platform/guarded.ts'
import { newId } from '../platform/new-id.ts'
import { readPhoto, type PhotoInput } from './photo-input.ts'
import { TryOnError } from '../rules/problem.ts'
import type { Catalog } from '../records/catalog.ts'

/** The room's photo: the next try-on may use it again. `imageUrl` is null until it is uploaded. */
export interface RoomPhoto {
  id: string
  imageUrl: string | null
}

interface UploadTerms {
  customKey?: string | undefined
  onProgress: (progress: UploadProgress) => void
}

export interface Photos extends Readable<RoomPhoto | null> {
  restore(): Promise<void>
  /** Keeps a photo's bytes and makes it the room's; resolves with its ID. */
  keep(input: PhotoInput): Promise<string>
  /**
   * One try to get the photo to where the service can fetch it. Called again after a failure it goes on with the same
   * upload target until that expires. Rejects when the bytes are gone.
   */
  upload(photoId: string, terms: UploadTerms): Promise<Outcome<RoomPhoto>>
  /** Lets go of a photo's bytes, unless it is the room's photo. */
  drop(photoId: string): Promise<void>
  forget(): void
}

const saved = z.object({ savedAt: z.int(), id: z.string(), imageUrl: z.nullable(httpUrl) })

export interface PhotosParts {
  client: Client
  clock: Clock
  journal: Journal
  keys: Keys
  store: BoundedPhotoStore
  catalog: Catalog
  retentionMs: number
}

export function createPhotos({ client, clock, journal, keys, store, catalog, retentionMs }: PhotosParts): Photos {
  const atom = createAtom<RoomPhoto | null>(null)
  /** Bytes of this page's photos, which storage may have refused. */
  const held = new Map<string, StoredPhoto>()
  const uploaded = new Map<string, string>()
  const targets = new Map<string, { target: UploadTarget; until: number }>()
  const running = new Map<string, Promise<Outcome<RoomPhoto>>>()
  let shopper = 0

  async function show(photo: RoomPhoto): Promise<void> {
    atom.set(photo)
    await journal.update(keys.photo, () => ({ ...photo, savedAt: clock.now() }))
  }

  /** What this page holds stays: another try-on may be about to upload it. */
  const bytesGone = (photoId: string) => tried(store.remove(keys.photoBytes(photoId)))

  async function bytesOf(photoId: string): Promise<StoredPhoto> {
    const photo = held.get(photoId) ?? (await tried(store.get(keys.photoBytes(photoId))))
    if (!photo) throw new TryOnError({ kind: 'photo', reason: 'missing' })
    return photo
  }

  async function targetFor(photoId: string, photo: StoredPhoto, customKey: string | undefined) {
    const known = targets.get(photoId)
    if (known && clock.monotonic() < known.until) return { kind: 'accepted', data: known.target } as const
    const until = clock.monotonic() + uploadExpiryMs
    const outcome = await client.createUpload({ contentType: photo.type as ImageType, ...(customKey && { customKey }) })
    if (outcome.kind === 'accepted') targets.set(photoId, { target: outcome.data, until })
    return outcome
  }

  async function uploadNow(photoId: string, { customKey, onProgress }: UploadTerms): Promise<Outcome<RoomPhoto>> {
    const known = uploaded.get(photoId)
    if (known !== undefined) return { kind: 'accepted', data: { id: photoId, imageUrl: known } }
    const photo = await bytesOf(photoId)
    const target = await targetFor(photoId, photo, customKey)
    if (target.kind !== 'accepted') return target
    const { uploadUrl, imageUrl } = target.data
    const ofShopper = shopper
    const put = await client.putPhoto(uploadUrl, photo, { onProgress })
    if (ofShopper !== shopper) throw new TryOnError({ kind: 'stopped', reason: 'startedOver' })
    if (put.kind === 'rejected') targets.delete(photoId)
    if (put.kind !== 'accepted') return put
    uploaded.set(photoId, imageUrl)
    if (atom.get()?.id === photoId) await show({ id: photoId, imageUrl })
    held.delete(photoId)
    targets.delete(photoId)
    await bytesGone(photoId)
    return { kind: 'accepted', data: { id: photoId, imageUrl } }
  }

  return {
    get: () => atom.get(),
    subscribe: (onChange) => atom.subscribe(guarded(onChange)),
    async restore() {
      const read = saved.safeParse(await journal.read(keys.photo).catch(() => undefined))
      if (!read.success) return
      const { savedAt, ...photo } = read.data
      if (clock.now() - savedAt > retentionMs) {
        await bytesGone(photo.id)
        await journal.update(keys.photo, () => null)
        return
      }
      if (photo.imageUrl !== null) uploaded.set(photo.id, photo.imageUrl)
      atom.set(photo)
    },
    async keep(input) {
      const ofShopper = shopper
      const photo = await readPhoto(input)
      const id = newId()
      const before = atom.get()
      if (!('imageUrl' in photo)) {
        await catalog.list(keys.photoBytes(id))
        if (ofShopper === shopper) held.set(id, photo)
        if (ofShopper === shopper) await tried(store.set(keys.photoBytes(id), photo))
      }
      if (ofShopper !== shopper) {
        await bytesGone(id)
        throw new TryOnError({ kind: 'stopped', reason: 'startedOver' })
      }
      if ('imageUrl' in photo) uploaded.set(id, photo.imageUrl)
      await show({ id, imageUrl: uploaded.get(id) ?? null })
      if (before && before.id !== id && !running.has(before.id)) await bytesGone(before.id)
      return id
    },
    async drop(photoId) {
      if (atom.get()?.id !== photoId) await bytesGone(photoId)
    },
    upload(photoId, terms) {
      const known = running.get(photoId)
      if (known) return known
      const upload = uploadNow(photoId, terms).finally(() => running.delete(photoId))
      running.set(photoId, upload)
      return upload
    },
    forget() {
      shopper++
      atom.set(null)
      for (const known of [held, uploaded, targets]) known.clear()
    },
  }
}

/** A store that fails costs the reload its photo, never this page its upload. */
const tried = <T>(work: PromiseLike<T>): Promise<T | undefined> => Promise.resolve(work).catch(() => undefined)
