import { mayBePaid } from '../rules/copies.ts'
import type { AttemptRecord } from '../rules/record.ts'
import { archivedOf, isDoneWith, keepInArchive, readIn, type ArchiveParts, type RecordCell } from './archive.ts'
import { isAsSeen, isOf, type Current } from './current.ts'
import type { Shopper } from './epochs.ts'
import { readable, type Found, type Kept } from './journal.ts'

/** How attempts leave a try-on: into the archive, or for good, and so that storage does not bring them back. */
export interface Leaving {
  /**
   * Keeps in the archive what may be paid for; resolves with whether it may go from its place. Storage may know more of it
   * than the machine: an answer that came late. A known job ID is never lost, nor replaced. What is left for the archive is
   * written there once storage takes it.
   */
  archive(record: AttemptRecord, isLeft?: boolean): Promise<boolean>
  /** Whether storage has lost the record: the attempt was neither left, which archives it, nor discarded. */
  isLost(record: AttemptRecord): Promise<boolean>
  /** What stands in the two places of an attempt. */
  standingOf(record: AttemptRecord): Promise<Found<AttemptRecord>[]>
  /** Takes away what may not go on by itself, should it come back. */
  stop(record: AttemptRecord): Promise<void>
  /** Another page goes on with it, which storage has let: what this one stopped and could not take away stands. */
  goesOn(attemptId: string): void
  /**
   * Whether an attempt that was taken away stays away. A storage that does not answer, or does not let it go, may bring it
   * back; then it must not go on by itself, and where not even that can be written down the shopper has to know.
   */
  isBuried(record: AttemptRecord, kept: Kept): Promise<boolean>
  /** Whether an attempt is gone from its place that this page was leaving; from the archive, too, where that is asked. */
  isLeft(attemptId: string, isForGood: boolean): Promise<boolean>
  /** Takes a consent of that shopper back that this page was writing; resolves with whether nobody submits it, as another page may have. */
  withdraw(attemptId: string, by: Shopper, isPassedOn?: boolean): Promise<boolean>
  /** Whether storage has yet to learn what was archived or left. */
  isBehind(): boolean
  /** Tells storage once more; resolves with what has come into the archive by that. */
  catchUp(): Promise<AttemptRecord[]>
}

export interface LeavingParts extends ArchiveParts {
  /** Whether a claim that only memory holds is safe from every other page, where that may know of the consent or not. */
  mayClaimInMemory: (isKnown: boolean) => boolean
}

export function createLeaving(parts: LeavingParts, current: Current): Leaving {
  const { catalog, archiveOf } = parts
  const { cell, remove } = current
  /** What was left for the archive and stands in memory only, and whose it is. */
  const ahead = new Map<string, { record: AttemptRecord; shopper: Shopper }>()
  /** Attempts that may come back from storage though they were to be left, or though it did not let them go on (true). */
  const unburied = new Map<string, boolean>()
  /** What was left, and its place has not let go yet, as it stands there. */
  const stuck = new Map<string, AttemptRecord>()

  const cellsOf = (attemptId: string) => [cell(), archiveOf(attemptId)]

  const copies = () => cell().copies()

  const mark = (id: string) => catalog.mark(id, 'left', current.shopperOf(id))

  const standingOf: Leaving['standingOf'] = ({ attemptId }) =>
    Promise.all(cellsOf(attemptId).map((each) => each.read().catch(() => 'unreadable' as const)))

  /** Whether some tier holds the attempt, as what would be found again. */
  const mayBeFound = async (record: AttemptRecord) =>
    (await copies()).some((copy) => isOf(copy, record.attemptId)) && !(await isDoneWith(parts, record))

  async function bury(): Promise<boolean> {
    if (unburied.size === 0) return true
    const found = await copies()
    for (const id of unburied.keys()) {
      // who was asked for it before may hear so later
      const isMarked = await mark(id)
      if (isMarked || !found.some((copy) => isOf(copy, id))) unburied.delete(id)
    }
    return unburied.size === 0
  }

  /** What could not be removed stands, and is not to be hidden from this page. */
  async function bringBack(attemptId: string): Promise<void> {
    unburied.delete(attemptId)
    await catalog.unmark(attemptId)
    if (isOf(current.onDisk(), attemptId)) cell().forget((found) => found === null)
  }

  /** Takes a consent away; resolves with what is there of its attempt all the same, or was when storage last said so. */
  async function takeAway(attemptId: string): Promise<AttemptRecord[]> {
    const cells = cellsOf(attemptId)
    await cell().update((found) => {
      const record = readable(found)
      return record?.attemptId === attemptId && !isSubmitted(record) ? null : undefined
    })
    const found = await Promise.all(cells.map((each) => each.copies()))
    return found.flat().filter((copy) => copy.attemptId === attemptId)
  }

  return {
    async archive(record, isLeft = false) {
      const newest = newestOf(await readIn(cell()), record)
      const isHeld = isOf(current.onDisk(), record.attemptId)
      const shopper = current.shopperOf(record.attemptId) ?? catalog.shopper()
      const kept = await keepInArchive(parts, newest, shopper, isHeld)
      if (kept !== 'memory') return true
      if (isLeft && !isHeld) ahead.set(record.attemptId, { record: newest, shopper })
      return !isHeld
    },

    standingOf,

    async isLost(record) {
      const found = await standingOf(record)
      return found.every((each) => each === null) && !ahead.has(record.attemptId) && current.isAlive(record)
    },

    async stop(record) {
      await remove(record)
      if (!(await mark(record.attemptId))) unburied.set(record.attemptId, true)
    },

    goesOn(attemptId) {
      if (unburied.get(attemptId)) void bringBack(attemptId)
    },

    async isBuried(record, kept) {
      // storage may have it as it was submitted, which no mark keeps from being shown
      const stands = readable(current.onDisk())
      if (kept === 'memory' && stands?.attemptId === record.attemptId) stuck.set(record.attemptId, stands)
      if (mayBePaid(record)) return kept !== 'stored' || !(await mayBeFound(record))
      if (kept !== 'unchanged') unburied.set(record.attemptId, false)
      return bury()
    },

    async isLeft(attemptId, isForGood) {
      const isEmpty = async (of: RecordCell) => (await of.read()) === null
      const isGone = async () => {
        await cell().read()
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
      await bringBack(attemptId)
      return false
    },

    isBehind: () => ahead.size + unburied.size + stuck.size > 0,

    async catchUp() {
      await bury()
      const kept: AttemptRecord[] = []
      for (const [id, { record, shopper }] of ahead) {
        const newest = newestOf(await archivedOf(parts, id), record)
        const where = await keepInArchive(parts, newest, shopper, false)
        if (where !== 'memory') ahead.delete(id)
        if (where === 'stored') kept.push(newest)
      }
      for (const [id, stands] of stuck) {
        // what the archive does not have yet stays
        if (!ahead.has(id)) await remove(stands)
        // another page may have gone on with it
        if (!isAsSeen(current.onDisk(), stands)) stuck.delete(id)
      }
      return kept
    },
  }
}

const isSubmitted = ({ phase }: AttemptRecord) => phase !== 'consented'

/** What was found may have come further, or be what it was before its job was known. */
const newestOf = (found: AttemptRecord | null, record: AttemptRecord) =>
  found?.attemptId === record.attemptId && (found.job || !record.job) ? found : record
