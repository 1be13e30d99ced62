import { fromPromise } from '../../machines/setup.ts'
import { requestMachine } from '../../machines/request.machine.ts'
import type { Polled, Restored, TryOnContext, TryOnEvent, Written } from '../../machines/try-on.types.ts'
import type { tryOnMachine } from '../../machines/try-on.machine.ts'
import { isUrgent } from '../../machines/try-on.setup.ts'
import type { GenerationStarted } from '../contract/resources.ts'
import type { Forecast } from '../budget/forecast.ts'
import type { Attempts } from '../records/attempts.ts'
import type { RequestOptions } from '../wire/operations.ts'
import type { RoomClient } from '../wire/room-client.ts'
import { report } from '../platform/guarded.ts'
import { unanswered, type Outcome, type Situation, type Unusable } from '../rules/outcome.ts'
import { TryOnError } from '../rules/try-on-error.ts'
import type { Funnels } from '../shopper/funnels.ts'
import type { Photos } from '../shopper/photos.ts'
import type { SteadyClock, SubmissionLimit, UploadProgress } from '../ports.ts'
import {
  advance,
  recordOfPoll,
  recordOfStop,
  recordOfSubmission,
  whole,
  wordEndsAt,
  type AttemptRecord,
} from '../rules/record.ts'
import type { VisitorStore } from '../shopper/visitor.ts'
import { createPlaces } from './places.ts'

/** One product variant, and the funnels to try it with in preferred order. */
export interface Product {
  productId: string
  variantId: string
  funnelIds: readonly number[]
}

export interface TryOnParts {
  client: RoomClient
  clock: SteadyClock
  funnels: Funnels
  photos: Photos
  visitor: VisitorStore
  forecast: Forecast
  attempts: Attempts
  product: Product
  /** How many submissions this device lets out. */
  limit: SubmissionLimit | undefined
  /** The answer to a claim has come, be it that nobody waits for it any more; it is not written yet. */
  onAnswer?: ((claimed: AttemptRecord, outcome: Outcome<GenerationStarted>) => void) | undefined
  /** Tells the running machine; it may have moved on. */
  tell: (event: TryOnEvent) => unknown
  /** Whether another consent is in hand, which is to replace what stands. */
  isPreparing: () => boolean
  /** Looks once more whether the try-on is this page's. */
  holdsSeat: () => Promise<boolean>
  /** Whether no other page can be seen to have it, though this one may not be able to write. */
  isUntaken: () => Promise<boolean>
}

type Provided = NonNullable<Parameters<typeof tryOnMachine.provide>[0]['actors']>

/** What the try-on machine's actors really do: requests through the room's client, records through its journal. */
export function tryOnActors(parts: TryOnParts): Provided {
  const { client, clock, photos, visitor, forecast, attempts, product, tell } = parts
  const places = createPlaces(parts.limit, clock)
  /** After a reset() an answer to the shopper before it teaches nothing. */
  const learn = visitor.learner()

  // the signal is aborted when the machine goes on without the answer: a request that waits for its key does not leave then
  const task = <Output>(work: (context: TryOnContext, options: RequestOptions) => Promise<Output>) =>
    fromPromise<Output, TryOnContext>(({ input, signal }) => reported(work(input, { signal })))
  /** What is asked for of a record only. */
  const taskOf = <Output>(
    work: (record: AttemptRecord, context: TryOnContext, options: RequestOptions) => Promise<Output>,
  ) => task((context, options) => work(given(context.record), context, options))
  const request = (send: (context: TryOnContext, options: RequestOptions) => Promise<Outcome<unknown>>) =>
    requestMachine.provide({
      actors: { send: fromPromise(({ input, signal }) => reported(send(input as TryOnContext, { signal }))) },
    })

  /** Without an ID the request may create a visitor, and so may a second one. */
  const mayHaveCreatedVisitor = (_: unknown, outcome: Outcome<unknown>) =>
    visitor.get().uniqueUserId === null && outcome.kind === 'unavailable' && !neverLeft.has(outcome.situation)

  async function consent(context: TryOnContext, { signal }: RequestOptions): Promise<Written> {
    const now = whole(clock.now())
    const { attemptId, isRetry, customKey, moreLooksConsent, notice, photoId, metadataKept } = given(context.consent)
    const record: AttemptRecord = {
      version: 2,
      savedAt: now,
      attemptId,
      startedAt: now,
      phase: 'consented',
      productId: product.productId,
      variantId: product.variantId,
      funnelIds: [...product.funnelIds],
      photo: { id: photoId, ...(metadataKept && { metadataKept }) },
      ...(customKey !== undefined && { customKey }),
      ...(moreLooksConsent !== undefined && { moreLooksConsent }),
      ...(notice !== undefined && { notice }),
      ...(isRetry && { retried: true }),
    }
    return attempts.begin(record, context.record, signal)
  }

  /** Whether a submission can be sent at all, and in a form that no browser repeats; else what stops it. */
  async function probe(
    record: AttemptRecord,
    { durable, failures }: TryOnContext,
    options: RequestOptions,
  ): Promise<Written> {
    const stopped = (why: Unusable) => attempts.write(recordOfStop(record, why, clock.now()), record)
    if (!(await client.readKey())) return stopped(noKey)
    if (!client.isSameInstallation()) return stopped(moved)
    // it stands before the submission is sent with it
    await visitor.identify()
    const probed = await client.probe({ ...options, turn: record.attemptId })
    if (probed.kind === 'accepted') return { kind: 'stands', record, durable }
    return attempts.write(recordOfSubmission(record, probed, clock.now(), failures), record)
  }

  /** The claim of what the budget has let go, once this device has a place for it. */
  async function claim(record: AttemptRecord, _: TryOnContext, options: RequestOptions): Promise<Written> {
    let goesOut = false
    try {
      const written = await claimInPlace(record, options)
      goesOut = isClaim(written) && !options.signal?.aborted
      return written
    } finally {
      if (!goesOut) client.release(record.attemptId)
    }
  }

  const isClaim = (written: Written) => written.kind === 'stands' && written.record.phase === 'claimed'

  async function claimInPlace(record: AttemptRecord, { signal }: RequestOptions): Promise<Written> {
    const reached = await places.take(record, signal)
    // the page was left meanwhile: whoever goes on with it, as this page may, claims it anew, and needs its place
    if (signal?.aborted) return { kind: 'overtaken' }
    if (reached) return attempts.write(advance(record, clock.now(), { phase: 'rejected', problem: reached }), record)
    const written = await attempts.claim(record, parts.isUntaken, signal)
    if (!isClaim(written) && !signal?.aborted) places.giveBack(record)
    return written
  }

  async function submit(
    claimed: AttemptRecord,
    { customerEmail, failures, wordAt }: TryOnContext,
    { signal }: RequestOptions,
  ): Promise<Written> {
    /** The page may run another machine by now, or none: whoever runs hears of it. */
    const concluded = async (outcome: Outcome<GenerationStarted>): Promise<Written> => {
      parts.onAnswer?.(claimed, outcome)
      const answered = recordOfSubmission(claimed, outcome, clock.now(), failures)
      const written = await attempts.write(answered, claimed)
      if (begunNothing.has(outcome.kind)) places.giveBack(claimed)
      if (outcome.kind === 'accepted') learn({ uniqueUserId: outcome.data.uniqueUserId })
      else if (outcome.answer.status === 404) parts.funnels.forget()
      tell({ type: 'lateAnswer', written })
      return written
    }
    const { productId, variantId, moreLooksConsent } = claimed
    const uniqueUserId = await visitor.known()
    const order = {
      funnelId: given(claimed.funnel).id,
      productId,
      variantId,
      imageUrl: given(claimed.photo.imageUrl),
      ...(uniqueUserId !== undefined && { uniqueUserId }),
      ...(customerEmail !== null && { customerEmail: customerEmail.reveal() }),
      ...(moreLooksConsent !== undefined && { moreLooksConsent }),
    }
    const isWanted = async () => {
      const isHere = (await attempts.isWanted(claimed)) && (await parts.holdsSeat())
      // a page may have slept in any of these, and its shopper have left it
      return isHere && !signal?.aborted && clock.elapsed() < wordEndsAt(wordAt)
    }
    // probing and claiming may have taken a while
    if (!client.isSameInstallation()) {
      client.release(claimed.attemptId)
      return concluded(moved)
    }
    return concluded(await client.submit(order, { onLateAnswer: concluded, isWanted, turn: claimed.attemptId }))
  }

  async function poll(record: AttemptRecord, context: TryOnContext, options: RequestOptions): Promise<Polled> {
    const { durable, jobAt } = context
    const urgent = isUrgent(context)
    // a job is polled only at the installation that it came from
    const { jobId } = given(record.job)
    const isOwn = !record.elsewhere
    const uniqueUserId = isOwn ? await visitor.known() : undefined
    const outcome = client.isSameInstallation()
      ? await client.getGeneration(jobId, { uniqueUserId }, { ...options, urgent })
      : unanswered('getGeneration', { came: 'notMade', why: 'moved' })
    const unchanged: Polled = { kind: 'stands', record, durable, outcome }
    if (outcome.kind === 'unavailable' || outcome.kind === 'throttled') return unchanged
    const now = clock.now()
    const next =
      outcome.kind === 'accepted' ? recordOfPoll(record, outcome.data, now) : recordOfStop(record, outcome, now)
    if (outcome.kind === 'accepted' && isOwn) {
      if (outcome.data.status === 'SUCCESS') learn(outcome.data)
      forecast.looked(next, clock.monotonic() - jobAt)
    }
    // what only memory has is tried again, and so is what storage has lost
    const isKept = next === record && durable && (await attempts.stands(record))
    return isKept ? unchanged : { ...(await attempts.write(next, record)), outcome }
  }

  /** What stopped the requests, or the e-mail address that is wanted before a submission. */
  async function writeStop(record: AttemptRecord, { refusal }: TryOnContext): Promise<Written> {
    const now = clock.now()
    const stopped = refusal ? recordOfStop(record, refusal, now) : advance(record, now, { phase: 'awaitingEmail' })
    return attempts.write(stopped, record)
  }

  /** The shopper's word to go on with the same attempt. */
  const writeWord = (phase: 'consented' | 'emailRegistered') =>
    taskOf(async (record, { wordAt }) => {
      const now = clock.now()
      // an address may be registered long after it was given
      const consentedAt = whole(now - (clock.elapsed() - wordAt))
      return attempts.write(advance(record, now, { phase, consentedAt }), record)
    })

  async function register({ form }: TryOnContext, options: RequestOptions): Promise<Outcome<unknown>> {
    const uniqueUserId = await visitor.identify()
    const { email, name } = given(form).reveal()
    // an address is for the installation that asked for it
    if (!client.isSameInstallation()) return moved
    const visitorOf = uniqueUserId === undefined ? {} : { uniqueUserId }
    const outcome = await client.registerCustomer({ email, ...(name !== undefined && { name }), ...visitorOf }, options)
    if (outcome.kind === 'accepted') learn(outcome.data)
    return outcome
  }

  /** A paid job goes on with a new key by itself; a submission only while its consent is young and no other page can. */
  async function keyChanged(record: AttemptRecord, { exclusive, wordAt }: TryOnContext): Promise<boolean> {
    const isYoungWord = clock.elapsed() < wordEndsAt(wordAt)
    const mayGoOn = record.job !== undefined || (isYoungWord && exclusive)
    return mayGoOn && (await client.keyChanged()) && !parts.isPreparing()
  }

  return {
    restore: task<Restored>(async () => ({ ...(await attempts.restore()), exclusive: attempts.isExclusive() })),
    consent: task(consent),
    lookUpFunnel: request(async ({ record }) => {
      const { funnel, funnelIds, attemptId } = given(record)
      return funnel ? { kind: 'accepted', data: funnel } : parts.funnels.find(funnelIds, attemptId)
    }),
    uploadPhoto: request(async ({ record }) => {
      const { photo, customKey, attemptId: turn } = given(record)
      if (photo.imageUrl !== undefined) return { kind: 'accepted', data: photo }
      const onProgress = (progress: UploadProgress) => tell({ type: 'uploaded', progress })
      return photos.upload(photo.id, { customKey, onProgress, turn })
    }),
    askVisitor: request(() => visitor.ask(client)).provide({ guards: { isUnsafe: mayHaveCreatedVisitor } }),
    register: request(register),
    writeStop: taskOf(writeStop),
    writeRegistration: writeWord('emailRegistered'),
    renew: writeWord('consented'),
    probe: taskOf(probe),
    claim: taskOf(claim),
    submit: taskOf(submit),
    poll: taskOf(poll),
    keyChanged: taskOf(keyChanged),
    // what was wrong with a picture goes with it
    leave: taskOf((record, { problem }) => attempts.leave(record, problem?.kind === 'picture' ? null : problem)),
    discard: task(async ({ record }) => {
      // where nothing could be read there may be something by now
      if (record === null) return attempts.restore()
      const left = await attempts.forget(record)
      if (left.kind === 'none') await photos.drop(record.photo.id)
      return left
    }),
  }
}

/** After these nothing was started; after whatever else is not accepted there may be a job. */
const begunNothing: ReadonlySet<Outcome<unknown>['kind']> = new Set([
  'rejected',
  'limitReached',
  'throttled',
  'notSent',
])

const neverLeft: ReadonlySet<Situation> = new Set(['unreachable', 'offline'])

/** What is told to the shopper anyway is no news to developers. */
function reported<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (!(error instanceof TryOnError)) report(error)
    throw error
  })
}

/** What the machine asks for nothing without. */
function given<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new TypeError('nothing to do it with')
  return value
}

const moved = unanswered('createGeneration', { came: 'notMade', why: 'moved' })
const noKey = unanswered('createGeneration', { came: 'notMade', why: 'noKey' })
