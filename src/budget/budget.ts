import { ipWindowMs } from '../contract/limits.ts'
import { deferred } from '../platform/deferred.ts'
import { withinLimit } from '../platform/clock.ts'
import type { Budget, BudgetRequest, Clock } from '../ports.ts'
import { isForgotten, paceOfMany, priceAt, refusedIn, sentIn, waitFor, widened, type Pace } from './pace.ts'

/** Where several pages keep what they have learnt, one change at a time. */
interface KeptPace {
  update(change: (old: Pace | null) => Pace): Promise<unknown>
}

/** What a try-on has of its turn. */
interface Turn {
  name: string
  /** Whether a request of it was let in. */
  hasPassed: boolean
  /** Its first request is answered. */
  answered: Promise<void>
  answer(): void
}

/** How long storage may take to tell what other pages have sent, in ms, before a page goes by what it knows itself. */
const keptLimitMs = 1_000

/** How long storage that took longer is done without, in ms. */
const restMs = 30_000

/** How long the other requests of a try-on wait for the answer to its first one, in ms. */
const answerLimitMs = 15_000

/** How much later than it was told a consent may be back, in ms. */
const comesBackMs = 1_000

/** How many try-ons are known to have their turn, at the most. */
const turnsAtMost = 2_000

/**
 * A budget that asks nobody, and learns from what the service refuses (contract §8); the pages that keep theirs in one
 * place share it. `shareOf` is how many devices there are, as far as that is known before.
 */
export function createBudget(clock: Clock, kept?: KeptPace, shareOf = 1): Budget {
  const hint = () => paceOfMany(shareOf, Math.random(), clock.now())
  let known = hint()
  let restsUntil = -Infinity
  const turns = new Map<string, Turn>()
  /** Until when a consent waits for room. */
  let consentUntil = -Infinity

  /** Changes what all know; where that takes too long, what this page knows. */
  async function change(how: (pace: Pace) => Pace): Promise<void> {
    const changedOf = (pace: Pace) => how(isForgotten(pace, clock.now()) ? hint() : pace)
    if (!kept || clock.monotonic() < restsUntil) return void (known = changedOf(known))
    let isLate = false
    let isDone = false
    const changed = kept.update((old) => {
      const next = changedOf(old ?? known)
      isDone = true
      if (!isLate) known = next
      return next
    })
    await withinLimit(clock, keptLimitMs, changed).catch(() => {
      isLate = true
      restsUntil = clock.monotonic() + restMs
      // what was decided stands, and is only not written yet
      if (!isDone) known = changedOf(known)
    })
  }

  function end(turn: Turn): void {
    if (turns.get(turn.name) === turn) turns.delete(turn.name)
    turn.answer()
  }

  function begin(name: string): Turn {
    const { promise, resolve } = deferred()
    const turn = { name, hasPassed: false, answered: promise, answer: () => resolve() }
    turns.set(name, turn)
    const [oldest] = turns.values()
    if (oldest && turns.size > turnsAtMost) end(oldest)
    return turn
  }

  return {
    async ask({ operation, turn, urgent }) {
      // whether it has its turn tells its first answer
      const first = turn === undefined ? undefined : turns.get(turn)
      if (first) await withinLimit(clock, answerLimitMs, first.answered).catch(() => undefined)
      const begins = operation !== 'getGeneration' && turn !== undefined && !turns.has(turn)
      const mine = begins ? begin(turn) : null
      const isConsentAwaited = clock.monotonic() < consentUntil
      let waitMs = 0
      await change((pace) => {
        const now = clock.now()
        waitMs = waitFor(pace, operation, { begins, isUrgent: urgent, isConsentAwaited }, now)
        return waitMs > 0 ? pace : sentIn(pace, begins, now)
      })
      if (mine && waitMs > 0) end(mine)
      if (operation === 'createGeneration' && waitMs > 0)
        consentUntil = Math.max(consentUntil, clock.monotonic() + Math.min(waitMs, ipWindowMs) + comesBackMs)
      return waitMs
    },

    learn({ operation, turn }: BudgetRequest, refusedMs: number | null) {
      const mine = turn === undefined ? undefined : turns.get(turn)
      // who has no turn waits for none
      const hadPassed = mine?.hasPassed ?? turn === undefined
      if (mine && refusedMs === 0) mine.hasPassed = true
      const random = Math.random()
      if (refusedMs) void change((pace) => refusedIn(pace, operation, { refusedMs, hadPassed, random }, clock.now()))
      else if (refusedMs === 0 && operation === 'createGeneration') void change(widened)
      // one that was refused has not begun; with whatever else it is answered, what follows is of the same try-on
      if (mine && refusedMs && !hadPassed) end(mine)
      mine?.answer()
    },

    price: () => priceAt(known, clock.now()),
  }
}
