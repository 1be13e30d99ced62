import { isBefore, mayBePaid } from '../rules/copies.ts'
import type { AttemptRecord } from '../rules/record.ts'
import type { Catalog } from './catalog.ts'
import type { Shopper } from './epochs.ts'
import { readable, type Cell, type Kept } from './journal.ts'

/** Where a record is kept. */
export type RecordCell = Cell<AttemptRecord>

export interface ArchiveParts {
  catalog: Catalog
  /** Where an archived attempt is kept. */
  archiveOf: (attemptId: string) => RecordCell
}

/**
 * Keeps an attempt in the archive, unless its shopper has gone or it was discarded, or has come further there. A known job
 * ID is never replaced.
 * What storage holds elsewhere stays there where the archive cannot be listed.
 */
export async function keepInArchive(
  { catalog, archiveOf }: ArchiveParts,
  record: AttemptRecord,
  shopper: Shopper,
  isHeld: boolean,
): Promise<Kept> {
  const cell = archiveOf(record.attemptId)
  const listed = await catalog.list(cell.key, shopper)
  if (listed === 'gone') return 'unchanged'
  if (listed === 'memory' && isHeld) return 'memory'
  let known = null as AttemptRecord | null
  const kept = await cell.update(
    (found) => {
      known = readable(found)
      const isOther = known?.job !== undefined && known.job.jobId !== record.job?.jobId
      // a page that stood still has an earlier one
      const isNews = known === null || (!isOther && !isBefore(record, known))
      return isNews && !shopper.aborted ? record : undefined
    },
    () => catalog.isWanted(record.attemptId, shopper),
  )
  // what has come further there may have done so in memory alone
  if (kept === 'unchanged' && known && cell.onDisk() === null) return 'memory'
  if (kept !== 'stored' || listed === 'stored') return kept
  // what no list names outlasts a reset(), and no later page finds it
  return (await catalog.list(cell.key, shopper)) === 'stored' ? 'stored' : 'memory'
}

/**
 * Whether a record must not go on: its attempt was discarded, or left before money may have been spent on it; or the archive
 * has it as submitted, so that this is an older copy.
 */
export async function isDoneWith(parts: ArchiveParts, record: AttemptRecord): Promise<boolean> {
  const fate = await parts.catalog.fateOf(record.attemptId)
  if (fate === 'discarded') return true
  if (mayBePaid(record)) return false
  if (fate === 'left') return true
  const archived = await archivedOf(parts, record.attemptId)
  return archived !== null && mayBePaid(archived)
}

/** What stands there, as far as it can be read. */
export const readIn = (cell: RecordCell): Promise<AttemptRecord | null> => cell.read().then(readable, () => null)

/** What the archive has of an attempt, as far as it can be read. */
export const archivedOf = ({ archiveOf }: ArchiveParts, attemptId: string): Promise<AttemptRecord | null> =>
  readIn(archiveOf(attemptId))

/**
 * Archives what another tier of storage has hidden behind the record that is shown, if money may have been spent on it;
 * resolves with whether there was any.
 */
export async function archiveHidden(
  parts: ArchiveParts,
  cell: RecordCell,
  shown: AttemptRecord,
  shopper: Shopper,
): Promise<boolean> {
  let isAny = false
  for (const copy of await cell.copies()) {
    if (copy.attemptId === shown.attemptId || !mayBePaid(copy)) continue
    if ((await parts.catalog.fateOf(copy.attemptId)) === 'discarded') continue
    await keepInArchive(parts, copy, shopper, true)
    isAny = true
  }
  return isAny
}
