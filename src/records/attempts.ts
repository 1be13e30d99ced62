import type { Written } from '../../machines/try-on.types.ts'
import type { Journal, Kept } from './journal.ts'
import type { Keys } from './keys.ts'
import type { Clock } from '../ports.ts'
import type { Catalog } from './catalog.ts'
import type { Problem } from '../rules/problem.ts'
import {
  advance,
  consentLifetimeMs,
  mayBePaid,
  mayBeRunning,
  readable,
  readRecord,
  type AttemptRecord,
} from '../rules/record.ts'

/**
 * The durable side of one try-on: which attempt is current, written by compare-on-attempt and on the phase that was
 * seen, so that an answer that comes late or a page that slept never overwrites what another page has done since.
 */
export interface Attempts {
  restore(): Promise<Written>
  /** Writes a new consent in place of `previous`, which is archived if money may have been spent on it. */
  begin(record: AttemptRecord, previous: AttemptRecord | null): Promise<Written>
  /** The claim that stands before the POST leaves. */
  claim(consented: AttemptRecord): Promise<Written>
  /** Writes the next phase of `seen`. */
  write(record: AttemptRecord, seen: AttemptRecord): Promise<Written>
  /** As `write`; a job is taken in every phase that has none, and goes to the archive if its attempt was left. */
  writeAnswer(record: AttemptRecord, claimed: AttemptRecord): Promise<Written>
  /** Takes the record away, into the archive if money may have been spent on it. */
  leave(record: AttemptRecord, problem: Problem | null): Promise<Written>
  /** Takes the record away for good, and refuses its late answers. */
  forget(record: AttemptRecord): Promise<Written>
}

export interface AttemptsParts {
  journal: Journal
  clock: Clock
  keys: Keys
  catalog: Catalog
  /** The record's key; `slot` counts past records that must be left alone. */
  keyAt: (slot: number) => string
  retentionMs: number
}

/** How many unreadable records a try-on steps past. */
const slots = 10

export function createAttempts(parts: AttemptsParts): Attempts {
  const { journal, clock, keys, keyAt, catalog } = parts
  const { epoch } = catalog
  let key = keyAt(0)
  /** The epoch in which each attempt of this page was begun or restored. */
  const born = new Map<string, number>()

  const at = (stored: unknown) => readRecord(stored, clock.now())
  const isOf = (stored: unknown, attemptId: string) => readable(at(stored))?.attemptId === attemptId
  const isAsSeen = (stored: unknown, seen: AttemptRecord | null) => {
    const found = readable(at(stored))
    return found !== null && found.attemptId === seen?.attemptId && found.phase === seen.phase
  }
  const writtenOf = (record: AttemptRecord, kept: Kept): Written =>
    kept === 'unchanged'
      ? { kind: 'overtaken' }
      : { kind: 'stands', record, durable: kept === 'stored' && journal.lasting }

  /** Only what a submission has led to is written anew where storage lost it: another page may have left the rest. */
  async function keep(record: AttemptRecord, seen: AttemptRecord, from = isAsSeen): Promise<Kept> {
    const kept = await journal.update(key, (old) => (from(old, seen) ? record : undefined))
    const isPaidFor = record.job !== undefined || seen.phase === 'claimed'
    if (kept !== 'unchanged' || !isPaidFor || !(await lostByStorage(record))) return kept
    return journal.update(key, (old) => (old === undefined ? record : undefined))
  }

  /** The record is gone, but the attempt was neither left, which archives it, nor wiped since it began. */
  async function lostByStorage(record: AttemptRecord): Promise<boolean> {
    const [stored, archived] = await Promise.all(
      [key, keys.attempt(record.attemptId)].map((each) => journal.read(each).catch(() => null)),
    )
    return stored === undefined && archived === undefined && isOfThisEpoch(record)
  }

  async function isOfThisEpoch({ attemptId }: AttemptRecord): Promise<boolean> {
    return (await epoch.read()) === born.get(attemptId)
  }

  /** Storage may know more of the attempt than the machine: an answer that came late. A known job ID is never replaced. */
  async function archive(record: AttemptRecord): Promise<boolean> {
    const stored = readable(at(await journal.read(key).catch(() => undefined)))
    const newest = stored?.attemptId === record.attemptId ? stored : record
    const archived = keys.attempt(record.attemptId)
    await catalog.list(archived)
    const kept = await journal.update(archived, (old) => (readable(at(old))?.job && !newest.job ? undefined : newest))
    return kept !== 'memory' || !isOf(journal.onDisk(key), record.attemptId)
  }

  /** The first record that can be read, else the first free slot; unreadable records are left as they are. */
  async function find(): Promise<{ record: AttemptRecord | null; skipped: boolean }> {
    const listed = await catalog.keys()
    let free: string | null = null
    let skipped = false
    for (const candidate of new Set(Array.from({ length: slots }, (_, slot) => keyAt(slot)))) {
      if (free !== null && !listed.includes(candidate)) continue
      const record = at(await journal.read(candidate))
      if (record === 'unreadable') skipped = true
      else if (record === null) free ??= candidate
      else {
        key = candidate
        return { record, skipped }
      }
    }
    key = free ?? key
    return { record: null, skipped }
  }

  const remove = (record: AttemptRecord) => journal.update(key, (old) => (isAsSeen(old, record) ? null : undefined))

  /** What there is when the record is gone, or instead of it where it is no longer as it was seen. */
  async function without(record: AttemptRecord, problem: Problem | null = null): Promise<Written> {
    const removed = await remove(record)
    if (removed === 'memory') return { kind: 'none', durable: false, problem }
    return withProblem(await restore(removed === 'stored' ? [record.attemptId] : []), problem)
  }

  /** What storage holds; `gone` are attempts that were just removed, whatever storage says. */
  async function restore(gone: readonly string[] = []): Promise<Written> {
    const found = await find().catch(() => null)
    if (found === null) return unread
    const record = found.record && !gone.includes(found.record.attemptId) ? found.record : null
    const problem = record === null ? undefined : expiryOf(record)
    if (record !== null && problem !== undefined) {
      // what is read and what is changed are not the same: storage can not be relied on
      if ((await remove(record)) === 'unchanged') return unread
      return withProblem(await restore([...gone, record.attemptId]), problem)
    }
    const skipped: Problem | null = found.skipped ? { kind: 'recordUnreadable' } : null
    const rest = { durable: journal.lasting, problem: skipped }
    if (record === null) return { kind: 'none', ...rest }
    born.set(record.attemptId, await epoch.read())
    return { kind: 'stands', record, ...rest }
  }

  /** What to say of a record that is too old; undefined where it is not. */
  function expiryOf(record: AttemptRecord): Problem | null | undefined {
    const age = clock.now() - record.savedAt
    if (record.phase === 'consented' && age > consentLifetimeMs) return { kind: 'consentExpired' }
    // a job that may still be running is polled once more before its record expires
    return age > parts.retentionMs && !(record.job && mayBeRunning(record)) ? null : undefined
  }

  return {
    restore: () => restore(),

    async begin(record, previous) {
      if (previous !== null && mayBePaid(previous) && !(await archive(previous))) return notArchived(previous)
      born.set(record.attemptId, await epoch.read())
      await catalog.list(key)
      const free = (old: unknown) => old === undefined || isAsSeen(old, previous)
      return writtenOf(record, await journal.update(key, (old) => (free(old) ? record : undefined)))
    },

    async claim(consented) {
      const claimed = advance(consented, clock.now(), { phase: 'claimed' })
      const kept = await keep(claimed, consented)
      const stillConsented = kept === 'memory' && isOf(journal.onDisk(key), consented.attemptId)
      if (!stillConsented || (await remove(claimed)) !== 'memory') return writtenOf(claimed, kept)
      // a reload would find the consent and submit again
      const stopped = advance(consented, clock.now(), { phase: 'rejected', problem: { kind: 'storage' } })
      return { kind: 'stands', record: stopped, durable: false }
    },

    async write(record, seen) {
      return writtenOf(record, await keep(record, seen))
    },

    async writeAnswer(record, claimed) {
      const lacksJob = (old: unknown) => isOf(old, record.attemptId) && !readable(at(old))?.job
      const takes = (old: unknown) => isAsSeen(old, claimed) || (record.job !== undefined && lacksJob(old))
      const written = writtenOf(record, await keep(record, claimed, takes))
      if (written.kind === 'overtaken' && record.job !== undefined && (await isOfThisEpoch(record)))
        await archive(record)
      return written
    },

    async leave(record, problem) {
      if (mayBePaid(record) && !(await archive(record))) return notArchived(record)
      return without(record, problem)
    },

    async forget(record) {
      const left = await without(record)
      if (left.kind !== 'stands' || left.record.attemptId !== record.attemptId) born.delete(record.attemptId)
      return left
    },
  }
}

/** A problem that is told already stays. */
const withProblem = (written: Written, problem: Problem | null): Written =>
  written.kind === 'overtaken' || problem === null ? written : { ...written, problem }

const unread: Written = { kind: 'none', durable: false, problem: { kind: 'storageUnreadable' } }

/** The attempt stays where it is: its job would be lost from storage. */
const notArchived = (record: AttemptRecord): Written => ({
  kind: 'stands',
  record,
  durable: true,
  problem: { kind: 'storage' },
})
