import type { Clock } from '../../src/ports.ts'
import type { Answer } from './answers.ts'
import { meaningOf } from './meaning.ts'
import type { Routed } from './route.ts'

/** How long a store's funnels are believed to be what they were, in ms. */
const believedMs = 600_000
/** How many are known at the most. */
const knownAtMost = 1_000

/** What GET /funnel was answered, which is the same for every shopper (contract §4: store-scoped). */
export interface FunnelAnswers {
  /** As it is known, or as whoever asks for it already hears it; else by `ask`. */
  of(asked: Routed, ask: () => Promise<Answer>): Promise<Answer>
  /** Also forgets them where a submission finds that one is none any more. */
  learn(asked: Routed, answer: Answer): void
}

export function createFunnelAnswers(clock: Clock): FunnelAnswers {
  const known = new Map<string, { answer: Answer; until: number }>()
  const out = new Map<string, Promise<unknown>>()

  function believed({ target }: Routed): Answer | undefined {
    const found = known.get(target)
    return found && clock.monotonic() < found.until ? found.answer : undefined
  }

  function askFor({ target }: Routed, ask: () => Promise<Answer>): Promise<Answer> {
    const asking = ask().finally(() => out.get(target) === asking && out.delete(target))
    out.set(target, asking)
    return asking
  }

  return {
    async of(asked, ask) {
      // whoever asks may have gone before it was sent
      while (out.has(asked.target)) await out.get(asked.target)
      return believed(asked) ?? askFor(asked, ask)
    },
    learn(asked, answer) {
      const { operation, target } = asked
      if (operation === 'createGeneration' && (answer.status === 404 || answer.status === 403)) known.clear()
      if (operation !== 'getFunnel' || meaningOf(asked, answer).kind !== 'accepted') return
      if (known.size >= knownAtMost) known.clear()
      known.set(target, { answer, until: clock.monotonic() + believedMs })
    },
  }
}
