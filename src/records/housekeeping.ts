import * as is from '../contract/schema.ts'
import type { Clock } from '../ports.ts'
import { dueNow } from '../rules/copies.ts'
import { clockSlackMs, isOwed, recordCodec } from '../rules/record.ts'
import type { Catalog } from './catalog.ts'
import { codecOf, type Journal } from './journal.ts'
import { isBytes, kindOf, leaseOf, picturedIn, type Keys } from './keys.ts'
import type { BoundedPhotoStore } from './photo-store.ts'

interface HousekeepingParts {
  catalog: Catalog
  journal: Journal
  keys: () => Keys
  store: BoundedPhotoStore
  clock: Clock
  retentionMs: number
}

const anyCodec = codecOf(is.wholeOf(is.object({ savedAt: is.number })))

const lease = is.object({ until: is.number })

/** Removes what has expired, and what a page was about to remove when it was killed, as a room does when it opens. */
export async function sweep(parts: HousekeepingParts, keepsPictures: boolean): Promise<void> {
  await removeDue(parts)
  // a picture in no list was written over its removal, or is asked for once more; a photo may be about to be uploaded
  if (keepsPictures && !parts.catalog.isUnreadable()) await removeUnlisted(parts, (key) => kindOf(key) === 'picture')
}

async function removeDue(parts: HousekeepingParts): Promise<void> {
  const { catalog, clock, retentionMs } = parts
  const now = clock.now()
  const changes: Parameters<Catalog['reschedule']>[0] = {}
  for (const [key, seen] of Object.entries(await catalog.entries())) {
    // what was listed by a clock that ran ahead is due no later than if it was listed now
    if (seen > now + retentionMs) changes[key] = { seen, next: now + retentionMs }
    else if (seen <= now || (await isDiscarded(parts, picturedIn(key)))) {
      const next = await dueAt(parts, key, seen).catch(() => seen)
      // a key stays listed as long as its lease is there
      const isLeased = next === null && kindOf(key) === 'attempt'
      changes[key] = { seen, next: isLeased ? await leasedUntil(parts, key, seen) : next }
    }
  }
  if (Object.keys(changes).length > 0) await catalog.reschedule(changes)
}

/** When it is looked again for the lease on what is gone, null where there is none: that of a page that was killed goes, too. */
async function leasedUntil({ journal, clock, retentionMs }: HousekeepingParts, key: string, seen: number) {
  const now = clock.now()
  let isAlive = false
  const isGone = await journal.remove([leaseOf(key)], (stored) => {
    const isKept = Number(lease.safeParse(stored).data?.until) > now
    isAlive ||= isKept
    return isKept
  })
  if (isAlive) return now + retentionMs
  return isGone ? null : seen
}

const isDiscarded = async ({ catalog }: HousekeepingParts, attemptId: string | undefined) =>
  attemptId !== undefined && (await catalog.fateOf(attemptId)) === 'discarded'

/** When what was due expires now; null once it is gone. */
async function dueAt(parts: HousekeepingParts, key: string, until: number): Promise<number | null> {
  const { journal, store, clock, retentionMs } = parts
  if (isBytes(key)) return (await store.remove(key)) ? null : until
  const cell = journal.cell(key, parts.catalog.dated(anyCodec))
  const found = await cell.read()
  if (found === null) return null
  // what was told is known for longer than its attempts are
  const keptMs = key === parts.keys().told ? 2 * retentionMs : retentionMs
  if (found !== 'unreadable') {
    const age = clock.now() - found.savedAt
    if (age >= -clockSlackMs && age <= keptMs) return found.savedAt + keptMs
  }
  const record = recordCodec.read(found)
  // what this version cannot read may be another's
  if (kindOf(key) === 'attempt' && record === 'unreadable') return clock.now() + retentionMs
  // somebody may still ask what has become of a job
  const isAwaited = record !== 'unreadable' && until !== dueNow && isOwed(record)
  if (isAwaited && !(await isDiscarded(parts, record.attemptId))) return dueNow
  let isGone = false
  const kept = await cell.update((old) => {
    isGone = old === null
    return JSON.stringify(old) === JSON.stringify(found) ? null : undefined
  })
  // another attempt may come to light, which another tier of storage had
  if (kept === 'stored') return dueAt(parts, key, until)
  if (kept === 'memory') return until
  // what another page has begun there meanwhile is as new as can be; it may have removed it, too
  return isGone ? null : clock.now() + retentionMs
}

/**
 * Removes everything of every visitor of the room; resolves with whether all of it went. `onCounted` hears whether there
 * was a reset at all.
 */
export async function wipe(
  { catalog, journal, keys, store }: HousekeepingParts,
  onCounted: (isCounted: boolean) => void,
): Promise<boolean> {
  const { listed, isCounted, isTakenOver } = await catalog.reset()
  // a list that was lost, or never taken, names not all that this page has seen
  const seen = journal.seen((key) => key.startsWith(`${keys().room}:`) && kindOf(key) === 'attempt')
  onCounted(isCounted)
  if (!isCounted) {
    await journal.takeBack(seen)
    return false
  }
  // what was being written lands before it is removed
  const isLanded = await store.landed()
  const bytesGone = await Promise.all(listed.filter(isBytes).map(store.remove))
  // what is listed by then is the next shopper's
  const isStrayGone = await removeUnlisted({ catalog, keys, store }, isBytes).catch(() => false)
  const values = [...listed.filter((key) => !isBytes(key)), ...seen.map(([key]) => key)]
  const leases = values.map(leaseOf)
  const { visitor, photo, told, former } = keys()
  // another page may be with the next shopper already
  const valuesGone = await journal.remove(
    [...new Set([...values, ...leases, visitor, photo, told, ...(isTakenOver ? former : [])])],
    catalog.isOfNow,
  )
  if (!valuesGone || !isLanded || !isStrayGone || bytesGone.includes(false)) return false
  const struckOut = Object.fromEntries(listed.map((key) => [key, { seen: dueNow, next: null }]))
  // keys name attempts and products
  const isListGone = (await catalog.reschedule(struckOut)) !== 'memory' && !(await catalog.listsFormer(listed))
  return isListGone && isTakenOver && !catalog.isUnreadable()
}

/** Removes bytes of the room's visitors that stand in no list: it may have been lost, or a killed page have written over a removal. */
async function removeUnlisted(
  { catalog, keys, store }: Pick<HousekeepingParts, 'catalog' | 'keys' | 'store'>,
  isMeant: (key: string) => boolean,
): Promise<boolean> {
  const found = (await store.keys()).filter((key) => key.startsWith(`${keys().room}:`) && isMeant(key))
  if (found.length === 0) return true
  const listed = await catalog.entries()
  const gone = await Promise.all(found.filter((key) => !listed[key]).map(store.remove))
  return !gone.includes(false)
}
