import type { Written } from '../../machines/try-on.types.ts'
import type { Attempts } from '../records/attempts.ts'
import { mayBePaid, type AttemptRecord } from '../rules/record.ts'
import type { Runner } from './carry-out.ts'

/** Writes again, from time to time, what only memory has of a job, or of what was left: it is lost with the page. */
export interface Keeping {
  /** Looks whether there is anything to be written again. */
  look(runner: Runner): void
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
  attempts: Pick<Attempts, 'write' | 'catchUp' | 'isBehind' | 'underWay'>
  /** What runs the flow here, if anything does. */
  runner: () => Runner | null
  /** It stands, or has gone to the archive: other pages may not know of it. */
  onKept: (written: Written) => void
  /** Has something done a while later that storage did not let, where it keeps anything: in a closed room only what is owed. */
  keepLater: (run: () => void, isOwed?: boolean) => void
}

export function createKeeping({ attempts, runner: runnerNow, onKept, keepLater }: KeepingParts): Keeping {
  async function keepAgain(): Promise<void> {
    await attempts.catchUp()
    if (attempts.isBehind()) keepLater(keepAgain)
    const runner = runnerNow()
    const record = runner && unkeptIn(runner)
    if (!record) return
    const written = await attempts.write(record, record)
    const stands = written.kind === 'stands' && unkeptIn(runner) === record
    if (stands) runner.send({ type: 'kept', durable: written.durable })
  }

  const keepAnswer = (record: AttemptRecord) => keepLater(() => void keep(record), true)

  async function keep(record: AttemptRecord): Promise<void> {
    const written = await attempts.write(record, record)
    if (written.kind === 'stands' && !written.durable) keepAnswer(record)
    else onKept(written)
  }

  const keepArchived = () => void (attempts.isBehind() && keepLater(catchUp, true))

  async function catchUp(): Promise<void> {
    await attempts.catchUp()
    keepArchived()
  }

  return {
    look(runner) {
      if (unkeptIn(runner) || attempts.isBehind()) keepLater(keepAgain)
    },
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

function unstoredIn(runner: Runner): AttemptRecord | null {
  const { record, durable } = runner.getSnapshot().context
  return record && mayBePaid(record) && !durable ? record : null
}
