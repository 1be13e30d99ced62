import * as z from 'zod/mini'
import { funnelId, jobId, productId, variantId } from './ids.ts'
import { integer, integerFrom, nonEmpty, textLike } from './scalars.ts'

/** An absolute http(s) address; the URL parser alone would also take blanks and missing slashes. */
export const httpUrl = z
  .string()
  .check(z.refine((text) => /^https?:\/\/[^\s]+$/i.test(text) && URL.canParse(text), { error: 'not an http(s) URL' }))

/** An e-mail address as browsers' `<input type="email">` takes it: HTML's own pattern. */
export const email = textLike(
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i,
)

const visitorId = z.nullable(z.string())
const requestsLeft = integerFrom(-1)
const totalRequests = integerFrom(0)

/** The saved visitor ID as requests send it (contract §4). */
export const uniqueUserId = nonEmpty

/** The image types that an upload may have (contract §2, UploadRequest). */
export const imageType = z.enum(['image/jpeg', 'image/png', 'image/webp', 'image/heic', 'image/heif', 'image/avif'])
export type ImageType = z.infer<typeof imageType>

/** The body of every HTTP error. `message` may be the merchant's text: render it as text (contract §2). */
export const apiError = z.object({
  error: z.string(),
  code: z.optional(z.string()),
  message: z.optional(z.string()),
})
export type ApiError = z.infer<typeof apiError>

/** `data` of GET /context (contract §2). */
export const storefrontContext = z.object({
  storefront: z.object({ apiUrl: httpUrl, publicToken: z.string() }),
})
export type StorefrontContext = z.infer<typeof storefrontContext>

export const funnelType = z.enum(['upper_body', 'lower_body', 'dress', 'accessory', 'custom'])
export type FunnelType = z.infer<typeof funnelType>

export const generationModel = z.enum(['SERVICE_PRO', 'SERVICE_FAST', 'SERVICE_LIGHT'])

/** `data` of GET /funnel (contract §2). */
export const funnel = z.object({ id: funnelId, funnelType, generationModel })
export type Funnel = z.infer<typeof funnel>

/** The body of POST /uploads (contract §2). */
export const uploadRequest = z.object({
  contentType: imageType,
  customKey: z.optional(textLike(/^[A-Za-z0-9_-]{1,100}$/)),
})
export type UploadRequest = z.infer<typeof uploadRequest>

/** `data` of POST /uploads: where the raw bytes go by PUT, and the photo's URL afterwards (contract §2). */
export const uploadTarget = z.object({ uploadUrl: httpUrl, imageUrl: httpUrl })
export type UploadTarget = z.infer<typeof uploadTarget>

/** `data` of GET /requests-left; `requestsLeft` −1: no e-mail will be asked for (contract §2). */
export const visitorStatus = z.object({ requestsLeft, totalRequests, uniqueUserId: visitorId })
export type VisitorStatus = z.infer<typeof visitorStatus>

/** The body of POST /customer-register (contract §2). */
export const registerRequest = z.object({
  email,
  name: z.optional(nonEmpty),
  uniqueUserId: z.optional(uniqueUserId),
})
export type RegisterRequest = z.infer<typeof registerRequest>

/** `data` of POST /customer-register (contract §2). */
export const registeredVisitor = z.object({ requestsLeft, totalRequests, uniqueUserId })
export type RegisteredVisitor = z.infer<typeof registeredVisitor>

/** The body of POST /generations (contract §2). */
export const generationRequest = z.object({
  funnelId,
  productId,
  variantId,
  imageUrl: httpUrl,
  uniqueUserId: z.optional(uniqueUserId),
  customerEmail: z.optional(email),
  moreLooksConsent: z.optional(z.boolean()),
})
export type GenerationRequest = z.infer<typeof generationRequest>

/** `data` of POST /generations; `etaSeconds` is an estimate (contract §2). */
export const generationStarted = z.object({ jobId, etaSeconds: integer, uniqueUserId: visitorId })
export type GenerationStarted = z.infer<typeof generationStarted>

const jobProcessing = z.object({ status: z.literal('PROCESSING') })
const jobFailed = z.object({ status: z.literal('ERROR'), error: z.string() })

/** A finished or previewed job; `storageStatus` PENDING means a temporary preview (contract §2). */
export const jobSuccess = z.object({
  status: z.literal('SUCCESS'),
  imageUrl: httpUrl,
  requestsLeft,
  totalRequests,
  uniqueUserId: visitorId,
  storageStatus: z.nullish(z.enum(['PENDING', 'READY'])),
  displayUrl: z.nullish(httpUrl),
  permanentUrl: z.nullish(httpUrl),
  imageId: z.nullish(z.number()),
  tryOnUuid: z.nullish(z.string()),
})
export type JobSuccess = z.infer<typeof jobSuccess>

/** `data` of GET /generations/{jobId}, told apart by `status` (contract §2). */
export const polledJob = z.discriminatedUnion('status', [jobProcessing, jobFailed, jobSuccess])
export type PolledJob = z.infer<typeof polledJob>
