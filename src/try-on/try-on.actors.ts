import { fromPromise } from '../../machines/setup.ts'
import { requestMachine } from '../../machines/request.machine.ts'
import type { Polled, Restored, TryOnContext, Written } from '../../machines/try-on.types.ts'
import type { tryOnMachine } from '../../machines/try-on.machine.ts'
import { isUrgent } from '../../machines/try-on.setup.ts'
import type { Forecast } from '../budget/forecast.ts'
import type { RequestOptions } from '../wire/operations.ts'
import { report } from '../platform/guarded.ts'
import { unanswered, type Outcome, type Unusable } from '../rules/outcome.ts'
import { TryOnError } from '../rules/try-on-error.ts'
import type { Photos } from '../shopper/photos.ts'
import type { UploadProgress } from '../ports.ts'
import { advance, recordOfPoll, recordOfStop, whole, wordEndsAt, type AttemptRecord } from '../rules/record.ts'
import { createSubmission, moved, type SubmissionParts } from './submission.ts'

/** One product variant, and the funnels to try it with in preferred order. */
export interface Product {
  productId: string
  variantId: string
  funnelIds: readonly number[]
}

export interface TryOnParts extends SubmissionParts {
  photos: Photos
  forecast: Forecast
  product: Product
  /** Whether another consent is in hand, which is to replace what stands. */
  isPreparing: () => boolean
}

type Provided = NonNullable<Parameters<typeof tryOnMachine.provide>[0]['actors']>

/** What the try-on machine's actors really do: requests through the room's client, records through its journal. */
export function tryOnActors(parts: TryOnParts): Provided {
  const { client, clock, photos, visitor, forecast, attempts, product, tell } = parts
  /** After a reset() an answer to the shopper before it teaches nothing. */
  const learn = visitor.learner()
  const submission = createSubmission(parts)

  // the signal is aborted when the machine goes on without the answer: a request that waits for its key does not leave then
  const task = <Output>(work: (context: TryOnContext, options: RequestOptions) => Promise<Output>) =>
    fromPromise<Output, TryOnContext>(({ input, signal }) => reported(work(input, { signal })))
  /** What is asked for of a record only. */
  const taskOf = <Output>(
    work: (record: AttemptRecord, context: TryOnContext, options: RequestOptions) => Promise<Output>,
  ) => task((context, options) => work(context.record!, context, options))
  const request = (send: (context: TryOnContext, options: RequestOptions) => Promise<Outcome<unknown>>) =>
    requestMachine.provide({
      actors: { send: fromPromise(({ input, signal }) => reported(send(input as TryOnContext, { signal }))) },
    })

  /** Without an ID the request may create a visitor, and so may a second one. */
  const mayHaveCreatedVisitor = (_: unknown, outcome: Outcome<unknown>) =>
    visitor.get().uniqueUserId === null && outcome.kind === 'unavailable' && !hasNeverLeft(outcome)

  async function consent(context: TryOnContext, { signal }: RequestOptions): Promise<Written> {
    const now = whole(clock.now())
    const { attemptId, isRetry, customKey, moreLooksConsent, notice, photoId, metadataKept } = context.consent!
    const record: AttemptRecord = {
      version: 2,
      savedAt: now,
      attemptId,
      startedAt: now,
      phase: 'consented',
      productId: product.productId,
      variantId: product.variantId,
      funnelIds: [...product.funnelIds],
      photo: { id: photoId, metadataKept },
      customKey,
      moreLooksConsent,
      notice,
      retried: isRetry,
    }
    return attempts.begin(record, context.record, signal)
  }

  async function poll(record: AttemptRecord, context: TryOnContext, options: RequestOptions): Promise<Polled> {
    const { durable, jobAt } = context
    const urgent = isUrgent(context)
    // a job is polled only at the installation that it came from
    const { jobId } = record.job!
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
    const { email, name } = form!.reveal()
    // an address is for the installation that asked for it
    if (!client.isSameInstallation()) return moved
    const outcome = await client.registerCustomer({ email, name, uniqueUserId }, options)
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
      const { funnel, funnelIds, attemptId } = record!
      return funnel ? { kind: 'accepted', data: funnel } : parts.funnels.find(funnelIds, attemptId)
    }),
    uploadPhoto: request(async ({ record }) => {
      const { photo, customKey, attemptId: turn } = record!
      if (photo.imageUrl !== undefined) return { kind: 'accepted', data: photo }
      const onProgress = (progress: UploadProgress) => tell({ type: 'uploaded', progress })
      return photos.upload(photo.id, { customKey, onProgress, turn })
    }),
    askVisitor: request(() => visitor.ask(client)).provide({ guards: { isUnsafe: mayHaveCreatedVisitor } }),
    register: request(register),
    writeStop: taskOf(writeStop),
    writeRegistration: writeWord('emailRegistered'),
    renew: writeWord('consented'),
    probe: taskOf(submission.probe),
    claim: taskOf(submission.claim),
    submit: taskOf(submission.submit),
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

const hasNeverLeft = ({ situation }: Unusable) => situation === 'unreachable' || situation === 'offline'

/** What is told to the shopper anyway is no news to developers. */
function reported<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (!(error instanceof TryOnError)) report(error)
    throw error
  })
}
