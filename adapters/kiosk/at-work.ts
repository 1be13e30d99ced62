import type { HistoryEntry } from '../../src/room.types.ts'
import type { TryOnState } from '../../src/rules/words.ts'

/** What goes on by itself, or may have been paid for and have a picture yet. */
const working: readonly TryOnState[] = ['preparing', 'submitting', 'processing', 'preview', 'stalled']

/** A job goes on though an answer about it was of no use. */
const withJob: readonly TryOnState[] = ['unauthorized', 'protocolError']

/** What the shopper has left holds nothing. */
export const isAtWork = ({ archived, state, jobId }: HistoryEntry) =>
  !archived && (working.includes(state) || (withJob.includes(state) && jobId !== null))
