import { digitsOf } from '../contract/ids.ts'
import type { Clock } from '../ports.ts'
import { mayBeRunning, type AttemptRecord, type Phase } from '../rules/record.ts'
import type { RecordCell } from './attempts.ts'
import type { Catalog } from './catalog.ts'
import { kindOf, type Keys } from './keys.ts'

/** One attempt that storage holds. Times are epoch ms. */
export interface Listed<Opened> {
  attemptId: string
  productId: string
  variantId: string
  phase: Phase
  jobId: string | null
  startedAt: number
  savedAt: number
  /** False for the attempt that its try-on shows. */
  archived: boolean
  /** What follows this attempt: `resume()` there goes on with the same job where one is known. */
  open(): Opened
}

interface StoredAttempt {
  key: string
  record: AttemptRecord
  archived: boolean
}

export interface ListingParts {
  catalog: Catalog
  keys: () => Keys
  clock: Clock
  retentionMs: number
  cellOf: (key: string) => RecordCell
}

/** Every attempt of the room's visitor that storage holds and that has not expired, newest first. */
export async function listAttempts<Opened>(
  { catalog, keys, clock, retentionMs, cellOf }: ListingParts,
  open: (attempt: StoredAttempt) => Opened,
): Promise<Listed<Opened>[]> {
  const listed = Object.keys(await catalog.entries()).filter((key) => keys().isOwn(key) && kindOf(key) === 'record')
  const found = await Promise.all(listed.map(async (key) => ({ key, record: await cellOf(key).read() })))
  const readable = found.flatMap(({ key, record }) => (record && record !== 'unreadable' ? [{ key, record }] : []))
  const shown = shownKeys(readable, keys())
  return readable
    .filter(({ record }) => mayBeRunning(record) || clock.now() - record.savedAt <= retentionMs)
    .sort((a, b) => b.record.startedAt - a.record.startedAt)
    .map(({ key, record }) => {
      const archived = !shown.has(key)
      return { ...listing(record), archived, open: () => open({ key, record, archived }) }
    })
}

/** A try-on shows the first of its records that can be read; one past it was begun while that could not be. */
function shownKeys(readable: readonly { key: string; record: AttemptRecord }[], keys: Keys): Set<string> {
  const current = readable.filter(({ key, record }) => key !== keys.attempt(record.attemptId))
  const places = current.map(({ record }) => keys.tryOn(digitsOf(record.productId), digitsOf(record.variantId)))
  const held = new Set(current.map(({ key }) => key))
  return new Set(places.flatMap((candidates) => candidates.find((key) => held.has(key)) ?? []))
}

function listing({ attemptId, productId, variantId, phase, startedAt, savedAt, job }: AttemptRecord) {
  return { attemptId, productId, variantId, phase, startedAt, savedAt, jobId: job?.jobId ?? null }
}

/** Whether an attempt of the room's visitor may still have to upload this photo. */
export async function isPhotoNeeded({ catalog, keys, cellOf }: ListingParts, photoId: string): Promise<boolean> {
  const current = Object.keys(await catalog.entries()).filter((key) => keys().isOwn(key) && kindOf(key) === 'record')
  const found = await Promise.all(
    current.map((key) =>
      cellOf(key)
        .read()
        .catch(() => null),
    ),
  )
  return found.some((each) => each && each !== 'unreadable' && needsPhoto(each, photoId))
}

const needsPhoto = ({ photo, phase }: AttemptRecord, photoId: string) =>
  photo.id === photoId && photo.imageUrl === undefined && phase !== 'rejected' && phase !== 'protocolError'
