import type { Written } from '../../machines/try-on.types.ts'
import type { Problem } from '../rules/problem.ts'
import { mayBePaid } from '../rules/copies.ts'
import { isOwed, isUnsentTooLong, type AttemptRecord } from '../rules/record.ts'
import { archivedOf, archiveHidden, isDoneWith, type ArchiveParts } from './archive.ts'
import { isAsSeen, type Current, type CurrentParts } from './current.ts'
import { readable, type Found } from './journal.ts'

/** What storage holds of a try-on, and what of it still counts. */
export interface Restoring {
  /** `gone` are attempts that were just removed, whatever storage says, and `why` is what is to be said of that. */
  restore(gone?: readonly string[], why?: Problem | null): Promise<Written>
  /** Whether storage, when it was last read, may have held something that it did not tell. */
  isUnread(): boolean
  /** Whether a record is too old to go on with, or to be shown. */
  hasExpired(record: AttemptRecord): boolean
  /** Whether a consent is another page's, which may live: only another word takes that one's place. */
  isOfAnother(found: Found<AttemptRecord>): boolean
}

export interface RestoringParts extends ArchiveParts, Pick<CurrentParts, 'catalog' | 'clock' | 'isDurable'> {
  /** Whether another page may be at what this one has not begun, at the same time. */
  isOpenToAll: boolean
  retentionMs: number
}

/** `begun` are the attempts that this page has begun. */
export function createRestoring(parts: RestoringParts, current: Current, begun: ReadonlySet<string>): Restoring {
  const { catalog, clock, isDurable } = parts
  let isUnread = false

  /** What to say of a record that is too old; undefined where it is not. */
  function expiryOf(record: AttemptRecord): Problem | null | undefined {
    if (record.phase === 'consented' && isUnsentTooLong(record, clock.now())) return { kind: 'consentExpired' }
    // a job that may still be running is polled once more before its record expires
    const isOld = clock.now() - record.savedAt > parts.retentionMs
    return isOld && !isOwed(record) ? null : undefined
  }

  /** The job of an attempt may be known to the archive alone, where its place did not take it. */
  async function withJob(record: AttemptRecord): Promise<AttemptRecord> {
    if (record.job || !mayBePaid(record)) return record
    const archived = await archivedOf(parts, record.attemptId)
    if (!archived?.job) return record
    const kept = await current.replace(archived, (found) => isAsSeen(found, record))
    return kept === 'unchanged' ? record : archived
  }

  const isOfAnother: Restoring['isOfAnother'] = (found) => {
    const record = readable(found)
    return parts.isOpenToAll && record?.phase === 'consented' && !begun.has(record.attemptId)
  }

  async function restore(gone: readonly string[] = [], why: Problem | null = null): Promise<Written> {
    const unread: Written = { kind: 'none', durable: false, problem: why ?? unreadable }
    // what was read before a reset() is not the next shopper's
    const shopper = catalog.shopper()
    const found = await current.find(shopper).catch(() => null)
    isUnread = found === null
    if (found === null) return unread
    const problem = why ?? (found.skipped ? { kind: 'recordUnreadable' } : null)
    const nothing: Written = { kind: 'none', durable: isDurable, problem }
    const { record } = found
    if (record === null || gone.includes(record.attemptId)) return nothing
    const isOver = await isDoneWith(parts, record)
    if (!isOver) await archiveHidden(parts, current.cell(), record, shopper)
    const expiry = isOver ? null : expiryOf(record)
    if (expiry !== undefined) {
      // where it is not gone what is read and what is changed are not the same: storage cannot be relied on
      if ((await current.remove(record)) === 'unchanged' && (await current.stands(record))) return unread
      return restore([...gone, record.attemptId], why ?? expiry)
    }
    if (shopper.aborted) return { kind: 'overtaken' }
    if (isOfAnother(record)) return nothing
    current.remember(record, shopper)
    const furthest = await withJob(record)
    return { kind: 'stands', record: furthest, durable: current.isStored(furthest), problem }
  }

  return {
    restore,
    isUnread: () => isUnread,
    hasExpired: (record) => expiryOf(record) !== undefined,
    isOfAnother,
  }
}

export const unreadable: Problem = { kind: 'storageUnreadable' }
