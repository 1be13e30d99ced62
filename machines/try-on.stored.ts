import type { SnapshotFrom } from 'xstate'
import { isUnsentTooLong, type AttemptRecord } from '../src/rules/record.ts'
import type { TryOnView } from '../src/rules/view.ts'
import { tableIn } from './setup.ts'
import { snapshotAt } from './snapshot.ts'
import { freshContext, stateOfPhase, tryOnMachine } from './try-on.machine.ts'
import type { TryOnInput } from './try-on.types.ts'
import { tryOnView } from './try-on.view.ts'

/** Where a record stands that is not run here. */
const standing = { ...stateOfPhase, emailRegistered: 'submitting.waiting' }

/** The view of what storage holds, for a page that hears nothing from another one; `mayBeOut`, which may be at it. */
export function storedView(record: AttemptRecord | null, input: TryOnInput, mayBeOut: boolean): TryOnView {
  const phase = record?.phase
  const isOut = phase === 'claimed' && mayBeOut
  const now = input.clock.now()
  // what waited for longer than its word lasts is not sent by itself any more
  const isOver = record && isUnsentTooLong(record, now)
  const state = isOut ? 'submitting.sending' : isOver ? 'stalled' : phase ? standing[phase] : 'idle'
  const elapsedMs = Math.max(0, now - (record?.job?.acceptedAt ?? Infinity))
  const snapshot: unknown = snapshotAt(tableIn(tryOnMachine), state, {
    ...freshContext(input),
    record,
    elapsedMs,
  })
  return tryOnView(snapshot as SnapshotFrom<typeof tryOnMachine>)
}
