import { deferred } from '../platform/deferred.ts'
import { preparingView } from '../rules/first-views.ts'
import type { TryOnView } from '../rules/view.ts'

/** A consent whose photo is being made ready: a later word may leave it meanwhile. */
export interface InHand {
  /** Rejects when it is left. */
  left: Promise<never>
  isWanted(): boolean
  /** From here on it is the machine's. */
  pass(): void
  /** It is over, however it ended. */
  letGo(): void
}

/** Holds the one consent that a page is making ready; a later word leaves the one before, rejected with `refusal`. */
export function createHand(onChange: () => void, refusal: () => Error) {
  let leaveIt: (() => void) | null = null

  /** Leaves what is in hand, unless the machine has it; says whether something was left. */
  function leave(): boolean {
    const isLeft = leaveIt !== null
    leaveIt?.()
    return isLeft
  }

  return {
    leave,
    isHolding: () => leaveIt !== null,

    take(): InHand {
      leave()
      const { promise, reject } = deferred<never>()
      // who waits for it hears it, and else nobody
      promise.catch(() => undefined)
      let isWanted = true
      const mine = () => {
        isWanted = false
        drop()
        reject(refusal())
      }
      const drop = () => {
        if (leaveIt === mine) leaveIt = null
      }
      leaveIt = mine
      onChange()
      return {
        left: promise,
        isWanted: () => isWanted,
        pass: drop,
        letGo() {
          drop()
          onChange()
        },
      }
    },
  }
}

/** Another consent is being made ready where that stands; the same words may take its place. */
export const preparingOver = ({ durable, exclusive, can: { start, retry } }: TryOnView): TryOnView => ({
  ...preparingView,
  durable,
  exclusive,
  can: { ...preparingView.can, start, retry },
})
