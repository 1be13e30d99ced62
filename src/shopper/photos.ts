import { stopped } from '../rules/try-on-error.ts'
import { uploadExpiryMs } from '../contract/limits.ts'
import { httpUrl, type ImageType, type UploadTarget } from '../contract/resources.ts'
import * as is from '../contract/schema.ts'
import { newId } from '../platform/new-id.ts'
import { succeeds } from '../platform/succeeds.ts'
import { createValue } from '../platform/value.ts'
import type { Readable, StoredPhoto, UploadProgress } from '../ports.ts'
import type { Shopper } from '../records/epochs.ts'
import type { Keys } from '../records/keys.ts'
import type { BoundedPhotoStore } from '../records/photo-store.ts'
import { savedValue, type SavedParts } from '../records/saved.ts'
import { unanswered, type Outcome } from '../rules/outcome.ts'
import type { Client } from '../wire/operations.ts'
import type { Errands } from './errands.ts'
import { readPhoto, refusePhoto, type PhotoInput } from './photo-input.ts'
import type { Prepare } from './preparation.ts'

/** The room's photo: the next try-on may use it again. `imageUrl` is null until it is uploaded. */
export interface RoomPhoto {
  /** Another one for each photo that is chosen. */
  id: string
  imageUrl: string | null
  /** It could not be made ready here, and is as it was given. */
  metadataKept?: boolean | undefined
}

/** Where the service finds a photo. */
interface UploadedPhoto {
  id: string
  imageUrl: string
  metadataKept?: boolean
}

interface UploadTerms {
  customKey?: string | undefined
  onProgress: (progress: UploadProgress) => void
  /** The try-on that it is for. */
  turn: string
}

export interface Photos extends Readable<RoomPhoto | null> {
  restore(): Promise<void>
  /** The room's photo for another try-on; null where there is none, or where it has expired while the page was open. */
  again(): RoomPhoto | null
  /**
   * Makes a photo ready, and if it is still wanted then keeps its bytes and makes it the room's. The bytes stay until it is
   * released.
   */
  keep(input: PhotoInput, despiteAdvice: boolean, isWanted: () => boolean): Promise<RoomPhoto>
  /** The record that a photo was kept for names it by now, or never will. */
  release(photoId: string): Promise<void>
  /** Takes a photo over that another page of the room has kept. */
  takeOver(photo: RoomPhoto): void
  /**
   * One try to get the photo to where the service can fetch it. Called again after a failure it goes on with the same
   * upload target until that expires. Rejects when the bytes are gone.
   */
  upload(photoId: string, terms: UploadTerms): Promise<Outcome<UploadedPhoto>>
  /** Lets go of a photo's bytes, unless it is the room's photo or another try-on needs it. */
  drop(photoId: string): Promise<void>
  /** Shows none until one is read or given. */
  hide(): void
  forget(): void
}

const roomPhotoFields = { id: is.text, imageUrl: is.nullable(httpUrl), metadataKept: is.optional(is.boolean) }

/** The room's photo as other pages hand it over. */
export const roomPhoto: is.Schema<RoomPhoto> = is.object(roomPhotoFields)

/** The room's photo as storage has it, with where earlier ones are: a try-on may be about to begin with one of them. */
const savedPhoto = is.object({
  ...roomPhotoFields,
  at: is.optional(is.number),
  earlier: is.optional(is.tableOf(is.object({ imageUrl: httpUrl, at: is.number }))),
})

/** How many earlier photos' addresses are saved. */
const earlierLimit = 8

interface PhotosParts extends SavedParts {
  client: Client
  keys: () => Keys
  store: BoundedPhotoStore
  errands: Errands
  prepare: Prepare
  /** Whether a try-on of any page may still have to upload this photo. */
  isNeeded: (photoId: string) => Promise<boolean>
}

export function createPhotos(parts: PhotosParts): Photos {
  const { client, clock, catalog, keys, store, errands, prepare, retentionMs } = parts
  const current = createValue<RoomPhoto | null>(null)
  const saved = savedValue(parts, () => keys().photo, savedPhoto)
  /** Bytes that the store has refused. */
  const held = new Map<string, StoredPhoto>()
  /** Kept for records that may not name them yet. */
  const awaited = new Set<string>()
  /** How many photos were given, and which of them is the room's. */
  let keeps = 0
  let latest = 0
  /** Where photos are, and since when, in epoch ms. */
  const uploaded = new Map<string, { imageUrl: string; at: number }>()
  const targets = new Map<string, { outcome: Outcome<UploadTarget>; until: number }>()

  function check(shopper: Shopper, isWanted = () => true): void {
    if (shopper.aborted || !isWanted()) throw stopped('startedOver')
  }

  async function show(photo: RoomPhoto, shopper: Shopper): Promise<boolean> {
    check(shopper)
    current.set(photo)
    return save(shopper, photo)
  }

  const placed = (imageUrl: string, at = clock.now()) => ({ imageUrl, at })

  /** Takes note of where a photo is, if anywhere, and since when. */
  function note({ id, imageUrl }: RoomPhoto, at?: number): void {
    if (imageUrl !== null) uploaded.set(id, placed(imageUrl, at))
  }

  /** Saves where the photos of this page are. The room's is what is given, or what another page may have made it. */
  function save(shopper: Shopper, photo?: RoomPhoto): Promise<boolean> {
    return saved.save((found) => {
      const rooms = photo ?? found ?? current.get()
      if (rooms === null) return null
      const known = new Map([...Object.entries(found?.earlier ?? {}), ...uploaded])
      if (found?.imageUrl) known.set(found.id, placed(found.imageUrl, found.at))
      const at = known.get(rooms.id)?.at
      known.delete(rooms.id)
      const lasting = [...known].filter((each) => each[1].at > clock.now() - retentionMs)
      return { ...rooms, at, earlier: Object.fromEntries(lasting.slice(-earlierLimit)) }
    }, shopper)
  }

  /** Learns where photos are; resolves with the room's. */
  async function learn(): Promise<RoomPhoto | null> {
    const found = await saved.restore()
    if (found === null) return null
    const { at, earlier = {}, ...photo } = found
    for (const [id, each] of Object.entries(earlier)) uploaded.set(id, each)
    note(photo, at)
    return photo
  }

  async function letGo(photoId: string): Promise<void> {
    held.delete(photoId)
    targets.delete(photoId)
    await store.strikeOut(keys().photoBytes(photoId))
  }

  async function letGoUnneeded(photoId: string): Promise<void> {
    const isInUse = awaited.has(photoId) || errands.isRunning(photoId)
    const isNeeded = isInUse || (await parts.isNeeded(photoId).catch(() => true))
    if (!isNeeded) await letGo(photoId)
  }

  async function targetFor(photoId: string, photo: StoredPhoto, { customKey, turn }: UploadTerms, signal: AbortSignal) {
    const known = targets.get(photoId)
    if (known && clock.now() < known.until) return known.outcome
    const until = clock.now() + uploadExpiryMs
    const outcome = await client.createUpload(
      { contentType: photo.type as ImageType, customKey: customKey || undefined },
      { signal, turn },
    )
    if (outcome.kind === 'accepted') targets.set(photoId, { outcome, until })
    return outcome
  }

  async function upload(photoId: string, terms: UploadTerms, signal: AbortSignal): Promise<Outcome<UploadedPhoto>> {
    const shopper = catalog.shopper()
    const known = uploaded.get(photoId)
    if (known) return { kind: 'accepted', data: { id: photoId, imageUrl: known.imageUrl } }
    const stored = held.get(photoId) ?? (await store.get(keys().photoBytes(photoId)).catch(() => null))
    check(shopper)
    // a read that failed is tried again: it is no absence
    if (stored === null) return unread
    if (!stored) {
      // where it was uploaded to may not have been readable before
      const isRead = await succeeds(learn())
      check(shopper)
      if (uploaded.has(photoId)) return upload(photoId, terms, signal)
      return isRead ? refusePhoto('missing') : unread
    }
    const photo = stored.metadataKept === undefined ? await prepare(stored, true) : stored
    check(shopper)
    const target = await targetFor(photoId, photo, terms, signal)
    if (target.kind !== 'accepted') return target
    const { uploadUrl, imageUrl } = target.data
    // a page that was away may not have heard of a reset()
    await catalog.isPresent(shopper)
    check(shopper)
    const put = await client.putPhoto(uploadUrl, photo, { onProgress: terms.onProgress, signal })
    check(shopper)
    if (put.kind === 'rejected') targets.delete(photoId)
    if (put.kind !== 'accepted') return put
    uploaded.set(photoId, placed(imageUrl))
    const shown = current.get()
    const isSaved = await (shown?.id === photoId ? show({ ...shown, imageUrl }, shopper) : save(shopper))
    // the bytes are all that a reload would find of it
    if (isSaved) await letGo(photoId)
    return { kind: 'accepted', data: { id: photoId, imageUrl, ...(photo.metadataKept && { metadataKept: true }) } }
  }

  /** The bytes wait where a reload finds them; a store that fails costs the reload its photo, never this page its upload. */
  async function keepBytes(id: string, { bytes, type, metadataKept }: StoredPhoto, shopper: Shopper): Promise<void> {
    const photo = { bytes, type, metadataKept }
    const key = keys().photoBytes(id)
    const listed = await catalog.list(key, shopper)
    check(shopper)
    // what no later page could find to remove is not stored
    if (listed === 'memory') return void held.set(id, photo)
    const isStillListed = async () => (await catalog.isPresent(shopper)) && (await catalog.entries())[key] !== undefined
    await store.set(key, photo, isStillListed).catch(() => {
      check(shopper)
      held.set(id, photo)
    })
    check(shopper)
  }

  const drop = async (photoId: string) => {
    if (current.get()?.id !== photoId) await letGoUnneeded(photoId)
  }

  return {
    ...current,
    again() {
      if (saved.hasExpired()) current.set(null)
      return current.get()
    },
    async restore() {
      const photo = await learn().catch(() => null)
      if (photo) current.set(photo)
    },
    async keep(input, despiteAdvice, isWanted) {
      const shopper = catalog.shopper()
      const order = ++keeps
      const given = await readPhoto(input, clock)
      const id = newId()
      const kept: RoomPhoto = { id, imageUrl: null }
      if ('imageUrl' in given) kept.imageUrl = given.imageUrl
      const photo = 'bytes' in given ? await prepare(given, despiteAdvice) : null
      if (photo?.metadataKept) kept.metadataKept = true
      check(shopper, isWanted)
      awaited.add(id)
      note(kept)
      if (photo) await keepBytes(id, photo, shopper)
      try {
        check(shopper, isWanted)
      } catch (error) {
        awaited.delete(id)
        await letGoUnneeded(id)
        throw error
      }
      // of two the room's is the one that was given last, whichever is kept first
      if (order < latest) {
        await save(shopper)
        return kept
      }
      latest = order
      const before = current.get()
      await show(kept, shopper)
      // of one that is uploaded nothing is kept here
      if (before && before.imageUrl === null) await letGoUnneeded(before.id)
      return kept
    },
    takeOver: note,
    async release(photoId) {
      if (awaited.delete(photoId)) await drop(photoId)
    },
    drop,
    upload: (photoId, terms) => errands.run(photoId, (signal) => upload(photoId, terms, signal)),
    hide: () => void current.set(null),
    forget() {
      current.set(null)
      for (const known of [held, uploaded, targets]) known.clear()
    },
  }
}

const unread = unanswered('putPhoto', { came: 'notSent', why: 'unreachable' })
