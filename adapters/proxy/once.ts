import type { Clock } from '../../src/ports.ts'
import { consentLifetimeMs } from '../../src/rules/record.ts'
import type { Answer } from './answers.ts'
import { meaningOf } from './meaning.ts'
import type { Routed } from './route.ts'
import { unanswered } from './upstream.ts'

/** How long after an answer it may turn out that its browser had gone, in ms. */
const turnsOutMs = 1_000
/** How long the answer to a submission that may have been started waits for a browser that was not there to take it, in ms. */
const keptMs = 60_000
/** How many may say the same one again. */
const repeatsAtMost = 20

/** Answers a request with what `send` gives, which does not reject, or with what the same one was given that it repeats. */
export type Once = (asked: Submission, signal: AbortSignal, send: () => Promise<Answer>) => Promise<Answer>

/** A request, and what of it is the same where it is said again. */
type Submission = Routed & { said: string | null | undefined }

interface Out {
  answering: Promise<Answer>
  /** Of those who ask for it. */
  signals: AbortSignal[]
  /** Nobody was there to take the answer. */
  isKept: boolean
}

/**
 * A browser says a POST again by itself when its connection ends without an answer, with all that it said: so one of the
 * same name joins the first, and has its answer. A room names each word of its shopper. One that has no name is known by its
 * body for as long as it is out, and where nobody was there to take its answer: another word may say the same.
 */
export function createOnce(clock: Clock): Once {
  const out = new Map<string, Out>()

  return (asked, signal, send) => {
    if (asked.operation !== 'createGeneration') return send()
    // that says whose it is, too
    const name = JSON.stringify([asked.word, asked.said])
    const forget = (made: Out) => void (out.get(name) === made && out.delete(name))
    const isTaken = ({ signals }: Out) => signals.some(({ aborted }) => !aborted)
    const known = out.get(name)
    if (known) {
      // it is out, be it that this one is not told of its answer
      if (known.signals.push(signal) > repeatsAtMost) return Promise.resolve(unanswered(asked.operation, true))
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
      else if (asked.word === null) clock.setTimeout(look, turnsOutMs)
      else clock.setTimeout(() => forget(made), consentLifetimeMs)
    }
    void made.answering.then(end)
    return made.answering
  }
}
