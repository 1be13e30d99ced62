import type { ProblemKind } from './problem.ts'
import type { AttemptRecord, Passed } from './record.ts'
import type { TryOnState } from './words.ts'

/** What every event says: nothing of the shopper. */
interface OfAttempt {
  /** The same however often it is told, which after a crash may be twice. */
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
  /** The shopper gave a photo for it that no attempt before had. */
  | 'photoChosen'
  | 'consented'
  /** It came in place of another one, by `retry()`. */
  | 'retried'
  /** The submission was claimed, and is sent. */
  | 'submitted'
  | 'emailAsked'
  | 'emailGiven'
  | 'preview'
  | 'final'
  /** The final picture was shown while the page was visible. */
  | 'seen'
  /** It may have been paid for, and nobody knows. */
  | 'unknown'
  /** The customer's try-on limit. */
  | 'limited'
  | 'discarded'

/** Something that happens to an attempt once; told apart by `type`. */
export type RoomEvent =
  | (OfAttempt & { type: PlainType })
  /** The job, the request or the answer was of no use; `problem` says why. */
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
