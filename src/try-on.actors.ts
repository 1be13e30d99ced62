import { fromPromise } from 'xstate'
import { backoffMs } from '../machines/backoff.ts'
import { mayBePaid, mayBeRunning } from '../machines/paid.ts'
import { requestMachine } from '../machines/request.machine.ts'
import type { PollStep, Step, TryOnContext, TryOnEvent } from '../machines/try-on.types.ts'
import type { tryOnMachine } from '../machines/try-on.machine.ts'
import { generationStarted, polledJob, type GenerationStarted, type PolledJob } from './contract/resources.ts'
import type { Attempts } from './attempts.ts'
import type { Client } from './client.ts'
import { newId } from './new-id.ts'
import { outcomeOf, type Outcome, type Unusable } from './outcome.ts'
import type { Photos } from './photos.ts'
import type { Clock } from './ports.ts'
import { consentLifetimeMs, settlePoll, settleStop, settleSubmission, step, type AttemptRecord } from './record.ts'
import type { VisitorStore } from './visitor.ts'

/** One product variant, and the funnels to try it with in preferred order. */
export interface Product {
  productId: string
  variantId: string
  funnelIds: readonly number[]
}

export interface TryOnParts {
  client: Client
  /** The base URL that this room was made for. */
  home: string
  clock: Clock
  photos: Photos
  visitor: VisitorStore
  attempts: Attempts
  product: Product
  /** Tells the running machine; it may have moved on. */
  tell: (event: TryOnEvent) => unknown
  /** The key that the service last refused; null while none was. */
  refusedKey: { current: string | null }
}

type Provided = NonNullable<Parameters<typeof tryOnMachine.provide>[0]['actors']>

/** What the try-on machine's actors really do: requests through the room's client, records through its journal. */
export function tryOnActors(parts: TryOnParts): Provided {
  const { client, home, clock, photos, visitor, attempts, product, tell, refusedKey } = parts
  const visitorId = () => visitor.get().uniqueUserId ?? undefined

  const task = <Output>(work: (context: TryOnContext) => Promise<Output>) =>
    fromPromise<Output, TryOnContext>(({ input }) => work(input))
  const request = (send: (context: TryOnContext) => Promise<Outcome<unknown>>) =>
    requestMachine.provide({ actors: { send: fromPromise(({ input }) => send(input as TryOnContext)) } })

  async function noteRefusedKey(outcome: Outcome<unknown>): Promise<void> {
    if (outcome.kind !== 'rejected' || outcome.reason !== 'key') return
    refusedKey.current = await client.apiKey().catch(() => null)
  }

  async function consent(context: TryOnContext): Promise<Step> {
    const given = context.consent
    if (given === null) throw new TypeError('no consent to write down')
    const now = clock.now()
    const { customKey, moreLooksConsent, photoId } = given
    const record: AttemptRecord = {
      version: 1,
      savedAt: now,
      attemptId: newId(),
      startedAt: now,
      phase: 'consented',
      ...product,
      funnelIds: [...product.funnelIds],
      photo: { id: photoId },
      ...(customKey !== undefined && { customKey }),
      ...(moreLooksConsent !== undefined && { moreLooksConsent }),
    }
    return attempts.begin(record, context.record)
  }

  async function claim({ record, durable }: TryOnContext): Promise<Step> {
    if (record === null) return { record, durable }
    const key = await client.apiKey().catch(() => null)
    if (key === null) return attempts.write(settleStop(record, noKey, clock.now()))
    return attempts.claim(record, durable)
  }

  async function submit({ record: claimed, customerEmail, failures }: TryOnContext): Promise<Step> {
    if (claimed?.funnel === undefined || claimed.photo.imageUrl === undefined) throw new TypeError('not prepared')
    const answered = async (outcome: Outcome<GenerationStarted>): Promise<Step> => {
      const record = settleSubmission(claimed, outcome, clock.now(), backoffMs(failures))
      const written = await attempts.writeAnswer(record)
      if (outcome.kind === 'accepted') visitor.learn({ uniqueUserId: outcome.data.uniqueUserId })
      await noteRefusedKey(outcome)
      return written
    }
    const { productId, variantId, funnel, photo, moreLooksConsent } = claimed
    const uniqueUserId = visitorId()
    const outcome = await client.createGeneration(
      {
        funnelId: funnel.id,
        productId,
        variantId,
        imageUrl: photo.imageUrl as string,
        ...(uniqueUserId !== undefined && { uniqueUserId }),
        ...(customerEmail !== null && { customerEmail }),
        ...(moreLooksConsent !== undefined && { moreLooksConsent }),
      },
      { onLateAnswer: (late) => void answered(late).then((written) => tell({ type: 'answered', step: written })) },
    )
    return answered(outcome)
  }

  async function poll({ record, durable }: TryOnContext): Promise<PollStep> {
    if (record?.job === undefined) throw new TypeError('no job to poll')
    // a job is polled only at the installation that it came from
    const outcome: Outcome<PolledJob> =
      client.baseUrl() === home
        ? await client.getGeneration(record.job.jobId, { uniqueUserId: visitorId() })
        : outcomeOf('getGeneration', { came: 'notMade', why: 'moved' }, polledJob)
    await noteRefusedKey(outcome)
    if (outcome.kind === 'unavailable' || outcome.kind === 'throttled') return { record, durable, outcome }
    const now = clock.now()
    const next = outcome.kind === 'accepted' ? settlePoll(record, outcome.data, now) : settleStop(record, outcome, now)
    if (outcome.kind === 'accepted' && outcome.data.status === 'SUCCESS') visitor.learn(outcome.data)
    return next === record ? { record, durable, outcome } : { ...(await attempts.write(next)), outcome }
  }

  async function settle({ record, stop }: TryOnContext): Promise<Step> {
    if (record === null) return { record, durable: true }
    if (stop === null) return attempts.write(step(record, clock.now(), { phase: 'awaitingEmail' }))
    await noteRefusedKey(stop)
    return attempts.write(settleStop(record, stop, clock.now()))
  }

  async function register({ record, form }: TryOnContext): Promise<Outcome<unknown>> {
    if (record === null || form === null) throw new TypeError('nobody to register')
    const uniqueUserId = visitorId()
    const outcome = await client.registerCustomer({
      email: form.email,
      ...(form.name !== undefined && { name: form.name }),
      ...(uniqueUserId !== undefined && { uniqueUserId }),
    })
    if (outcome.kind !== 'accepted') return outcome
    visitor.learn(outcome.data)
    const written = await attempts.write(step(record, clock.now(), { phase: 'emailRegistered' }))
    return { kind: 'accepted', data: written }
  }

  /** A submission goes on by itself with a new key only while its consent is young; a paid job always. */
  async function keyChanged({ record }: TryOnContext): Promise<boolean> {
    if (record === null) return false
    const young = clock.now() - record.startedAt < consentLifetimeMs
    const key = await client.apiKey().catch(() => null)
    return key !== null && key !== refusedKey.current && (record.job !== undefined || young)
  }

  async function leave({ record, problem }: TryOnContext): Promise<Step> {
    const durable = record === null || (await attempts.leave(record, mayBePaid(record)))
    return { record: null, durable, problem }
  }

  return {
    restore: task(() => attempts.restore()),
    consent: task(consent),
    lookUpFunnel: request(async ({ record }) =>
      record?.funnel ? { kind: 'accepted', data: record.funnel } : client.getFunnel(product.funnelIds),
    ),
    uploadPhoto: request(async ({ record }) => {
      if (record === null) throw new TypeError('no attempt to upload for')
      if (record.photo.imageUrl !== undefined) return { kind: 'accepted', data: record.photo }
      return photos.upload(record.photo.id, {
        customKey: record.customKey,
        onProgress: (progress) => tell({ type: 'uploaded', progress }),
      })
    }),
    askVisitor: request(async () => {
      const outcome = await client.getRequestsLeft({ uniqueUserId: visitorId() })
      if (outcome.kind === 'accepted') visitor.learn(outcome.data)
      return outcome
    }),
    register: request(register),
    settle: task(settle),
    claim: task(claim),
    submit: task(submit),
    poll: task(poll),
    keyChanged: task(keyChanged),
    leave: task(leave),
    discard: task<Step>(async ({ record }) => {
      if (record !== null) await attempts.forget(record, mayBeRunning(record))
      return { record: null, durable: true }
    }),
  }
}

const noKey = outcomeOf('createGeneration', { came: 'notMade', why: 'noKey' }, generationStarted) as Unusable
