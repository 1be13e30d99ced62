import type { Written } from '../../machines/try-on.types.ts'
import { succeeds } from '../platform/succeeds.ts'
import type { Clock } from '../ports.ts'
import type { Attempts } from '../records/attempts.ts'
import { mayBePaid } from '../rules/copies.ts'
import { consentLifetimeMs, type AttemptRecord } from '../rules/record.ts'
import type { Runner } from './runner.ts'

/**
 * Writes again, from time to time, what only memory has of a job, or of what was left: it is lost with the page. Reads
 * again what could not be read, and whether an answer that is missing was had by a page that cannot be heard.
 */
export interface Keeping {
  /** Looks whether there is anything to be written or read again. */
  look(runner: Runner): void
  /** Looks whether storage has lost what is taken to be kept there, and may be paid for: then it is written again. */
  doubt(): Promise<void>
  /** An answer that has come late, and that nothing runs any more which would write it. */
  keepAnswer(record: AttemptRecord): void
  /** An answer that has come late may have gone to the archive of which only memory knows. */
  keepArchived(): void
  /**
   * This page is about to leave the try-on: what only its memory has is written at once, and where that fails later all the
   * same; a page that is being frozen does so once it runs again.
   */
  leave(isFreezing?: boolean): void
}

interface KeepingParts {
  clock: Clock
  attempts: Pick<
    Attempts,
    'look' | 'stands' | 'hasExpired' | 'isStored' | 'write' | 'catchUp' | 'isBehind' | 'underWay'
  >
  /** Reads what the room had not been told when it was opened, and what another page may have changed since. */
  reopen: () => Promise<unknown>
  refresh: () => Promise<void>
  /** What runs the flow here, if anything does. */
  runner: () => Runner | null
  /** It stands, or has gone to the archive: other pages may not know of it. */
  onKept: (written: Written) => void
  /** Has something done a while later that storage did not let, where it keeps anything: in a closed room only what is owed. */
  keepLater: (run: () => void, isOwed?: boolean) => void
}

export function createKeeping(parts: KeepingParts): Keeping {
  const { clock, attempts, runner: runnerNow, onKept, keepLater } = parts

  async function keepAgain(): Promise<void> {
    await tellStorage()
    if (attempts.isBehind()) keepLater(keepAgain)
    const runner = runnerNow()
    const record = runner && unkeptIn(runner)
    if (!record) return
    const written = await attempts.write(record, record)
    const stands = written.kind === 'stands' && unkeptIn(runner) === record
    if (stands) runner.send({ type: 'kept', durable: written.durable })
    // another attempt may stand there, and the archive has not taken this one
    if (attempts.isBehind()) keepLater(keepAgain)
  }

  async function tellStorage(): Promise<void> {
    for (const archived of await attempts.catchUp()) onKept({ kind: 'overtaken', archived })
  }

  const keepAnswer = (record: AttemptRecord) => keepLater(() => void keep(record), true)

  async function keep(record: AttemptRecord): Promise<void> {
    const written = await attempts.write(record, record)
    if (written.kind === 'stands' && !written.durable) keepAnswer(record)
    else onKept(written)
  }

  const keepArchived = () => void (attempts.isBehind() && keepLater(catchUp, true))

  async function catchUp(): Promise<void> {
    await tellStorage()
    keepArchived()
  }

  async function readAgain(): Promise<void> {
    const isRead = await succeeds(parts.reopen().then(attempts.look).then(parts.refresh))
    const runner = runnerNow()
    if (!runner || !isUnread(runner)) return
    if (isRead) runner.send({ type: 'resume' })
    else keepLater(readAgain)
  }

  async function doubt(): Promise<void> {
    const runner = runnerNow()
    const record = runner && keptIn(runner)
    // what has expired was removed, and not lost
    if (!record || attempts.hasExpired(record) || (await attempts.stands(record))) return
    if (keptIn(runner) === record) runner.send({ type: 'kept', durable: false })
  }

  async function lookForAnswer(): Promise<void> {
    const record = await attempts.look().catch(() => null)
    if (!record) await doubt()
    const runner = runnerNow()
    if (!runner || !mayBeAnswered(runner)) return
    const isOwn = record?.attemptId === runner.getSnapshot().context.record?.attemptId
    if (record && isOwn && record.phase !== 'claimed')
      runner.send({ type: 'lateAnswer', written: { kind: 'stands', record, durable: attempts.isStored(record) } })
    else keepLater(lookForAnswer)
  }

  /** No answer comes as late as that. */
  function mayBeAnswered(runner: Runner): boolean {
    const { value, context } = runner.getSnapshot()
    const ageMs = clock.now() - (context.record?.startedAt ?? -Infinity)
    return value === 'outcomeUnknown' && ageMs < 2 * consentLifetimeMs
  }

  return {
    look(runner) {
      if (unkeptIn(runner) || attempts.isBehind()) keepLater(keepAgain)
      if (isUnread(runner)) keepLater(readAgain)
      if (mayBeAnswered(runner)) keepLater(lookForAnswer)
    },
    doubt,
    keepAnswer,
    keepArchived,
    leave(isFreezing = false) {
      const runner = runnerNow()
      const record = runner && unstoredIn(runner)
      const keepAll = () => {
        if (record) void (isFreezing ? keepAnswer(record) : keep(record))
        if (attempts.isBehind() && !isFreezing) void catchUp()
      }
      // what is being written may come to be in memory only
      const writing = attempts.underWay()
      if (!(writing && runner?.getSnapshot().hasTag('busy'))) keepAll()
      void writing?.then(keepAll)
    },
  }
}

/** The record of what may be paid for and only memory has, unless it is written just now. */
const unkeptIn = (runner: Runner) => (runner.getSnapshot().hasTag('busy') ? null : unstoredIn(runner))

/** The record of what may be paid for and storage is taken to have, unless another one is being written. */
function keptIn(runner: Runner): AttemptRecord | null {
  const snapshot = runner.getSnapshot()
  const { record, durable } = snapshot.context
  return record && durable && mayBePaid(record) && !snapshot.hasTag('busy') ? record : null
}

/** Nothing is shown because what there may be could not be read. */
function isUnread(runner: Runner): boolean {
  const { value, context } = runner.getSnapshot()
  return value === 'idle' && context.problem?.kind === 'storageUnreadable'
}

/** The record of what may be paid for and only memory has. */
export function unstoredIn(runner: Runner): AttemptRecord | null {
  const { record, durable } = runner.getSnapshot().context
  return record && mayBePaid(record) && !durable ? record : null
}
