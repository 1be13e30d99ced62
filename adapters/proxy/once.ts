import type { Clock } from '../../src/ports.ts'
import type { Answer } from './answers.ts'
import type { Routed } from './route.ts'

/** How long after an answer it may turn out that its browser had gone, in ms. */
const turnsOutMs = 1_000
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
    const look = () => (signal.aborted ? clock.setTimeout(forget, keptMs) : forget())
    // what was refused may be said again, with the same words
    answering.then(({ status }) => (isRefusal(status) ? forget() : clock.setTimeout(look, turnsOutMs)), forget)
    return answering
  }
}

const isRefusal = (status: number) => status >= 400 && status < 500
