import type { Clock } from 'fitting-room'
import type { Page } from './page.ts'
import type { RoomLedger, Word, Words } from './words.ts'

/** How long after its page's end an intent may still be carried out by another one, in ms. */
const passedOnMs = 60_000

/** What shoppers leave, replace or wipe: from when they say so until it is done, anything may be shown. */
export class Leavings {
  /** How often something was left. */
  changes = 0
  private readonly words: Words
  private readonly clock: Clock
  private readonly note: (line: string) => void

  constructor(words: Words, clock: Clock, note: (line: string) => void) {
    this.words = words
    this.clock = clock
    this.note = note
  }

  leaving(page: Page, attempt: string | null, isReset = false) {
    const { ledger } = page
    const word = this.words.ofAttempt.get(attempt ?? '')
    const leaving = { page, at: this.clock.monotonic(), attempt, isReset }
    ledger.leavings++
    ledger.leaving.add(leaving)
    return {
      over: (done: boolean) => {
        this.changes++
        ledger.leavings++
        ledger.leaving.delete(leaving)
        if (done && word) word.left = true
      },
      /** It may be done all the same: where none was shown, with whatever there is. */
      untold: () => {
        const isMeant = (each: Word) => (attempt === null ? each.room === ledger : each === word)
        for (const each of this.words.all) each.mayBeLeft ||= isMeant(each)
      },
      /** An intent that waits for storage is for whatever is found there. Returns what takes that back. */
      discarding: () => {
        const meant = (word ? this.words.like(word) : this.words.all).filter((each) => each.room === ledger)
        for (const each of meant) each.discards.add(leaving)
        return () => meant.forEach((each) => each.discards.delete(leaving))
      },
      discarded: () => void (attempt !== null && ledger.discarded.set(attempt, this.clock.monotonic())),
    }
  }

  /** Whether that attempt, or any, is being left on a page that can still do it. */
  isLeaving({ leaving }: RoomLedger, attempt?: string): boolean {
    return [...leaving].some(
      (each) =>
        (attempt === undefined || each.attempt === null || each.attempt === attempt) &&
        (!each.page.killed || this.clock.monotonic() - each.at < passedOnMs),
    )
  }

  /** Whether a reset() was asked for that has not ended: what is begun meanwhile may go with it. */
  isResetting({ leaving }: RoomLedger): boolean {
    return [...leaving].some(({ isReset, page }) => isReset && !page.killed)
  }

  /**
   * A reset is asked for; what was begun before it may go, and must be gone once it is done, unless the page could not
   * know of a storage.
   */
  resetting(page: Page, knowsAll: () => boolean) {
    const { ledger } = page
    const floor = ++ledger.shopper
    const leaving = this.leaving(page, null, true)
    const over = () => {
      this.abandon(ledger)
      leaving.over(false)
    }
    this.abandon(ledger)
    return {
      done: () => {
        over()
        if (knowsAll()) ledger.floor = Math.max(ledger.floor, floor)
        this.note(`  reset ${floor} of room ${ledger.name} is done`)
      },
      failed: () => {
        ledger.isHalfReset = true
        over()
      },
    }
  }

  private abandon(ledger: RoomLedger): void {
    for (const word of this.words.all) if (word.room === ledger) word.abandoned = true
  }
}
