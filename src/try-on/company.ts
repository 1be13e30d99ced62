import type { TryOnInput } from '../../machines/try-on.types.ts'
import { storedView } from '../../machines/try-on.stored.ts'
import type { Seat } from '../pages/seat.ts'
import type { TabMessage } from '../pages/tabs.ts'
import type { Value } from '../platform/value.ts'
import type { Clock } from '../ports.ts'
import type { Attempts } from '../records/attempts.ts'
import type { AttemptRecord } from '../rules/record.ts'
import { restoringView } from '../rules/first-views.ts'
import type { TryOnView } from '../rules/view.ts'
import type { Answer, Asks } from './asks.ts'
import type { Runner } from './runner.ts'

/** How long another page counts as running the flow after it was heard, in ms. */
const elsewhereMs = 10_000

/** How often a page that was silent for so long is asked whether it is still there, before it counts as gone. */
const mostAsked = 3

/** How often a page that hears nothing of the one that runs the flow looks into storage, in ms. */
export const lookOnMs = 1_000

/** What a page makes of the others that are at the same try-on: who runs the flow is heard by those who wait. */
export interface Company {
  /** Whether another page was heard to run the flow a moment ago. */
  isElsewhere(): boolean
  /** Whether the page that runs the flow was heard while this one had that seat. */
  hasHeard(seat: Seat<Runner>): boolean
  /** Asks the page that runs the flow for its view, and looks into storage as long as nothing is heard of it. */
  wait(seat: Seat<Runner>): void
  /** Has the page that runs the flow look whether what it shows is still there. */
  haveLook(): void
  /** The page that runs the flow shows its view to this one, which waits. */
  hearOwner(seat: Seat<Runner>, view: TryOnView): void
  /** Another page shows itself as the one that runs the flow, as this one does. */
  hearOther(seat: Seat<Runner>, attempt: string | null): Promise<void>
  /** A page that waits asks this one for its view, and says which attempt it has seen. */
  answerHello(seat: Seat<Runner>, seen: string | null): Promise<void>
  /** The page that runs the flow answers what this page's shopper has said. */
  hearAnswer(message: Answer): void
  /** The seat is left, and what was heard in it is of no use any more. */
  leave(): void
}

interface CompanyParts {
  clock: Clock
  attempts: Pick<Attempts, 'look' | 'dropHeld' | 'heldOf' | 'dropUnsent' | 'goesOn' | 'isStored' | 'hasExpired'>
  asks: Asks
  input: TryOnInput
  shown: Value<TryOnView>
  /** Whether other pages are really kept out. */
  exclusive: boolean
  /** Whether every page that may run the flow can be heard. */
  isFirm: boolean
  name: () => string
  /** Where this page waits, or runs the flow. */
  place: () => string
  /** Whether that is where the pages of this storage wait, as far as is known by now. */
  isPlaced: () => boolean
  isCurrent: (seat: Seat<Runner>) => boolean
  /** Leaves the seat for another one, at the end of the line. */
  sitAgain: () => void
  post: (message: TabMessage) => void
  /** Shows the other pages what this one shows, as the one that runs the flow. */
  showOthers: (seat: Seat<Runner>) => void
  /** Says where the try-on stands. */
  stand: () => void
}

export function createCompany(parts: CompanyParts): Company {
  const { clock, attempts, asks, input, shown, exclusive, name, place, isPlaced, isCurrent, sitAgain, post } = parts
  /** The seat in which the page that runs the flow was last heard, and when; and when another page last said that it does. */
  let heard: Seat<Runner> | null = null
  let ownerAt = -Infinity
  let heardAt = -Infinity
  /** How often that page was asked since, and has not answered. */
  let asked = 0
  let looking: unknown = null
  /** What the page that runs the flow has said last, where that tells less than this page has seen. */
  let withheld: TryOnView | null = null

  const seenAttempt = () => shown.get().attempt?.id ?? null
  const greet = (attempt: string | null) => post({ type: 'hello', name: name(), place: place(), seenAttempt: attempt })

  /** Whether storage still holds the attempt that is shown, if any; a storage that fails says nothing. */
  async function isStillThere({ runner }: Seat<Runner>): Promise<boolean> {
    const shownAttempt = seenAttempt()
    // who takes over shows what it has shown until that is read, and what the page before has told is written
    if (shownAttempt === null || runner?.getSnapshot().value === 'restoring') return true
    const stored = await attempts.look().catch(() => undefined)
    return stored === undefined || stored?.attemptId === shownAttempt || seenAttempt() !== shownAttempt
  }

  /** One that was heard may have gone, and one that runs the flow by now may not be to be heard, unless locks tell pages apart. */
  function askOn(): void {
    if (clock.monotonic() - ownerAt < elsewhereMs) return
    if (asked++ < mostAsked) greet(seenAttempt())
    else heard = null
  }

  /** The page that runs the flow may be in another process, and not to be heard. */
  function lookOn(seat: Seat<Runner>): void {
    const isUnheard = () => isCurrent(seat) && seat.isWaiting && heard !== seat
    looking = clock.setTimeout(() => {
      if (!isCurrent(seat) || !seat.isWaiting || (heard === seat && parts.isFirm)) return
      lookOn(seat)
      if (heard === seat) return askOn()
      const show = (record: AttemptRecord | null) => {
        if (!isUnheard() || (record && attempts.hasExpired(record))) return
        // whatever is asked for here, nobody hears it
        shown.set({ ...storedView(record, input, true), durable: attempts.isStored(record), can: restoringView.can })
      }
      attempts.look().then(show, () => undefined)
    }, lookOnMs)
  }

  /** A page that can read what is there takes over from one that cannot. */
  async function lookPast(seat: Seat<Runner>, view: TryOnView): Promise<void> {
    const stored = await attempts.look().catch(() => null)
    if (!isCurrent(seat) || (withheld ?? shown.get()) !== view) return
    if (stored === null) showWithheld()
    else greet(stored.attemptId)
  }

  function showWithheld(): void {
    if (withheld !== null) shown.set(withheld)
    withheld = null
  }

  /** What the page that runs the flow does not know yet it is told; what it has written or left it has not in memory alone. */
  function compareHeld({ attempt, durable }: TryOnView): void {
    const record = attempts.heldOf(attempt?.id ?? '')
    if (record?.job && attempt?.jobId === null) post({ type: 'lateAnswer', name: name(), record, durable: false })
    else attempts.dropHeld(durable ? undefined : attempt?.id)
  }

  return {
    isElsewhere: () => clock.monotonic() - heardAt < elsewhereMs,
    hasHeard: (seat) => heard === seat,

    wait(seat) {
      greet(seenAttempt())
      lookOn(seat)
    },

    haveLook: () => greet(null),

    hearOwner(seat, view) {
      // that page knows nothing of it, and it is not to be sent once that page has gone
      if (heard !== seat) attempts.dropUnsent()
      heard = seat
      ownerAt = clock.monotonic()
      asked = 0
      const isBlind = view.problem?.kind === 'storageUnreadable'
      const tellsNothing = view.attempt === null && (isBlind || view.state === 'restoring')
      withheld = tellsNothing && seenAttempt() !== null ? view : null
      if (withheld === null) shown.set(view)
      if (view.attempt) attempts.goesOn(view.attempt.id)
      if (!tellsNothing) compareHeld(view)
      parts.stand()
      if (isBlind) void lookPast(seat, view)
      asks.knock()
    },

    async hearOther(seat, attempt) {
      // where nobody is kept out everybody may run it
      if (!exclusive) return
      heardAt = clock.monotonic()
      const isOwner = isPlaced() && (await seat.confirm())
      const isRight = isOwner && (attempt === seenAttempt() || (await isStillThere(seat)))
      if (!isRight && isCurrent(seat)) sitAgain()
    },

    /**
     * What another page has seen may stand where this one could not look when it did, or in place of what it shows; or that
     * page has left what this one shows, after it stood still.
     */
    async answerHello(seat, seen) {
      if (seen === seenAttempt()) return parts.showOthers(seat)
      // who has seen nothing yet waits for nothing
      if (seen === null) parts.showOthers(seat)
      const isUnknown = seen !== null && shown.get().state === 'idle'
      const isStale = isUnknown || !(await isStillThere(seat))
      if (!isCurrent(seat) || !seat.runner) return
      // the other page goes first
      if (isStale) heardAt = clock.monotonic()
      if (isStale) sitAgain()
      else if (seen !== null) parts.showOthers(seat)
    },

    hearAnswer(message) {
      // what this page's shopper has said has been done there
      if (asks.hear(message) && message.problem === null) showWithheld()
    },

    leave() {
      withheld = null
      heard = null
      clock.clearTimeout(looking)
    },
  }
}
