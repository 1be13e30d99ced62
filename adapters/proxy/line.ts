import { endpoints, type Operation } from '../../src/contract/endpoints.ts'
import { ipWindowMs } from '../../src/contract/limits.ts'
import type { Budget, Clock } from '../../src/ports.ts'

/** Those who wait for the budget. */
export interface Line {
  /**
   * Resolves with 0 once the request may be sent, which counts it; else with how long it had better stay away, in ms, where
   * the line is full or the wait too long. Where the signal aborts it has left the line, and is not sent.
   */
  enter(operation: Operation, shopper: string, signal: AbortSignal): Promise<number>
}

interface Waiting {
  operation: Operation
  shopper: string
  /** When it gives up, on the monotonic clock. */
  until: number
  end(waitMs: number): void
}

/** How long a request may wait, in ms: a good part of what the library's own limits leave it. */
const patienceMs = 5_000
const submissionPatienceMs = 25_000

/** Who goes first: a consent that is given, then what runs already, then those who begin. */
const ranks: Readonly<Record<Operation, number>> = {
  createGeneration: 0,
  registerCustomer: 1,
  getGeneration: 2,
  createUpload: 3,
  getFunnel: 3,
  getRequestsLeft: 3,
  getContext: 3,
}

/** After how many others, at the latest, one of that rank goes: consents alone would leave no room for what comes of them. */
const othersAtMost: Readonly<Record<number, number>> = { 0: Infinity, 1: 4, 2: 1, 3: 4 }

/** How many of those who wait may be one shopper's. */
const shareOfOne = 0.1

/** How long one more request takes at the service's rate, in ms. */
const eachMs = ipWindowMs / endpoints.createGeneration.threshold

/** Of how many shoppers it is known when they had their last turn. */
const shoppersAtMost = 2_000

/** A line before the budget: by rank, and within one by who has waited longest since their last turn. */
export function createLine(budget: Budget, clock: Clock, placesAtMost: number): Line {
  const waiting = new Set<Waiting>()
  /** The shoppers who had a turn, the last one last. */
  const served = new Map<string, number>()
  let turns = 0
  let isServing = false
  /** Whether somebody came, or something changed, since the line was looked at. */
  let isCalled = false
  let timer: unknown = null
  /** How long the first in line had to wait when it last asked, in ms. */
  let lastWaitMs = 0

  /** How many others have had their turn since one of that rank. */
  const others = [0, 0, 0, 0]

  const rankOf = ({ operation }: Waiting) => {
    const rank = ranks[operation]
    return others[rank]! >= othersAtMost[rank]! ? -rank : rank
  }
  const isBefore = (one: Waiting, other: Waiting) =>
    rankOf(one) - rankOf(other) || (served.get(one.shopper) ?? 0) - (served.get(other.shopper) ?? 0)

  /** Everybody's turn who can have one now; then again once the first of those who can not may try again. */
  async function serve(): Promise<void> {
    isCalled = true
    if (isServing) return
    isServing = true
    while (isCalled) {
      isCalled = false
      lastWaitMs = await serveAll()
    }
    isServing = false
    const now = clock.monotonic()
    if (timer !== null) clock.clearTimeout(timer)
    const untils = [...waiting].map(({ until }) => until - now)
    timer =
      waiting.size === 0 ? null : clock.setTimeout(() => void serve(), Math.max(1, Math.min(lastWaitMs, ...untils)))
  }

  /** Resolves with how long the first of those who could not go has to wait, in ms; 0 where all could. */
  async function serveAll(): Promise<number> {
    let waitMs = 0
    const passedOver = new Set<Waiting>()
    for (;;) {
      for (const each of waiting) if (clock.monotonic() >= each.until) each.end(stayAwayMs())
      const [next] = [...waiting].filter((each) => !passedOver.has(each)).sort(isBefore)
      if (!next) return waitMs
      const asked = await budget.ask({ operation: next.operation })
      if (asked === 0) {
        take(next)
        continue
      }
      waitMs = waitMs === 0 ? asked : Math.min(waitMs, asked)
      if (next.operation === 'createGeneration') return waitMs
      // who comes later would take the room that is waited for; but a registration waits for more of it than others need,
      // and a consent needs less
      for (const each of waiting)
        if (each === next || (next.operation !== 'registerCustomer' && each.operation !== 'createGeneration'))
          passedOver.add(each)
    }
  }

  function take(each: Waiting): void {
    const rank = ranks[each.operation]
    others.forEach((count, of) => (others[of] = of === rank ? 0 : count + 1))
    served.delete(each.shopper)
    served.set(each.shopper, (turns += 1))
    if (served.size > shoppersAtMost) served.delete([...served.keys()][0]!)
    each.end(0)
  }

  const stayAwayMs = () => lastWaitMs + (1 + waiting.size) * eachMs

  return {
    enter(operation, shopper, signal) {
      const ofShopper = [...waiting].filter((each) => each.shopper === shopper).length
      const isFull = waiting.size >= placesAtMost || ofShopper >= Math.max(1, placesAtMost * shareOfOne)
      // where nobody has to wait everybody who is in line has their turn at once
      if (signal.aborted || (isFull && lastWaitMs > 0)) return Promise.resolve(stayAwayMs())
      return new Promise((resolve) => {
        const patience = operation === 'createGeneration' ? submissionPatienceMs : patienceMs
        const leave = () => each.end(stayAwayMs())
        const each: Waiting = {
          operation,
          shopper,
          until: clock.monotonic() + patience,
          end(waitMs) {
            waiting.delete(each)
            signal.removeEventListener('abort', leave)
            resolve(waitMs)
          },
        }
        waiting.add(each)
        signal.addEventListener('abort', leave)
        void serve()
      })
    },
  }
}
