import { endpoints, keyHeader, type Operation } from '../contract/endpoints.ts'
import type { GenerationRequest, RegisterRequest, UploadRequest } from '../contract/resources.ts'
import { TimeLimit, withinLimit } from '../platform/clock.ts'
import type { Clock, Fetch, PutOptions, PutPhoto, StoredPhoto } from '../ports.ts'
import type { Exchange } from '../rules/outcome.ts'
import { withoutAddresses, withoutKey, type Addresses } from './addresses.ts'
import { streamOf } from './body-form.ts'
import { neverConnected } from './never-connected.ts'
import { noRedirect } from './no-redirect.ts'

/** What an operation is given. */
export interface RequestParts {
  params?: Record<string, string>
  query?: Record<string, string | undefined>
  body?: UploadRequest | RegisterRequest | GenerationRequest
}

/** Tells a server of the page's own which word of its shopper a submission carries out: a browser may say it again. */
export const wordHeader = 'Idempotency-Key'

/** How it is sent. */
interface Sending {
  base: string
  key: string
  streamed: boolean
  /** The attempt that a submission is of. */
  turn?: string | undefined
  signal: AbortSignal
}

/** One request on the wire, read to its end. It is out when this returns; whatever becomes of it out there is an exchange. */
type SendRequest = (operation: Operation, parts: RequestParts, sending: Sending) => Promise<Exchange>

export function createExchange(fetch: Fetch | undefined, addresses: Addresses): SendRequest {
  const send: Fetch = fetch ?? ((url, init) => globalThis.fetch(url, init))

  return async (operation, parts, { base, key, streamed, turn, signal }) => {
    const { body } = parts
    const hideAddress = addresses.note(addressIn(parts))
    const hide = (text: string) => withoutKey(hideAddress(text), key)
    const url = urlOf(base, operation, parts)
    try {
      const answer = await send(url, {
        method: endpoints[operation].method,
        headers: {
          [keyHeader]: key,
          ...(body && { 'Content-Type': 'application/json' }),
          // elsewhere it would have to be permitted
          ...(turn && isOwnOrigin(url) && { [wordHeader]: turn }),
        },
        ...(body && (streamed ? { body: streamOf(body), duplex: 'half' } : { body: JSON.stringify(body) })),
        redirect: noRedirect(),
        cache: 'no-store',
        // a proxy of the page's own may know its shopper by a cookie
        credentials: 'same-origin',
        signal,
      })
      const text = await answer.text()
      // Chromium makes this of an interim answer (1xx) on a connection that ended behind it
      const isInterim = answer.status === 200 && text === '' && [...answer.headers].length === 0
      if (isInterim) return { came: 'nothing', why: 'lost' }
      const retryAfter = answer.headers.get('Retry-After')
      return { came: 'answer', status: answer.status, body: parsed(text, hide), retryAfter }
    } catch (error) {
      // a fetch of the application's own proves nothing
      if (fetch === undefined && neverConnected(error)) return { came: 'notSent', why: 'unreachable' }
      return { came: 'nothing', why: 'lost' }
    }
  }
}

/** The photo's PUT; its answer says no more than its status. */
export async function exchangePhoto(
  put: PutPhoto,
  uploadUrl: string,
  photo: StoredPhoto,
  options: PutOptions,
): Promise<Exchange> {
  try {
    const status = await put(uploadUrl, photo, options)
    const taken = status >= 200 && status < 300
    const answer = taken ? { status: 200, body: { data: null } } : { status, body: undefined }
    return { came: 'answer', ...answer, retryAfter: null }
  } catch {
    return { came: 'nothing', why: 'lost' }
  }
}

type Stopped = Extract<Exchange, { came: 'nothing' }>

/** `work`, or what ended it: the time limit or the caller's signal, both of which also abort the inner signal. */
export async function bounded<T>(
  clock: Clock,
  limitMs: number,
  signal: AbortSignal | undefined,
  work: (inner: AbortSignal) => Promise<T>,
): Promise<T | Stopped> {
  if (signal?.aborted) return { came: 'nothing', why: 'aborted' }
  const inner = new AbortController()
  let abort = () => {}
  const aborted = new Promise<Stopped>((resolve) => {
    abort = () => {
      resolve({ came: 'nothing', why: 'aborted' })
      inner.abort()
    }
  })
  signal?.addEventListener('abort', abort, { once: true })
  try {
    return await withinLimit(clock, limitMs, Promise.race([work(inner.signal), aborted]))
  } catch (error) {
    if (!(error instanceof TimeLimit)) throw error
    inner.abort()
    return { came: 'nothing', why: 'timeout' }
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

/** Of a sandboxed frame that is none, whatever its address. */
const isOwnOrigin = (url: string) => globalThis.origin === new URL(url).origin

/** Only a browser knows that it is offline. */
export const offline = () => typeof navigator !== 'undefined' && navigator.onLine === false

function urlOf(base: string, operation: Operation, { params = {}, query = {} }: RequestParts): string {
  const path = endpoints[operation].path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  )
  const url = new URL(base + path)
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value)
  return url.href
}

function addressIn({ body }: RequestParts): string | undefined {
  const { email, customerEmail = email }: Partial<UploadRequest & RegisterRequest & GenerationRequest> = body ?? {}
  return customerEmail
}

/** The answer's JSON, its texts without e-mail addresses and key; undefined where it is none. */
function parsed(text: string, hide: (text: string) => string): unknown {
  try {
    return JSON.parse(text, (name, value: unknown) => {
      if (typeof value !== 'string' || !told.has(name)) return value
      // a merchant may name an address of its own
      return name === 'message' ? hide(value) : withoutAddresses(hide(value))
    })
  } catch {
    return undefined
  }
}

/** What the service tells in words; its IDs and URLs are used as they are. */
const told: ReadonlySet<string> = new Set(['error', 'code', 'message'])
