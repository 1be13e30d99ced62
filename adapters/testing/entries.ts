import type { HistoryEntry, TryOnState } from 'fitting-room'
import { mockRoom } from './room.ts'
import { stateNamed } from './views.ts'

/** How far an attempt is written down that shows a state. */
const phases: { readonly [State in TryOnState]: HistoryEntry['phase'] } = {
  restoring: 'consented',
  idle: 'consented',
  preparing: 'consented',
  submitting: 'claimed',
  needsEmail: 'awaitingEmail',
  processing: 'accepted',
  preview: 'preview',
  stalled: 'accepted',
  unauthorized: 'unauthorized',
  final: 'final',
  failed: 'failed',
  outcomeUnknown: 'claimed',
  limitReached: 'limitReached',
  rejected: 'rejected',
  protocolError: 'protocolError',
}

/** An entry of `room.history` that shows that state, with something about it changed; `open()` gives a try-on that shows it, too. */
export function entryOf(state: TryOnState, changes: Partial<HistoryEntry> = {}): HistoryEntry {
  const { attempt, preview, result } = stateNamed(state)
  const { startedAt, jobId } = attempt ?? { startedAt: 0, jobId: null }
  const { productId, variantId } = { productId: '1001', variantId: '2001', ...changes }
  return {
    // a list of several goes by it
    attemptId: `${productId}-${variantId}-${state}`,
    productId,
    variantId,
    phase: phases[state],
    jobId,
    startedAt,
    notice: null,
    savedAt: startedAt,
    archived: false,
    state,
    preview,
    result,
    open() {
      const room = mockRoom()
      room.show(state)
      return room.tryOn({ productId, variantId, funnelIds: [1] })
    },
    ...changes,
  }
}
