import type { Seat } from '../pages/seat.ts'
import { withinLimit } from '../platform/clock.ts'
import { deferred } from '../platform/deferred.ts'
import { newId } from '../platform/new-id.ts'
import { succeeds } from '../platform/succeeds.ts'
import type { Clock, Notice, Readable } from '../ports.ts'
import type { Attempts } from '../records/attempts.ts'
import type { Shopper } from '../records/epochs.ts'
import { TryOnError } from '../rules/try-on-error.ts'
import type { TryOnView } from '../rules/view.ts'
import type { Photos } from '../shopper/photos.ts'
import type { Answer, Ask, Asks } from './asks.ts'
import type { CarryOut, Runner, Word } from './carry-out.ts'
import { lookOnMs, type Company } from './company.ts'
import { checkConsent, isConsent, isLeaving, type Call } from './intents.ts'
import { readyOf, type Refused } from './result.ts'
import type { Said } from './said.ts'
import type { Sitting } from './sitting.ts'

/** What this page's shopper says, in the order in which it was said. */
export interface Saying {
  /** Resolves once it has taken effect. */
  say(call: Call): Promise<void>
  /** Resolves once everything that was said so far has taken effect, or can be left. */
  allHeard(): Promise<void>
  /** An attempt is shown: from now on a word is for it by being for what its shopper sees. */
  sees(attempt: string | undefined): void
  /** Settles once every intent of this page has, with why nothing has come of the last one, a consent, and what stood then. */
  allDone(): Promise<Refused | null>
}

interface SayingParts {
  clock: Clock
  attempts: Pick<Attempts, 'isForgotten' | 'isKept' | 'isLeft' | 'look' | 'withdraw'>
  photos: Photos
  notice: Notice | undefined
  asks: Asks
  company: Pick<Company, 'hasHeard'>
  sitting: Sitting
  carrying: CarryOut
  name: () => string
  /** What this page shows. */
  shown: Pick<Readable<TryOnView>, 'get' | 'subscribe'>
  shopper: () => Shopper
  /** When what is being said was said, and by whom. */
  sayNow: () => Said
  /** Aborts when the room is closed. */
  life: () => AbortSignal
  /** Whether the try-on is over with its shopper. */
  isOver: () => boolean
  gone: () => TryOnError
}

export function createSaying(parts: SayingParts): Saying {
  const { clock, attempts, photos, notice, asks, company, sitting, carrying, shown, life, gone } = parts
  const {
    carryOut,
    checkSaid,
    closed,
    isBegun,
    isBegunSince,
    isDue,
    isGoneOn,
    isMeant,
    isToBeDone,
    notAllowed,
    seenAttempt,
    settled,
  } = carrying
  /** All words that were said can be followed by another one: each was passed on, or has begun here. */
  let turn = Promise.resolve()
  /** All have begun here, or are over. */
  let begun = Promise.resolve()
  let done: Promise<Refused | null> = Promise.resolve(null)
  /** How many words this page has said, and before which of them all were left by the page that was asked to. */
  let words = 0
  let leftBefore = 0
  /** The last consent, until a word leaves it or what it begins is shown: that, what was shown before, and whether it has begun. */
  let last: { call: Call; attempt: string; over: string | null; isDone: boolean } | null = null

  function say(call: Call): Promise<void> {
    const performing = parts.isOver() ? Promise.reject(gone()) : perform(call)
    performing.then(
      () => last?.call === call && (last.isDone = true),
      () => last?.call === call && (last = null),
    )
    // the view says what was wrong
    const whose = [parts.shopper(), life()]
    const came = performing.then(
      () => null,
      (error: unknown) =>
        isConsent(call) && error instanceof TryOnError ? { error, whose, stood: shown.get() } : null,
    )
    // nothing else is kept of what it has come to
    done = Promise.all([done, came]).then(([, refused]) => refused)
    return performing
  }

  /** What is said later waits until what was said before has taken effect, or can be left. */
  async function perform(call: Call): Promise<void> {
    const passedOn = deferred()
    const hasBegun = deferred()
    const earlier = { turn, begun }
    turn = afterBoth(turn, passedOn.promise)
    begun = afterBoth(begun, hasBegun.promise)
    const isHeard = () => {
      passedOn.resolve()
      hasBegun.resolve()
    }
    try {
      await performed({ call, said: parts.sayNow(), isHeard }, earlier, passedOn.resolve)
    } finally {
      isHeard()
    }
  }

  /** The attempt that the word before a leaving one has begun, and that is not shown yet. */
  function ownAttempt(call: Call): string | undefined {
    const now = seenAttempt()
    // while it is under way another page's may be shown
    const isUnseen = last && (!last.isDone || now === null || now === last.over)
    const own = isUnseen ? last?.attempt : undefined
    if (isConsent(call)) last = { call, attempt: call.attemptId, over: now, isDone: false }
    else if (isLeaving(call)) last = null
    return isLeaving(call) ? own : undefined
  }

  /** Here where this page is the owner; else by the owner, and here if the owner goes before it has answered. */
  async function performed(
    word: Word,
    earlier: { turn: Promise<void>; begun: Promise<void> },
    isPassedOn: () => void,
  ): Promise<void> {
    const { call, said } = word
    const number = ++words
    const signal = life()
    const isUnread = shown.get().state === 'restoring'
    const seen = said.saw === undefined ? (isUnread ? undefined : seenAttempt()) : said.saw
    const own = ownAttempt(call)
    const before = sitting.seat()
    const first = sitting.sit()
    await sitting.findPlace()
    // nothing is opened again for what was said before
    if (signal.aborted) throw closed()
    const taken = sitting.sit()
    await Promise.race([taken.decided, taken.ended])
    const isReadSince = taken !== before || said.saw !== undefined
    if (taken.runner && isReadSince && !(await isStillMeant(taken, taken.runner, call, seen))) return
    const hasTurn = () => Promise.race([taken.runner ? earlier.begun : earlier.turn, taken.ended])
    const running = async () => (await hasTurn(), taken.runner ?? taken.ended)
    await hasTurn()
    // what there is was not shown here yet
    if (seen === undefined && !taken.runner) await Promise.race([firstShown(), taken.owned, taken.ended])
    if (taken.runner) {
      const runner = await running()
      // a seat that was taken anew may be at its first look
      if (taken !== first) await settled(taken, runner)
      if (taken !== first && !isToBeDone(runner, call)) return
      return asItStands({ ...word, seen, own }, taken, carryOut(taken, runner, { ...word, seen, own }))
    }
    // what was shown only then is nothing that a consent was left for
    const attempt = said.saw !== undefined ? said.saw : seen === undefined && own ? null : seenAttempt()
    if (call.intent === 'discard' && seen === undefined && isBegunSince(said) && attempt !== null)
      throw notAllowed(call)
    const wasPermitted = shown.get().can[call.intent]
    if (await isPassedToOwner(taken, { ...word, number, attempt, own }, isPassedOn)) return
    if (!taken.runner) throw closed()
    const carriedOut = async () => {
      const runner = await running()
      await settled(taken, runner)
      checkLeft(call, number)
      if (wasPermitted && isGoneOn(runner, call, attempt)) return
      if (await isDue(call, attempt, own)) await carryOut(taken, runner, { ...word, seen: attempt, own })
    }
    // that page may be writing it
    return asItStands({ ...word, seen: attempt, own }, taken, carriedOut(), true)
  }

  /**
   * A word that was rejected because its page was left stands where storage has it: whoever is next goes on with it. A
   * consent that another page may find is nobody's once it is rejected, unless one has gone on with it by then.
   */
  function asItStands(
    { call, said, seen, own }: Word,
    taken: Seat<Runner>,
    carriedOut: Promise<void>,
    mayBeFound = false,
  ): Promise<void> {
    const before = taken.runner?.getSnapshot().context.record ?? null
    return carriedOut.catch(async (error: unknown) => {
      const isClosed = isOfClosing(error)
      if (isLeaving(call)) {
        // what it was for may be any of these
        const meant = [own, seen, before?.attemptId].flatMap((each) => each ?? [])
        if (!isClosed || meant.length === 0) throw error
        const areLeft = await Promise.all(meant.map((each) => isLeft(call, each)))
        if (areLeft.every(Boolean)) return
        throw error
      }
      const attemptId = isConsent(call) ? call.attemptId : before?.attemptId
      if (attemptId === undefined) throw error
      const isOthers = isConsent(call) && sitting.wasGivenUp(taken)
      if (isClosed && !isOthers && (await attempts.isKept(attemptId, before))) return
      if (!isConsent(call) || !(isClosed || isOthers || mayBeFound) || (await attempts.withdraw(attemptId, said.by)))
        throw error
    })
  }

  /** What a later word has left is nobody's: the page that was asked may not have come to say so. */
  function checkLeft(call: Call, number: number): void {
    if (isConsent(call) && number < leftBefore) throw gone()
  }

  /** Whether the page that runs the flow has answered a word that was passed on to it, before this one runs it. */
  async function isPassedToOwner(
    taken: Seat<Runner>,
    word: Word & { number: number; attempt: string | null },
    isPassedOn: () => void,
  ): Promise<boolean> {
    const { call, said, number, attempt, own } = word
    if (isConsent(call)) checkConsent(call, notice)
    const where = { name: parts.name(), place: sitting.place() }
    const ask: Ask = { type: 'ask', ...where, id: newId(), call, seenAttempt: attempt, ownAttempt: own }
    let isPassed = false
    const check = () => {
      checkLeft(call, number)
      if (!isBegun(call)) checkSaid(call, said)
      isPassed = true
    }
    const answered = asks.answerTo(ask, company.hasHeard(taken), check)
    isPassedOn()
    let answer: Answer | void
    try {
      answer = await Promise.race([answered, taken.owned, taken.ended])
    } catch (error) {
      if (!isOfClosing(error)) throw error
      // this page may be back before it is known what has become of it, and nobody else is to have it, too
      asks.drop(ask)
      // a page that has it goes on with it, though this one is gone; what is begun there may not be written yet
      const isDone = isLeaving(call)
        ? !own && attempt !== null && isLeft(call, attempt)
        : isPassed && isTaken(call, said)
      if (!(await isDone)) throw error
      return true
    } finally {
      asks.drop(ask)
    }
    if (!answer) return false
    if (answer.problem) {
      const refused = Promise.reject(new TryOnError(answer.problem, answer.jobId))
      // a page that was asked before this one may have written it
      return asItStands({ ...word, seen: attempt }, taken, refused, true).then(() => true)
    }
    if (isLeaving(call)) leftBefore = Math.max(leftBefore, number)
    // a photo that was passed on is the room's
    await photos.restore()
    return true
  }

  /** What another page has archived is not forgotten. */
  const isLeft = ({ intent }: Call, attempt: string) => attempts.isLeft(attempt, intent === 'discard')

  /** Whether the page that was asked goes on with it; a consent that it has not begun by now is nobody's. */
  async function isTaken(call: Call, { by }: Said): Promise<boolean> {
    if (!isConsent(call)) return true
    const { attemptId } = call
    const isBegunThere = async () =>
      (await attempts.isKept(attemptId, null)) || isBegun(call) || attempts.isForgotten(attemptId)
    if (await isBegunThere()) return true
    // it may be about to
    await new Promise<void>((resolve) => void clock.setTimeout(resolve, lookOnMs))
    if ((await isBegunThere()) || by.aborted) return true
    // of what can not be read, or was wiped since, nobody can say that it was not
    return !(await succeeds(attempts.look())) || !(await attempts.withdraw(attemptId, by, true))
  }

  /** Settles once this page shows what there is, if that is to be had. */
  async function firstShown(): Promise<void> {
    const ends = new AbortController()
    await withinLimit(clock, 2 * lookOnMs, readyOf(shown, ends.signal)).catch(() => undefined)
    ends.abort()
  }

  /** Whether what the shopper saw is what there is, now that storage was read: a word is for nothing else. */
  async function isStillMeant(
    own: Seat<Runner>,
    runner: Runner,
    call: Call,
    seen: string | null | undefined,
  ): Promise<boolean> {
    await settled(own, runner)
    if (seen === undefined || isMeant(call, seen)) return true
    if (call.intent === 'resume') return false
    throw notAllowed(call)
  }

  function sees(attempt: string | undefined): void {
    if (last?.attempt === attempt) last = null
  }

  return { say, sees, allHeard: () => turn, allDone: () => done }
}

/** Its page has left it, or was left. */
const isOfClosing = (error: unknown) =>
  error instanceof TryOnError && error.problem.kind === 'stopped' && error.problem.reason === 'closed'

const afterBoth = (one: Promise<void>, other: Promise<void>) => Promise.all([one, other]).then(() => {})
