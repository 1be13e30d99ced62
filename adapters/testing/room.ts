import {
  TryOnError,
  type Client,
  type FittingRoom,
  type HistoryEntry,
  type Intent,
  type Problem,
  type Readable,
  type ResultOptions,
  type RoomEvent,
  type RoomPhoto,
  type TryOn,
  type TryOnProduct,
  type TryOnResult,
  type TryOnState,
  type TryOnView,
  type Visitor,
} from 'fitting-room'
import { problems, stateNamed, views } from './views.ts'

/** A product variant by the digits of its IDs, as in `1001/2001`. */
export type ProductName = `${string}/${string}`

/** An intent that a page has asked for. */
export interface HeardIntent {
  product: ProductName
  intent: Intent
  /** What was given to it: a photo and options, an address, or nothing. */
  given: readonly unknown[]
}

/** A room without a service: it shows what a test says, and records the intents that a page asks for. */
export interface MockRoom extends FittingRoom {
  /** Every intent so far, in order, including those that were refused. */
  readonly heard: readonly HeardIntent[]
  /** Sends an event to the listeners of `on()`. */
  tell(event: RoomEvent): void
  /** Forgets the intents that were heard, as between two tests of one room. */
  forget(): void
  /** Replaces what `history` and `list()` give, which the try-ons do not change. */
  showHistory(entries: readonly HistoryEntry[]): void
  /** Shows a state or a view for one product variant or, without `product`, for all of them. */
  show(shown: TryOnState | TryOnView, product?: ProductName): void
}

/** What a mock room has beside its try-ons. */
export interface MockRoomOptions {
  photo?: RoomPhoto | null | undefined
  visitor?: Partial<Visitor> | undefined
  history?: readonly HistoryEntry[] | undefined
}

/**
 * A room for tests and stories. `states` says what each product variant shows first; others are `idle`. An intent that
 * the shown view permits resolves and changes nothing; only `show()` does. Any other rejects as a real one does.
 */
export function mockRoom(
  states: Readonly<Record<ProductName, TryOnState | TryOnView>> = {},
  { photo = null, visitor = {}, history = [] }: MockRoomOptions = {},
): MockRoom {
  for (const name of Object.keys(states))
    if (!isName(name)) throw new TypeError(`mockRoom() names products as '1001/2001', and "${name}" is none`)
  const heard: HeardIntent[] = []
  const listed = changing(history)
  const chosen = changing(photo)
  const visits = changing<Visitor>({ ...unknownVisitor, ...visitor })
  const listeners = new Set<(event: RoomEvent) => void>()
  const tryOns = new Map<ProductName, MockTryOn>()
  /** What all were last told to show, those that nobody has asked for yet, too. */
  let first: TryOnView | null = null

  function tryOnOf(name: ProductName): MockTryOn {
    const known =
      tryOns.get(name) ??
      mockTryOn(name, first ?? viewIn(states[name] ?? 'idle'), (call) => heard.push({ product: name, ...call }))
    tryOns.set(name, known)
    return known
  }

  return {
    heard,
    forget: () => void heard.splice(0),
    showHistory: listed.set,
    tell: (event) => listeners.forEach((listener) => tellTo(listener, event)),
    on(listener) {
      const own = (event: RoomEvent) => listener(event)
      listeners.add(own)
      return { unsubscribe: () => void listeners.delete(own) }
    },
    show(shown, product) {
      if (product === undefined) first = viewIn(shown)
      const all = product === undefined ? [...tryOns.values()] : [tryOnOf(product)]
      for (const { set } of all) set(viewIn(shown))
    },
    tryOn: (product) => tryOnOf(nameOf(product)).tryOn,
    visitor: visits.readable,
    photo: chosen.readable,
    history: listed.readable,
    client,
    list: async () => [...listed.readable.get()],
    async claim(ticket) {
      const [, , productId, variantId] = ticket.split('.')
      const name = `${productId}/${variantId}` as const
      if (!isName(name)) throw new TryOnError({ kind: 'ticket', reason: 'broken' })
      return tryOnOf(name).tryOn
    },
    stored: async () => [],
    preload: async () => {},
    ready: Promise.resolve(),
    async reset() {
      first = views.idle
      for (const { set } of tryOns.values()) set(views.idle)
      listed.set([])
      chosen.set(null)
      visits.set(unknownVisitor)
    },
    close: () => {},
  }
}

interface MockTryOn {
  tryOn: TryOn
  set(view: TryOnView): void
}

function mockTryOn(name: ProductName, first: TryOnView, hear: (call: Omit<HeardIntent, 'product'>) => void): MockTryOn {
  const { readable, set } = changing(first)
  async function allow(intent: Intent, given: readonly unknown[]): Promise<void> {
    const { state, can } = await isRead()
    // what may be paid for is forgotten where that is said
    const isAbandoned = intent === 'discard' && Object(given[0]).abandonPaidJob === true
    if (can[intent] || isAbandoned) return
    throw new TryOnError(intent === 'discard' ? { kind: 'paidJob' } : { kind: 'notAllowed', intent, state })
  }
  const say = (intent: Intent, ...given: unknown[]) => {
    hear({ intent, given })
    const done = allow(intent, given)
    // as of a room, nobody has to listen
    done.catch(() => undefined)
    return done
  }
  /** Resolves with the first view, this one or a later one, that is as wanted. */
  const reached = (isWanted: (view: TryOnView) => boolean) =>
    new Promise<TryOnView>((resolve) => {
      const look = (view: TryOnView) => {
        if (!isWanted(view)) return
        unsubscribe()
        resolve(view)
      }
      const { unsubscribe } = readable.subscribe(look)
      look(readable.get())
    })
  const isRead = () => reached(({ state }) => state !== 'restoring')
  const hasPicture = () => readable.get().preview !== null || readable.get().result !== null
  const noPicture = () => new TryOnError({ kind: 'picture', reason: 'none' })
  const tryOn: TryOn = {
    ...readable,
    get ready() {
      return isRead()
    },
    start: (...given) => say('start', ...given),
    submitEmail: (...given) => say('submitEmail', ...given),
    resume: () => say('resume'),
    retry: (...given) => say('retry', ...given),
    startOver: () => say('startOver'),
    discard: (...given) => say('discard', ...given),
    async ticket() {
      const jobId = readable.get().attempt?.jobId
      if (jobId) return `1.mock.${name.replace('/', '.')}.${jobId.replaceAll('-', '')}.0`
      throw new TryOnError({ kind: 'ticket', reason: 'noJob' })
    },
    async picture() {
      if (hasPicture()) return new Blob(['a picture'], { type: 'image/jpeg' })
      throw noPicture()
    },
    async pictureFailed() {
      if (!hasPicture()) throw noPicture()
    },
    result: (options) => resultOf(readable, options),
  }
  return { tryOn, set }
}

function changing<T>(first: T) {
  let current = first
  const listeners = new Set<(value: T) => void>()
  const readable: Readable<T> = {
    initial: first,
    get: () => current,
    subscribe(onChange) {
      // the same function twice is two subscriptions
      const listener = (value: T) => onChange(value)
      listeners.add(listener)
      return { unsubscribe: () => void listeners.delete(listener) }
    },
  }
  const set = (next: T) => {
    current = next
    for (const listener of new Set(listeners)) tellTo(listener, next)
  }
  return { readable, set }
}

/** One that throws stops no other, and is told of as of any uncaught error. */
function tellTo<T>(listener: (value: T) => void, value: T): void {
  try {
    listener(value)
  } catch (error) {
    const tell = globalThis.reportError ?? console.error
    tell(error)
  }
}

/**
 * As a room's, which is never closed and whose shopper never goes. It is not the room's own: a bundler would cut the core for
 * what both had.
 */
function resultOf(readable: Readable<TryOnView>, { signal, rejectOnInput = false }: ResultOptions = {}) {
  return new Promise<TryOnResult>((resolve, reject) => {
    let hasBegun = false
    const end = (finish: () => void) => {
      unsubscribe()
      signal?.removeEventListener('abort', abort)
      finish()
    }
    const fail = (problem: Problem) => end(() => reject(new TryOnError(problem, readable.get().attempt?.jobId ?? null)))
    const abort = () => fail({ kind: 'stopped', reason: 'aborted' })
    const look = (view: TryOnView) => {
      const { state, group, problem } = view
      const isInput = state === 'needsEmail' || state === 'unauthorized'
      hasBegun ||= state !== 'idle' && state !== 'restoring'
      if (view.state === 'final') end(() => resolve(view.result))
      else if (isInput ? rejectOnInput : group === 'stopped') fail(problem ?? problems.emailRequired)
      else if (state === 'idle' && problem) fail(problem)
      else if (state === 'idle' && hasBegun) fail({ kind: 'stopped', reason: 'startedOver' })
    }
    const { unsubscribe } = readable.subscribe(look)
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    else look(readable.get())
  })
}

const unknownVisitor: Visitor = { uniqueUserId: null, requestsLeft: null, totalRequests: null }

const viewIn = (shown: TryOnState | TryOnView): TryOnView => (typeof shown === 'string' ? stateNamed(shown) : shown)

const isName = (name: string): name is ProductName => /^\d+\/\d+$/.test(name)
const nameOf = ({ productId, variantId }: TryOnProduct): ProductName =>
  `${digitsOf(productId, 'productId')}/${digitsOf(variantId, 'variantId')}`

function digitsOf(id: string | number, at: string): string {
  const digits = String(id).split('/').at(-1) ?? ''
  if (/^\d+$/.test(digits)) return digits
  throw new TryOnError({ kind: 'input', at, given: JSON.stringify(id), valid: 'digits, or a global ID with them' })
}

const nobody = () => Promise.reject(new Error('mockRoom() talks to no service'))
const client: Client = {
  getContext: nobody,
  getFunnel: nobody,
  createUpload: nobody,
  putPhoto: nobody,
  getRequestsLeft: nobody,
  registerCustomer: nobody,
  createGeneration: nobody,
  getGeneration: nobody,
}
