import type { Clock } from '../../src/ports.ts'
import type { Answer } from './answers.ts'
import type { Routed } from './route.ts'

/** How long after an answer it may turn out that its browser had gone, in ms. */
const turnsOutMs = 1_000
/** How long the answer to an accepted submission waits for a browser that was not there to take it, in ms. */
const keptMs = 60_000

/** Answers a request with what `send` gives, or with what the same one was given that it repeats. */
export type Once = (asked: Routed, shopper: string, signal: AbortSignal, send: () => Promise<Answer>) => Promise<Answer>

interface Out {
  answering: Promise<Answer>
  /** Of those who ask for it. */
  signals: AbortSignal[]
}

/**
 * A browser says a POST again by itself when its connection ends without an answer. So the same submission of the same
 * shopper joins the one that is out, and has its answer where nobody else was there to take it.
 */
export function createOnce(clock: Clock): Once {
  const out = new Map<string, Out>()

  return (asked, shopper, signal, send) => {
    if (asked.operation !== 'createGeneration') return send()
    const name = `${shopper} ${asked.body}`
    const known = out.get(name)
    known?.signals.push(signal)
    if (known) return known.answering
    const made: Out = { answering: send(), signals: [signal] }
    out.set(name, made)
    const forget = () => out.get(name) === made && out.delete(name)
    const isTaken = () => made.signals.some(({ aborted }) => !aborted)
    const look = (status: number) => (isTaken() || status !== 200 ? forget() : clock.setTimeout(forget, keptMs))
    // what was refused may be said again, with the same words
    made.answering.then(
      ({ status }) => (isRefusal(status) ? forget() : clock.setTimeout(() => look(status), turnsOutMs)),
      forget,
    )
    return made.answering
  }
}

const isRefusal = (status: number) => status >= 400 && status < 500
