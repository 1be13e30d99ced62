import type { AttemptRecord } from '../src/record.ts'

/** Whether money may have been spent on this attempt: then it is archived, never dropped. */
export function mayBePaid(record: AttemptRecord): boolean {
  return record.job !== undefined || record.phase === 'claimed'
}

/** Whether a paid job may still be running. */
export function mayBeRunning(record: AttemptRecord): boolean {
  return mayBePaid(record) && record.phase !== 'final' && record.phase !== 'failed'
}
