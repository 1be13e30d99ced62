import type { AttemptRecord, Phase } from '../src/rules/record.ts'
import type { TryOnView } from '../src/rules/view.ts'
import { freshContext, tryOnMachine } from './try-on.machine.ts'
import type { TryOnInput } from './try-on.types.ts'
import { tryOnView } from './try-on.view.ts'

/** Where a record stands that another page is at, which is not heard. */
const valueOfPhase = {
  consented: { preparing: 'gathering' },
  // the page that runs it may have the submission out
  claimed: { submitting: 'sending' },
  throttled: { submitting: 'waiting' },
  awaitingEmail: { needsEmail: 'asking' },
  emailRegistered: { submitting: 'waiting' },
  unauthorized: 'unauthorized',
  limitReached: 'limitReached',
  rejected: 'rejected',
  protocolError: 'protocolError',
  accepted: 'following',
  preview: 'following',
  final: 'final',
  failed: 'failed',
} as const satisfies Record<Phase, string | object>

/** The view of what storage holds, for a page that waits for another one and hears nothing from it. */
export function storedView(record: AttemptRecord | null, input: TryOnInput): TryOnView {
  const value = record === null ? 'idle' : valueOfPhase[record.phase]
  const elapsedMs = Math.max(0, input.clock.now() - (record?.job?.acceptedAt ?? Infinity))
  return tryOnView(tryOnMachine.resolveState({ value, context: { ...freshContext(input), record, elapsedMs } }))
}
