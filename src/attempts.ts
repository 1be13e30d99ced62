import type { Step } from '../machines/try-on.types.ts'
import { mayBePaid, mayBeRunning } from '../machines/paid.ts'
import type { Journal, Kept } from './journal.ts'
import type { Keys } from './keys.ts'
import type { Clock } from './ports.ts'
import type { Register } from './register.ts'
import type { Problem } from './problem.ts'
import { consentLifetimeMs, readable, readRecord, step, type AttemptRecord } from './record.ts'

/**
 * The durable side of one try-on: which attempt is current, written by compare-on-attempt, so that an answer that
 * comes late or a page that slept never overwrites another attempt. A step whose record is null found another one.
 */
export interface Attempts {
  restore(): Promise<Step>
  /** Writes a new consent in place of `previous`, which is archived if money may have been spent on it. */
  begin(record: AttemptRecord, previous: AttemptRecord | null): Promise<Step>
  /** The claim that stands before the POST leaves. */
  claim(consented: AttemptRecord): Promise<Step>
  write(record: AttemptRecord): Promise<Step>
  /** As `write`; a job that belongs to an attempt that was left goes to the archive. */
  writeAnswer(record: AttemptRecord): Promise<Step>
  /** Takes the record away, into the archive if money may have been spent on it. */
  leave(record: AttemptRecord, problem: Problem | null): Promise<Step>
  /** Takes the record away for good, and refuses its late answers. */
  forget(record: AttemptRecord): Promise<void>
}

export interface AttemptsParts {
  journal: Journal
  clock: Clock
  keys: Keys
  register: Register
  /** The record's key; `slot` counts past records that must be left alone. */
  keyAt: (slot: number) => string
  retentionMs: number
}

/** How many unreadable records a try-on steps past. */
const slots = 10

export function createAttempts(parts: AttemptsParts): Attempts {
  const { journal, clock, keys, keyAt, register } = parts
  const { epoch } = register
  let key = keyAt(0)
  /** The epoch in which each attempt of this page was begun or restored. */
  const born = new Map<string, number>()

  const at = (stored: unknown) => readRecord(stored, clock.now())
  const isSame = (stored: unknown, attemptId: string | undefined, phase?: AttemptRecord['phase']) => {
    const found = readable(at(stored))
    return found !== null && found.attemptId === attemptId && (phase === undefined || found.phase === phase)
  }
  const stepOf = (record: AttemptRecord, kept: Kept): Step =>
    kept === 'unchanged' ? { record: null, durable: true } : { record, durable: kept === 'stored' && journal.lasting }

  async function keep(record: AttemptRecord, from: (stored: unknown) => boolean): Promise<Kept> {
    const kept = await journal.update(key, (old) => (from(old) ? record : undefined))
    if (kept !== 'unchanged' || !(await lostByStorage(record))) return kept
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
    await register.list(archived)
    const kept = await journal.update(archived, (old) => (readable(at(old))?.job && !newest.job ? undefined : newest))
    return kept !== 'memory' || !isSame(journal.onDisk(key), record.attemptId)
  }

  async function write(record: AttemptRecord): Promise<Step> {
    return stepOf(record, await keep(record, (old) => isSame(old, record.attemptId)))
  }

  /** The first slot that may be used, and what stands there; unreadable records are left as they are. */
  async function find(): Promise<{ record: AttemptRecord | null; skipped: boolean }> {
    for (let slot = 0; slot < slots; slot++) {
      key = keyAt(slot)
      const record = at(await journal.read(key))
      if (record !== 'unreadable') return { record, skipped: slot > 0 }
    }
    return { record: null, skipped: true }
  }

  async function remove(record: AttemptRecord): Promise<boolean> {
    return (await journal.update(key, (old) => (isSame(old, record.attemptId) ? null : undefined))) !== 'memory'
  }

  return {
    async restore() {
      const found = await find().catch(() => null)
      if (found === null) return { record: null, durable: false, problem: { kind: 'storageUnreadable' } }
      const { record, skipped } = found
      if (record !== null) born.set(record.attemptId, await epoch.read())
      const problem = skipped ? ({ kind: 'recordUnreadable' } as const) : null
      const age = record === null ? 0 : clock.now() - record.savedAt
      if (record?.phase === 'consented' && age > consentLifetimeMs) {
        await remove(record)
        return { record: null, durable: true, problem: { kind: 'consentExpired' } }
      }
      // a job that may still be running is polled once more before its record expires
      if (record !== null && age > parts.retentionMs && !(record.job && mayBeRunning(record))) {
        await remove(record)
        return { record: null, durable: true, problem }
      }
      return { record, durable: journal.lasting, problem }
    },

    async begin(record, previous) {
      if (previous !== null && mayBePaid(previous) && !(await archive(previous))) return notArchived(previous)
      born.set(record.attemptId, await epoch.read())
      await register.list(key)
      const free = (old: unknown) => old === undefined || isSame(old, previous?.attemptId)
      return stepOf(record, await journal.update(key, (old) => (free(old) ? record : undefined)))
    },

    async claim(consented) {
      const claimed = step(consented, clock.now(), { phase: 'claimed' })
      const kept = await keep(claimed, (old) => isSame(old, consented.attemptId, consented.phase))
      const stillConsented = kept === 'memory' && isSame(journal.onDisk(key), consented.attemptId)
      if (!stillConsented || (await remove(consented))) return stepOf(claimed, kept)
      // a reload would find the consent and submit again
      const stopped = step(consented, clock.now(), { phase: 'rejected', problem: { kind: 'storage' } })
      return { record: stopped, durable: false }
    },

    write,

    async writeAnswer(record) {
      const written = await write(record)
      if (written.record === null && record.job !== undefined && (await isOfThisEpoch(record))) await archive(record)
      return written
    },

    async leave(record, problem) {
      if (mayBePaid(record) && !(await archive(record))) return notArchived(record)
      return { record: null, durable: await remove(record), problem }
    },

    async forget(record) {
      born.delete(record.attemptId)
      await remove(record)
    },
  }
}

/** The attempt stays where it is: its job would be lost from storage. */
const notArchived = (record: AttemptRecord): Step => ({ record, durable: true, problem: { kind: 'storage' } })
