import type { Clock } from '../../src/ports.ts'
import type { Answer } from './answers.ts'
import { meaningOf } from './meaning.ts'
import type { Routed } from './route.ts'

/** How long after an answer it may turn out that its browser had gone, in ms. */
const turnsOutMs = 1_000
/** How long the answer to a submission that may have been started waits for a browser that was not there to take it, in ms. */
const keptMs = 60_000

/** Answers a request with what `send` gives, which does not reject, or with what the same one was given that it repeats. */
export type Once = (asked: Routed, signal: AbortSignal, send: () => Promise<Answer>) => Promise<Answer>

interface Out {
  answering: Promise<Answer>
  /** Of those who ask for it. */
  signals: AbortSignal[]
  /** Nobody was there to take the answer. */
  isKept: boolean
}

/**
 * A browser says a POST again by itself when its connection ends without an answer. So the same submission of the same
 * shopper joins the one that is out, and has its answer where nobody else was there to take it.
 */
export function createOnce(clock: Clock): Once {
  const out = new Map<string, Out>()

  return (asked, signal, send) => {
    if (asked.operation !== 'createGeneration') return send()
    // which says whose it is, too
    const name = String(asked.body)
    const forget = (made: Out) => void (out.get(name) === made && out.delete(name))
    const isTaken = ({ signals }: Out) => signals.some(({ aborted }) => !aborted)
    const known = out.get(name)
    if (known) {
      known.signals.push(signal)
      if (known.isKept) clock.setTimeout(() => isTaken(known) && forget(known), turnsOutMs)
      return known.answering
    }
    const made: Out = { answering: send(), signals: [signal], isKept: false }
    out.set(name, made)
    const look = () => {
      made.isKept = !isTaken(made)
      if (made.isKept) clock.setTimeout(() => forget(made), keptMs)
      else forget(made)
    }
    const end = (answer: Answer) => {
      const { kind } = meaningOf(asked, answer)
      // what was not started may be said again, with the same words
      if (kind === 'rejected' || kind === 'limitReached' || kind === 'throttled') forget(made)
      else clock.setTimeout(look, turnsOutMs)
    }
    void made.answering.then(end)
    return made.answering
  }
}
