import { digitsOf } from '../contract/forms.ts'
import type { Clock } from '../ports.ts'
import type { Phase } from '../rules/phases.ts'
import { mayBeRunning, type AttemptRecord } from '../rules/record.ts'
import type { TryOnResult, TryOnView } from '../rules/view.ts'
import type { TryOnState } from '../rules/words.ts'
import { archiveHidden, isDoneWith, type ArchiveParts, type RecordCell } from './archive.ts'
import { readable } from './journal.ts'
import { kindOf, type Keys } from './keys.ts'

/** One attempt that storage holds. Times are epoch ms. */
export interface Listed<Opened> {
  attemptId: string
  /** As the consent named it: digits, or `gid://…/digits`; digits if it came by a ticket. */
  productId: string
  variantId: string
  /** How far it has come, as it is stored; `state` is what a view shows for it. */
  phase: Phase
  /** Null until the service has answered with it. */
  jobId: string | null
  /** When its consent was given, in epoch ms. */
  startedAt: number
  /** The version of the notice that the shopper agreed to; null if none was required. */
  notice: string | null
  /** When it was last stored, in epoch ms. */
  savedAt: number
  /** False for the attempt that its try-on shows. */
  archived: boolean
  /** Where it stands, as a view says it. */
  state: TryOnState
  preview: TryOnResult | null
  result: TryOnResult | null
  /** The try-on that follows this attempt; its `resume()` continues the same job if one is known. */
  open(): Opened
}

interface StoredAttempt {
  key: string
  record: AttemptRecord
  archived: boolean
}

interface ListingParts extends ArchiveParts {
  keys: () => Keys
  clock: Clock
  retentionMs: number
  recordAt: (key: string) => RecordCell
}

/** Every attempt of the room's visitor that storage holds and that has not expired, newest first. */
export async function listAttempts<Opened>(
  parts: ListingParts,
  viewOf: (record: AttemptRecord, archived: boolean) => TryOnView,
  open: (attempt: StoredAttempt) => Opened,
): Promise<Listed<Opened>[]> {
  const { keys, clock, retentionMs, recordAt } = parts
  const shopper = parts.catalog.shopper()
  const read = await readRecords(parts)
  let isMore = false
  for (const { key, record } of read) if (await archiveHidden(parts, recordAt(key), record, shopper)) isMore = true
  const known = isMore ? await readRecords(parts) : read
  const shown = shownKeys(known, keys())
  return (
    furthest(known, shown)
      .filter(({ record }) => mayBeRunning(record) || clock.now() - record.savedAt <= retentionMs)
      .sort((a, b) => b.record.startedAt - a.record.startedAt)
      .map(({ key, record }) => {
        const archived = !shown.has(key)
        const { state, preview, result } = viewOf(record, archived)
        const { attemptId, productId, variantId, phase, startedAt, savedAt, notice = null, job } = record
        const jobId = job?.jobId ?? null
        const listed = { attemptId, productId, variantId, phase, jobId, startedAt, notice, savedAt, archived }
        return { ...listed, state, preview, result, open: () => open({ key, record, archived }) }
      })
      // of a consent that is over nothing has come
      .filter(({ state }) => state !== 'idle')
  )
}

/** The records of the room's visitor that can be read; rejects where storage fails. */
async function readRecords(parts: ListingParts) {
  const { catalog, keys, recordAt } = parts
  const listed = Object.keys(await catalog.entries()).filter((key) => keys().isOwn(key) && kindOf(key) === 'attempt')
  const found = await Promise.all(listed.map(async (key) => ({ key, record: readable(await recordAt(key).read()) })))
  const known = found.flatMap(({ key, record }) => (record ? [{ key, record }] : []))
  // another tier of storage may have a copy of what was discarded, or left before anything was sent
  const done = await Promise.all(known.map(({ record }) => isDoneWith(parts, record)))
  return known.filter((_, at) => !done[at])
}

/** A try-on shows the first of its records that can be read; one past it was begun while that could not be. */
function shownKeys(known: readonly { key: string; record: AttemptRecord }[], keys: Keys): Set<string> {
  const current = known.filter(({ key, record }) => key !== keys.attempt(record.attemptId))
  const places = current.map(({ record }) => keys.tryOn(digitsOf(record.productId), digitsOf(record.variantId)))
  const held = new Set(current.map(({ key }) => key))
  return new Set(places.flatMap((candidates) => candidates.find((key) => held.has(key)) ?? []))
}

/** Of an attempt that stands in two places the one whose job is known, or the one that its try-on shows. */
function furthest<Read extends { key: string; record: AttemptRecord }>(
  known: readonly Read[],
  shown: ReadonlySet<string>,
): Read[] {
  const rank = ({ key, record }: Read) => (record.job ? 2 : 0) + (shown.has(key) ? 1 : 0)
  const ranked = [...known].sort((a, b) => rank(a) - rank(b))
  return [...new Map(ranked.map((each) => [each.record.attemptId, each])).values()]
}

/** Whether an attempt of the room's visitor may still have to upload this photo; rejects where storage fails. */
export async function isPhotoNeeded(parts: ListingParts, photoId: string): Promise<boolean> {
  return (await readRecords(parts)).some(({ record }) => needsPhoto(record, photoId))
}

const needsPhoto = ({ photo, phase }: AttemptRecord, photoId: string) =>
  photo.id === photoId && photo.imageUrl === undefined && phase !== 'rejected' && phase !== 'protocolError'
