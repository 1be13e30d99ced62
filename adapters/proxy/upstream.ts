import { endpoints, keyHeader, type Operation } from '../../src/contract/endpoints.ts'
import { withinLimit } from '../../src/platform/clock.ts'
import type { Clock, Fetch, MaybePromise } from '../../src/ports.ts'
import { createAccess } from '../../src/wire/access.ts'
import { withoutKey } from '../../src/wire/addresses.ts'
import { neverConnected } from '../../src/wire/never-connected.ts'
import { problem, type Answer } from './answers.ts'
import { readBytes } from './read-bytes.ts'
import type { Routed } from './route.ts'

export interface UpstreamOptions {
  /** The installation's base URL, http(s); a function is read for every request. */
  baseUrl: string | (() => string)
  /** The store's key, which does not leave the server; a function is called for every request. */
  apiKey: string | (() => MaybePromise<string>)
  /** In place of the platform's `fetch`. */
  fetch?: Fetch | undefined
}

/** How long the service may take to answer, in ms; a submission longer than its shopper waits, as a late answer counts. */
const answerLimitMs = 30_000
const submissionLimitMs = 600_000
/** How long `apiKey()` may take, in ms. */
const keyLimitMs = 10_000
/** The longest answer, in bytes. */
const answerAtMost = 1_048_576

/**
 * Makes a request ready, with its key. What it resolves with sends it once, whatever comes of it, and says that in the
 * contract's words; not at all where the signal has aborted.
 */
export type Prepare = (routed: Routed) => Promise<(signal: AbortSignal) => Promise<Answered>>

/** What is answered, and whether the service has said it. */
interface Answered {
  answer: Answer
  isOfService: boolean
}

export function createUpstream(options: UpstreamOptions, clock: Clock, onError: (error: unknown) => void): Prepare {
  const access = createAccess(options, clock, keyLimitMs)
  const send: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init))

  async function request(
    { operation, target, body }: Routed,
    key: string | null,
    signal: AbortSignal,
  ): Promise<Answer> {
    const base = access.baseUrl()
    if (base === null) throw new NotSent('baseUrl is no plain http(s) address')
    if (key === null) throw new NotSent('apiKey gave no key that can be sent')
    if (signal.aborted) throw new NotSent('nobody waits for it any more')
    const ends = new AbortController()
    const answering = send(base + target, {
      method: endpoints[operation].method,
      ...sentAs(operation, key, body),
      // some platforms know no other way of following none
      redirect: 'manual',
      cache: 'no-store',
      signal: ends.signal,
    }).then((response) => read(response, key))
    try {
      return await withinLimit(clock, operation === 'createGeneration' ? submissionLimitMs : answerLimitMs, answering)
    } finally {
      ends.abort()
    }
  }

  return async (routed) => {
    const key = await access.key()
    return async (signal) => {
      try {
        return { answer: await request(routed, key, signal), isOfService: true }
      } catch (error) {
        onError(describedIn(error, routed.operation))
        const isSent = !(error instanceof NotSent || (options.fetch === undefined && neverConnected(error)))
        return { answer: unanswered(routed.operation, isSent), isOfService: false }
      }
    }
  }
}

/** A platform's error may hold what was answered, of which only its code is nobody's. */
function describedIn(error: unknown, operation: Operation): unknown {
  if (error instanceof NotSent || error instanceof NoAnswer) return error
  const { name, code, cause } = Object(error) as { name?: unknown; code?: unknown; cause?: { code?: unknown } }
  return new NoAnswer(`${operation} was not answered: ${String(cause?.code ?? code ?? name ?? 'no error')}`)
}

/** What is answered where the service was not. */
export function unanswered(operation: Operation, isSent: boolean): Answer {
  // of a submission that is out nobody knows what has become of it, and only its shopper may say it again
  if (isSent) return problem(502, { error: 'The service did not answer' })
  // a 5xx would say the same of one that is not out, which may be sent again
  return problem(operation === 'createGeneration' ? 429 : 503, { error: 'The service could not be reached' })
}

/** The answer, without the key, whoever repeats it. */
async function read({ status, headers, body }: Response, key: string): Promise<Answer> {
  const bytes = await readBytes(body, answerAtMost)
  if (bytes === null || !isAnswer(status)) throw new NoAnswer(`no usable answer, status ${status}`)
  const hasBody = status !== 204 && status !== 205
  const text = hasBody ? withoutKey(new TextDecoder().decode(bytes), key) : null
  const retryAfter = headers.get('Retry-After')
  return { status, body: text, retryAfter: retryAfter && withoutKey(retryAfter, key) }
}

/**
 * The headers and the body. A submission goes out as a stream, which `fetch` can send once: of text Node's sends another
 * one where it is answered 421.
 */
function sentAs(operation: Operation, key: string, body: string | null) {
  if (body === null) return { headers: { [keyHeader]: key } }
  const headers = { [keyHeader]: key, 'Content-Type': 'application/json' }
  if (operation !== 'createGeneration') return { headers, body }
  const bytes = new Blob([body])
  return {
    headers: { ...headers, 'Content-Length': String(bytes.size) },
    body: bytes.stream(),
    duplex: 'half' as const,
  }
}

/** Not what a browser would follow or say again by itself. */
const isAnswer = (status: number) =>
  (status >= 200 && status < 300) || (status >= 400 && status < 600 && status !== 408 && status !== 421)

/** The request has not left this process. */
class NotSent extends Error {}

/** Nothing that can be passed on came back. */
class NoAnswer extends Error {}
