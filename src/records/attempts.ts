import type { Written } from '../../machines/try-on.types.ts'
import { isBefore, mayBePaid } from '../rules/copies.ts'
import type { Problem } from '../rules/problem.ts'
import { wordOf, type AttemptRecord } from '../rules/record.ts'
import { isDoneWith, readIn } from './archive.ts'
import { createClaims, type Claims } from './claims.ts'
import { createCurrent, isAsLeft, isAsSeen, isOf, type Current, type CurrentParts } from './current.ts'
import { readable, type Found, type Kept } from './journal.ts'
import { createLeaving, type Leaving, type LeavingParts } from './leaving.ts'
import { createRestoring, unreadable, type Restoring, type RestoringParts } from './restoring.ts'
import { createWrites } from './writes.ts'

/**
 * The durable side of one try-on: which attempt is current, written by compare-on-attempt and on the phase that was
 * seen, so that an answer that comes late or a page that slept never overwrites what another page has done since.
 */
export interface Attempts
  extends
    Claims,
    Pick<Current, 'isStored' | 'stands'>,
    Pick<Restoring, 'hasExpired'>,
    Pick<Leaving, 'isLeft' | 'withdraw' | 'goesOn' | 'isBehind' | 'catchUp'> {
  restore(): Promise<Written>
  /** What storage holds, for a page that only looks on; rejects where it cannot be read. */
  look(): Promise<AttemptRecord | null>
  /** Whether no other page, nor a loss of power, can have made what was read of the try-on older than what was done. */
  isExclusive(): boolean
  /** Whether no other page can be at the same try-on. */
  keepsOthersOut(): boolean
  /** Writes a new consent in place of `previous`, which is archived if money may have been spent on it. */
  begin(record: AttemptRecord, previous: AttemptRecord | null, signal?: AbortSignal): Promise<Written>
  /** Writes the next phase of `seen`. A job is taken in every phase that has none, and goes to the archive if its attempt was left. */
  write(record: AttemptRecord, seen: AttemptRecord): Promise<Written>
  /** Takes the record away, into the archive if money may have been spent on it. */
  leave(record: AttemptRecord, problem: Problem | null): Promise<Written>
  /** A page that has lost the try-on keeps what storage has lost meanwhile, if money may have been spent on it. */
  rescue(record: AttemptRecord): Promise<void>
  /** A page that waits has what only the memory of the one that runs the try-on has, until it takes over or drops it. */
  hold(record: AttemptRecord): void
  /** What is held of an attempt. */
  heldOf(attemptId: string): AttemptRecord | undefined
  /** Lets go of all that is held, or of what is not of that attempt. */
  dropHeld(but?: string): void
  /** Whether an attempt stands that this page was writing, once that has ended; gone on with, where it stood before. */
  isKept(attemptId: string, before: AttemptRecord | null): Promise<boolean>
  /** A consent was passed on by another page, which carries it out itself where this one is left. */
  share(attemptId: string): void
  /** What only memory has of such consents is let go of, once it is written. */
  dropShared(): void
  /** The same of all that this page has begun and not sent. */
  dropUnsent(): void
  /** Takes the record away for good, and refuses its late answers. */
  forget(record: AttemptRecord): Promise<Written>
  /** Whether an attempt was forgotten for good. */
  isForgotten(attemptId: string): Promise<boolean>
  /** Settles once every write of the try-on that was begun has ended; null where none is under way. */
  underWay(): Promise<unknown> | null
}

export interface AttemptsParts extends LeavingParts, RestoringParts, CurrentParts {
  /** Whether no other page, nor a loss of power, can have made the value under that key older than what was done. */
  isExclusive: (key: string) => boolean
}

export function createAttempts(parts: AttemptsParts): Attempts {
  const { catalog, archiveOf } = parts
  const current = createCurrent(parts)
  const { cell, isAlive, put, remove, notArchived, stopped, written } = current
  /** Attempts that no other page knows where storage has taken nothing yet; those that were read are another one's, too. */
  const begun = new Set<string>()
  const leaving = createLeaving(parts, current)
  const { archive, isBuried, isLost, standingOf, stop } = leaving
  const restoring = createRestoring(parts, current, begun)
  const { restore, isUnread, isOfAnother } = restoring
  const claims = createClaims(parts, current, leaving, begun)
  /** Attempts that this page has begun where storage may have held something that it did not tell. */
  const blind = new Set<string>()
  /** Consents that other pages have passed on to this one. */
  const shared = new Set<string>()
  /** What the page that runs the try-on has told of its attempts. */
  const held = new Map<string, AttemptRecord>()
  const writes = createWrites()

  /** Only what a submission has led to is written anew where storage lost it: another page may have left the rest. */
  async function keep(record: AttemptRecord, seen: AttemptRecord): Promise<Written> {
    const kept = await put(record, (found) => isAsSeen(found, seen) || (!!record.job && isLessFar(found, record)))
    // a job that its place does not take may still go to the archive, where a reload finds it
    if (kept === 'memory' && record.job !== undefined) await archive(record)
    const isPaidFor = record.job !== undefined || mayBePaid(seen)
    if (kept !== 'unchanged' || !isPaidFor) return written(record, kept)
    if (await isLost(record)) return written(record, await put(record, (found) => found === null))
    const replaced = await putInPlace(record)
    if (replaced !== 'unchanged') return written(record, replaced)
    // another attempt stands here by now: what may be paid for must stand somewhere
    if (!mayBePaid(record) || !(await isAlive(record))) return { kind: 'overtaken' }
    await archive(record, true)
    return { kind: 'overtaken', archived: record }
  }

  /** Puts what was begun where nothing could be read in place of what was there before, as any later word leaves it. */
  async function putInPlace(record: AttemptRecord): Promise<Kept> {
    if (!blind.has(record.attemptId)) return 'unchanged'
    const stands = await readIn(cell())
    if (!stands || stands.attemptId === record.attemptId || stands.startedAt >= record.startedAt) return 'unchanged'
    if (mayBePaid(stands) && !(await archive(stands, true))) return 'unchanged'
    return put(record, (each) => isAsSeen(each, stands))
  }

  /** What the page that ran the try-on before could not write, unless it stands by now. */
  async function takeUp(record: AttemptRecord): Promise<void> {
    const found = await standingOf(record)
    const own = found.filter((each) => isOf(each, record.attemptId))
    if (own.some((each) => !isLessFar(each, record))) return
    // nobody knows whether that page could read what stands there
    blind.add(record.attemptId)
    const kept = await put(record, (each) => (each === null ? own.length === 0 : isLessFar(each, record)))
    if (kept === 'unchanged') await keep(record, record)
  }

  /** Whether a look at its job has been written since it was seen; where the archive has yet to learn of something it stays. */
  function isLookedAt(found: Found<AttemptRecord>, { attemptId, job }: AttemptRecord): boolean {
    return isOf(found, attemptId) && !!job && readable(found)?.job?.jobId === job.jobId && !leaving.isBehind()
  }

  /** What there is when the record is gone, or instead of it where it is no longer as it was seen. */
  async function without(record: AttemptRecord, problem: Problem | null = null): Promise<Written> {
    const removed = await remove(record, (found) => isAsLeft(found, record) || isLookedAt(found, record))
    if (!(await isBuried(record, removed))) return stopped(record)
    if (removed === 'memory')
      return { kind: 'none', durable: false, problem: problem ?? (isUnread() ? unreadable : null) }
    return restore(removed === 'stored' ? [record.attemptId] : [], problem)
  }

  /** What storage has of them stays. */
  function dropFromMemory(ids: ReadonlySet<string>, isMeant: (record: AttemptRecord) => boolean): void {
    if (ids.size === 0) return
    const drop = () =>
      cell().forget((found) => {
        const record = readable(found)
        // that nothing is there nobody knows who was away
        return found === null || (record !== null && ids.has(record.attemptId) && isMeant(record))
      })
    const writing = writes.underWay()
    if (writing) void writing.then(drop)
    else drop()
  }

  const isExclusive = () => parts.isExclusive(cell().key)

  return {
    ...current,
    ...leaving,
    ...restoring,
    ...claims,
    underWay: writes.underWay,

    async restore() {
      const found = await restore()
      let last: AttemptRecord | undefined
      for (last of held.values()) await takeUp(last)
      held.clear()
      if (last === undefined) return found
      // nobody knows what stands there, and this is under way
      return isUnread() && (await isAlive(last)) ? { kind: 'stands', record: last, durable: false } : restore()
    },

    async look() {
      const { record, skipped } = await current.find(catalog.shopper())
      if (record === null && skipped) throw new Error('what stands here is not readable by this version')
      return record && (await isDoneWith(parts, record)) ? null : record
    },

    isExclusive,
    // of pages that read no list in common each has a try-on of its own
    keepsOthersOut: () => catalog.isSeen() && isExclusive(),

    begin: writes.tracked(async (record, previous, signal) => {
      catalog.speaks()
      // whose it is, before a look may tell of a reset()
      current.remember(record, catalog.shopper())
      // a page that was asked for it may hear so once another one has carried it out
      if (await isDoneWith(parts, record)) return { kind: 'overtaken' }
      begun.add(record.attemptId)
      if (isUnread()) blind.add(record.attemptId)
      if (previous !== null && mayBePaid(previous) && !(await archive(previous, true))) return notArchived(previous)
      // what was passed on to a page that was left meanwhile may be done, or over, by now
      const isOthers = () => signal?.aborted === true && shared.has(record.attemptId)
      const isInPlace = (found: Found<AttemptRecord>) =>
        found === null || isAsLeft(found, previous) || (previous === null && isOfAnother(found))
      const kept = await put(record, (found) => !isOthers() && isInPlace(found))
      if (kept === 'unchanged' || previous === null || (await isBuried(previous, kept))) return written(record, kept)
      // a reload would bring the one before back, beside the job of this one
      await stop(record)
      return mayBePaid(previous) ? notArchived(previous) : stopped(record)
    }),

    claim: writes.tracked(claims.claim),

    write: writes.tracked(keep),

    async rescue(record) {
      const found = await cell()
        .read()
        .catch(() => record)
      if (mayBePaid(record) && !isOf(found, record.attemptId)) await keep(record, record)
    },

    hold(record) {
      // what was not sent may not come to stand with two pages
      if (!mayBePaid(record)) return
      held.set(record.attemptId, record)
      if (!current.shopperOf(record.attemptId)) current.remember(record, catalog.shopper())
    },

    heldOf: (attemptId) => held.get(attemptId),

    dropHeld(but) {
      for (const id of held.keys()) if (id !== but) held.delete(id)
    },

    leave: writes.tracked(async (record, problem) => {
      if (mayBePaid(record) && !(await archive(record, true))) return notArchived(record)
      return without(record, problem)
    }),

    async isKept(attemptId, before) {
      await writes.underWay()
      // what only memory has goes with its page
      await readIn(cell())
      const found = readable(current.onDisk())
      // where nobody is kept out nobody goes on with what was not sent
      if (found?.attemptId !== attemptId || (parts.isOpenToAll && found.phase === 'consented')) return false
      return before?.attemptId !== attemptId || found.phase !== before.phase || wordOf(found) !== wordOf(before)
    },

    async isLeft(attemptId, isForGood) {
      await writes.underWay()
      return leaving.isLeft(attemptId, isForGood)
    },

    share: (attemptId) => void shared.add(attemptId),

    dropShared: () => dropFromMemory(shared, ({ phase }) => phase === 'consented'),
    dropUnsent: () => dropFromMemory(new Set(begun), (record) => !mayBePaid(record)),

    forget: writes.tracked(async (record) => {
      const isMarked = await catalog.mark(record.attemptId, 'discarded', current.shopperOf(record.attemptId))
      // a job that a reload, or the page that has begun it, would bring back is not forgotten
      const isOurs = begun.has(record.attemptId) && !isOf(current.onDisk(), record.attemptId)
      if (!isMarked && mayBePaid(record) && !isOurs) {
        await catalog.unmark(record.attemptId)
        return notArchived(record)
      }
      const archived = archiveOf(record.attemptId)
      await archived.update((found) => (isOf(found, record.attemptId) ? null : undefined))
      return without(record)
    }),

    isForgotten: async (attemptId) => (await catalog.fateOf(attemptId)) === 'discarded',
  }
}

/** Whether the same attempt stands there less far, and not with another job. */
function isLessFar(found: Found<AttemptRecord>, record: AttemptRecord): boolean {
  const own = readable(found)
  if (own?.attemptId !== record.attemptId) return false
  return own.job ? own.job.jobId === record.job?.jobId && isBefore(own, record) : !!record.job || isBefore(own, record)
}
