import type { ProblemKind } from './problem.ts'
import type { AttemptRecord, Passed } from './record.ts'
import type { TryOnState } from './words.ts'

/** What every event has; nothing personal. */
interface OfAttempt {
  /** Identifies the event: the same if it is reported again, as may happen after a crash. */
  key: string
  attemptId: string
  /** Digits. */
  productId: string
  /** Digits. */
  variantId: string
  /** When it happened, in epoch ms. */
  at: number
  /** How long after the consent, in ms. */
  sinceMs: number
}

/** What happens to an attempt without more to say of it. */
type PlainType =
  /** The attempt is the first one with its photo. */
  | 'photoChosen'
  | 'consented'
  /** It replaces another attempt, by `retry()`. */
  | 'retried'
  /** The submission was claimed and is sent; the service may still refuse it. */
  | 'submitted'
  | 'emailAsked'
  | 'emailGiven'
  | 'preview'
  | 'final'
  /** The final picture was shown while the page was visible. */
  | 'seen'
  /** Its outcome is not known; it may have been paid for. */
  | 'unknown'
  /** The customer's try-on limit. */
  | 'limited'
  | 'discarded'

/** Something that happened to an attempt, reported once; `type` says what. */
export type RoomEvent =
  | (OfAttempt & { type: PlainType })
  /** The attempt ended otherwise; `problem` is the kind of its problem. */
  | (OfAttempt & { type: 'failed'; problem: ProblemKind | null })

export type RoomEventType = RoomEvent['type']

/** What a phase tells of an attempt that stands in it, or has stood in it. */
const typesOfPhase: Partial<Record<Passed, RoomEventType>> = {
  awaitingEmail: 'emailAsked',
  emailRegistered: 'emailGiven',
  claimed: 'submitted',
  outcomeUnknown: 'unknown',
  limitReached: 'limited',
  rejected: 'failed',
  protocolError: 'failed',
  preview: 'preview',
  final: 'final',
  failed: 'failed',
}

/** What must have happened to an attempt that stands there, in that order. */
export function eventsOf(record: AttemptRecord, state: TryOnState): RoomEventType[] {
  const { phase, job, preview, retried, elsewhere } = record
  // what an earlier version wrote does not say what has passed
  const { passed = [...(job ? ['claimed' as const] : []), ...(preview ? ['preview' as const] : [])] } = record
  const events: [RoomEventType | undefined, boolean][] = [
    // of what a ticket has brought the other device has told the beginning
    ['photoChosen', !elsewhere],
    ['consented', !elsewhere],
    ['retried', retried === true],
    ...[...passed, phase].map((each): [RoomEventType | undefined, boolean] => {
      const type = typesOfPhase[each]
      return [type, type !== 'submitted' || !elsewhere]
    }),
    ['unknown', state === 'outcomeUnknown'],
  ]
  return [...new Set(events.flatMap(([type, hasHappened]) => (type && hasHappened ? type : [])))]
}
