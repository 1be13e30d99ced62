import { endpoints, type DataOf, type Operation } from '../contract/endpoints.ts'
import { httpUrl, type GenerationRequest, type UploadRequest } from '../contract/resources.ts'
import * as is from '../contract/schema.ts'
import { createBudget } from '../budget/budget.ts'
import { refusedMsOf } from '../budget/refused.ts'
import { withinLimit } from '../platform/clock.ts'
import { guarded } from '../platform/guarded.ts'
import { systemClock } from '../platform/system-clock.ts'
import { withDefaults } from '../platform/with-defaults.ts'
import {
  columnOf,
  outcomeOf,
  unanswered,
  type Exchange,
  type Outcome,
  type Requested,
  type Unusable,
} from '../rules/outcome.ts'
import { createAccess, type Access } from './access.ts'
import { createAddresses } from './addresses.ts'
import { createBodyForm } from './body-form.ts'
import { bounded, createExchange, exchangePhoto, offline, type RequestParts } from './exchange.ts'
import {
  clientTiming,
  type Client,
  type ClientOptions,
  type ClientTiming,
  type RequestOptions,
  type SubmitOptions,
} from './operations.ts'
import { putPhoto } from './put-photo.ts'

/** The client as the room itself uses it. */
export interface RoomClient extends Client, Pick<Access, 'keyChanged' | 'installation' | 'isSameInstallation'> {
  /** What anybody who has the room may use. */
  readonly operations: Client
  /** Whether there is a key that can be sent now. */
  readKey(): Promise<boolean>
  /**
   * Makes sure that a submission can be sent in a form that the browser does not repeat by itself; `createGeneration`
   * does it too. Asks the origin for an upload target where that is not known, once a minute at the most. Then asks the
   * budget for the submission, which counts from here on.
   */
  probe(options?: RequestOptions): Promise<Outcome<null>>
  /** `createGeneration`, which the budget has let go at a `probe()`. */
  submit: Client['createGeneration']
  /** What a `probe()` has had the budget let go for that attempt is not sent. */
  release(attemptId: string): void
  /** Forgets which e-mail addresses are to be hidden in answers. */
  forgetAddresses(): void
}

interface RequestSettings<O extends Operation> extends RequestOptions {
  /** The base URL where it was read before; null where it could not be. */
  base?: string | null
  streamed?: boolean
  isWanted?: SubmitOptions['isWanted']
  /** The budget has let it go before. */
  isGranted?: boolean | undefined
  onLateAnswer?: ((outcome: Outcome<DataOf<O>>) => unknown) | undefined
}

/** What each operation's 200 holds, so that the compiler sees which schema is whose. */
const schemas: { readonly [O in Operation]: { readonly data: is.Schema<DataOf<O>> } } = endpoints

export function createRoomClient(options: ClientOptions): RoomClient {
  const clock = options.clock ?? systemClock
  const timing = withDefaults<ClientTiming>(clientTiming, options.timing)
  const budget = options.budget ?? createBudget(clock)
  const form = createBodyForm(clock, options.fetch === undefined)
  const access = createAccess(options, clock, timing.requestTimeoutMs)
  const addresses = createAddresses()
  const exchange = createExchange(options.fetch, addresses)

  const tell = options.inspectRequests && guarded(options.inspectRequests)

  async function told<T>(operation: Requested, ending: Promise<Outcome<T>>): Promise<Outcome<T>> {
    const at = clock.now()
    const since = clock.monotonic()
    const outcome = await ending
    const { situation, status } =
      outcome.kind === 'accepted' ? { situation: 'fits' as const, status: 200 } : { ...outcome, ...outcome.answer }
    const tookMs = clock.monotonic() - since
    tell?.({ operation, situation, outcome: outcome.kind, status, at, tookMs, price: budget.price() })
    return outcome
  }

  const request: typeof made = (operation, ...asked) => told(operation, made(operation, ...asked))

  /** Whatever may keep a request from being sent is looked at in this order; then it is sent, once. */
  async function made<O extends Operation>(
    operation: O,
    parts: RequestParts,
    settings: RequestSettings<O> = {},
  ): Promise<Outcome<DataOf<O>>> {
    const { base = access.baseUrl(), streamed = false, signal, isWanted, onLateAnswer } = settings
    const meaning = (came: Exchange) => outcomeOf<DataOf<O>>(operation, came, schemas[operation].data)
    const isAborted = () => signal?.aborted === true
    const asked = { operation, turn: settings.turn, urgent: settings.urgent }
    /** Whether the budget has let it go, and has not heard what became of that. */
    let isCounted = settings.isGranted === true
    const learn = (refusedMs: number | null) => {
      if (isCounted) void budget.learn(asked, refusedMs)
      isCounted = false
    }
    const unsent = (came: Exchange) => {
      learn(null)
      return meaning(came)
    }

    if (base === null)
      // one that could be read before is away, and refuses nothing
      return unsent(
        access.installation() === null
          ? { came: 'notMade', why: 'invalid', at: 'baseUrl' }
          : { came: 'notMade', why: 'moved' },
      )
    const path = firstMisfit(operation, parts)
    if (path !== null) return unsent({ came: 'notMade', why: 'invalid', at: path })
    const key = await access.key()
    if (key === null) return unsent({ came: 'notMade', why: 'noKey' })
    if (offline()) return unsent({ came: 'notSent', why: 'offline' })
    if (isAborted()) return unsent({ came: 'notSent', why: 'unwanted' })
    const waitMs = isCounted ? 0 : await budget.ask(asked)
    if (waitMs > 0) return meaning({ came: 'held', waitMs })
    isCounted = true
    if (isWanted && !(await saysYes(isWanted))) return unsent({ came: 'notSent', why: 'unwanted' })
    // from here to the socket nothing is waited for
    if (isAborted()) return unsent({ came: 'notSent', why: 'unwanted' })
    if (access.baseUrl() !== base) return unsent({ came: 'notMade', why: 'moved' })

    const conclude = (came: Exchange) => {
      const outcome = meaning(came)
      learn(refusedMsOf(outcome))
      access.learn(key, outcome)
      return outcome
    }
    const send = (inner: AbortSignal, turn?: string) =>
      exchange(operation, parts, { base, key, streamed, turn, signal: inner })
    if (columnOf(operation) !== 'submission') {
      return conclude(await bounded(clock, timing.requestTimeoutMs, signal, (inner) => send(inner)))
    }
    const answer = send(new AbortController().signal, settings.turn).then(conclude)
    let isTaken = false
    try {
      const ended = await bounded(clock, timing.submitTimeoutMs, signal, () => answer)
      isTaken = !('came' in ended)
      return 'came' in ended ? meaning(ended) : ended
    } finally {
      // whatever ended the wait, the POST is out
      if (!isTaken) {
        learn(null)
        void answer.then(onLateAnswer)
      }
    }
  }

  async function saysYes(ask: NonNullable<SubmitOptions['isWanted']>): Promise<boolean> {
    try {
      return (await withinLimit(clock, timing.requestTimeoutMs, Promise.resolve(ask()))) === true
    } catch {
      return false
    }
  }

  /** POST /uploads, which also finds out how this origin takes bodies: a target more costs nothing. */
  const upload = (base: string | null, body: UploadRequest, settings?: RequestOptions) =>
    base === null
      ? request('createUpload', { body }, { ...settings, base })
      : form.probe(base, (streamed) => request('createUpload', { body }, { ...settings, base, streamed }))

  const isDecided = (base: string | null) => base === null || form.isKnown(base)

  async function prove(base: string | null, settings?: RequestOptions): Promise<Outcome<null>> {
    const outcome = isDecided(base) ? null : await upload(base, { contentType: 'image/jpeg' }, settings)
    if (outcome === null || isDecided(base)) return { kind: 'accepted', data: null }
    if (holdsForAll(outcome)) return { ...outcome, operation: 'createGeneration' }
    return unanswered('createGeneration', { came: 'notSent', why: whyNotSent(outcome) })
  }

  async function probe(settings: RequestOptions = {}): Promise<Outcome<null>> {
    const proved = await prove(access.baseUrl(), settings)
    if (proved.kind !== 'accepted') return proved
    const waitMs = await budget.ask({ operation: 'createGeneration', turn: settings.turn })
    if (waitMs > 0) return unanswered('createGeneration', { came: 'held', waitMs })
    if (!settings.signal?.aborted) return proved
    release(settings.turn)
    return unanswered('createGeneration', { came: 'notSent', why: 'unwanted' })
  }

  const release = (turn?: string) => void budget.learn({ operation: 'createGeneration', turn }, null)

  async function submit(body: GenerationRequest, settings: SubmitOptions = {}, isGranted: boolean) {
    const base = access.baseUrl()
    const fits = firstMisfit('createGeneration', { body }) === null
    const proved = fits && !isDecided(base) ? await prove(base, { signal: settings.signal, turn: settings.turn }) : null
    if (proved !== null && proved.kind !== 'accepted') {
      if (isGranted) release(settings.turn)
      return proved
    }
    const streamed = base !== null && form.streams(base)
    return request('createGeneration', { body }, { ...settings, base, streamed, isGranted })
  }

  const put = async (
    ...[uploadUrl, photo, { signal, onProgress } = {}]: Parameters<Client['putPhoto']>
  ): Promise<Exchange> => {
    if (!httpUrl.safeParse(uploadUrl).success) return { came: 'notMade', why: 'invalid', at: 'uploadUrl' }
    if (offline()) return { came: 'notSent', why: 'offline' }
    const send = (inner: AbortSignal) =>
      exchangePhoto(options.putPhoto ?? putPhoto, uploadUrl, photo, {
        signal: inner,
        ...(onProgress && { onProgress }),
      })
    return bounded(clock, timing.uploadTimeoutMs, signal, send)
  }

  const operations: Client = {
    getContext: (settings) => request('getContext', {}, settings),
    getFunnel: (funnelIds, settings) => request('getFunnel', { query: { funnelIds: funnelIds.join(',') } }, settings),
    createUpload: (body, settings) => upload(access.baseUrl(), body, settings),
    getRequestsLeft: (visitor, settings) => request('getRequestsLeft', { query: { ...visitor } }, settings),
    registerCustomer: (body, settings) => request('registerCustomer', { body }, settings),
    createGeneration: (body, settings) => submit(body, settings, false),
    getGeneration: (jobId, visitor, settings) =>
      request('getGeneration', { params: { jobId }, query: { ...visitor } }, settings),
    putPhoto: (...asked) =>
      told(
        'putPhoto',
        put(...asked).then((came) => outcomeOf('putPhoto', came, is.oneOf(null))),
      ),
  }

  return {
    ...access,
    ...operations,
    operations,
    probe,
    submit: (body, settings) => submit(body, settings, true),
    release,
    readKey: async () => (await access.key()) !== null,
    forgetAddresses: addresses.forget,
  }
}

/** Whether what stopped the probe stops the submission as well. */
function holdsForAll(outcome: Outcome<unknown>): outcome is Unusable {
  if (outcome.kind === 'rejected') return outcome.reason === 'key' || outcome.situation === 'moved'
  return outcome.kind === 'throttled'
}

/** Why a submission was not sent, by what became of the probe before it. */
function whyNotSent(outcome: Outcome<unknown>): 'offline' | 'unwanted' | 'unreachable' {
  if (outcome.kind === 'accepted') return 'unreachable'
  if (outcome.situation === 'offline') return 'offline'
  return outcome.situation === 'unwanted' || outcome.situation === 'aborted' ? 'unwanted' : 'unreachable'
}

/** The path of the first field that breaks the contract, so that nothing is sent only to be refused (contract §7, rule 1). */
function firstMisfit(operation: Operation, { params = {}, query = {}, body }: RequestParts): string | null {
  const { params: ofPath, query: ofQuery, body: ofBody } = endpoints[operation]
  const read = [ofPath.safeParse(params), ofQuery.safeParse(query), ofBody?.safeParse(body)]
  return read.find((each) => each?.success === false)?.path ?? null
}
