import type { Clock } from '../../src/ports.ts'
import type { Answer } from './answers.ts'
import type { Routed } from './route.ts'

/** How long an answer waits for a browser that was not there to take it, in ms. */
const keptMs = 60_000

/** Answers a request with what `send` gives, or with what the same one was given that it repeats. */
export type Once = (asked: Routed, shopper: string, signal: AbortSignal, send: () => Promise<Answer>) => Promise<Answer>

/**
 * A browser says a POST again by itself when its connection ends without an answer. So the same submission of the same
 * shopper joins the one that is out, and has its answer where nobody else was there to take it.
 */
export function createOnce(clock: Clock): Once {
  const out = new Map<string, Promise<Answer>>()

  return (asked, shopper, signal, send) => {
    if (asked.operation !== 'createGeneration') return send()
    const name = `${shopper} ${asked.body}`
    const known = out.get(name)
    if (known) return known
    const answering = send()
    const forget = () => out.get(name) === answering && out.delete(name)
    out.set(name, answering)
    answering.then(() => (signal.aborted ? clock.setTimeout(forget, keptMs) : forget()), forget)
    return answering
  }
}
