import type { TryOnContext, TryOnEvent, Written } from '../../machines/try-on.types.ts'
import type { GenerationStarted } from '../contract/resources.ts'
import type { SteadyClock, SubmissionLimit } from '../ports.ts'
import type { Attempts } from '../records/attempts.ts'
import { unanswered, type Outcome, type Unusable } from '../rules/outcome.ts'
import { advance, recordOfStop, recordOfSubmission, wordEndsAt, type AttemptRecord } from '../rules/record.ts'
import type { Funnels } from '../shopper/funnels.ts'
import type { VisitorStore } from '../shopper/visitor.ts'
import type { RequestOptions } from '../wire/operations.ts'
import type { RoomClient } from '../wire/room-client.ts'
import { createPlaces } from './places.ts'

export interface SubmissionParts {
  client: RoomClient
  clock: SteadyClock
  funnels: Funnels
  visitor: VisitorStore
  attempts: Attempts
  /** How many submissions this device lets out. */
  limit: SubmissionLimit | undefined
  /** The answer to a claim has come, be it that nobody waits for it any more; it is not written yet. */
  onAnswer?: ((claimed: AttemptRecord, outcome: Outcome<GenerationStarted>) => void) | undefined
  /** Tells the running machine; it may have moved on. */
  tell: (event: TryOnEvent) => unknown
  /** Looks once more whether the try-on is this page's. */
  holdsSeat: () => Promise<boolean>
  /** Whether no other page can be seen to have it, though this one may not be able to write. */
  isUntaken: () => Promise<boolean>
}

/** The one request that costs money, in the three steps that keep it one: probed, claimed, sent. */
export function createSubmission(parts: SubmissionParts) {
  const { client, clock, visitor, attempts, tell } = parts
  const places = createPlaces(parts.limit, clock)
  /** After a reset() an answer to the shopper before it teaches nothing. */
  const learn = visitor.learner()

  /** Whether a submission can be sent at all, and in a form that no browser repeats; else what stops it. */
  async function probe(
    record: AttemptRecord,
    { durable, failures }: TryOnContext,
    options: RequestOptions,
  ): Promise<Written> {
    const stopped = (why: Unusable) => attempts.write(recordOfStop(record, why, clock.now()), record)
    if (!(await client.readKey())) return stopped(noKey)
    if (!client.isSameInstallation()) return stopped(moved)
    // it stands before the submission is sent with it
    await visitor.identify()
    const probed = await client.probe({ ...options, turn: record.attemptId })
    if (probed.kind === 'accepted') return { kind: 'stands', record, durable }
    return attempts.write(recordOfSubmission(record, probed, clock.now(), failures), record)
  }

  /** The claim of what the budget has let go, once this device has a place for it. */
  async function claim(record: AttemptRecord, _: TryOnContext, options: RequestOptions): Promise<Written> {
    let goesOut = false
    try {
      const written = await claimInPlace(record, options)
      goesOut = isClaim(written) && !options.signal?.aborted
      return written
    } finally {
      if (!goesOut) client.release(record.attemptId)
    }
  }

  const isClaim = (written: Written) => written.kind === 'stands' && written.record.phase === 'claimed'

  async function claimInPlace(record: AttemptRecord, { signal }: RequestOptions): Promise<Written> {
    const reached = await places.take(record, signal)
    // the page was left meanwhile: whoever goes on with it, as this page may, claims it anew, and needs its place
    if (signal?.aborted) return { kind: 'overtaken' }
    if (reached) return attempts.write(advance(record, clock.now(), { phase: 'rejected', problem: reached }), record)
    const written = await attempts.claim(record, parts.isUntaken, signal)
    if (!isClaim(written) && !signal?.aborted) places.giveBack(record)
    return written
  }

  async function submit(
    claimed: AttemptRecord,
    { customerEmail, failures, wordAt }: TryOnContext,
    { signal }: RequestOptions,
  ): Promise<Written> {
    /** The page may run another machine by now, or none: whoever runs hears of it. */
    const concluded = async (outcome: Outcome<GenerationStarted>): Promise<Written> => {
      parts.onAnswer?.(claimed, outcome)
      const answered = recordOfSubmission(claimed, outcome, clock.now(), failures)
      const written = await attempts.write(answered, claimed)
      if (begunNothing.has(outcome.kind)) places.giveBack(claimed)
      if (outcome.kind === 'accepted') learn({ uniqueUserId: outcome.data.uniqueUserId })
      else if (outcome.answer.status === 404) parts.funnels.forget()
      tell({ type: 'lateAnswer', written })
      return written
    }
    const { productId, variantId, moreLooksConsent } = claimed
    const uniqueUserId = await visitor.known()
    const order = {
      funnelId: claimed.funnel!.id,
      productId,
      variantId,
      imageUrl: claimed.photo.imageUrl!,
      uniqueUserId,
      customerEmail: customerEmail?.reveal(),
      moreLooksConsent,
    }
    const isWanted = async () => {
      const isHere = (await attempts.isWanted(claimed)) && (await parts.holdsSeat())
      // a page may have slept in any of these, and its shopper have left it
      return isHere && !signal?.aborted && clock.elapsed() < wordEndsAt(wordAt)
    }
    // probing and claiming may have taken a while
    if (!client.isSameInstallation()) {
      client.release(claimed.attemptId)
      return concluded(moved)
    }
    return concluded(await client.submit(order, { onLateAnswer: concluded, isWanted, turn: claimed.attemptId }))
  }

  return { probe, claim, submit }
}

/** After these nothing was started; after whatever else is not accepted there may be a job. */
const begunNothing = new Set<Outcome<unknown>['kind']>(['rejected', 'limitReached', 'throttled', 'notSent'])

/** The submission is for another installation than the one that asked. */
export const moved = unanswered('createGeneration', { came: 'notMade', why: 'moved' })
const noKey = unanswered('createGeneration', { came: 'notMade', why: 'noKey' })
