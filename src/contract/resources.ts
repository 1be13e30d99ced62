import { funnelId, jobId, productId, variantId } from './ids.ts'
import { isHttpUrl } from './forms.ts'
import * as is from './schema.ts'

/** An absolute http(s) address. */
export const httpUrl = is.that<string>(isHttpUrl)

/** An e-mail address as browsers' `<input type="email">` takes it: HTML's own pattern. */
export const email = is.textLike(
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i,
)

const visitorId = is.nullable(is.text)
const requestsLeft = is.integerFrom(-1)
const totalRequests = is.integerFrom(0)

/** The saved visitor ID as requests send it (contract §4). */
export const uniqueUserId = is.nonEmpty

/** The image types that an upload may have (contract §2, UploadRequest). */
export const imageType = is.oneOf('image/jpeg', 'image/png', 'image/webp', 'image/heic', 'image/heif', 'image/avif')
export type ImageType = is.TypeOf<typeof imageType>

/** The body of every HTTP error. `message` may be the merchant's text: render it as text (contract §2). */
export const apiError = is.object({
  error: is.text,
  code: is.optional(is.text),
  message: is.optional(is.text),
})
export type ApiError = is.TypeOf<typeof apiError>

/** `data` of GET /context (contract §2). */
export const storefrontContext = is.object({
  storefront: is.object({ apiUrl: httpUrl, publicToken: is.text }),
})
export type StorefrontContext = is.TypeOf<typeof storefrontContext>

export const funnelType = is.oneOf('upper_body', 'lower_body', 'dress', 'accessory', 'custom')
export type FunnelType = is.TypeOf<typeof funnelType>

export const generationModel = is.oneOf('SERVICE_PRO', 'SERVICE_FAST', 'SERVICE_LIGHT')

/** `data` of GET /funnel (contract §2). */
export const funnel = is.object({ id: funnelId, funnelType, generationModel })
export type Funnel = is.TypeOf<typeof funnel>

/** The body of POST /uploads (contract §2). */
export const uploadRequest = is.object({
  contentType: imageType,
  customKey: is.optional(is.textLike(/^[A-Za-z0-9_-]{1,100}$/)),
})
export type UploadRequest = is.TypeOf<typeof uploadRequest>

/** `data` of POST /uploads: where the raw bytes go by PUT, and the photo's URL afterwards (contract §2). */
export const uploadTarget = is.object({ uploadUrl: httpUrl, imageUrl: httpUrl })
export type UploadTarget = is.TypeOf<typeof uploadTarget>

/** `data` of GET /requests-left; `requestsLeft` −1: no e-mail will be asked for (contract §2). */
export const visitorStatus = is.object({ requestsLeft, totalRequests, uniqueUserId: visitorId })
export type VisitorStatus = is.TypeOf<typeof visitorStatus>

/** The body of POST /customer-register (contract §2). */
export const registerRequest = is.object({
  email,
  name: is.optional(is.nonEmpty),
  uniqueUserId: is.optional(uniqueUserId),
})
export type RegisterRequest = is.TypeOf<typeof registerRequest>

/** `data` of POST /customer-register (contract §2). */
export const registeredVisitor = is.object({ requestsLeft, totalRequests, uniqueUserId })
export type RegisteredVisitor = is.TypeOf<typeof registeredVisitor>

/** The body of POST /generations (contract §2). */
export const generationRequest = is.object({
  funnelId,
  productId,
  variantId,
  imageUrl: httpUrl,
  uniqueUserId: is.optional(uniqueUserId),
  customerEmail: is.optional(email),
  moreLooksConsent: is.optional(is.boolean),
})
export type GenerationRequest = is.TypeOf<typeof generationRequest>

/** `data` of POST /generations; `etaSeconds` is an estimate (contract §2). */
export const generationStarted = is.object({ jobId, etaSeconds: is.integer, uniqueUserId: visitorId })
export type GenerationStarted = is.TypeOf<typeof generationStarted>

export const jobProcessing = is.object({ status: is.oneOf('PROCESSING') })
export const jobFailed = is.object({ status: is.oneOf('ERROR'), error: is.text })

/** A finished or previewed job; `storageStatus` PENDING means a temporary preview (contract §2). */
export const jobSuccess = is.object({
  status: is.oneOf('SUCCESS'),
  imageUrl: httpUrl,
  requestsLeft,
  totalRequests,
  uniqueUserId: visitorId,
  storageStatus: is.nullish(is.oneOf('PENDING', 'READY')),
  displayUrl: is.nullish(httpUrl),
  permanentUrl: is.nullish(httpUrl),
  imageId: is.nullish(is.number),
  tryOnUuid: is.nullish(is.text),
})
export type JobSuccess = is.TypeOf<typeof jobSuccess>

/** `data` of GET /generations/{jobId}, told apart by `status` (contract §2). */
export const polledJob = is.toldApart('status', jobProcessing, jobFailed, jobSuccess)
export type PolledJob = is.TypeOf<typeof polledJob>
