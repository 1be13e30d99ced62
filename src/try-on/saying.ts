import type { Seat } from '../pages/seat.ts'
import { withinLimit } from '../platform/clock.ts'
import { deferred } from '../platform/deferred.ts'
import type { Readable } from '../ports.ts'
import type { Shopper } from '../records/epochs.ts'
import { TryOnError } from '../rules/try-on-error.ts'
import type { TryOnView } from '../rules/view.ts'
import type { CarryOut } from './carry-out.ts'
import { lookOnMs } from './company.ts'
import { isConsent, isLeaving, type Call } from './intents.ts'
import { createPassing, type PassingParts } from './passing.ts'
import { readyOf, type Refused } from './result.ts'
import type { Runner } from './runner.ts'
import type { Said, Word } from './said.ts'

/** What this page's shopper says, in the order in which it was said. */
interface Saying {
  /** Resolves once it has taken effect. */
  say(call: Call): Promise<void>
  /** Resolves once everything that was said so far has taken effect, or can be left. */
  allHeard(): Promise<void>
  /** An attempt is shown: from now on a word is for it by being for what its shopper sees. */
  sees(attempt: string | undefined): void
  /** Settles once every intent of this page has, with why nothing has come of the last one, a consent, and what stood then. */
  allDone(): Promise<Refused | null>
}

interface SayingParts extends PassingParts {
  carrying: CarryOut
  /** What this page shows. */
  shown: Pick<Readable<TryOnView>, 'get' | 'subscribe'>
  shopper: () => Shopper
  /** When what is being said was said, and by whom. */
  sayNow: () => Said
  /** Whether the try-on is over with its shopper. */
  isOver: () => boolean
}

export function createSaying(parts: SayingParts): Saying {
  const { clock, sitting, carrying, shown, life, gone } = parts
  const { carryOut, closed, isBegunSince, isDue, isGoneOn, isMeant, isToBeDone, notAllowed, seenAttempt, settled } =
    carrying
  const { isPassedToOwner, asItStands, checkLeft } = createPassing(parts)
  /** All words that were said can be followed by another one: each was passed on, or has begun here. */
  let turn = Promise.resolve()
  /** All have begun here, or are over. */
  let begun = Promise.resolve()
  let done: Promise<Refused | null> = Promise.resolve(null)
  /** How many words this page has said. */
  let words = 0
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
    const begun = isUnseen ? last?.attempt : undefined
    if (isConsent(call)) last = { call, attempt: call.attemptId, over: now, isDone: false }
    else if (isLeaving(call)) last = null
    return isLeaving(call) ? begun : undefined
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
    /** Which attempt its shopper saw as it was said; undefined where nothing was shown yet. */
    const seen = said.saw !== undefined ? said.saw : isUnread ? undefined : seenAttempt()
    const begun = ownAttempt(call)
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
    const running: Running = async () => (await hasTurn(), taken.runner ?? taken.ended)
    await hasTurn()
    // what there is was not shown here yet
    if (seen === undefined && !taken.runner) await Promise.race([firstShown(), taken.owned, taken.ended])
    const own = { ...word, seen, begun }
    return taken.runner
      ? here(own, taken, running, taken !== first)
      : elsewhere(own, taken, running, number, isPassedOn)
  }

  /** By this page; a seat that was taken anew may be at its first look. */
  async function here(word: Word, seat: Seat<Runner>, running: Running, isAnew: boolean): Promise<void> {
    const runner = await running()
    if (isAnew) await settled(seat, runner)
    if (isAnew && !isToBeDone(runner, word.call)) return
    return asItStands(word, seat, carryOut(seat, runner, word))
  }

  /** By the page that runs the flow, and by this one if that goes before it has answered. */
  async function elsewhere(
    word: Word,
    seat: Seat<Runner>,
    running: Running,
    number: number,
    isPassedOn: () => void,
  ): Promise<void> {
    const { call, said, seen, begun } = word
    // what was shown only then is nothing that a consent was left for
    const shownNow = seen === undefined && begun ? null : seenAttempt()
    const attempt = said.saw !== undefined ? said.saw : shownNow
    if (call.intent === 'discard' && seen === undefined && isBegunSince(said) && attempt !== null)
      throw notAllowed(call)
    const wasPermitted = shown.get().can[call.intent]
    if (await isPassedToOwner(seat, { ...word, number, attempt }, isPassedOn)) return
    if (!seat.runner) throw closed()
    const own = { ...word, seen: attempt }
    const carriedOut = async () => {
      const runner = await running()
      await settled(seat, runner)
      checkLeft(call, number)
      if (wasPermitted && isGoneOn(runner, call, attempt)) return
      if (await isDue(call, attempt, begun)) await carryOut(seat, runner, own)
    }
    // that page may be writing it
    return asItStands(own, seat, carriedOut(), true)
  }

  /** Settles once this page shows what there is, if that is to be had. */
  async function firstShown(): Promise<void> {
    const ends = new AbortController()
    await withinLimit(clock, 2 * lookOnMs, readyOf(shown, ends.signal)).catch(() => undefined)
    ends.abort()
  }

  /** Whether what the shopper saw is what there is, now that storage was read: a word is for nothing else. */
  async function isStillMeant(
    seat: Seat<Runner>,
    runner: Runner,
    call: Call,
    seen: string | null | undefined,
  ): Promise<boolean> {
    await settled(seat, runner)
    if (seen === undefined || isMeant(call, seen)) return true
    if (call.intent === 'resume') return false
    throw notAllowed(call)
  }

  function sees(attempt: string | undefined): void {
    if (last?.attempt === attempt) last = null
  }

  return { say, sees, allHeard: () => turn, allDone: () => done }
}

/** What runs the flow here, once it is the word's turn. */
type Running = () => Promise<Runner>

const afterBoth = (one: Promise<void>, other: Promise<void>) => Promise.all([one, other]).then(() => {})
