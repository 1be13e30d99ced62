import { isFunnelId, isStoreId, type StoreId } from './forms.ts'
import * as is from './schema.ts'

/** `productId` of a generation request (contract §2). */
export const productId = is.that<StoreId>(isStoreId('Product'))

/** `variantId` of a generation request (contract §2). */
export const variantId = is.that<StoreId>(isStoreId('ProductVariant'))

/** `jobId`: a UUID (contract §2, GenerationStarted). */
export const jobId = is.textLike(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i)

/** `funnelId`: an integer from 1 (contract §2). */
export const funnelId = is.that<number>(isFunnelId)

/** The query value of GET /funnel: positive integers, comma-separated, in preferred order (contract §4). */
export const funnelIds = is.textLike(/^0*[1-9][0-9]*(?:,0*[1-9][0-9]*)*$/)
