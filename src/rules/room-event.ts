import type { ProblemKind } from './problem.ts'
import type { AttemptRecord, Phase } from './record.ts'
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

/** From where on a submission was sent. */
const sentPhases: readonly Phase[] = ['claimed', 'accepted', 'preview', 'final', 'failed']

/** What must have happened to an attempt that stands there, in that order. */
export function eventsOf(
  { phase, passed = [], preview, retried, elsewhere }: AttemptRecord,
  state: TryOnState,
): RoomEventType[] {
  const isSent = sentPhases.includes(phase)
  const stood = (...phases: Phase[]) => phases.some((each) => each === phase || passed.includes(each))
  const events: [RoomEventType, boolean][] = [
    // of what a ticket has brought the other device has told the beginning
    ['photoChosen', !elsewhere],
    ['consented', !elsewhere],
    ['retried', retried === true],
    ['emailAsked', stood('awaitingEmail')],
    ['emailGiven', stood('emailRegistered')],
    ['submitted', isSent && !elsewhere],
    ['unknown', state === 'outcomeUnknown' || passed.includes('claimed')],
    ['limited', stood('limitReached')],
    ['preview', phase === 'preview' || preview !== undefined],
    ['final', phase === 'final'],
    ['failed', stood('failed', 'rejected', 'protocolError')],
  ]
  return events.flatMap(([type, hasHappened]) => (hasHappened ? type : []))
}
