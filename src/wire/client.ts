import { createFetch } from 'ofetch'
import * as z from 'zod/mini'
import { createBodyForm, streamOf } from './body-form.ts'
import { systemClock, withinLimit } from '../platform/clock.ts'
import { endpoints, keyHeader, type DataOf, type Operation } from '../contract/endpoints.ts'
import { httpUrl, type GenerationRequest, type RegisterRequest, type UploadRequest } from '../contract/resources.ts'
import { createGate, type Gate } from './gate.ts'
import { columnOf, outcomeOf, type Exchange, type Outcome } from '../rules/outcome.ts'
import type { Clock, Fetch, MaybePromise, PutPhoto, StoredPhoto, UploadProgress } from '../ports.ts'
import { putPhoto as defaultPutPhoto } from './put-photo.ts'

export interface ClientOptions {
  /** The installation's `{base_url}`, http(s); a function is read for every request. */
  baseUrl: string | (() => string)
  /** The store's SDK key; a function is read for every request. It goes to the API's origin only (spec §5). */
  apiKey: string | (() => MaybePromise<string>)
  /** In place of the platform's fetch; with it no failure is provably "not sent". */
  fetch?: Fetch | undefined
  putPhoto?: PutPhoto | undefined
  clock?: Clock | undefined
  gate?: Gate | undefined
  /** Time limits in ms. */
  timing?: Partial<ClientTiming> | undefined
}

/** Time limits of single requests, in ms. */
export interface ClientTiming {
  requestTimeoutMs: number
  submitTimeoutMs: number
  uploadTimeoutMs: number
}

export const clientTiming: ClientTiming = {
  requestTimeoutMs: 10_000,
  submitTimeoutMs: 60_000,
  uploadTimeoutMs: 120_000,
}

export interface RequestOptions {
  signal?: AbortSignal
}

export interface SubmitOptions extends RequestOptions {
  /** An answer that came after the time limit or the abort: a POST that is out is never taken back. */
  onLateAnswer?: (outcome: Outcome<DataOf<'createGeneration'>>) => unknown
}

export interface UploadOptions extends RequestOptions {
  onProgress?: (progress: UploadProgress) => void
}

/**
 * The seven operations of spec §4 and the photo's PUT. Every call resolves with an outcome. Nothing is retried, but that
 * POST /uploads goes out up to three times where it is not known yet whether this origin takes streamed bodies.
 */
export interface Client {
  getContext(options?: RequestOptions): Promise<Outcome<DataOf<'getContext'>>>
  getFunnel(funnelIds: readonly number[], options?: RequestOptions): Promise<Outcome<DataOf<'getFunnel'>>>
  createUpload(request: UploadRequest, options?: RequestOptions): Promise<Outcome<DataOf<'createUpload'>>>
  putPhoto(uploadUrl: string, photo: StoredPhoto, options?: UploadOptions): Promise<Outcome<null>>
  getRequestsLeft(visitor?: VisitorQuery, options?: RequestOptions): Promise<Outcome<DataOf<'getRequestsLeft'>>>
  registerCustomer(request: RegisterRequest, options?: RequestOptions): Promise<Outcome<DataOf<'registerCustomer'>>>
  createGeneration(request: GenerationRequest, options?: SubmitOptions): Promise<Outcome<DataOf<'createGeneration'>>>
  getGeneration(
    jobId: string,
    visitor?: VisitorQuery,
    options?: RequestOptions,
  ): Promise<Outcome<DataOf<'getGeneration'>>>
  /**
   * Makes sure that a submission can be sent in a form that the browser does not repeat by itself; `createGeneration`
   * does it too. Asks the origin for an upload target where that is not known, once a minute at the most.
   */
  probe(options?: RequestOptions): Promise<Outcome<null>>
  /** The base URL as it is now, without a trailing slash. */
  baseUrl(): string
  /** The key as it is now; rejects when it can not be read in time or can not be a key. */
  apiKey(): Promise<string>
}

export interface VisitorQuery {
  uniqueUserId?: string | undefined
}

interface Parts {
  params?: Record<string, string>
  query?: Record<string, string | undefined>
  body?: object
  /** The base URL where it was read before; null where it could not be. */
  base?: string | null
  streamed?: boolean
}

export function createClient(options: ClientOptions): Client {
  const clock = options.clock ?? systemClock
  const gate = options.gate ?? createGate(clock)
  const timing = { ...clientTiming, ...options.timing }
  const put = options.putPhoto ?? defaultPutPhoto
  const provable = options.fetch === undefined
  const form = createBodyForm(clock, provable)
  const api = createFetch({ fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)) })

  const baseUrl = () => {
    const url = typeof options.baseUrl === 'function' ? options.baseUrl() : options.baseUrl
    return httpUrl.parse(url).replace(/\/+$/, '')
  }

  const usableUrl = () => {
    try {
      return baseUrl()
    } catch {
      return null
    }
  }

  const apiKey = async () => {
    const given = typeof options.apiKey === 'function' ? options.apiKey() : options.apiKey
    const key = await withinLimit(clock, timing.requestTimeoutMs, Promise.resolve(given))
    return sendableKey.parse(key)
  }

  /** One request on the wire, read to its end. */
  async function exchange(
    operation: Operation,
    address: string,
    parts: Parts,
    key: string,
    signal: AbortSignal,
  ): Promise<Exchange> {
    try {
      const answer = await api.raw(address, {
        method: endpoints[operation].method,
        headers: { [keyHeader]: key, ...(parts.body && { 'Content-Type': 'application/json' }) },
        ...(parts.body && (parts.streamed ? { body: streamOf(parts.body), duplex: 'half' } : { body: parts.body })),
        responseType: 'text',
        ignoreResponseError: true,
        retry: 0,
        redirect: 'error',
        cache: 'no-store',
        credentials: 'omit',
        signal,
      })
      const retryAfter = answer.headers.get('Retry-After')
      return {
        came: 'answer',
        status: answer.status,
        body: parsed(withoutAddress(answer._data ?? '', parts)),
        retryAfter,
      }
    } catch (error) {
      if (provable && neverConnected(error)) return { came: 'notSent', why: 'unreachable' }
      return { came: 'nothing', why: 'lost' }
    }
  }

  async function request<O extends Operation>(
    operation: O,
    parts: Parts,
    { signal, onLateAnswer }: SubmitOptions = {},
  ): Promise<Outcome<DataOf<O>>> {
    const conclude = (came: Exchange) => {
      const outcome = outcomeOf(operation, came, endpoints[operation].data as unknown as z.ZodMiniType<DataOf<O>>)
      gate.learn(operation, outcome)
      return outcome
    }
    const base = parts.base === undefined ? usableUrl() : parts.base
    if (base === null) return conclude({ came: 'notMade', why: 'invalid', at: 'baseUrl' })
    const at = firstMisfit(operation, parts)
    if (at !== null) return conclude({ came: 'notMade', why: 'invalid', at })
    const key = await apiKey().catch(() => null)
    if (key === null) return conclude({ came: 'notMade', why: 'noKey' })
    if (offline()) return conclude({ came: 'notSent', why: 'offline' })
    if (signal?.aborted) return conclude({ came: 'nothing', why: 'aborted' })
    const waitMs = gate.ask(operation)
    if (waitMs > 0) return conclude({ came: 'held', waitMs })

    const send = (own: AbortSignal) => exchange(operation, addressOf(base, operation, parts), parts, key, own)
    if (columnOf(operation) !== 'submission') return conclude(await bounded(timing.requestTimeoutMs, signal, send))
    const answer = send(new AbortController().signal).then(conclude)
    const ended = await bounded<Exchange | Outcome<DataOf<O>>>(timing.submitTimeoutMs, signal, () => answer)
    if (!('came' in ended)) return ended
    void answer.then((outcome) => onLateAnswer?.(outcome as Outcome<DataOf<'createGeneration'>>))
    return conclude(ended)
  }

  /** POST /uploads, which also finds out how this origin takes bodies: a target more costs nothing. */
  const upload = (base: string | null, body: UploadRequest, given?: RequestOptions) =>
    base === null
      ? request('createUpload', { base, body }, given)
      : form.probe(base, (streamed) => request('createUpload', { base, body, streamed }, given))

  const decided = (base: string | null) => base === null || form.isKnown(base)

  async function probe(base: string | null, given?: RequestOptions): Promise<Outcome<null>> {
    const outcome = decided(base) ? null : await upload(base, { contentType: 'image/jpeg' }, given)
    if (outcome === null || decided(base)) return { kind: 'accepted', data: null }
    if (outcome.kind === 'throttled' || (outcome.kind === 'rejected' && outcome.reason === 'key')) {
      return { ...outcome, operation: 'createGeneration' }
    }
    const why = outcome.kind !== 'accepted' && outcome.situation === 'offline' ? 'offline' : 'unreachable'
    return outcomeOf('createGeneration', { came: 'notSent', why }, z.null())
  }

  const generate: Client['createGeneration'] = async (body, given) => {
    const base = usableUrl()
    const fits = firstMisfit('createGeneration', { body }) === null
    const probed = fits && !decided(base) ? await probe(base, given) : null
    if (probed !== null && probed.kind !== 'accepted') return probed
    const streamed = base !== null && form.streams(base)
    return request('createGeneration', { base, body, streamed }, given)
  }

  /** `work`, or what ended it: the time limit or the caller's signal, both of which also abort `own`. */
  async function bounded<T>(ms: number, signal: AbortSignal | undefined, work: (own: AbortSignal) => Promise<T>) {
    const own = new AbortController()
    return new Promise<T | Exchange>((resolve, reject) => {
      const stop = (why: 'timeout' | 'aborted') => {
        resolve({ came: 'nothing', why })
        own.abort()
      }
      const aborted = () => stop('aborted')
      const timer = clock.setTimeout(() => stop('timeout'), ms)
      signal?.addEventListener('abort', aborted, { once: true })
      void work(own.signal)
        .then(resolve, reject)
        .finally(() => {
          clock.clearTimeout(timer)
          signal?.removeEventListener('abort', aborted)
        })
    }) as Promise<T>
  }

  return {
    baseUrl,
    apiKey,
    getContext: (given) => request('getContext', {}, given),
    getFunnel: (funnelIds, given) => request('getFunnel', { query: { funnelIds: funnelIds.join(',') } }, given),
    probe: (given) => probe(usableUrl(), given),
    createUpload: (body, given) => upload(usableUrl(), body, given),
    getRequestsLeft: (visitor, given) => request('getRequestsLeft', { query: { ...visitor } }, given),
    registerCustomer: (body, given) => request('registerCustomer', { body }, given),
    createGeneration: generate,
    getGeneration: (jobId, visitor, given) =>
      request('getGeneration', { params: { jobId }, query: { ...visitor } }, given),
    async putPhoto(uploadUrl, photo, { signal, onProgress } = {}) {
      const came = await bounded<Exchange>(timing.uploadTimeoutMs, signal, async (own) => {
        if (!httpUrl.safeParse(uploadUrl).success) return { came: 'notMade', why: 'invalid', at: 'uploadUrl' }
        if (offline()) return { came: 'notSent', why: 'offline' }
        try {
          const status = await put(uploadUrl, photo, { signal: own, ...(onProgress && { onProgress }) })
          const taken = status >= 200 && status < 300
          return {
            came: 'answer',
            status: taken ? 200 : status,
            body: taken ? { data: null } : undefined,
            retryAfter: null,
          }
        } catch {
          return { came: 'nothing', why: 'lost' }
        }
      })
      return outcomeOf('putPhoto', came, z.null())
    },
  }
}

/** A key that a header can carry. */
const sendableKey = z.string().check(z.regex(/^[\x21-\x7e]+$/))

function addressOf(base: string, operation: Operation, { params = {}, query = {} }: Parts): string {
  const path = endpoints[operation].path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  )
  const url = new URL(base + path)
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value)
  return url.href
}

/** The path of the first field that breaks the contract, so that nothing is sent only to be refused (spec §7, rule 1). */
function firstMisfit(operation: Operation, { params = {}, query = {}, body }: Parts): string | null {
  const { params: ofPath, query: ofQuery, body: ofBody } = endpoints[operation]
  const checks: [z.ZodMiniType, unknown][] = [
    [ofPath, params],
    [ofQuery, query],
    [ofBody ?? z.undefined(), body],
  ]
  for (const [schema, value] of checks) {
    const read = schema.safeParse(value)
    if (!read.success) return read.error.issues[0]?.path.join('.') ?? ''
  }
  return null
}

/** A refusal that repeats the e-mail address is shown, inspected and kept without it. */
function withoutAddress(text: unknown, { body }: Parts): string {
  const { email, customerEmail } = (body ?? {}) as { email?: string; customerEmail?: string }
  const address = email ?? customerEmail
  return address === undefined ? String(text) : String(text).replaceAll(address, '[e-mail]')
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return undefined
  }
}

const offline = () => typeof navigator !== 'undefined' && navigator.onLine === false

const connectFailures = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])

/** Node's own fetch names the failures in which no connection was ever made. */
function neverConnected(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && connectFailures.has(String(at.code))) return true
  }
  return false
}
