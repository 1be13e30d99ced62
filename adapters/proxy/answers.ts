import { situations } from '../../src/contract/errors.ts'
import type { ApiError } from '../../src/contract/resources.ts'

/** What a browser is answered, which may be told more than once. */
export interface Answer {
  status: number
  /** Null where the status has none. */
  body: string | null
  retryAfter?: string | null
}

export const problem = (status: number, error: ApiError): Answer => ({ status, body: JSON.stringify(error) })

export const badInput = (message: string): Answer => problem(400, { error: 'Invalid request', message })

/** The contract's own words for the shared count (contract §7), here of all who come this way. */
export function tooMany(waitMs: number): Answer {
  const { status, error } = situations.rateLimitExceeded
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
  return {
    ...problem(status, { error, message: `Too many requests; try again in ${seconds} s` }),
    retryAfter: String(seconds),
  }
}

export function responseOf({ status, body, retryAfter }: Answer, cookie: string | null): Response {
  // over HTTP/1.1 browsers say a POST again whose connection was used before and dies; HTTP/2 has no such header
  const headers = new Headers({ 'Cache-Control': 'no-store', Connection: 'close' })
  if (body !== null) headers.set('Content-Type', 'application/json')
  if (retryAfter) headers.set('Retry-After', retryAfter)
  if (cookie !== null) headers.set('Set-Cookie', cookie)
  return new Response(body, { status, headers })
}
