import type { Clock } from '../ports.ts'
import type { RecordCell } from '../records/archive.ts'
import type { Catalog } from '../records/catalog.ts'
import type { Shopper } from '../records/epochs.ts'
import type { AttemptRecord } from '../rules/record.ts'
import { markOf, readTicket, type Ticket, type TicketReason } from './ticket.ts'

interface ClaimParts {
  /** What the pages of the room have in common. */
  room: string
  catalog: Catalog
  clock: Clock
  retentionMs: number
  archiveOf: (attemptId: string) => RecordCell
  /** Whether the room has an attempt with this job; rejects where storage cannot be read. */
  hasJob: (jobId: string) => Promise<boolean>
}

/** A job that a ticket has brought here, as it stands in the archive. */
interface Claimed {
  cell: RecordCell
  record: AttemptRecord
  durable: boolean
}

/** Takes the job of a ticket into the archive; else why it cannot be taken: `gone` is the shopper who wanted it, `unreadable` what stands there. */
export async function claim(
  ticket: string,
  shopper: Shopper,
  parts: ClaimParts,
): Promise<Claimed | TicketReason | 'gone' | 'unreadable'> {
  const { catalog, clock, retentionMs, archiveOf } = parts
  const told = readTicket(parts.room, ticket)
  if (typeof told === 'string') return told
  const now = clock.now()
  // what is from far ahead was made by a clock that is wrong, or by hand
  if (Math.abs(now - told.startedAt) > retentionMs) return 'old'
  if (await parts.hasJob(told.jobId)) return 'repeated'
  const record = attemptOf(told, now)
  const cell = archiveOf(record.attemptId)
  const listed = await catalog.list(cell.key, shopper)
  let isUnreadable = false
  const kept = await cell.update(
    (found) => {
      isUnreadable = found === 'unreadable'
      return found === null && !shopper.aborted ? record : undefined
    },
    () => catalog.isWanted(record.attemptId, shopper),
  )
  if (shopper.aborted) return 'gone'
  if (isUnreadable) return 'unreadable'
  return kept === 'unchanged' ? 'repeated' : { cell, record, durable: listed === 'stored' && kept === 'stored' }
}

/** One name for one job, whichever pages claim it; events tell it, and it hides the job. */
export const attemptIdOf = (jobId: string) => `ticket-${markOf(jobId)}${markOf(`again ${jobId}`)}`

const attemptOf = ({ productId, variantId, jobId, startedAt }: Ticket, savedAt: number): AttemptRecord => ({
  version: 2,
  savedAt,
  attemptId: attemptIdOf(jobId),
  startedAt,
  phase: 'accepted',
  productId,
  variantId,
  funnelIds: [],
  photo: { id: '' },
  // how long it is waited for is counted from here on, by this device's clock
  job: { jobId, etaSeconds: 0, acceptedAt: savedAt },
  elsewhere: true,
})
