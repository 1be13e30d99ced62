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
import { ApiProblem, badInput, named, notFound } from './api-problem.ts'
import { pictureMs } from './retention.ts'
import {
  isUrl,
  type Config,
  type FunnelConfig,
  type ProductConfig,
  type StoreConfig,
  type VariantConfig,
} from './config.ts'
import type { Clock, Counted, Job, Ledger, Polled, Store, Visitor } from './ports.ts'
import { randomId } from './random.ts'
import { createForcedRefusals, delays, spoils, type Spoil } from './test-outcomes.ts'
import type { Uploads } from './uploads.ts'

export interface CoreParts {
  config: Config
  store: Store
  uploads: Uploads
  clock: Clock
  /** The address under which the service is reached, without a trailing slash. */
  publicUrl: () => string
  /** Who makes the pictures in place of the generator. */
  provided?: object | undefined
  /** Hears of failures that are nobody's input. */
  report: (error: unknown) => void
}

interface Submission {
  of: StoreConfig
  visitorId: string
  request: GenerationRequest
  scope: ReturnType<typeof scopeOf>
}

/** The rules of the contract; HTTP, rendering and storage are elsewhere. Refusals are thrown as `ApiProblem`. */
export type Core = ReturnType<typeof createCore>

export function createCore({ config, store, uploads, clock, publicUrl, provided, report }: CoreParts) {
  const forcedRefusal = createForcedRefusals()

  /** The visitor's ID, taken over as it is when new; without one that of the address's own anonymous visitor. */
  const visitorIdOf = async (storeId: string, ip: string, given: string | undefined) =>
    given ?? store.anonymousId(storeId, ip, randomId())

  /** Why a submission is refused, or the credit that is taken for it; null where none has to be. */
  async function admit(ledger: Ledger, { of, request, scope }: Submission, visitor: Visitor, now: number) {
    const { test } = scope.variant
    const refusal = forcedRefusal(test, visitor, request)
    if (refusal) return refusal
    // test variants show what they are for, whatever was tried on before
    const cap = test === undefined ? of.tryOnCap : null
    if (cap && withinCap(of, visitor, now).length >= cap.max) return named('tryOnLimitReached', cap.message)
    if (test === undefined && statusOf(of, visitor).requestsLeft === 0) return named('emailRequired')
    if (of.credits === null) return null
    // the last that is waited for, as it is what most of them take
    const credit = await ledger.takeCredit(of.id, of.credits)
    return credit ?? named('couldNotCreateGeneration')
  }

  /** Counts a submission, takes a credit and queues its job; a refusal leaves the address that came with it. */
  async function acceptIn(ledger: Ledger, submission: Submission): Promise<Job | ApiProblem> {
    const { of, visitorId, request, scope } = submission
    const known = await ledger.visitor(of.id, visitorId)
    const visitor = request.customerEmail === undefined ? known : { ...known, email: request.customerEmail }
    const now = clock.now()
    const credit = await admit(ledger, submission, visitor, now)
    // said, not thrown: those that share the transaction are not carried out again for it
    if (credit instanceof ApiProblem) {
      if (visitor !== known) await ledger.saveVisitor(visitor)
      return credit
    }
    await ledger.saveVisitor({
      ...visitor,
      counted: visitor.counted + 1,
      acceptedAt: [...remembered(of, visitor), now],
    })
    const photo = uploadedAt(request.imageUrl, publicUrl()) ?? { url: request.imageUrl }
    const terms = { ...scope, photo, credit, provided: provided !== undefined, now }
    const accepted = jobOf({ storeId: of.id, visitorId: visitor.id, generation: config.generation, ...terms })
    if ('name' in photo) await ledger.usePhoto(photo.name, now)
    await ledger.addJob(accepted)
    return accepted
  }

  return {
    /** The store of a key; one that a command has issued is the only one, at once (contract §5, rule 5). */
    async storeOfKey(key: string | null): Promise<StoreConfig | null> {
      if (key === null) return null
      const { issuedTo, isIssued, imported } = await store.told(key)
      const isOf = ({ id, apiKey }: (typeof config.stores)[number]) => (isIssued(id) ? id === issuedTo : apiKey === key)
      const found = imported.get(issuedTo ?? '') ?? config.stores.find((each) => isOf(each) && !imported.has(each.id))
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

    async upload({ contentType, customKey }: UploadRequest): Promise<UploadTarget> {
      const name = `${customKey === undefined ? '' : `${customKey}-`}${randomId()}${endingOf(contentType)}`
      const now = clock.now()
      const target = await uploads.sign(name, contentType, now)
      // the service does not hear of what arrives elsewhere
      const isElsewhere = isUrl(target)
      if (isElsewhere) await store.keepPhoto(name, now)
      return { uploadUrl: isElsewhere ? target : publicUrl() + target, imageUrl: `${publicUrl()}/photos/${name}` }
    },

    async visitor(
      of: StoreConfig,
      ip: string,
      uniqueUserId: string | undefined,
    ): Promise<VisitorStatus & { uniqueUserId: string }> {
      return statusOf(of, await store.visitor(of.id, await visitorIdOf(of.id, ip, uniqueUserId)))
    },

    async register(of: StoreConfig, ip: string, { email, name, uniqueUserId }: RegisterRequest) {
      const visitorId = await visitorIdOf(of.id, ip, uniqueUserId)
      return store.transaction(async (ledger) => {
        const visitor = await ledger.visitor(of.id, visitorId)
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
      const scope = scopeOf(of, request)
      if (scope.product.image === null) throw badInput('the product has no image')
      const accept = async () => {
        const visitorId = await visitorIdOf(of.id, ip, request.uniqueUserId)
        return store.transaction((ledger) => acceptIn(ledger, { of, visitorId, request, scope }))
      }
      const job = await accept().catch((error: unknown) => {
        report(error)
        throw named('couldNotCreateGeneration')
      })
      if (job instanceof ApiProblem) throw job
      const started = { jobId: job.id, etaSeconds, uniqueUserId: job.visitorId }
      return { started, spoil: (job.test && spoils[job.test]) ?? null }
    },

    find: (jobId: string, uniqueUserId: string | undefined) => store.poll(jobId.toLowerCase(), uniqueUserId),

    /** What a poll is told of the job that was found for it. */
    polled(of: StoreConfig, found: Polled | null): PolledJob {
      const now = clock.now()
      const isKept = found !== null && now < found.job.acceptedAt + pictureMs(config)
      if (!isKept || found.job.storeId !== of.id) throw notFound('Job')
      const { job, visitor } = found
      if (job.state === 'failed') return { status: 'ERROR', error: job.error ?? 'Generation failed' }
      if (job.pictures === null || visitor === null || now < job.previewAt) return { status: 'PROCESSING' }
      return { status: 'SUCCESS', ...statusOf(of, visitor), ...picturesOf(job, job.pictures, publicUrl(), now) }
    },
  }
}

/** The photo that was uploaded to that address; null where it lies elsewhere. */
function uploadedAt(imageUrl: string, publicUrl: string): Job['photo'] | null {
  const { origin, pathname } = new URL(imageUrl)
  const [, name] = /^\/(?:photos|pictures)\/([^/]+)$/.exec(pathname) ?? []
  return origin === new URL(publicUrl).origin && name !== undefined ? { name } : null
}

/** What the request names must belong to the store and to each other (contract §4, rules 2 and 3). */
function scopeOf(of: StoreConfig, request: GenerationRequest) {
  // once, and not for each product of the store: an ID may be as long as a body
  const [productId, variantId] = [digitsOf(request.productId), digitsOf(request.variantId)]
  const product = of.products.find(({ id }) => id === productId)
  if (!product) throw notFound('Product')
  const variant = product.variants.find(({ id }) => id === variantId)
  if (!variant) throw notFound('Variant')
  const funnel = of.funnels.find(({ id }) => id === request.funnelId)
  if (!funnel) throw notFound('Funnel')
  if (!funnel.productIds.includes(product.id)) throw named('productNotInFunnel')
  return { product, variant, funnel }
}

function statusOf({ email }: StoreConfig, visitor: Counted) {
  const free = email === null || visitor.email !== null
  const requestsLeft = free ? -1 : Math.max(0, email.freeTryOns - visitor.counted)
  return { requestsLeft, totalRequests: visitor.counted, uniqueUserId: visitor.id }
}

/**
 * The try-ons that count for a store's cap. What is ahead counts as well, as another process's clock may be, or this one
 * have been set back; by more than the window it was accepted by a clock that was wrong.
 */
function withinCap({ tryOnCap }: StoreConfig, { acceptedAt }: Visitor, now: number): number[] {
  return tryOnCap === null ? [] : acceptedAt.filter((at) => Math.abs(at - now) < tryOnCap.windowSeconds * 1000)
}

/** How many try-ons of a shopper are remembered where no cap needs more: one may be set later. */
const mostRemembered = 100

const remembered = ({ tryOnCap }: StoreConfig, { acceptedAt }: Visitor): number[] =>
  acceptedAt.slice(-Math.max(mostRemembered, tryOnCap?.max ?? 0))

interface Accepted
  extends Pick<Job, 'storeId' | 'visitorId' | 'photo' | 'provided' | 'credit'>, Pick<Config, 'generation'> {
  product: ProductConfig
  variant: VariantConfig
  funnel: FunnelConfig
  now: number
}

function jobOf({ product, variant, funnel, generation, now, ...accepted }: Accepted): Job {
  const later = (variant.test && delays[variant.test]) ?? { preview: 0, ready: 0 }
  const { id, title, image } = product
  return {
    ...accepted,
    id: randomId(),
    product: { id, title, image },
    variantId: variant.id,
    test: variant.test ?? null,
    funnelType: funnel.funnelType,
    generationModel: funnel.generationModel,
    acceptedAt: now,
    previewAt: now + generation.previewAfterMs + later.preview,
    readyAt: now + generation.readyAfterMs + later.ready,
    state: 'queued',
    asked: null,
    error: null,
    pictures: null,
  }
}

function picturesOf(
  { id, readyAt }: Polled['job'],
  pictures: NonNullable<Job['pictures']>,
  publicUrl: string,
  now: number,
) {
  const ready = now >= readyAt
  const name: unknown = ready ? pictures.final : pictures.preview
  // what a database was given by other hands; nobody is to be sent to a picture that is none (contract §7)
  if (typeof name !== 'string') throw new Error('the stored result of a job cannot be read')
  const imageUrl = `${publicUrl}/pictures/${name}`
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
