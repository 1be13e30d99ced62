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
  /** Who they are to others in line, and by their own name. */
  shopper: string
  name: string
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

/** All who have had no turn yet stand in line as one: it costs nothing to be another one with every request. */
const newcomers = ''

/** How many of those who wait may be one shopper's, and how many are taken who come before it is known how long they wait. */
const shareOfOne = 0.1
const burst = 4
/** How many requests one shopper may have sent in a minute where others have to wait. */
const turnsOfOne = 40
/** For how long whoever has begun, and who begins, is sent away at the most, in ms: nothing in the service's count outlasts a minute. */
const longestStayAwayMs = ipWindowMs / 4
const longestForBeginnersMs = ipWindowMs

/** How long one more request takes at the service's rate, in ms. */
const eachMs = ipWindowMs / endpoints.createGeneration.threshold

/** Of how many shoppers it is known when they had their last turn. */
const shoppersAtMost = 2_000

/** A line before the budget: by rank, and within one by who has waited longest since their last turn. */
export function createLine(budget: Budget, clock: Clock, placesAtMost: number): Line {
  const waiting = new Set<Waiting>()
  /** The turns that shoppers had in the last minute; the last one's last. */
  const served = new Map<string, { turn: number; at: number[] }>()
  let turns = 0
  let isServing = false
  /** Whether somebody came, or something changed, since the line was looked at. */
  let isCalled = false
  let timer: unknown = null
  /** How long the first in line had to wait when it last asked, in ms. */
  let lastWaitMs = 0
  /** Until when nobody has more than their share, as somebody had to wait. */
  let crowdedUntil = -Infinity

  /** How many others have had their turn since one of that rank. */
  const others = [0, 0, 0, 0]

  const rankOf = ({ operation }: Waiting) => {
    const rank = ranks[operation]
    return others[rank]! >= othersAtMost[rank]! ? -rank : rank
  }
  const isBefore = (one: Waiting, other: Waiting) =>
    rankOf(one) - rankOf(other) || (served.get(one.shopper)?.turn ?? 0) - (served.get(other.shopper)?.turn ?? 0)

  /** Everybody's turn who can have one now; then again once the first of those who cannot may try again. */
  async function serve(): Promise<void> {
    isCalled = true
    if (isServing) return
    isServing = true
    while (isCalled) {
      isCalled = false
      lastWaitMs = await serveAll()
      if (lastWaitMs > 0) crowdedUntil = clock.monotonic() + 2 * ipWindowMs
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
      for (const each of waiting) if (clock.monotonic() >= each.until) each.end(stayAwayMs(each.operation))
      const [next] = [...waiting].filter((each) => !passedOver.has(each)).sort(isBefore)
      if (!next) return waitMs
      const asked = await budget.ask({ operation: next.operation })
      if (asked === 0) {
        take(next)
        continue
      }
      waitMs = waitMs === 0 ? asked : Math.min(waitMs, asked)
      // who comes later would take the room that is waited for; but a registration waits for more of it than others need,
      // and of a consent the service may take less than of a poll
      const isOfItsOwn = next.operation === 'registerCustomer' || next.operation === 'createGeneration'
      for (const each of waiting)
        if (isOfItsOwn ? each.operation === next.operation : each.operation !== 'createGeneration') passedOver.add(each)
    }
  }

  function take(each: Waiting): void {
    const rank = ranks[each.operation]
    others.forEach((count, of) => (others[of] = of === rank ? 0 : count + 1))
    turns += 1
    for (const shopper of new Set([each.shopper, each.name])) {
      const at = [...recent(shopper), clock.monotonic()]
      served.delete(shopper)
      served.set(shopper, { turn: turns, at })
    }
    if (served.size > shoppersAtMost) served.delete([...served.keys()][0]!)
    each.end(0)
  }

  const stayAwayMs = (operation: Operation) =>
    Math.min(ranks[operation] < 3 ? longestStayAwayMs : longestForBeginnersMs, lastWaitMs + (1 + waiting.size) * eachMs)

  const recent = (shopper: string) =>
    (served.get(shopper)?.at ?? []).filter((at) => at > clock.monotonic() - ipWindowMs)

  /** How long a shopper has to stay away who has had more than others leave them, in ms. */
  function overMs(shopper: string, waitingOfTheirs: number): number {
    const now = clock.monotonic()
    const turns = [...recent(shopper), ...Array.from({ length: waitingOfTheirs }, () => now)]
    const first = turns.at(-turnsOfOne)
    return first === undefined ? 0 : first + ipWindowMs - now
  }

  return {
    enter(operation, name, signal) {
      const shopper = served.has(name) ? name : newcomers
      const ofShopper = [...waiting].filter((each) => each.shopper === shopper).length
      // where nobody has to wait everybody who is in line has their turn at once
      const places = lastWaitMs > 0 ? placesAtMost : placesAtMost * burst
      const isFull = waiting.size >= places || ofShopper >= Math.max(1, places * shareOfOne)
      if (signal.aborted || isFull) return Promise.resolve(stayAwayMs(operation))
      const tooManyMs = clock.monotonic() < crowdedUntil ? overMs(shopper, ofShopper) : 0
      if (tooManyMs > 0) return Promise.resolve(tooManyMs)
      return new Promise((resolve) => {
        const patience = operation === 'createGeneration' ? submissionPatienceMs : patienceMs
        const leave = () => each.end(stayAwayMs(operation))
        const each: Waiting = {
          operation,
          shopper,
          name,
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
