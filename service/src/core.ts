import {
  digitsOf,
  etaSeconds,
  type Funnel,
  type GenerationRequest,
  type GenerationStarted,
  type ImageType,
  type PolledJob,
  type RegisterRequest,
  type StorefrontContext,
  type UploadRequest,
  type UploadTarget,
  type VisitorStatus,
} from 'fitting-room/contract'
import { badInput, named, notFound } from './api-problem.ts'
import type { Config, FunnelConfig, ProductConfig, StoreConfig, VariantConfig } from './config.ts'
import type { Clock, Job, Ledger, Queue, Store, Visitor } from './ports.ts'
import { randomId } from './random.ts'
import { createForcedRefusals, delays, spoils, type Spoil } from './test-outcomes.ts'
import type { Uploads } from './uploads.ts'

export interface CoreParts {
  config: Config
  store: Store
  queue: Queue
  uploads: Uploads
  clock: Clock
  /** The address under which the service is reached, without a trailing slash. */
  publicUrl: () => string
  /** Hears of failures that are nobody's input. */
  report: (error: unknown) => void
}

/** The rules of the contract; HTTP, rendering and storage are elsewhere. Refusals are thrown as `ApiProblem`. */
export type Core = ReturnType<typeof createCore>

export function createCore({ config, store, queue, uploads, clock, publicUrl, report }: CoreParts) {
  const forcedRefusal = createForcedRefusals()

  /** The visitor of an ID, taken over as it is when new; without one the address's own anonymous visitor. */
  async function visitorOf(ledger: Ledger, storeId: string, ip: string, given: string | undefined): Promise<Visitor> {
    let id = given ?? (await ledger.anonymousId(storeId, ip))
    if (id === null) {
      id = randomId()
      await ledger.saveAnonymousId(storeId, ip, id)
    }
    const known = await ledger.visitor(storeId, id)
    if (known) return known
    const made: Visitor = { storeId, id, email: null, name: null, counted: 0, acceptedAt: [] }
    await ledger.saveVisitor(made)
    return made
  }

  /** A job that was never queued was never accepted. */
  async function takeBack(job: Job): Promise<void> {
    await store.transaction(async (ledger) => {
      await ledger.saveJob({ ...job, state: 'failed' })
      await ledger.saveCreditsUsed(job.storeId, Math.max(0, (await ledger.creditsUsed(job.storeId)) - 1))
      const visitor = await ledger.visitor(job.storeId, job.visitorId)
      if (visitor === null) return
      const acceptedAt = visitor.acceptedAt.filter((at) => at !== job.acceptedAt)
      await ledger.saveVisitor({ ...visitor, counted: Math.max(0, visitor.counted - 1), acceptedAt })
    })
  }

  return {
    storeOfKey(key: string | null): StoreConfig | null {
      const found = config.stores.find(({ apiKey }) => apiKey === key)
      return found && (found.integrations.sdk || found.integrations.api) ? found : null
    },

    context({ integrations, storefront }: StoreConfig): StorefrontContext {
      if (!integrations.sdk || storefront === null) throw named('sdkNotConfigured')
      return { storefront }
    },

    funnel({ funnels }: StoreConfig, ids: readonly number[]): Funnel {
      const found = ids.map((id) => funnels.find((funnel) => funnel.id === id)).find((funnel) => funnel !== undefined)
      if (!found) throw notFound('Funnel')
      const { id, funnelType, generationModel } = found
      return { id, funnelType, generationModel }
    },

    upload({ contentType, customKey }: UploadRequest): UploadTarget {
      const name = `${customKey === undefined ? '' : `${customKey}-`}${randomId()}${endingOf(contentType)}`
      const signed = uploads.sign(name, contentType, clock.now())
      return { uploadUrl: publicUrl() + signed, imageUrl: `${publicUrl()}/photos/${name}` }
    },

    visitor(
      of: StoreConfig,
      ip: string,
      uniqueUserId: string | undefined,
    ): Promise<VisitorStatus & { uniqueUserId: string }> {
      return store.transaction(async (ledger) => statusOf(of, await visitorOf(ledger, of.id, ip, uniqueUserId)))
    },

    register(of: StoreConfig, ip: string, { email, name, uniqueUserId }: RegisterRequest) {
      return store.transaction(async (ledger) => {
        const visitor = await visitorOf(ledger, of.id, ip, uniqueUserId)
        const registered = { ...visitor, email, name: name ?? visitor.name }
        await ledger.saveVisitor(registered)
        return statusOf(of, registered)
      })
    },

    /** Accepts a submission: counts it, takes a credit and queues the job, all or nothing (contract §4, rules 2 to 4). */
    async generate(
      of: StoreConfig,
      ip: string,
      request: GenerationRequest,
    ): Promise<{ started: GenerationStarted; spoil: Spoil | null }> {
      const { product, variant, funnel } = scopeOf(of, request)
      if (product.image === null) throw badInput('the product has no image')
      const job = await store.transaction(async (ledger) => {
        const known = await visitorOf(ledger, of.id, ip, request.uniqueUserId)
        const visitor = request.customerEmail === undefined ? known : { ...known, email: request.customerEmail }
        if (visitor !== known) await ledger.saveVisitor(visitor)
        const now = clock.now()
        const recent = withinCap(of, visitor, now)
        const refusal = forcedRefusal(variant.test, visitor, request)
        if (refusal) return refusal
        // test variants show what they are for, whatever was tried on before
        const gated = variant.test === undefined
        if (gated && of.tryOnCap && recent.length >= of.tryOnCap.max)
          return named('tryOnLimitReached', of.tryOnCap.message)
        if (gated && statusOf(of, visitor).requestsLeft === 0) return named('emailRequired')
        const used = await ledger.creditsUsed(of.id)
        if (of.credits !== null && used >= of.credits) return named('couldNotCreateGeneration')
        await ledger.saveCreditsUsed(of.id, used + 1)
        await ledger.saveVisitor({ ...visitor, counted: visitor.counted + 1, acceptedAt: [...recent, now] })
        const accepted = jobOf(config, of.id, visitor.id, product, variant, funnel, request.imageUrl, now)
        await ledger.saveJob(accepted)
        return accepted
      })
      if (job instanceof Error) throw job
      try {
        await queue.push(job.id)
      } catch (error) {
        await takeBack(job)
        report(error)
        throw named('couldNotCreateGeneration')
      }
      const started = { jobId: job.id, etaSeconds, uniqueUserId: job.visitorId }
      return { started, spoil: (variant.test && spoils[variant.test]) ?? null }
    },

    poll(of: StoreConfig, jobId: string, uniqueUserId: string | undefined): Promise<PolledJob> {
      return store.transaction(async (ledger) => {
        const job = await ledger.job(jobId.toLowerCase())
        if (job === null || job.storeId !== of.id) throw notFound('Job')
        if (job.state === 'failed') return { status: 'ERROR', error: job.error ?? 'Generation failed' }
        const now = clock.now()
        if (job.pictures === null || now < job.previewAt) return { status: 'PROCESSING' }
        const visitor = await visitorOf(ledger, of.id, '', uniqueUserId ?? job.visitorId)
        return { status: 'SUCCESS', ...statusOf(of, visitor), ...picturesOf(job, now) }
      })
    },
  }
}

/** What the request names must belong to the store and to each other (contract §4, rules 2 and 3). */
function scopeOf(of: StoreConfig, request: GenerationRequest) {
  const product = of.products.find(({ id }) => id === digitsOf(request.productId))
  if (!product) throw notFound('Product')
  const variant = product.variants.find(({ id }) => id === digitsOf(request.variantId))
  if (!variant) throw notFound('Variant')
  const funnel = of.funnels.find(({ id }) => id === request.funnelId)
  if (!funnel) throw notFound('Funnel')
  if (!funnel.productIds.includes(product.id)) throw named('productNotInFunnel')
  return { product, variant, funnel }
}

function statusOf({ email }: StoreConfig, visitor: Visitor) {
  const free = email === null || visitor.email !== null
  const requestsLeft = free ? -1 : Math.max(0, email.freeTryOns - visitor.counted)
  return { requestsLeft, totalRequests: visitor.counted, uniqueUserId: visitor.id }
}

function withinCap({ tryOnCap }: StoreConfig, { acceptedAt }: Visitor, now: number): number[] {
  if (tryOnCap === null) return []
  return acceptedAt.filter((at) => at > now - tryOnCap.windowSeconds * 1000)
}

function jobOf(
  { generation }: Config,
  storeId: string,
  visitorId: string,
  product: ProductConfig,
  variant: VariantConfig,
  { funnelType }: FunnelConfig,
  photoUrl: string,
  acceptedAt: number,
): Job {
  const later = (variant.test && delays[variant.test]) ?? { preview: 0, ready: 0 }
  return {
    id: randomId(),
    storeId,
    visitorId,
    productId: product.id,
    variantId: variant.id,
    funnelType,
    photoUrl,
    acceptedAt,
    previewAt: acceptedAt + generation.previewAfterMs + later.preview,
    readyAt: acceptedAt + generation.readyAfterMs + later.ready,
    state: 'queued',
    error: null,
    pictures: null,
  }
}

function picturesOf({ id, readyAt, pictures }: Job, now: number) {
  const ready = now >= readyAt
  const imageUrl = (ready ? pictures?.final : pictures?.preview) ?? ''
  return {
    imageUrl,
    displayUrl: imageUrl,
    permanentUrl: ready ? imageUrl : null,
    storageStatus: ready ? ('READY' as const) : ('PENDING' as const),
    imageId: null,
    tryOnUuid: id,
  }
}

const endingOf = (type: ImageType) => `.${type.slice('image/'.length)}`
