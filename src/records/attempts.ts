import type { Written } from '../../machines/try-on.types.ts'
import { newId } from '../platform/new-id.ts'
import { quiet } from '../platform/quiet.ts'
import type { Clock } from '../ports.ts'
import { isBefore } from '../rules/copies.ts'
import type { Problem } from '../rules/problem.ts'
import { advance, isOwed, isUnsentTooLong, mayBePaid, wordOf, type AttemptRecord } from '../rules/record.ts'
import {
  archivedOf,
  archiveHidden,
  isDoneWith,
  keepInArchive,
  readIn,
  type ArchiveParts,
  type Place,
} from './archive.ts'
import { createCurrent, isAsLeft, isAsSeen, isOf, type CurrentParts } from './current.ts'
import type { Shopper } from './epochs.ts'
import { readable, type Found, type Kept } from './journal.ts'

/**
 * The durable side of one try-on: which attempt is current, written by compare-on-attempt and on the phase that was
 * seen, so that an answer that comes late or a page that slept never overwrites what another page has done since.
 */
export interface Attempts {
  restore(): Promise<Written>
  /** What storage holds, for a page that only looks on; rejects where it can not be read. */
  look(): Promise<AttemptRecord | null>
  /** Whether a reload would find it as it is; nothing is found as nothing. */
  isStored(record: AttemptRecord | null): boolean
  /** Whether no other page, nor a loss of power, can have made what was read of the try-on older than what was done. */
  isExclusive(): boolean
  /** Whether a record is too old to go on with, or to be shown. */
  hasExpired(record: AttemptRecord): boolean
  /** Writes a new consent in place of `previous`, which is archived if money may have been spent on it. */
  begin(record: AttemptRecord, previous: AttemptRecord | null, signal?: AbortSignal): Promise<Written>
  /** The claim that stands before the POST leaves; where it can not, a page stops it that no other one took over from. */
  claim(consented: AttemptRecord, isUntaken: () => Promise<boolean>): Promise<Written>
  /** Whether storage still has the record, as far as it can be read. */
  stands(record: AttemptRecord): Promise<boolean>
  /** Whether the claim still stands: the last look before the socket. */
  isWanted(claimed: AttemptRecord): Promise<boolean>
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
  /** Whether an attempt is gone from its place that this page was leaving, once that has ended; from the archive, too, where that is asked. */
  isLeft(attemptId: string, isForGood: boolean): Promise<boolean>
  /** Takes a consent of that shopper back that this page was writing; resolves with whether nobody submits it, as another page may have. */
  withdraw(attemptId: string, by: Shopper, isPassedOn?: boolean): Promise<boolean>
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
  /** Whether storage has yet to learn what was archived or left. */
  isBehind(): boolean
  /** Tells storage once more; resolves with what has come into the archive by that. */
  catchUp(): Promise<AttemptRecord[]>
  /** Settles once every write of the try-on that was begun has ended; null where none is under way. */
  underWay(): Promise<unknown> | null
}

export interface AttemptsParts extends ArchiveParts, CurrentParts {
  clock: Clock
  /** False for storage that a reload empties. */
  isDurable: boolean
  /** Whether that is so of the value under that key. */
  isExclusive: (key: string) => boolean
  /** Whether another page may be at what this one has not begun, at the same time. */
  isOpenToAll: boolean
  /** Whether a claim that only memory holds is safe from every other page, where that may know of the consent or not. */
  mayClaimInMemory: (isKnown: boolean) => boolean
  retentionMs: number
}

export function createAttempts(parts: AttemptsParts): Attempts {
  const { catalog, clock, archiveOf } = parts
  const current = createCurrent(parts)
  const { place, isAlive, put, remove } = current
  /** Whether storage, when it was last read, may have held something that it did not tell. */
  let isUnread = false
  /** Attempts that no other page knows where storage has taken nothing yet; those that were read are another one's, too. */
  const begun = new Set<string>()
  /** Attempts that this page has begun where storage may have held something that it did not tell. */
  const blind = new Set<string>()
  /** Consents that other pages have passed on to this one. */
  const shared = new Set<string>()
  /** What the page that runs the try-on has told of its attempts. */
  const held = new Map<string, AttemptRecord>()

  const written = (record: AttemptRecord, kept: Kept): Written =>
    kept === 'unchanged'
      ? { kind: 'overtaken' }
      : { kind: 'stands', record, durable: kept === 'stored' && parts.isDurable }

  const isStored = (record: AttemptRecord | null) =>
    parts.isDurable && (record === null || isAsSeen(current.onDisk(), record))

  /** The attempt stays where it is: its job would be lost from storage. */
  const notArchived = (record: AttemptRecord): Written => ({
    kind: 'stands',
    record,
    durable: isStored(record),
    problem: { kind: 'storage' },
  })

  /** Only what a submission has led to is written anew where storage lost it: another page may have left the rest. */
  async function keep(record: AttemptRecord, seen: AttemptRecord): Promise<Written> {
    const kept = await put(record, (found) => isAsSeen(found, seen) || (!!record.job && isLessFar(found, record)))
    // a job that its place does not take may still go to the archive, where a reload finds it
    if (kept === 'memory' && record.job !== undefined) await archive(record)
    const isPaidFor = record.job !== undefined || seen.phase === 'claimed'
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
    const stands = await readIn(place())
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

  /** What was left for the archive and stands in memory only, and whose it is. */
  const ahead = new Map<string, { record: AttemptRecord; shopper: Shopper }>()

  /** Takes a consent away; resolves with what is there of its attempt all the same, or was when storage last said so. */
  async function takeAway(attemptId: string): Promise<AttemptRecord[]> {
    const places = placesOf(attemptId)
    await place().cell.update((found) => {
      const record = readable(found)
      return record?.attemptId === attemptId && !isSubmitted(record) ? null : undefined
    })
    const copies = await Promise.all(places.map(({ cell }) => cell.copies()))
    return copies.flat().filter((copy) => copy.attemptId === attemptId)
  }

  const placesOf = (attemptId: string) => [place(), archiveOf(attemptId)]

  /** What stands in the two places of an attempt. */
  const standingOf = ({ attemptId }: AttemptRecord): Promise<Found<AttemptRecord>[]> =>
    Promise.all(placesOf(attemptId).map(({ cell }) => cell.read().catch(() => 'unreadable' as const)))

  /** Storage has lost the record: the attempt was neither left, which archives it, nor discarded. */
  async function isLost(record: AttemptRecord): Promise<boolean> {
    const found = await standingOf(record)
    return found.every((each) => each === null) && !ahead.has(record.attemptId) && isAlive(record)
  }

  /**
   * Storage may know more of the attempt than the machine: an answer that came late. A known job ID is never lost, nor
   * replaced. What is left for the archive is written there once storage takes it.
   */
  async function archive(record: AttemptRecord, isLeft = false): Promise<boolean> {
    const newest = newestOf(await readIn(place()), record)
    const isHeld = isOf(current.onDisk(), record.attemptId)
    const shopper = current.shopperOf(record.attemptId) ?? catalog.shopper()
    const kept = await keepInArchive(parts, newest, shopper, isHeld)
    if (kept !== 'memory') return true
    if (isLeft && !isHeld) ahead.set(record.attemptId, { record: newest, shopper })
    return !isHeld
  }

  const mark = (id: string, fate: 'left' | 'discarded') => catalog.mark(id, fate, current.shopperOf(id))

  /** Attempts that were to be left and may come back from storage all the same. */
  const unburied = new Set<string>()

  /** Takes away what may not go on by itself, should it come back. */
  async function stop(record: AttemptRecord): Promise<void> {
    await remove(record)
    if (!(await mark(record.attemptId, 'left'))) unburied.add(record.attemptId)
  }

  const copies = () => place().cell.copies()

  /** Whether some tier holds the attempt, as what would be found again. */
  const mayBeFound = async (record: AttemptRecord) =>
    (await copies()).some((copy) => isOf(copy, record.attemptId)) && !(await isDoneWith(parts, record))

  /**
   * Whether an attempt that was taken away stays away. A storage that does not answer, or does not let it go, may bring it
   * back; then it must not go on by itself, and where not even that can be written down the shopper has to know.
   */
  async function isBuried(record: AttemptRecord, kept: Kept): Promise<boolean> {
    if (mayBePaid(record)) return kept !== 'stored' || !(await mayBeFound(record))
    if (kept !== 'unchanged') unburied.add(record.attemptId)
    return bury()
  }

  async function bury(): Promise<boolean> {
    if (unburied.size === 0) return true
    const found = await copies()
    for (const id of unburied) {
      // who was asked for it before may hear so later
      const isMarked = await mark(id, 'left')
      if (isMarked || !found.some((copy) => isOf(copy, id))) unburied.delete(id)
    }
    return unburied.size === 0
  }

  /** What stands instead of an attempt that goes on nowhere, as storage did not let it. */
  function stopped(record: AttemptRecord): Written {
    const problem: Problem = { kind: 'storage' }
    // it goes nowhere by itself
    if (record.phase === 'protocolError' || mayBePaid(record)) return notArchived(record)
    return { kind: 'stands', record: advance(record, clock.now(), { phase: 'rejected', problem }), durable: false }
  }

  async function stands(record: AttemptRecord): Promise<boolean> {
    const found = await place()
      .cell.read()
      .catch(() => record)
    return isAsSeen(found, record)
  }

  /** What there is when the record is gone, or instead of it where it is no longer as it was seen. */
  async function without(record: AttemptRecord, problem: Problem | null = null): Promise<Written> {
    const removed = await remove(record, (found) => isAsLeft(found, record))
    if (!(await isBuried(record, removed))) return stopped(record)
    if (removed === 'memory')
      return { kind: 'none', durable: false, problem: problem ?? (isUnread ? unreadable : null) }
    return restoreRest(removed === 'stored' ? [record.attemptId] : [], problem)
  }

  /** As `restore`, with what is to be said of what has gone. */
  async function restoreRest(gone: readonly string[], problem: Problem | null): Promise<Written> {
    const rest = await restore(gone)
    return rest.kind === 'overtaken' ? rest : { ...rest, problem: problem ?? rest.problem ?? null }
  }

  /** What storage holds; `gone` are attempts that were just removed, whatever storage says. */
  async function restore(gone: readonly string[] = []): Promise<Written> {
    // what was read before a reset() is not the next shopper's
    const shopper = catalog.shopper()
    const found = await current.find(shopper).catch(() => null)
    isUnread = found === null
    if (found === null) return unread
    const problem: Problem | null = found.skipped ? { kind: 'recordUnreadable' } : null
    const { record } = found
    if (record === null || gone.includes(record.attemptId)) return { kind: 'none', durable: parts.isDurable, problem }
    const isOver = await isDoneWith(parts, record)
    if (!isOver) await archiveHidden(parts, place().cell, record, shopper)
    const expiry = isOver ? null : expiryOf(record)
    if (expiry !== undefined) {
      // where it is not gone what is read and what is changed are not the same: storage can not be relied on
      if ((await remove(record)) === 'unchanged' && (await stands(record))) return unread
      return restoreRest([...gone, record.attemptId], expiry)
    }
    if (shopper.aborted) return { kind: 'overtaken' }
    if (isOfAnother(record)) return { kind: 'none', durable: parts.isDurable, problem }
    current.remember(record, shopper)
    const furthest = await withJob(record)
    return { kind: 'stands', record: furthest, durable: isStored(furthest), problem }
  }

  /** The job of an attempt may be known to the archive alone, where its place did not take it. */
  async function withJob(record: AttemptRecord): Promise<AttemptRecord> {
    if (record.job || !mayBePaid(record)) return record
    const archived = await archivedOf(parts, record.attemptId)
    if (!archived?.job) return record
    const kept = await current.replace(archived, (found) => isAsSeen(found, record))
    return kept === 'unchanged' ? record : archived
  }

  /** Where nobody is kept out the page may live that has begun a consent: only another word takes that one's place. */
  const isOfAnother = (found: Found<AttemptRecord>) => {
    const record = readable(found)
    return parts.isOpenToAll && record?.phase === 'consented' && !begun.has(record.attemptId)
  }

  /** What to say of a record that is too old; undefined where it is not. */
  function expiryOf(record: AttemptRecord): Problem | null | undefined {
    if (record.phase === 'consented' && isUnsentTooLong(record, clock.now())) return { kind: 'consentExpired' }
    // a job that may still be running is polled once more before its record expires
    const isOld = clock.now() - record.savedAt > parts.retentionMs
    return isOld && !isOwed(record) ? null : undefined
  }

  /** Storage did not take the claim and holds the consent, with which a reload would submit again: that goes first. */
  async function claimAnew(claimed: AttemptRecord): Promise<Kept> {
    await remove(claimed)
    return current.replace(claimed, (found) => found === null)
  }

  /** Whether some tier holds a record as it was seen. */
  const isHeld = async (seen: AttemptRecord) => (await copies()).some((copy) => isAsSeen(copy, seen))

  /** Whether an older copy of the attempt may come back that would submit it again. */
  const mayComeBack = async (claimed: AttemptRecord) =>
    (await copies()).some((copy) => isOf(copy, claimed.attemptId) && copy.phase !== 'claimed')

  const writes = new Set<Promise<unknown>>()

  /** What is written by them is for the next page to find, and not to land behind its back. */
  function tracked<Given extends unknown[], T>(write: (...given: Given) => Promise<T>) {
    return (...given: Given) => {
      const writing = write(...given)
      writes.add(writing)
      void quiet(writing.finally(() => writes.delete(writing)))
      return writing
    }
  }

  /** What storage has of them stays. */
  function dropFromMemory(ids: ReadonlySet<string>, isMeant: (record: AttemptRecord) => boolean): void {
    if (ids.size === 0) return
    const drop = () =>
      place().cell.forget((found) => {
        const record = readable(found)
        return record !== null && ids.has(record.attemptId) && isMeant(record)
      })
    const writing = attempts.underWay()
    if (writing) void writing.then(drop)
    else drop()
  }

  const attempts: Attempts = {
    async restore() {
      const found = await restore()
      let last: AttemptRecord | undefined
      for (last of held.values()) await takeUp(last)
      held.clear()
      if (last === undefined) return found
      // nobody knows what stands there, and this is under way
      return isUnread && (await isAlive(last)) ? { kind: 'stands', record: last, durable: false } : restore()
    },

    async look() {
      const { record, skipped } = await current.find(catalog.shopper())
      if (record === null && skipped) throw new Error('what stands here is not readable by this version')
      return record && (await isDoneWith(parts, record)) ? null : record
    },

    isStored,

    isExclusive: () => parts.isExclusive(place().key),

    hasExpired: (record) => expiryOf(record) !== undefined,

    begin: tracked(async (record, previous, signal) => {
      catalog.speaks()
      // whose it is, before a look may tell of a reset()
      current.remember(record, catalog.shopper())
      // a page that was asked for it may hear so once another one has carried it out
      if (await isDoneWith(parts, record)) return { kind: 'overtaken' }
      begun.add(record.attemptId)
      if (isUnread) blind.add(record.attemptId)
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

    claim: tracked(async (consented, isUntaken) => {
      if (await isDoneWith(parts, consented)) {
        await remove(consented)
        return { kind: 'overtaken' }
      }
      const claimed = advance(consented, clock.now(), { phase: 'claimed', claim: newId() })
      const listed = await current.list(consented)
      let kept = await current.replace(claimed, (found) => isAsSeen(found, consented))
      if (kept === 'memory' && isOf(current.onDisk(), claimed.attemptId)) kept = await claimAnew(claimed)
      // where the consent stands as it was seen and can not be changed, storage can not be relied on
      if (kept === 'unchanged' && !(await isHeld(consented))) return { kind: 'overtaken' }
      const isKnown = !begun.has(claimed.attemptId)
      const isClaimed = kept === 'stored' || (kept === 'memory' && parts.mayClaimInMemory(isKnown))
      if (isClaimed && listed !== 'gone' && !(await mayComeBack(claimed)))
        return written(claimed, await current.asWhole(claimed, listed, kept))
      // another page may have taken over from one whose storage fails, and what stands is that page's
      if (!(await isUntaken())) {
        place().cell.forget()
        return { kind: 'overtaken' }
      }
      await stop(claimed)
      return stopped(consented)
    }),

    stands,

    async isWanted(claimed) {
      if (!(await isAlive(claimed))) return false
      const { cell } = place()
      // who has taken the consent back could not see a claim that only memory has
      const isSeen = isOf(cell.onDisk(), claimed.attemptId)
      if (!isSeen && (await catalog.fateOf(claimed.attemptId))) return false
      // a word that was given while a tier fails goes on without that one
      const found = await cell.read().then(
        (each) => [each],
        () => cell.copies(),
      )
      const own = found.filter((each) => isOf(each, claimed.attemptId))
      return own.length > 0 && own.every((each) => isAsSeen(each, claimed))
    },

    write: tracked(keep),

    async rescue(record) {
      const found = await place()
        .cell.read()
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

    leave: tracked(async (record, problem) => {
      if (mayBePaid(record) && !(await archive(record, true))) return notArchived(record)
      return without(record, problem)
    }),

    async isKept(attemptId, before) {
      await attempts.underWay()
      // what only memory has goes with its page
      await place()
        .cell.read()
        .catch(() => undefined)
      const found = readable(current.onDisk())
      if (found?.attemptId !== attemptId) return false
      return before?.attemptId !== attemptId || found.phase !== before.phase || wordOf(found) !== wordOf(before)
    },

    async isLeft(attemptId, isForGood) {
      await attempts.underWay()
      const isEmpty = async ({ cell }: Place) => (await cell.read()) === null
      const isGone = async () => {
        await place().cell.read()
        return !isOf(current.onDisk(), attemptId) && (!isForGood || isEmpty(archiveOf(attemptId)))
      }
      return isGone().catch(() => false)
    },

    async withdraw(attemptId, by, isPassedOn = false) {
      if ((await takeAway(attemptId)).some(isSubmitted)) return false
      // it may land yet
      const isMarked = await catalog.mark(attemptId, 'left', by)
      const left = await takeAway(attemptId)
      // the page that was asked may have it where nobody can see it, and no mark stops it
      const mayBeHidden = isPassedOn && parts.mayClaimInMemory(true)
      if (isMarked ? !left.some(isSubmitted) : left.length === 0 && !mayBeHidden) return true
      await catalog.unmark(attemptId)
      return false
    },

    share: (attemptId) => void shared.add(attemptId),

    dropShared: () => dropFromMemory(shared, ({ phase }) => phase === 'consented'),
    dropUnsent: () => dropFromMemory(new Set(begun), (record) => !mayBePaid(record)),

    forget: tracked(async (record) => {
      const isMarked = await mark(record.attemptId, 'discarded')
      // a job that a reload, or the page that has begun it, would bring back is not forgotten
      const isOurs = begun.has(record.attemptId) && !isOf(current.onDisk(), record.attemptId)
      if (!isMarked && mayBePaid(record) && !isOurs) {
        await catalog.unmark(record.attemptId)
        return notArchived(record)
      }
      const archived = archiveOf(record.attemptId)
      await archived.cell.update((found) => (isOf(found, record.attemptId) ? null : undefined))
      return without(record)
    }),

    isForgotten: async (attemptId) => (await catalog.fateOf(attemptId)) === 'discarded',

    isBehind: () => ahead.size + unburied.size > 0,

    async catchUp() {
      await bury()
      const kept: AttemptRecord[] = []
      for (const [id, { record, shopper }] of ahead) {
        const newest = newestOf(await archivedOf(parts, id), record)
        const where = await keepInArchive(parts, newest, shopper, false)
        if (where !== 'memory') ahead.delete(id)
        if (where === 'stored') kept.push(newest)
      }
      return kept
    },

    underWay: () => (writes.size > 0 ? Promise.allSettled(writes) : null),
  }
  return attempts
}

const isSubmitted = ({ phase }: AttemptRecord) => phase !== 'consented'

/** What was found may have come further, or be what it was before its job was known. */
const newestOf = (found: AttemptRecord | null, record: AttemptRecord) =>
  found?.attemptId === record.attemptId && (found.job || !record.job) ? found : record

/** Whether the same attempt stands there less far, and not with another job. */
function isLessFar(found: Found<AttemptRecord>, record: AttemptRecord): boolean {
  const own = readable(found)
  if (own?.attemptId !== record.attemptId) return false
  return own.job ? own.job.jobId === record.job?.jobId && isBefore(own, record) : !!record.job || isBefore(own, record)
}

const unreadable: Problem = { kind: 'storageUnreadable' }
const unread: Written = { kind: 'none', durable: false, problem: unreadable }
