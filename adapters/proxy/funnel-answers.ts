import type { Clock } from '../../src/ports.ts'
import type { Answer } from './answers.ts'
import type { Routed } from './route.ts'

/** How long a store's funnels are believed to be what they were, in ms. */
const believedMs = 600_000
/** How many are known at the most. */
const knownAtMost = 1_000

/** What GET /funnel was answered, which is the same for every shopper (contract §4: store-scoped). */
export interface FunnelAnswers {
  of(asked: Routed): Answer | undefined
  /** Also forgets them where a submission finds that one is none any more. */
  learn(asked: Routed, answer: Answer, isAccepted: boolean): void
}

export function createFunnelAnswers(clock: Clock): FunnelAnswers {
  const known = new Map<string, { answer: Answer; until: number }>()
  return {
    of({ operation, target }) {
      const found = operation === 'getFunnel' ? known.get(target) : undefined
      return found && clock.monotonic() < found.until ? found.answer : undefined
    },
    learn({ operation, target }, answer, isAccepted) {
      if (operation === 'createGeneration' && (answer.status === 404 || answer.status === 403)) known.clear()
      if (operation !== 'getFunnel' || !isAccepted) return
      if (known.size >= knownAtMost) known.clear()
      known.set(target, { answer, until: clock.monotonic() + believedMs })
    },
  }
}
