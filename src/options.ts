import { funnelId, productId, variantId, type StoreId } from './contract/ids.ts'
import type { FlowStorage, PhotoStore } from './ports.ts'
import { TryOnError } from './rules/problem.ts'
import type { Inspect } from './try-on/try-on.types.ts'
import { readBaseUrl } from './wire/base-url.ts'
import type { ClientOptions, ClientTiming } from './wire/operations.ts'

/** All times in ms. */
export interface RoomTiming extends ClientTiming {
  /** Between two polls of one job. Default: 2,000. */
  pollIntervalMs: number
  /** From acceptance; past it a try-on is `stalled`, not failed. Default: 180,000. */
  deadlineMs: number
}

export interface FittingRoomOptions extends Omit<ClientOptions, 'timing'> {
  /** Where records are kept. Default: IndexedDB, else localStorage, else memory. */
  storage?: FlowStorage | undefined
  /** Where a photo's bytes wait until they are uploaded. Default: beside the records, else in memory. */
  photoStore?: PhotoStore | undefined
  /** Two rooms of one page origin and installation that must not share anything have two names. Default: `default`. */
  namespace?: string | undefined
  /** Time limits and intervals, in ms. */
  timing?: { [Name in keyof RoomTiming]?: RoomTiming[Name] | undefined } | undefined
  /** How long a record is kept after its last change, in ms. Default: 86,400,000, a day. */
  retentionMs?: number | undefined
  /** A visitor ID that the application already has. Default: the one that the service gives. */
  uniqueUserId?: string | undefined
  /** Asks GET /requests-left before a submission, so that the e-mail form comes first. Default: false. */
  askVisitorFirst?: boolean | undefined
  /** Hears what happens inside the room's try-ons, for developers; nothing private is in it. */
  inspect?: Inspect | undefined
}

/** One product variant, and the funnels to try it with in preferred order (contract §4, GET /funnel). */
export interface TryOnProduct {
  /** Digits, or the platform's global ID: `'1001'` or `'gid://platform/Product/1001'`. */
  productId: StoreId
  /** Digits, or the platform's global ID: `'2001'` or `'gid://platform/ProductVariant/2001'`. */
  variantId: StoreId
  /** At least one. */
  funnelIds: readonly number[]
}

/**
 * The options as they were given, once nothing in them can break later; throws `TryOnError` of kind `input`. Base URL and
 * key are not looked at: they are read at their first use, and a server that only renders may have none.
 */
export function checkedOptions(options: FittingRoomOptions): FittingRoomOptions {
  if (!isObject(options)) throw refused('options', options, 'an object with baseUrl and apiKey', optionsExample)
  checkText('namespace', options.namespace, 'shop-2')
  checkText('uniqueUserId', options.uniqueUserId, 'visitor-1')
  checkMs('retentionMs', options.retentionMs)
  // what never expires could not be written down as JSON
  if (options.retentionMs === Infinity) throw refused('retentionMs', Infinity, 'a finite number of ms', '86_400_000')
  const { timing = {} } = options
  if (!isObject(timing)) throw refused('timing', timing, 'an object of times in ms', '{ deadlineMs: 90_000 }')
  for (const [name, ms] of Object.entries(timing)) checkMs(`timing.${name}`, ms)
  checkMethods('storage', options.storage, ['getItem', 'setItem', 'removeItem'])
  return options
}

/** A product with its IDs as the service takes them; throws `TryOnError` of kind `input`. */
export function checkedProduct(product: TryOnProduct): TryOnProduct & { productId: string; variantId: string } {
  if (!isObject(product)) throw refused('product', product, 'productId, variantId and funnelIds', productExample)
  const { productId: ofProduct, variantId: ofVariant, funnelIds } = product
  if (!productId.safeParse(ofProduct).success) throw refused('productId', ofProduct, idText('Product'), "'1001'")
  if (!variantId.safeParse(ofVariant).success) throw refused('variantId', ofVariant, idText('ProductVariant'), "'2001'")
  if (!isFunnelIds(funnelIds)) throw refused('funnelIds', funnelIds, 'a list of at least one integer from 1', '[12, 7]')
  return { productId: String(ofProduct), variantId: String(ofVariant), funnelIds: [...funnelIds] }
}

/** The base URL as it is now, absolute and without a trailing slash; throws `TryOnError` of kind `input` for any other. */
export function resolvedBaseUrl(option: FittingRoomOptions['baseUrl']): string {
  const url = readBaseUrl(option)
  if (url !== null) return url
  throw refused('baseUrl', option, 'an http(s) address, or in a page a path like /api', "'https://shop.example/try-on'")
}

const optionsExample = "{ baseUrl: 'https://shop.example/try-on', apiKey: () => settings.key }"
const productExample = "{ productId: '1001', variantId: '2001', funnelIds: [12, 7] }"
const idText = (type: string) => `digits, or gid://<platform>/${type}/<digits>`

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const isFunnelIds = (value: unknown): value is number[] =>
  Array.isArray(value) && value.length > 0 && value.every((id) => funnelId.safeParse(id).success)

/** Storage keys and addresses are made of it, which half a character can not be in. */
function checkText(at: string, value: unknown, example: string): void {
  if (value === undefined) return
  if (typeof value === 'string' && value !== '' && !/\p{Surrogate}/u.test(value)) return
  throw refused(at, value, 'a text of one or more whole characters', `'${example}'`)
}

function checkMs(at: string, value: unknown): void {
  if (value === undefined || (typeof value === 'number' && value > 0)) return
  throw refused(at, value, 'a number of ms above 0', '90_000')
}

function checkMethods(at: string, value: unknown, methods: readonly string[]): void {
  if (value === undefined) return
  const missing = methods.filter((name) => typeof Reflect.get(Object(value), name) !== 'function')
  if (missing.length > 0) throw refused(at, value, `an object with ${methods.join(', ')}`)
}

function refused(at: string, given: unknown, valid: string, example?: string): TryOnError {
  return new TryOnError({ kind: 'input', at, given: textOf(given), valid, ...(example !== undefined && { example }) })
}

/** What was given, short, and of an object no more than that it is one: it may hold a key. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80))
  if (Array.isArray(value))
    return value.length === 0 ? 'an empty list' : `[${value.slice(0, 8).map(textOf).join(', ')}]`
  if (isObject(value)) return 'an object'
  return typeof value === 'function' ? 'a function' : String(value)
}
