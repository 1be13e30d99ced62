import type { Operation } from './contract/endpoints.ts'

/** A value now, or a promise of it. */
export type MaybePromise<T> = T | PromiseLike<T>

/**
 * Where records are kept: the async key-value shape that localStorage, localForage, unstorage and AsyncStorage share.
 * Every value is the text of one JSON object; keys are `[A-Za-z0-9._-]` parts joined by `:`.
 */
export interface FlowStorage {
  /** The stored text; stores that hand back the parsed object are understood too. */
  getItem(key: string): MaybePromise<unknown>
  /** Resolves once the value is kept. */
  setItem(key: string, value: string): MaybePromise<unknown>
  /** Resolves once the value is gone; a key without one is no error. */
  removeItem(key: string): MaybePromise<unknown>
  /**
   * One atomic read-modify-write; null removes. Without it two pages cannot be kept from claiming at once. `change` may
   * be called again where a try failed, and decides anew then.
   */
  update?(key: string, change: (old: string | null) => string | null): MaybePromise<unknown>
  /** Removes many values, in one transaction where the storage can, but for those that `isKept` says yes to. */
  removeItems?(keys: readonly string[], isKept: (value: string) => boolean): MaybePromise<unknown>
  /** Of a storage that consists of several: every text that one of them holds, or may still hold, under that key. */
  copies?(key: string): MaybePromise<readonly string[]>
  /** Whether values, or photos, may be kept here, told without reading them: where reads fail, nothing else may know. */
  isBegun?(what: 'values' | 'photos'): MaybePromise<boolean>
  /** False for a storage that a reload empties. */
  readonly durable?: boolean | undefined
  /**
   * Whether what was last read under that key is what any page has written there last; with an empty key, whether that is so of
   * the storage as a whole. Return false where a read may be stale though there are locks or `update`, as of localStorage:
   * then nothing is submitted by itself. Default: true.
   */
  isExclusive?(key: string): boolean
  /** Where photos wait that are kept beside these records; without it they wait in memory. */
  readonly photos?: PhotoStore | undefined
}

/** A request that is about to be sent. */
export interface BudgetRequest {
  operation: Operation
  /** The try-on that it is for: once its first request was let in, the others do not wait in line again. */
  turn?: string | undefined
  /** A shopper has asked for it, or it is the last look before a deadline: it lets nobody go first. */
  urgent?: boolean | undefined
}

/**
 * How much of the count that all behind one client IP share a room may use (contract §8). Every request asks it first, a
 * submission before it is claimed, and what becomes of each teaches it.
 */
export interface Budget {
  /** How long the request has to wait, in ms, before it may ask again; 0 lets it go, and counts it. */
  ask(request: BudgetRequest): MaybePromise<number>
  /**
   * Once for each request that was let go: for how long the service refused it, in ms; 0 where it was let in, null where it
   * was not sent, or nothing came back in time.
   */
  learn(request: BudgetRequest, refusedMs: number | null): MaybePromise<unknown>
  /** What one request more costs the others now: 0 where nothing is refused, 1 and more in a crowd. */
  price(): number
}

/** The limit of a device that is reached. */
export interface ReachedLimit {
  /** `perShopper`: only the next shopper may go on. `perHour`: at `nextAt` somebody may. */
  limit: 'perShopper' | 'perHour'
  /** When the next try-on may begin, in epoch ms; null where no time is known. */
  nextAt: number | null
}

/** How many submissions a device lets out. It is asked before each claim; where it rejects nothing is sent. */
export interface SubmissionLimit {
  /** Takes a place for an attempt, once however often it is asked; where there is none, says which limit is reached. */
  take(attemptId: string): MaybePromise<ReachedLimit | null>
  /** This page has started nothing for it, and lets go of what it took. Not called where that is unknown. */
  giveBack(attemptId: string): MaybePromise<unknown>
}

/** A storage in which one page's change cannot come between another's read and write. */
export type AtomicStorage = FlowStorage & Required<Pick<FlowStorage, 'update'>>

/** A photo's raw bytes and their image type. */
export interface StoredPhoto {
  bytes: ArrayBuffer
  /** Its MIME type, as `image/jpeg` (contract §2, `contentType`). */
  type: string
  /** Whether it tells more than the picture; where that is not known it is made ready before it is uploaded. */
  metadataKept?: boolean | undefined
}

/** A photo as it is about to leave the device. */
export interface PreparedPhoto extends StoredPhoto {
  /** In px, as it is to be looked at; null where nothing here can tell. */
  width: number | null
  height: number | null
  /** Of all pixels, from 0, black, to 1; null where it could not be decoded. */
  brightness: number | null
  /** It stayed as it was given, with all that it tells of place and time. */
  metadataKept: boolean
}

/**
 * What a shopper may be told before a try-on is paid for: the photo shows too little, it is too narrow a strip, or next to
 * nothing is to be seen on it.
 */
export type PhotoAdvice = 'small' | 'narrow' | 'dark'

export interface PrepareTerms {
  /** The long side to which larger photos are reduced, in px. */
  maxSide: number
  /** Whether there may be advice in place of a photo. */
  advice: boolean
}

/** Makes a photo ready to leave the device, or advises against it. */
export type PreparePhoto = (photo: StoredPhoto, terms: PrepareTerms) => Promise<PreparedPhoto | { advice: PhotoAdvice }>

/** Where a photo's bytes wait until the upload is done. */
export interface PhotoStore {
  /** Undefined where there is none; rejects where that is not known. */
  get(key: string): MaybePromise<StoredPhoto | undefined>
  /** Resolves once a reload finds it. */
  set(key: string, photo: StoredPhoto): MaybePromise<unknown>
  /** Of what is not there, too. */
  remove(key: string): MaybePromise<unknown>
  /** Every key that it has: without it bytes stay that a killed page has left, or that a lost list named. */
  keys?(): MaybePromise<readonly string[]>
}

/** Bytes sent of all bytes. */
export interface UploadProgress {
  sent: number
  total: number
}

export interface PutOptions {
  /** Ends the PUT. */
  signal: AbortSignal
  onProgress?: ((progress: UploadProgress) => void) | undefined
}

/** PUTs raw bytes to a signed target and resolves with the HTTP status; rejects when no answer came. */
export type PutPhoto = (uploadUrl: string, photo: StoredPhoto, options: PutOptions) => Promise<number>

/** Time: `now` is epoch ms, `monotonic` is ms that never run backwards; timers take ms. */
export interface Clock {
  now(): number
  monotonic(): number
  setTimeout(run: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
}

/** The time of one page, which goes on where the platform's is set. */
export interface SteadyClock extends Clock {
  /** How long the page has run, in ms, with what the machine has slept meanwhile: what a word ages by. */
  elapsed(): number
}

/** The platform's `fetch`, as far as it is used. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Anything with a current value and changes: try-ons and the room's shared stores. */
export interface Readable<T> {
  /** The constant value before anything was read: for servers, and while a page is hydrated. */
  readonly initial?: T | undefined
  /** The value of this moment; the same reference until it changes. */
  get(): T
  /** Hears changes only: what stands already is what `get()` gives. */
  subscribe(onChange: (value: T) => void): { unsubscribe(): void }
}

/** What a shopper agrees to, as the application shows it. */
export interface Notice {
  /** Another one for every change of what it says, for example `2026-11`. */
  version: string
}
