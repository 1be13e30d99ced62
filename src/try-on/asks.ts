import type { TabMessage } from '../pages/tabs.ts'
import { withinLimit } from '../platform/clock.ts'
import { deferred } from '../platform/deferred.ts'
import type { Clock } from '../ports.ts'
import type { Problem } from '../rules/problem.ts'
import { TryOnError } from '../rules/try-on-error.ts'
import { consentLifetimeMs } from '../rules/record.ts'

export type PassedAsk = TabMessage & { type: 'ask' }
export type Ask = Omit<PassedAsk, 'turn'>
type Come = TabMessage & { type: 'come' }
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
  /** That page would carry it out, in that turn: it is passed on once all that was said before has been, to the same one. */
  pass(come: Pick<Come, 'id' | 'turn' | 'by'>): void
  /** Whether this page waits for that answer. */
  hear(answer: Answer): boolean
}

interface AsksParts {
  clock: Clock
  post: (message: TabMessage) => void
  refusal: (problem: Problem) => TryOnError
}

interface Asked {
  ask: Ask
  passedTo: string
  pass(turn: string): void
  resolve(answer: Answer): void
}

export function createAsks({ clock, post, refusal }: AsksParts): Asks {
  /** In the order in which they were said; each with who it was passed on to last. */
  const asked = new Map<string, Asked>()
  /** Who was heard to come last. */
  let came = ''
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
          // what cannot be passed on cannot be read either
          reject(error instanceof TryOnError ? error : refusal({ kind: 'photo', reason: 'unreadable' }))
        }
      }
      asked.set(ask.id, { ask, passedTo: '', pass, resolve })
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
    pass({ id, turn, by }) {
      const coming = asked.get(id)
      if (!coming) return
      const isNew = came !== by
      came = by
      for (const earlier of asked.values()) {
        if (earlier === coming) break
        // one that has just come may not have heard of it
        if (earlier.passedTo !== by) return isNew ? knock() : undefined
      }
      coming.passedTo = by
      coming.pass(turn)
    },
    hear(answer) {
      const waiting = asked.get(answer.id)
      waiting?.resolve(answer)
      return waiting !== undefined
    },
  }
}
