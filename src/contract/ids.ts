import * as is from './schema.ts'

/**
 * A product or variant ID: a safe integer, a digit string, or the platform's global ID
 * (`gid://<platform>/Product/1001`). Strings keep every digit, so prefer them (contract §2).
 */
export type StoreId = number | string

const platformId = (type: 'Product' | 'ProductVariant') =>
  is.either(is.integerFrom(1), is.textLike(new RegExp(`^(?:gid://[a-z0-9-]+/${type}/)?(?!0$)[0-9]+$`)))

/** `productId` of a generation request (contract §2). */
export const productId = platformId('Product')

/** `variantId` of a generation request (contract §2). */
export const variantId = platformId('ProductVariant')

/** `1001`, `"1001"` and the global ID name one thing: its digits, without leading zeros. */
export function digitsOf(id: StoreId): string {
  const digits = String(id).slice(String(id).lastIndexOf('/') + 1)
  return digits.replace(/^0+(?=.)/, '')
}

/** `jobId`: a UUID (contract §2, GenerationStarted). */
export const jobId = is.textLike(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i)

/** `funnelId`: an integer from 1 (contract §2). */
export const funnelId = is.integerFrom(1)

/** The query value of GET /funnel: positive integers, comma-separated, in preferred order (contract §4). */
export const funnelIds = is.textLike(/^0*[1-9][0-9]*(?:,0*[1-9][0-9]*)*$/)
