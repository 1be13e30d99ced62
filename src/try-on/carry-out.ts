import type { SnapshotFrom } from 'xstate'
import { probes } from '../../machines/probes.ts'
import type { tryOnMachine } from '../../machines/try-on.machine.ts'
import type { TryOnEvent } from '../../machines/try-on.types.ts'
import type { Seat } from '../pages/seat.ts'
import { deferred } from '../platform/deferred.ts'
import type { Notice } from '../ports.ts'
import type { Attempts } from '../records/attempts.ts'
import type { Problem } from '../rules/problem.ts'
import type { AttemptRecord } from '../rules/record.ts'
import type { Photos } from '../shopper/photos.ts'
import { createHand, type InHand } from './hand.ts'
import { checkConsent, eventOf, isConsent, isLeaving, permissionOf, type Call, type ConsentCall } from './intents.ts'
import { attemptOf, createPermission, type PermissionParts } from './permission.ts'
import type { Runner } from './runner.ts'
import type { Word } from './said.ts'

interface CarryOutParts extends PermissionParts {
  photos: Photos
  notice: Notice | undefined
  /** Resolves once everything that was said so far has taken effect, or can be left. */
  allHeard: () => Promise<void>
  /** A consent has come in hand, or is there no more. */
  onHand: () => void
  attempts: Pick<Attempts, 'isForgotten'>
  /** An attempt was forgotten for good. */
  onDiscard: (record: AttemptRecord) => void
  /** Removes what is kept of an attempt's pictures; resolves with whether it is gone. */
  dropPictures: (attemptId: string) => Promise<boolean>
}

export type CarryOut = ReturnType<typeof createCarryOut>

/** How a page that runs the flow does what its shopper, or another page's, asks for. */
export function createCarryOut(parts: CarryOutParts) {
  const { photos, notice, view, isCurrent, allHeard, onHand, attempts, onDiscard, dropPictures } = parts
  const permission = createPermission(parts)
  const { check, checkRead, closed, confirm, gone, heed, isBegunSince, isMeant } = permission
  const { notAllowed, refusal, refuse, seenAttempt } = permission
  const hand = createHand(onHand, gone)

  function until(
    seat: Seat<Runner>,
    runner: Runner,
    isThere: (snapshot: SnapshotFrom<typeof tryOnMachine>) => boolean,
  ) {
    const { promise, resolve, reject } = deferred()
    const look = (snapshot: SnapshotFrom<typeof tryOnMachine>) => void (isThere(snapshot) && resolve())
    const { unsubscribe } = runner.subscribe({ next: look, error: () => reject(closed()) })
    look(runner.getSnapshot())
    return Promise.race([seat.ended, promise]).finally(unsubscribe)
  }

  /** Intents wait while storage is being read or written, for as long as this page has the try-on. */
  const settled = (seat: Seat<Runner>, runner: Runner) => until(seat, runner, (snapshot) => !snapshot.hasTag('busy'))
  const carriedOut = (seat: Seat<Runner>, runner: Runner) =>
    until(seat, runner, (snapshot) => !snapshot.hasTag('busy') && Object(snapshot.value).needsEmail !== 'registering')

  async function clearPictures(attemptId: string): Promise<void> {
    if (!(await dropPictures(attemptId))) throw refusal({ kind: 'storage' })
  }

  /** Whether what was to be left has been. */
  async function isGone({ intent }: Call, attempt: string | null): Promise<boolean> {
    // what cannot be read may be there
    if (intent === 'startOver') return seenAttempt() === null && view().problem?.kind !== 'storageUnreadable'
    if (intent !== 'discard' || attempt === null || !(await attempts.isForgotten(attempt))) return false
    await clearPictures(attempt)
    return true
  }

  async function doEvent(
    seat: Seat<Runner>,
    runner: Runner,
    word: Word,
    event: TryOnEvent,
    meant: string | undefined,
    mine: InHand | null,
  ): Promise<void> {
    const { call } = word
    // a later word may leave it
    if (mine) await Promise.race([allHeard(), mine.left])
    if (isConsent(call)) await confirm(seat, runner)
    // what another page runs by now is that one's to leave
    if (!isCurrent(seat) || !(await seat.isStill())) throw closed()
    while (runner.getSnapshot().hasTag('busy')) await settled(seat, runner)
    // reading the photo, and storage, may have taken a while
    if (check(runner, call) !== meant) throw notAllowed(call)
    heed(seat, runner, word)
    if (mine && !mine.isWanted()) return mine.left
    const before = runner.getSnapshot().context.record
    mine?.pass()
    runner.send(event)
    word.isHeard?.()
    await carriedOut(seat, runner)
    const { record, problem } = runner.getSnapshot().context
    if (isDone(event, before, record, problem)) {
      if (!before || event.type !== 'discard') return
      onDiscard(before)
      return clearPictures(before.attemptId)
    }
    const why = problem ?? record?.problem
    throw why ? refusal(why) : notAllowed(call)
  }

  /** What is not sent yet must not be sent with the photo before, however long the other one takes. */
  async function leaveUnsent(seat: Seat<Runner>, runner: Runner, mine: InHand): Promise<void> {
    // the consent before may be leaving it
    await settled(seat, runner)
    const snapshot = runner.getSnapshot()
    if (!mine.isWanted() || !Object(snapshot.value).preparing || !snapshot.can(probes.startOver)) return
    const before = attemptOf(runner)
    runner.send(probes.startOver)
    await settled(seat, runner)
    const { record, problem } = runner.getSnapshot().context
    // storage would not let it go
    if (record && record.attemptId === before) throw refusal(problem ?? { kind: 'storage' })
  }

  /** A consent, from the photo on; a photo that is there already need not be waited for. */
  async function consent(seat: Seat<Runner>, runner: Runner, word: Word, call: ConsentCall): Promise<void> {
    // what is refused leaves nothing, and shows nothing
    check(runner, call)
    heed(seat, runner, word, () => checkConsent(call, notice, word.isPassed))
    const mine = hand.take()
    word.isHeard?.()
    try {
      if (call.photo !== null) await leaveUnsent(seat, runner, mine)
      if (!mine.isWanted()) return await mine.left
      const meant = check(runner, call)
      heed(seat, runner, word)
      const work = eventOf(call, photos, mine.isWanted)
      const released = async (event: TryOnEvent) => {
        if ('consent' in event) await photos.release(event.consent.photoId)
      }
      const event = await Promise.race([seat.ended, mine.left, work]).catch((error: unknown) => {
        void work.then(released, () => undefined)
        return refuse(seat, runner, error)
      })
      await doEvent(seat, runner, word, event, meant, mine).finally(() => released(event))
    } finally {
      mine.letGo()
    }
  }

  /** Anything but a consent; `isLeft` says whether what was in hand has been left by it. */
  async function intend(seat: Seat<Runner>, runner: Runner, word: Word, isLeft: boolean): Promise<void> {
    const { call } = word
    const meant = check(runner, call)
    // what was to be forgotten is in the archive by now, or was never seen
    const isUnread = word.seen === undefined && !isBegunSince(word.said)
    const isOwn = word.begun ? meant === word.begun || (isLeft && meant === undefined) : isUnread
    const isSeen = isOwn || meant === (word.seen ?? undefined)
    if (call.intent === 'discard' && !isSeen) throw notAllowed(call)
    heed(seat, runner, word)
    const event = await eventOf(call, photos, () => true).catch((error: unknown) => refuse(seat, runner, error))
    await doEvent(seat, runner, word, event, meant, null)
  }

  return {
    ...permission,
    settled,
    /** Whether another page has gone on with what stood there, as it was asked to, before this one has taken over. */
    isGoneOn: (runner: Runner, call: Call, seen: string | null) =>
      !isConsent(call) && !isLeaving(call) && seenAttempt() === seen && !runner.getSnapshot().can(permissionOf(call)),
    /** Whether what another page was to do is still to be done, and not done though nobody came to say so. */
    async isDue(call: Call, seen: string | null, begun: string | undefined): Promise<boolean> {
      // what was said last in the other page may be in hand here
      if (isMeant(call, seen) || (begun && seenAttempt() === begun) || (isLeaving(call) && hand.isHolding()))
        return true
      if (await isGone(call, seen)) return false
      checkRead()
      throw notAllowed(call)
    },
    /** Whether a consent is being made ready that the machine does not know of yet. */
    isPreparing: hand.isHolding,

    /** Does it, or rejects with why it could not be done. */
    async carryOut(seat: Seat<Runner>, runner: Runner, word: Word): Promise<void> {
      const { call } = word
      const leave = () => isLeaving(call) && hand.leave()
      const wasLeft = leave()
      do await settled(seat, runner)
      while (runner.getSnapshot().hasTag('busy'))
      // what was said before, and waited as this did, may be in hand by now
      const isLeft = leave() || wasLeft
      // who has run the try-on before may have done it, and not have said so any more
      if (isConsent(call) && attemptOf(runner) === call.attemptId) return
      // that was all there was to leave, unless its shopper saw what stands
      const stands = attemptOf(runner)
      const isSeen = stands !== undefined && (word.begun ?? word.seen) === stands
      if (isLeft && !isSeen && !runner.getSnapshot().can(permissionOf(call))) return checkRead()
      // of a former shopper not even a photo is kept
      if (isConsent(call)) return consent(seat, runner, word, call)
      // nobody forgets unseen what the consent in hand would have left
      const isUnseen = isLeft && !isSeen && stands !== undefined && call.intent === 'discard'
      await intend(seat, runner, isUnseen ? { ...word, call: { intent: 'startOver' } } : word, isLeft)
    },

    /**
     * Whether a word is still to be carried out that made this page read storage again: what is gone need not be left. A
     * consent that begins nothing is no consent kept.
     */
    isToBeDone(runner: Runner, call: Call): boolean {
      const snapshot = runner.getSnapshot()
      if (snapshot.can(permissionOf(call)) || (isLeaving(call) && hand.isHolding())) return true
      if (isConsent(call)) throw notAllowed(call)
      checkRead()
      return false
    },
  }
}

/** Whether an intent has done what it says: another page may have been first, and storage may not have let it. */
function isDone(
  event: TryOnEvent,
  before: AttemptRecord | null,
  after: AttemptRecord | null,
  problem: Problem | null,
): boolean {
  const isSame = before !== null && before.attemptId === after?.attemptId
  const isStopped = after?.problem?.kind === 'storage'
  if ('consent' in event) return !isStopped && after?.attemptId === event.consent.attemptId
  if (event.type === 'submitEmail') return isSame && after?.phase !== 'awaitingEmail'
  // what could not be read is there by now, or may be
  if (event.type === 'discard' && before === null) return after === null && problem?.kind !== 'storageUnreadable'
  return !isSame || (event.type !== 'startOver' && event.type !== 'discard')
}
