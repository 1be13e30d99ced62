import { answerLimitMs, type TabMessage } from '../pages/tabs.ts'
import { withinLimit } from '../platform/clock.ts'
import { deferred } from '../platform/deferred.ts'
import type { SteadyClock } from '../ports.ts'
import type { Problem } from '../rules/problem.ts'
import { TryOnError } from '../rules/try-on-error.ts'
import { consentLifetimeMs } from '../rules/record.ts'

export type Ask = TabMessage & { type: 'ask' }
type Answer = TabMessage & { type: 'answer' }
export type Heard = Answer | (TabMessage & { type: 'taken' })

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
  /** Whether this page waits for that answer, or for the word that it will come. */
  hear(message: Heard): boolean
}

/** How long before its shopper is told that nobody answers nobody begins any more, in ms: the word that it is taken would come too late. */
const crossingMs = 5_000

interface AsksParts {
  clock: SteadyClock
  post: (message: TabMessage) => void
  refusal: (problem: Problem) => TryOnError
}

export function createAsks({ clock, post, refusal }: AsksParts): Asks {
  const asked = new Map<string, { pass: () => void; hear: (message: Heard) => void }>()
  const passAll = () => asked.forEach(({ pass }) => pass())
  return {
    answerTo(ask, isHeard, check) {
      const { promise, resolve, reject } = deferred<Answer>()
      const taken = deferred()
      let until = clock.elapsed() + answerLimitMs
      const pass = () => {
        const inMs = Math.min(answerLimitMs, until - clock.elapsed()) - crossingMs
        if (inMs <= 0) return
        try {
          check()
          post({ ...ask, inMs })
        } catch (error) {
          // what can not be passed on can not be read either
          reject(error instanceof TryOnError ? error : refusal({ kind: 'photo', reason: 'unreadable' }))
        }
      }
      const hear = (message: Heard) => {
        if (message.type === 'answer') return resolve(message)
        until = Infinity
        taken.resolve()
      }
      asked.set(ask.id, { pass, hear })
      // what was said before may not have been taken yet
      if (isHeard) passAll()
      const begun = withinLimit(clock, answerLimitMs, Promise.race([promise, taken.promise]))
      // a page that is frozen in the middle never answers
      return begun
        .then(() => withinLimit(clock, consentLifetimeMs, promise))
        .catch((error: unknown) => {
          throw error instanceof TryOnError ? error : refusal({ kind: 'stopped', reason: 'unanswered' })
        })
    },
    drop: ({ id }) => void asked.delete(id),
    passAll,
    hear(message) {
      const ask = asked.get(message.id)
      ask?.hear(message)
      return ask !== undefined
    },
  }
}
