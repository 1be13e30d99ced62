import type { SnapshotFrom } from 'xstate'
import type { AttemptRecord } from '../src/rules/record.ts'
import type { TryOnView } from '../src/rules/view.ts'
import { tableIn } from './setup.ts'
import { snapshotAt } from './snapshot.ts'
import { freshContext, stateOfPhase, tryOnMachine } from './try-on.machine.ts'
import type { TryOnInput } from './try-on.types.ts'
import { tryOnView } from './try-on.view.ts'

/** Where a record stands that another page is at, which is not heard: that page may have the submission out. */
const stateElsewhere = { ...stateOfPhase, claimed: 'submitting.sending', emailRegistered: 'submitting.waiting' }

/** The view of what storage holds, for a page that waits for another one and hears nothing from it. */
export function storedView(record: AttemptRecord | null, input: TryOnInput): TryOnView {
  const state = record === null ? 'idle' : stateElsewhere[record.phase]
  const elapsedMs = Math.max(0, input.clock.now() - (record?.job?.acceptedAt ?? Infinity))
  const snapshot: unknown = snapshotAt(tableIn(tryOnMachine), state, {
    ...freshContext(input),
    record,
    elapsedMs,
  })
  return tryOnView(snapshot as SnapshotFrom<typeof tryOnMachine>)
}
