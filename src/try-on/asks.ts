import { answerLimitMs, type TabMessage } from '../pages/tabs.ts'
import { withinLimit } from '../platform/clock.ts'
import { deferred } from '../platform/deferred.ts'
import type { Clock } from '../ports.ts'
import { TryOnError, type Problem } from '../rules/problem.ts'

export type Ask = TabMessage & { type: 'ask' }
export type Answer = TabMessage & { type: 'answer' }

/** Intents of this page's shopper that the page which runs the flow has not answered yet. */
export interface Asks {
  /**
   * What that page answers. It is asked once it is heard, so that a reset() there was heard before; `check` may throw
   * where what was said is too old by then.
   */
  answerTo(ask: Ask, isHeard: boolean, check: () => void): Promise<Answer>
  /** Nobody waits for it any more, so it must not be passed on to anybody. */
  drop(ask: Ask): void
  /** That page may have come after an intent was passed on; what it has had before it answers once. */
  passAll(): void
  /** Whether this page waits for that answer, which it takes. */
  take(answer: Answer): boolean
}

interface AsksParts {
  clock: Clock
  post: (message: TabMessage) => void
  refusal: (problem: Problem) => TryOnError
}

export function createAsks({ clock, post, refusal }: AsksParts): Asks {
  const asked = new Map<string, { pass: () => void; answer: (message: Answer) => void }>()
  return {
    answerTo(ask, isHeard, check) {
      const { promise, resolve, reject } = deferred<Answer>()
      const until = clock.now() + answerLimitMs
      const pass = () => {
        // its shopper is about to be told that nobody answers
        if (clock.now() >= until) return
        try {
          check()
          post(ask)
        } catch (error) {
          // what can not be passed on can not be read either
          reject(error instanceof TryOnError ? error : refusal({ kind: 'photo', reason: 'unreadable' }))
        }
      }
      asked.set(ask.id, { pass, answer: resolve })
      if (isHeard) pass()
      return withinLimit(clock, answerLimitMs, promise).catch((error: unknown) => {
        throw error instanceof TryOnError ? error : refusal({ kind: 'stopped', reason: 'unanswered' })
      })
    },
    drop: ({ id }) => void asked.delete(id),
    passAll() {
      for (const { pass } of asked.values()) pass()
    },
    take(answer) {
      const ask = asked.get(answer.id)
      ask?.answer(answer)
      return ask !== undefined
    },
  }
}
