import type { SnapshotFrom } from 'xstate'
import { consentLifetimeMs, isUnsentTooLong, type AttemptRecord } from '../src/rules/record.ts'
import type { TryOnView } from '../src/rules/view.ts'
import { tableIn } from './setup.ts'
import { snapshotAt } from './snapshot.ts'
import { freshContext, stateOfPhase, tryOnMachine } from './try-on.machine.ts'
import type { TryOnInput } from './try-on.types.ts'
import { tryOnView } from './try-on.view.ts'

/** Where a record stands that is not run here. */
const standing = { ...stateOfPhase, emailRegistered: 'submitting.waiting' }

function stateOf(record: AttemptRecord | null, now: number, mayBeOut: boolean): string {
  if (record === null) return 'idle'
  // no submission is out for as long as that, nor once it is known that nobody knows
  const isOut = record.phase === 'claimed' && !record.problem && now < record.savedAt + consentLifetimeMs
  if (isOut && mayBeOut) return 'submitting.sending'
  // what waited for longer than its word lasts is not sent by itself any more
  if (isUnsentTooLong(record, now)) return record.phase === 'consented' ? 'idle' : 'stalled'
  return standing[record.phase]
}

/** The view of what storage holds, for a page that hears nothing from another one; `mayBeOut`, which may be at it. */
export function storedView(record: AttemptRecord | null, input: TryOnInput, mayBeOut: boolean): TryOnView {
  const now = input.clock.now()
  const elapsedMs = Math.max(0, now - (record?.job?.acceptedAt ?? Infinity))
  const snapshot: unknown = snapshotAt(tableIn(tryOnMachine), stateOf(record, now, mayBeOut), {
    ...freshContext(input),
    record,
    elapsedMs,
  })
  return tryOnView(snapshot as SnapshotFrom<typeof tryOnMachine>)
}
