import type { TryOnInput } from '../../machines/try-on.types.ts'
import { storedView } from '../../machines/try-on.stored.ts'
import type { Readable } from '../ports.ts'
import type { Attempts } from '../records/attempts.ts'
import { restoringView } from '../rules/first-views.ts'
import type { TryOnView } from '../rules/view.ts'
import type { Teller } from '../telling.ts'
import type { Display } from './display.ts'
import type { Keeping } from './keeping.ts'
import type { Sitting } from './sitting.ts'

/** When a page is at a try-on, and when it leaves it to others, or to the next shopper. */
export interface Life {
  /** Aborts when the room is closed; another one then. */
  signal(): AbortSignal
  /** Another page is at the same try-on. */
  hasCompany(): void
  /** Watches for who waits and is shown nothing; throws `TryOnError` of kind `input` where the address is none. */
  watch: Readable<TryOnView>['subscribe']
  /** Stops, and leaves the try-on to other pages, until this one is shown or used again. */
  stop(isFreezing: boolean): void
  /** A reset() is about to wipe it: other pages have it after `until`. */
  giveUp(until: Promise<unknown>): void
  /** Ends what waits for it, too. */
  close(): void
  /** Shows nothing of what was. */
  clear(): void
  /** Begins again from storage, where somebody is looking. */
  restart(): void
  /** As `restart()` where the page was hidden and is shown again; what was said meanwhile goes on. */
  show(): void
}

interface LifeParts {
  input: TryOnInput
  attempts: Pick<Attempts, 'dropHeld' | 'dropUnsent'>
  /** Whether storage has taken a write of this page: another one may read there, or reset it. */
  hasWorked: () => boolean
  telling: Pick<Teller, 'settling'>
  keeping: Keeping
  sitting: Sitting
  display: Display
  /** Whether its shopper has gone, with whom it is over. */
  isOver: () => boolean
  gone: () => Error
  closed: () => Error
}

export function createLife(parts: LifeParts): Life {
  const { attempts, keeping, sitting, display, isOver, gone, closed } = parts
  const { shown } = display
  let life = new AbortController()
  /** What is shown is from before the room was closed or its page put away: others may have gone on since, or have reset it. */
  let isOld = false
  /** No other page was heard of that is at the same try-on. */
  let isAlone = true

  /** Who hears nobody any more cannot tell what has become of it: nothing is sent that others may have left or sent. */
  function goDeaf(): void {
    attempts.dropHeld()
    if (!isAlone || parts.hasWorked()) attempts.dropUnsent()
    isOld = true
  }

  function clear(why: Error = gone()): void {
    sitting.leave(why)
    goDeaf()
    isOld = false
    shown.set(isOver() ? storedView(null, parts.input, false) : restoringView)
  }

  function restart(why?: Error): void {
    clear(why)
    if (shown.isWatched() && !isOver()) sitting.sit()
  }

  return {
    signal: () => life.signal,
    hasCompany: () => void (isAlone = false),
    watch(onChange) {
      if (isOld && !sitting.seat() && !isOver()) shown.set(restoringView)
      isOld = false
      if (!isOver()) sitting.sit()
      return shown.subscribe(onChange)
    },
    stop(isFreezing) {
      keeping.leave(isFreezing)
      sitting.leave(closed(), isFreezing)
      goDeaf()
    },
    giveUp(until) {
      sitting.leave(gone(), false, until)
      goDeaf()
    },
    close() {
      keeping.leave()
      sitting.leave(closed(), false, parts.telling.settling())
      life.abort()
      life = new AbortController()
      goDeaf()
    },
    clear: () => clear(),
    restart: () => restart(),
    show() {
      const seat = sitting.seat()
      // it has read storage since it was hidden
      if (seat?.runner) display.showOthers(seat)
      // what it holds of the one that runs the flow it has heard since
      else if (seat?.isWaiting) sitting.sitAgain()
      else if (!seat) restart(closed())
    },
  }
}
