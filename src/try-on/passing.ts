import type { Seat } from '../pages/seat.ts'
import { newId } from '../platform/new-id.ts'
import { succeeds } from '../platform/succeeds.ts'
import type { Clock, Notice } from '../ports.ts'
import type { Attempts } from '../records/attempts.ts'
import { TryOnError } from '../rules/try-on-error.ts'
import type { Photos } from '../shopper/photos.ts'
import type { Answer, Ask, Asks } from './asks.ts'
import type { CarryOut } from './carry-out.ts'
import { lookOnMs, type Company } from './company.ts'
import { checkConsent, isConsent, isLeaving, type Call } from './intents.ts'
import type { Runner } from './runner.ts'
import type { Said, Word } from './said.ts'
import type { Sitting } from './sitting.ts'

/** What becomes of a word that another page is asked to carry out, or whose own page goes before it has. */
interface Passing {
  /**
   * Whether the page that runs the flow has answered a word that was passed on to it, before this one runs it. The number
   * tells which of this page's words it is.
   */
  isPassedToOwner(
    taken: Seat<Runner>,
    word: Word & { number: number; attempt: string | null },
    isPassedOn: () => void,
  ): Promise<boolean>
  /**
   * A word that was rejected because its page was left stands where storage has it: whoever is next goes on with it. A
   * consent that another page may find is nobody's once it is rejected, unless one has gone on with it by then.
   */
  asItStands(word: Word, taken: Seat<Runner>, carriedOut: Promise<void>, mayBeFound?: boolean): Promise<void>
  /** What a later word has left is nobody's: the page that was asked may not have come to say so. */
  checkLeft(call: Call, number: number): void
}

export interface PassingParts {
  clock: Clock
  attempts: Pick<Attempts, 'isForgotten' | 'isKept' | 'isLeft' | 'look' | 'withdraw'>
  photos: Photos
  notice: Notice | undefined
  asks: Asks
  company: Pick<Company, 'hasHeard'>
  sitting: Sitting
  carrying: Pick<CarryOut, 'checkSaid' | 'isBegun'>
  name: () => string
  /** Aborts when the room is closed. */
  life: () => AbortSignal
  gone: () => TryOnError
}

export function createPassing(parts: PassingParts): Passing {
  const { clock, attempts, photos, notice, asks, company, sitting, life, gone } = parts
  const { checkSaid, isBegun } = parts.carrying
  /** Before which of this page's words all were left by the page that was asked to. */
  let leftBefore = 0

  function asItStands(
    { call, said, seen, begun }: Word,
    taken: Seat<Runner>,
    carriedOut: Promise<void>,
    mayBeFound = false,
  ): Promise<void> {
    const before = taken.runner?.getSnapshot().context.record ?? null
    const signal = life()
    return carriedOut.catch(async (error: unknown) => {
      const isClosed = isOfClosing(error)
      if (isLeaving(call)) {
        // what it was for may be any of these
        const meant = [begun, seen, before?.attemptId].flatMap((each) => each ?? [])
        if (!isClosed || meant.length === 0) throw error
        const areLeft = await Promise.all(meant.map((each) => isLeft(call, each)))
        if (areLeft.every(Boolean)) return
        throw error
      }
      const attemptId = isConsent(call) ? call.attemptId : before?.attemptId
      if (attemptId === undefined) throw error
      const isOthers = isConsent(call) && sitting.wasGivenUp(taken)
      if (isClosed && !isOthers && (await attempts.isKept(attemptId, before))) return
      if (!isConsent(call) || !(isClosed || isOthers || mayBeFound)) throw error
      if (await attempts.withdraw(attemptId, said.by)) throw error
      // until now this page took it for removed
      if (!isBegun(call) && !signal.aborted) sitting.sitAgain()
    })
  }

  function checkLeft(call: Call, number: number): void {
    if (isConsent(call) && number < leftBefore) throw gone()
  }

  async function isPassedToOwner(
    taken: Seat<Runner>,
    word: Word & { number: number; attempt: string | null },
    isPassedOn: () => void,
  ): Promise<boolean> {
    const { call, said, number, attempt, begun } = word
    if (isConsent(call)) checkConsent(call, notice)
    const where = { name: parts.name(), place: sitting.place() }
    const ask: Ask = { type: 'ask', ...where, id: newId(), call, seenAttempt: attempt, ownAttempt: begun }
    let wasPassedOn = false
    const check = () => {
      checkLeft(call, number)
      if (!isBegun(call)) checkSaid(call, said)
      wasPassedOn = true
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
        ? !begun && attempt !== null && isLeft(call, attempt)
        : wasPassedOn && isTaken(call, said)
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
    // of what cannot be read, or was wiped since, nobody can say that it was not
    return !(await succeeds(attempts.look())) || !(await attempts.withdraw(attemptId, by, true))
  }

  return { isPassedToOwner, asItStands, checkLeft }
}

/** Its page has left it, or was left. */
const isOfClosing = (error: unknown) =>
  error instanceof TryOnError && error.problem.kind === 'stopped' && error.problem.reason === 'closed'
