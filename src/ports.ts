import type { Operation } from './contract/endpoints.ts'

/** A value now, or a promise of it. */
export type MaybePromise<T> = T | PromiseLike<T>

/**
 * Where records are kept: the key-value methods that localStorage, localForage, unstorage and AsyncStorage share.
 * Every value is the text of one JSON object; keys are `[A-Za-z0-9._-]` parts joined by `:`.
 */
export interface FlowStorage {
  /** The stored text, null or undefined if there is none; the parsed object is accepted too. */
  getItem(key: string): MaybePromise<unknown>
  /** Resolves once the value is kept. */
  setItem(key: string, value: string): MaybePromise<unknown>
  /** Resolves once the value is removed; a key without a value is not an error. */
  removeItem(key: string): MaybePromise<unknown>
  /**
   * Reads and writes in one atomic step; null removes the value. Without it, only Web Locks keep two pages from both
   * submitting. `change` may be called again if a try failed, and then decides anew.
   */
  update?(key: string, change: (old: string | null) => string | null): MaybePromise<unknown>
  /** Removes several values, in one transaction if it can, except those for which `isKept` returns true. */
  removeItems?(keys: readonly string[], isKept: (value: string) => boolean): MaybePromise<unknown>
  /** For a storage made of several: every text that any of them holds, or may still hold, under that key. */
  copies?(key: string): MaybePromise<readonly string[]>
  /** Whether values or photos may be kept here, answered without reading any: if reads fail, nothing else may know. */
  isBegun?(what: 'values' | 'photos'): MaybePromise<boolean>
  /** False for a storage that a reload empties. */
  readonly durable?: boolean | undefined
  /**
   * Whether the last read of that key gave what any page wrote there last; with an empty key, whether that holds for
   * the whole storage. Return false if a read may be stale in spite of locks or `update`, as with localStorage: then
   * nothing is submitted by itself after a reload. Default: true.
   */
  isExclusive?(key: string): boolean
  /** Where photos wait for their upload, beside these records; without it they wait in memory. */
  readonly photos?: PhotoStore | undefined
}

/** A request that is about to be sent. */
export interface BudgetRequest {
  operation: Operation
  /** The try-on that the request is for: once its first one was let in, the others do not wait in line again. */
  turn?: string | undefined
  /** A shopper has asked for it, or it is the last poll before a deadline: it gives way to no other request. */
  urgent?: boolean | undefined
}

/**
 * Decides when a room's requests may be sent, because all behind one client IP share one count (contract §8). Every
 * request asks it first, a submission before it is claimed, and it learns from what becomes of each.
 */
export interface Budget {
  /** How long the request has to wait, in ms, before it may ask again; 0 lets it go, and counts it. */
  ask(request: BudgetRequest): MaybePromise<number>
  /**
   * Called once for each request that it let go. `refusedMs` is for how long the service refused it, in ms; 0 if it was
   * let in, null if it was not sent or not answered in time.
   */
  learn(request: BudgetRequest, refusedMs: number | null): MaybePromise<unknown>
  /** What one more request costs the others now: 0 if nothing is refused, 1 or more in a crowd. */
  price(): number
}

/** The limit of a device that is reached. */
export interface ReachedLimit {
  /** `perShopper`: only the next shopper may try something on. `perHour`: nobody may before `nextAt`. */
  limit: 'perShopper' | 'perHour'
  /** When the next try-on may begin, in epoch ms; null where no time is known. */
  nextAt: number | null
}

/** Limits how many submissions a device sends. It is asked before each claim; if it rejects, nothing is sent. */
export interface SubmissionLimit {
  /** Takes one place for an attempt, however often it is asked; gives the limit that is reached, or else null. */
  take(attemptId: string): MaybePromise<ReachedLimit | null>
  /** Gives the place back, as this page has started nothing for the attempt; not called if that is unknown. */
  giveBack(attemptId: string): MaybePromise<unknown>
}

/** A storage in which one page's change cannot come between another's read and write. */
export type AtomicStorage = FlowStorage & Required<Pick<FlowStorage, 'update'>>

/** A photo's raw bytes and their image type. */
export interface StoredPhoto {
  bytes: ArrayBuffer
  /** Its MIME type, as `image/jpeg` (contract §2, `contentType`). */
  type: string
  /** Whether it still has its metadata; if that is unknown, it is made ready before it is uploaded. */
  metadataKept?: boolean | undefined
}

/** A photo as it is about to leave the device. */
export interface PreparedPhoto extends StoredPhoto {
  /** In px, as the photo is shown; null if that is unknown. */
  width: number | null
  height: number | null
  /** The mean of all pixels, from 0 (black) to 1; null if the photo could not be decoded. */
  brightness: number | null
  /** True if it stays as it was given, with metadata such as place and time. */
  metadataKept: boolean
}

/** Advice against a photo before anything is paid for: too small, too narrow a strip, or almost black. */
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
  /** Undefined if there is none; rejects if that is unknown. */
  get(key: string): MaybePromise<StoredPhoto | undefined>
  /** Resolves once a reload would find the photo. */
  set(key: string, photo: StoredPhoto): MaybePromise<unknown>
  /** Resolves even if there is none. */
  remove(key: string): MaybePromise<unknown>
  /** All its keys; without it, `reset()` misses bytes left by a killed page or named only in a lost list. */
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

/** A page's own time, which runs on evenly when the platform's clock is set. */
export interface SteadyClock extends Clock {
  /** How long the page has run, in ms, including time that the machine slept; consents age by it. */
  elapsed(): number
}

/** The platform's `fetch`, as far as it is used. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** A value that can be read and subscribed to: a try-on's view, or the room's visitor, photo or history. */
export interface Readable<T> {
  /** The constant value before anything is read, for servers and for hydration. */
  readonly initial?: T | undefined
  /** The current value; the same reference until it changes. */
  get(): T
  /** Calls `onChange` with each later value; `get()` gives the current one. */
  subscribe(onChange: (value: T) => void): { unsubscribe(): void }
}

/** What a shopper agrees to, as the application shows it. */
export interface Notice {
  /** A new one for every change of the text, for example `2026-11`. */
  version: string
}
