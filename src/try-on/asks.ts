import type { TabMessage } from '../pages/tabs.ts'
import { withinLimit } from '../platform/clock.ts'
import { deferred } from '../platform/deferred.ts'
import type { Clock } from '../ports.ts'
import type { Problem } from '../rules/problem.ts'
import { TryOnError } from '../rules/try-on-error.ts'
import { consentLifetimeMs } from '../rules/record.ts'

export type PassedAsk = TabMessage & { type: 'ask' }
export type Ask = Omit<PassedAsk, 'turn'>
export type Answer = TabMessage & { type: 'answer' }

/** How long the page that runs the flow may take to say that it would carry an intent out, in ms. */
const comeLimitMs = 30_000

/**
 * Intents of this page's shopper that the page which runs the flow has not answered yet. One is passed on only once that
 * page says that it would carry it out, and this one still waits for it: what nobody has asked for in time nobody begins.
 */
export interface Asks {
  /**
   * What that page answers. It is asked once it is heard, so that a reset() there was heard before; `check` may throw
   * where what was said is too old by then.
   */
  answerTo(ask: Ask, isHeard: boolean, check: () => void): Promise<Answer>
  /** Nobody waits for it any more, so it must not be passed on to anybody. */
  drop(ask: Ask): void
  /** That page is there, and may have come after another one was asked; what it has had before it answers once. */
  knock(): void
  /** That page would carry it out, in that turn. */
  pass(id: string, turn: string): void
  /** Whether this page waits for that answer. */
  hear(answer: Answer): boolean
}

interface AsksParts {
  clock: Clock
  post: (message: TabMessage) => void
  refusal: (problem: Problem) => TryOnError
}

export function createAsks({ clock, post, refusal }: AsksParts): Asks {
  const asked = new Map<string, { ask: Ask; pass: (turn: string) => void; resolve: (answer: Answer) => void }>()
  const knock = () => asked.forEach(({ ask: { name, place, id } }) => post({ type: 'knock', name, place, id }))
  return {
    answerTo(ask, isHeard, check) {
      const { promise, resolve, reject } = deferred<Answer>()
      const passed = deferred()
      const pass = (turn: string) => {
        try {
          check()
          post({ ...ask, turn })
          passed.resolve()
        } catch (error) {
          // what can not be passed on can not be read either
          reject(error instanceof TryOnError ? error : refusal({ kind: 'photo', reason: 'unreadable' }))
        }
      }
      asked.set(ask.id, { ask, pass, resolve })
      // what was said before may not have been passed on yet
      if (isHeard) knock()
      const answered = async () => {
        await withinLimit(clock, comeLimitMs, Promise.race([promise, passed.promise]))
        // a page that is frozen in the middle never answers
        return withinLimit(clock, consentLifetimeMs, promise)
      }
      return answered().catch((error: unknown) => {
        throw error instanceof TryOnError ? error : refusal({ kind: 'stopped', reason: 'unanswered' })
      })
    },
    drop: ({ id }) => void asked.delete(id),
    knock,
    pass: (id, turn) => asked.get(id)?.pass(turn),
    hear(answer) {
      const waiting = asked.get(answer.id)
      waiting?.resolve(answer)
      return waiting !== undefined
    },
  }
}
