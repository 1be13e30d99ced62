import type { Written } from '../../machines/try-on.types.ts'
import type { Clock } from '../ports.ts'
import type { Problem } from '../rules/problem.ts'
import { mayBePaid } from '../rules/copies.ts'
import { advance, type AttemptRecord } from '../rules/record.ts'
import type { RecordCell } from './archive.ts'
import type { Catalog } from './catalog.ts'
import type { Shopper } from './epochs.ts'
import { readable, type Found, type Kept } from './journal.ts'

type Condition = (found: Found<AttemptRecord>) => boolean

/** The current record of one try-on: where it stands, whose it is, and how it is read and written there. */
export interface Current {
  /** The first record of that shopper that can be read, else none; what cannot be read is left, and was skipped. */
  find(shopper: Shopper): Promise<{ record: AttemptRecord | null; skipped: boolean }>
  cell(): RecordCell
  /** The shopper in whose time this page has begun or restored an attempt, unless another one came since. */
  shopperOf(attemptId: string): Shopper | undefined
  /** An attempt is of that shopper, who is the present one. */
  remember(record: AttemptRecord, shopper: Shopper): void
  /** Whether it may still be written: it was neither discarded, nor left before it was sent, nor wiped with its shopper. */
  isAlive(record: AttemptRecord): Promise<boolean>
  /** Names a record in the catalog before it is written: storage may have lost it, or have refused it before. */
  list(record: AttemptRecord): Promise<'stored' | 'memory' | 'gone'>
  /** Where it stands as a whole, once it was listed and written. */
  asWhole(record: AttemptRecord, listed: 'stored' | 'memory', kept: Kept): Promise<Kept>
  /** Writes where what stands fulfils a condition; what lands when it is not wanted any more is taken back. */
  replace(record: AttemptRecord, condition: Condition, isWanted?: () => boolean): Promise<Kept>
  /** As `replace`, and lists it first: what no catalog in storage names is not stored. */
  put(record: AttemptRecord, condition: Condition): Promise<Kept>
  /** Removes it where what stands fulfils a condition; where nothing is said, as it was seen. */
  remove(seen: AttemptRecord, condition?: Condition): Promise<Kept>
  /** What was last seen in storage. */
  onDisk(): Found<AttemptRecord>
  /** Whether a reload would find it as it is; nothing is found as nothing. */
  isStored(record: AttemptRecord | null): boolean
  /** Whether storage still has the record, as far as it can be read. */
  stands(record: AttemptRecord): Promise<boolean>
  /** What has come of writing it. */
  written(record: AttemptRecord, kept: Kept): Written
  /** The attempt stays where it is: its job would be lost from storage. */
  notArchived(record: AttemptRecord): Written
  /** What stands instead of an attempt that goes on nowhere, as storage did not let it. */
  stopped(record: AttemptRecord): Written
}

export interface CurrentParts {
  catalog: Catalog
  clock: Clock
  /** False for storage that a reload empties. */
  isDurable: boolean
  /** Where the record may be: the first that is not left alone. */
  candidates: () => readonly RecordCell[]
}

export const isOf = (found: Found<AttemptRecord>, attemptId: string) => readable(found)?.attemptId === attemptId

/** Whether what was found is as far as what was seen; a claim of another page, whose POST may be out, is not. */
export function isAsSeen(found: Found<AttemptRecord>, seen: AttemptRecord | null): boolean {
  const record = readable(found)
  if (!record || !seen || record.attemptId !== seen.attemptId || record.phase !== seen.phase) return false
  return seen.phase !== 'claimed' || record.claim === seen.claim
}

/** Whether what was found is as far as what was seen; of what was not sent it may be further, where that was not sent either. */
export function isAsLeft(found: Found<AttemptRecord>, seen: AttemptRecord | null): boolean {
  const record = readable(found)
  const isUnsent = record && record.attemptId === seen?.attemptId && !mayBePaid(seen) && !mayBePaid(record)
  return isUnsent || isAsSeen(found, seen)
}

export function createCurrent({ catalog, clock, isDurable, candidates }: CurrentParts): Current {
  let chosen: RecordCell | null = null
  const cell = (): RecordCell => (chosen ??= candidates()[0] as RecordCell)
  /** Whose attempt it is, of every attempt of the present shopper that this page has begun or restored. */
  const shoppers = new Map<string, Shopper>()

  async function isAlive(record: AttemptRecord): Promise<boolean> {
    const shopper = shoppers.get(record.attemptId)
    if (shopper === undefined || !(await catalog.isPresent(shopper))) return false
    const fate = await catalog.fateOf(record.attemptId)
    return fate === null || (fate === 'left' && mayBePaid(record))
  }

  async function list({ attemptId }: AttemptRecord) {
    const shopper = shoppers.get(attemptId)
    return shopper === undefined ? 'gone' : catalog.list(cell().key, shopper)
  }

  async function asWhole(record: AttemptRecord, listed: 'stored' | 'memory', kept: Kept): Promise<Kept> {
    if (kept !== 'stored' || listed === 'stored') return kept
    // what no list names outlasts a reset(), and storage takes writes again
    return (await list(record)) === 'stored' ? 'stored' : 'memory'
  }

  const replace: Current['replace'] = (record, condition, isWanted = () => true) =>
    cell().update(
      // a record is dated as it is written: what was wiped by then must not count as new
      (found) => (shoppers.get(record.attemptId)?.aborted === false && condition(found) ? record : undefined),
      async () => isWanted() && isAlive(record),
    )

  const onDisk = () => cell().onDisk()

  const isStored = (record: AttemptRecord | null) => isDurable && (record === null || isAsSeen(onDisk(), record))

  const notArchived = (record: AttemptRecord): Written => ({
    kind: 'stands',
    record,
    // a list may not name it, be it that it stands: it is written once more
    durable: false,
    problem: notTaken,
  })

  return {
    async find(shopper) {
      const listed = Object.keys(await catalog.entries())
      let free: RecordCell | null = null
      let skipped = catalog.isUnreadable()
      for (const candidate of candidates()) {
        if (free !== null && !listed.includes(candidate.key)) continue
        const record = await candidate.read()
        if (record === 'unreadable') skipped = true
        else if (record === null) free ??= candidate
        else {
          chosen = candidate
          // a catalog that was lost names it again
          if (!listed.includes(candidate.key)) await catalog.list(candidate.key, shopper)
          return { record, skipped }
        }
      }
      chosen = free ?? chosen
      return { record: null, skipped }
    },
    cell,
    shopperOf: (attemptId) => shoppers.get(attemptId),
    remember({ attemptId }, shopper) {
      for (const [id, each] of shoppers) if (each !== shopper) shoppers.delete(id)
      shoppers.set(attemptId, shopper)
    },
    isAlive,
    list,
    asWhole,
    replace,
    async put(record, condition) {
      const listed = await list(record)
      if (listed === 'gone') return 'unchanged'
      return asWhole(record, listed, await replace(record, condition))
    },
    remove: (seen, condition = (found) => isAsSeen(found, seen)) =>
      cell().update((found) => (condition(found) ? null : undefined)),
    onDisk,
    isStored,
    async stands(record) {
      const found = await cell()
        .read()
        .catch(() => record)
      return isAsSeen(found, record)
    },
    written: (record, kept) =>
      kept === 'unchanged'
        ? { kind: 'overtaken' }
        : { kind: 'stands', record, durable: kept === 'stored' && isDurable },
    notArchived,
    stopped(record) {
      // it goes nowhere by itself
      if (record.phase === 'protocolError' || mayBePaid(record)) return notArchived(record)
      const rejected = advance(record, clock.now(), { phase: 'rejected', problem: notTaken })
      return { kind: 'stands', record: rejected, durable: false }
    },
  }
}

const notTaken: Problem = { kind: 'storage' }
