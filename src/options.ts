import { isFunnelId, isStoreId, type StoreId } from './contract/forms.ts'
import type { FlowStorage, Notice, PhotoStore, SubmissionLimit } from './ports.ts'
import { check, isObject } from './rules/check.ts'
import { TryOnError } from './rules/try-on-error.ts'
import type { FollowPageLife } from './pages/page-life.ts'
import type { RandomBytes } from './platform/new-id.ts'
import type { PreparationOptions } from './shopper/preparation.ts'
import type { Inspect } from './try-on/try-on.types.ts'
import { readBaseUrl } from './wire/base-url.ts'
import type { ClientOptions, ClientTiming } from './wire/operations.ts'

/** All times in ms. */
export interface RoomTiming extends ClientTiming {
  /** The time between two polls of one job. Default: planned by how long earlier jobs took. */
  pollIntervalMs: number | undefined
  /** How long after acceptance a try-on becomes `stalled`, not failed. Default: 180,000. */
  deadlineMs: number
}

/** The options of a room. */
export interface RoomOptions extends Omit<ClientOptions, 'timing'>, PreparationOptions {
  /** Where records are kept. Default: in a browser IndexedDB, else localStorage, else memory; elsewhere memory. */
  storage?: FlowStorage | undefined
  /** Where a photo's bytes wait until they are uploaded. Default: beside the records, else in memory. */
  photoStore?: PhotoStore | undefined
  /** Keeps rooms apart that share a page origin and a base URL. Default: `default`. */
  namespace?: string | undefined
  /** Time limits and intervals, in ms. */
  timing?: { [Name in keyof RoomTiming]?: RoomTiming[Name] | undefined } | undefined
  /** How long a record is kept after its last change, in ms. Default: 86,400,000, a day. */
  retentionMs?: number | undefined
  /**
   * The application's own visitor ID; or, if many shoppers use one device, a function that makes one for each of them:
   * it is called at a shopper's first request that names a visitor, and after `reset()` for the next one. Default: the
   * ID that the service gives.
   */
  uniqueUserId?: string | (() => string) | undefined
  /** Limits this device's submissions, for example `deviceLimits()` of `fitting-room/kiosk`. Default: no limit. */
  limit?: SubmissionLimit | undefined
  /**
   * Whether pictures, previews too, are kept beside the records for `retentionMs`, so that `tryOn.picture()` needs no
   * network. Each is fetched once, which its server has to permit (CORS). Default: false.
   */
  keepPictures?: boolean | undefined
  /** What shoppers agree to: each consent then has to name its version, which is kept with it. Default: none. */
  notice?: Notice | undefined
  /** Whether to send GET /requests-left before a submission, to ask for an e-mail address first. Default: false. */
  askVisitorFirst?: boolean | undefined
  /** Without a DOM, as in React Native: tells the room when the app is shown again. Default: the page's events. */
  pageLife?: FollowPageLife | undefined
  /** Gives random bytes if the platform has no `crypto.getRandomValues`. */
  randomBytes?: RandomBytes | undefined
  /** How many devices share one client IP, if known, so that they need no refusals to find out. Default: 1. */
  shareOf?: number | undefined
  /** Is called with everything that happens inside the room's try-ons, without personal data; for developers. */
  inspect?: Inspect | undefined
}

/** One product variant, and the funnels to try it with in preferred order (contract §4, GET /funnel). */
export interface TryOnProduct {
  /** Digits, or the platform's global ID: `'1001'` or `'gid://platform/Product/1001'`. */
  productId: StoreId
  /** Digits, or the platform's global ID: `'2001'` or `'gid://platform/ProductVariant/2001'`. */
  variantId: StoreId
  /** At least one, best first; the first one that the store has is used. */
  funnelIds: readonly number[]
}

/**
 * The options as they were given, once nothing in them can break later; throws `TryOnError` of kind `input`. Base URL and
 * key are not looked at: they are read at their first use, and a server that only renders may have none.
 */
export function checkedOptions<Options extends RoomOptions>(options: Options): Options {
  checkObject('options', options)
  const { retentionMs, timing = {}, storage, photos, notice, shareOf = 1 } = options
  checkText('namespace', options.namespace)
  checkText('uniqueUserId', fixedId(options.uniqueUserId))
  checkText('notice.version', notice && (notice.version ?? null))
  // what never expires could not be written down as JSON
  checkMs('retentionMs', retentionMs === Infinity ? 'Infinity' : retentionMs)
  checkObject('timing', timing)
  for (const [name, ms] of Object.entries(timing)) checkMs(`timing.${name}`, ms)
  for (const name of storage === undefined ? [] : ['getItem', 'setItem', 'removeItem'])
    check(typeof Object(storage)[name] === 'function', 'storage', storage, `an object with ${name}()`)
  check(options.randomBytes ?? globalThis.crypto, 'randomBytes', undefined, 'a function where there is no crypto')
  const { maxSide = 1 } = photos || {}
  check(maxSide >= 1, 'photos.maxSide', maxSide, 'a number of px')
  check(shareOf >= 1, 'shareOf', shareOf, 'a number from 1')
  return options
}

/** The visitor that the options name: none where each shopper has one made. */
export const fixedId = (id: RoomOptions['uniqueUserId']): string | undefined =>
  typeof id === 'function' ? undefined : id

/** A product with its IDs as the service takes them; throws `TryOnError` of kind `input`. */
export function checkedProduct(product: TryOnProduct): TryOnProduct & { productId: string; variantId: string } {
  checkObject('product', product)
  const { productId, variantId, funnelIds } = product
  checkId('productId', productId, 'Product', "'1001'")
  checkId('variantId', variantId, 'ProductVariant', "'2001'")
  const isList = Array.isArray(funnelIds) && funnelIds.length > 0 && funnelIds.every(isFunnelId)
  check(isList, 'funnelIds', funnelIds, 'a list of integers from 1', '[11]')
  return { productId: `${productId}`, variantId: `${variantId}`, funnelIds: [...funnelIds] }
}

/** The base URL as it is now, absolute and without a trailing slash; throws `TryOnError` of kind `input` for any other. */
export function resolvedBaseUrl(option: RoomOptions['baseUrl']): string {
  const url = readBaseUrl(option)
  if (url !== null) return url
  // it may hold a password, or be a key that was put in its place
  const given = option === undefined ? 'undefined' : `a ${typeof option}`
  throw new TryOnError({
    kind: 'input',
    at: 'baseUrl',
    given,
    valid: 'an address with http(s)://, or in a page a path',
  })
}

const checkObject = (at: string, value: unknown) => check(isObject(value), at, value, 'an object')

/** Storage keys and addresses are made of it, which half a character cannot be in. */
const checkText = (at: string, value: unknown) =>
  check(
    value === undefined || (typeof value === 'string' && /^\P{Surrogate}+$/u.test(value)),
    at,
    value,
    'non-empty text',
  )

const checkMs = (at: string, value: unknown) =>
  check(value === undefined || (typeof value === 'number' && value > 0), at, value, 'a number of ms above 0')

const checkId = (at: string, value: unknown, type: 'Product' | 'ProductVariant', example: string) =>
  check(isStoreId(type)(value), at, value, `digits, or gid://<platform>/${type}/<digits>`, example)
