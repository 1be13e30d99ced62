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
  /** As it is known, or as whoever asks for it already hears it, be it a refusal; else by `ask`. */
  of(asked: Routed, signal: AbortSignal, ask: () => Promise<Answer>): Promise<Answer>
  /** Also forgets them where a submission finds that one is none any more. */
  learn(asked: Routed, answer: Answer): void
}

export function createFunnelAnswers(clock: Clock): FunnelAnswers {
  const known = new Map<string, { answer: Answer; until: number }>()
  const out = new Map<string, { answering: Promise<Answer>; signal: AbortSignal }>()

  function believed({ target }: Routed): Answer | undefined {
    const found = known.get(target)
    return found && clock.monotonic() < found.until ? found.answer : undefined
  }

  function askFor({ target }: Routed, signal: AbortSignal, ask: () => Promise<Answer>): Promise<Answer> {
    const asking = { answering: ask().finally(() => out.get(target) === asking && out.delete(target)), signal }
    out.set(target, asking)
    return asking.answering
  }

  return {
    async of(asked, signal, ask) {
      for (let other = out.get(asked.target); other; other = out.get(asked.target)) {
        const answer = await other.answering
        // whoever asked may have gone before it was sent
        if (!other.signal.aborted) return answer
      }
      return believed(asked) ?? askFor(asked, signal, ask)
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
