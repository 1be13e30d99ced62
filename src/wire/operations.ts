import type { DataOf } from '../contract/endpoints.ts'
import type { GenerationRequest, RegisterRequest, UploadRequest } from '../contract/resources.ts'
import type { Budget, Clock, Fetch, MaybePromise, PutPhoto, StoredPhoto, UploadProgress } from '../ports.ts'
import type { Outcome, Requested, Situation } from '../rules/outcome.ts'

export interface ClientOptions {
  /** The installation's base URL, such as `https://shop.example/try-on`, or a page's path; a function is read each time. */
  baseUrl: string | (() => string)
  /**
   * The store's SDK key; a function is called once for every request. It is sent only to the API's origin (contract
   * §5). Behind `fitting-room/proxy`, which has the key, it can be any constant.
   */
  apiKey: string | (() => MaybePromise<string>)
  /** In place of the platform's `fetch`. With it no failure is provably "not sent", so more outcomes are unknown. */
  fetch?: Fetch | undefined
  /** How a photo is PUT to its upload target. Default: XMLHttpRequest in browsers, which tells progress, else `fetch`. */
  putPhoto?: PutPhoto | undefined
  /** Time and timers. Default: the platform's. */
  clock?: Clock | undefined
  /** Is called with each request once it has ended, without personal data; for developers. */
  inspectRequests?: ((request: InspectedRequest) => void) | undefined
  /** Decides when each request may be sent. Default: a budget that learns from refusals. */
  budget?: Budget | undefined
  /** Time limits of single requests, in ms. */
  timing?: { [Name in keyof ClientTiming]?: ClientTiming[Name] | undefined } | undefined
}

/** A request that has ended, also one that was never sent. What there is of it may change with any version. */
export interface InspectedRequest {
  operation: Requested
  /** What exactly happened, and what that means, by the outcome table. */
  situation: Situation
  outcome: Outcome<unknown>['kind']
  /** The HTTP status; null where no answer came. */
  status: number | null
  /** When it was asked for, in epoch ms. */
  at: number
  /** How long it took, in ms. */
  tookMs: number
  /** What one request more costs the others behind this IP now: 0 where nothing is refused, 1 and more in a crowd. */
  price: number
}

/** Time limits of single requests, in ms. */
export interface ClientTiming {
  /** For `apiKey()` and every request except the two below. Default: 10,000. */
  requestTimeoutMs: number
  /** For a submission; after it the outcome is unknown, but a late answer is still taken. Default: 60,000. */
  submitTimeoutMs: number
  /** For the photo's PUT. Default: 120,000. */
  uploadTimeoutMs: number
}

/** The defaults. */
export const clientTiming: ClientTiming = {
  requestTimeoutMs: 10_000,
  submitTimeoutMs: 60_000,
  uploadTimeoutMs: 120_000,
}

export interface RequestOptions {
  /** Ends the wait for an answer; a request that is out is not taken back. */
  signal?: AbortSignal | undefined
  /** The try-on that the request is for; see `BudgetRequest`. */
  turn?: string | undefined
  /** It gives way to no other request; see `BudgetRequest`. */
  urgent?: boolean | undefined
}

export interface SubmitOptions extends RequestOptions {
  /** Called right before the submission leaves; unless it gives true, nothing is sent. */
  isWanted?: (() => MaybePromise<boolean>) | undefined
  /** Called with an answer that comes after the time limit or the abort: a POST that is out is never taken back. */
  onLateAnswer?: ((outcome: Outcome<DataOf<'createGeneration'>>) => unknown) | undefined
}

export interface UploadOptions extends RequestOptions {
  onProgress?: ((progress: UploadProgress) => void) | undefined
}

export interface VisitorQuery {
  /** The saved visitor ID. */
  uniqueUserId?: string | undefined
}

/**
 * The seven operations of contract §4 and the photo's PUT. Every call resolves with an outcome. Nothing is retried,
 * except that POST /uploads is sent up to three times until it is known whether this origin takes streamed bodies.
 */
export interface Client {
  /** GET /context: the store. */
  getContext(options?: RequestOptions): Promise<Outcome<DataOf<'getContext'>>>
  /** GET /funnel: the first of these, in preferred order, that the store has. */
  getFunnel(funnelIds: readonly number[], options?: RequestOptions): Promise<Outcome<DataOf<'getFunnel'>>>
  /** POST /uploads: a target for one photo, and the address that it will have. */
  createUpload(request: UploadRequest, options?: RequestOptions): Promise<Outcome<DataOf<'createUpload'>>>
  /** PUT of a photo's bytes to its upload target. */
  putPhoto(uploadUrl: string, photo: StoredPhoto, options?: UploadOptions): Promise<Outcome<null>>
  /** GET /requests-left: the visitor, which it may create. */
  getRequestsLeft(visitor?: VisitorQuery, options?: RequestOptions): Promise<Outcome<DataOf<'getRequestsLeft'>>>
  /** POST /customer-register: the visitor's e-mail address. */
  registerCustomer(request: RegisterRequest, options?: RequestOptions): Promise<Outcome<DataOf<'registerCustomer'>>>
  /** POST /generations: the one request that costs money, sent once. */
  createGeneration(request: GenerationRequest, options?: SubmitOptions): Promise<Outcome<DataOf<'createGeneration'>>>
  /** GET /generations/{jobId}: how far a job has come. */
  getGeneration(
    jobId: string,
    visitor?: VisitorQuery,
    options?: RequestOptions,
  ): Promise<Outcome<DataOf<'getGeneration'>>>
}
