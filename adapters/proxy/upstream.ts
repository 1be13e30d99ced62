import { endpoints, keyHeader, type Operation } from '../../src/contract/endpoints.ts'
import { withinLimit } from '../../src/platform/clock.ts'
import type { Clock, Fetch, MaybePromise } from '../../src/ports.ts'
import { readBaseUrl } from '../../src/wire/base-url.ts'
import { neverConnected } from '../../src/wire/never-connected.ts'
import { problem, type Answer } from './answers.ts'
import type { Routed } from './route.ts'

export interface UpstreamOptions {
  /** The installation's base URL, http(s); a function is read for every request. */
  baseUrl: string | (() => string)
  /** The store's key, which does not leave the server; a function is called for every request. */
  apiKey: string | (() => MaybePromise<string>)
  /** In place of the platform's `fetch`. */
  fetch?: Fetch | undefined
  /** Hears why a request could not be made, or was not answered; nothing of the shopper's is in it. Default: `console.error`. */
  onError?: ((error: unknown) => void) | undefined
}

/** How long the service may take to answer, in ms; a submission longer than its shopper waits, as a late answer counts. */
const answerLimitMs = 30_000
const submissionLimitMs = 600_000

/** Sends a request once, whatever comes of it, and says it in the contract's words. */
export type Send = (routed: Routed) => Promise<Answer>

export function createUpstream(options: UpstreamOptions, clock: Clock): Send {
  const { onError = (error: unknown) => console.error(error) } = options
  const send: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init))

  async function request({ operation, target, body }: Routed): Promise<Answer> {
    const base = readBaseUrl(options.baseUrl)
    if (base === null) throw new NotSent('baseUrl is no http(s) address')
    const key = await keyOf(options)
    const limitMs = operation === 'createGeneration' ? submissionLimitMs : answerLimitMs
    const ends = new AbortController()
    const answering = send(base + target, {
      method: endpoints[operation].method,
      ...sentAs(operation, key, body),
      // some platforms know no other way of following none
      redirect: 'manual',
      cache: 'no-store',
      signal: ends.signal,
    }).then(async (answer) => ({ answer, text: await answer.text() }))
    try {
      const { answer, text } = await withinLimit(clock, limitMs, answering)
      if (!isAnswer(answer.status)) throw new Error(`it answered ${answer.status}`)
      const hasBody = answer.status !== 204 && answer.status !== 205
      return { status: answer.status, body: hasBody ? text : null, retryAfter: answer.headers.get('Retry-After') }
    } finally {
      ends.abort()
    }
  }

  return async (routed) => {
    try {
      return await request(routed)
    } catch (error) {
      onError(error)
      const isSent = !(error instanceof NotSent || (options.fetch === undefined && neverConnected(error)))
      // of a submission that is out nobody knows what has become of it, and only its shopper may say it again
      if (isSent) return problem(502, { error: 'The service did not answer' })
      // a 5xx would say the same of one that is not out, which may be sent again
      return problem(routed.operation === 'createGeneration' ? 429 : 503, { error: 'The service could not be reached' })
    }
  }
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

/** What a browser would not follow, nor say again by itself. */
const isAnswer = (status: number) =>
  (status >= 200 && status < 300) || (status >= 400 && status !== 408 && status !== 421)

/** The request has not left this process. */
class NotSent extends Error {}

async function keyOf({ apiKey }: UpstreamOptions): Promise<string> {
  try {
    const key = typeof apiKey === 'function' ? await apiKey() : apiKey
    if (typeof key === 'string' && key !== '') return key
  } catch (cause) {
    throw new NotSent('apiKey() has failed', { cause })
  }
  throw new NotSent('apiKey gave no key')
}
