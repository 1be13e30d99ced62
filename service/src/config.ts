import { funnelType, generationModel, httpUrl, uploadExpiryMs, type Schema } from 'fitting-room/contract'
import * as z from 'zod'
import { isRange } from './client-address.ts'

const ofContract = <T>(schema: Schema<T>) => z.custom<T>((value) => schema.safeParse(value).success)

/** What any database can keep. */
const anyText = z.string().regex(/^[^\0\p{Surrogate}]*$/u, 'whole text without NUL')
const text = anyText.min(1)
/** What stands in the keys of tables, each of which takes some 2,700 bytes. */
const id = text.max(200)
const digits = z.string().regex(/^[1-9][0-9]*$/, 'digits without leading zeros')
const count = z.int().min(0).max(2_147_483_647)

/** What a variant forces, like a payment provider's test cards. */
export const testOutcome = z.enum([
  'jobError',
  'slow',
  'longPreview',
  'answerLost',
  'errorAfterAccepting',
  'malformedAnswer',
  'throttled',
  'limitReached',
  'emailRequired',
  'keyRevoked',
  'stalled',
  'rejected',
  'photoGone',
])
export type TestOutcome = z.infer<typeof testOutcome>

/** What the customer reads at the limit where the merchant has written nothing. */
export const defaultLimitMessage = 'You have tried on a lot today. Come back tomorrow!'

const variant = z.strictObject({
  id: digits,
  title: anyText,
  available: z.boolean().default(true),
  test: testOutcome.optional(),
})

const product = z.strictObject({
  id: digits,
  title: anyText,
  /** A file beside the configuration or a URL; null: the product has no picture; left out: one is drawn. */
  image: z
    .string()
    .min(1)
    .refine((image) => !isUrl(image) || URL.canParse(image), 'a file or a URL')
    .nullish(),
  variants: z.array(variant).min(1),
})

const store = z
  .strictObject({
    id,
    apiKey: z.string().regex(/^[\x21-\x7e]{8,}$/, '8 or more visible ASCII characters'),
    integrations: z.strictObject({ sdk: z.boolean(), api: z.boolean() }),
    storefront: z
      .strictObject({ apiUrl: ofContract(httpUrl), publicToken: text })
      .nullable()
      .default(null),
    email: z.strictObject({ freeTryOns: count }).nullable().default(null),
    tryOnCap: z
      .strictObject({
        max: count,
        windowSeconds: z.int().min(1),
        message: z.string().min(1).default(defaultLimitMessage),
      })
      .nullable()
      .default(null),
    credits: count.nullable().default(null),
    funnels: z.array(
      z.strictObject({
        id: z.int().min(1),
        funnelType: ofContract(funnelType),
        generationModel: ofContract(generationModel),
        productIds: z.array(digits),
      }),
    ),
    products: z.array(product),
  })
  .superRefine((value, context) => {
    unique(value.funnels, ['funnels'], context)
    unique(value.products, ['products'], context)
    value.products.forEach(({ variants }, at) => unique(variants, ['products', at, 'variants'], context))
    const known = new Set(value.products.map(({ id }) => id))
    value.funnels.forEach(({ productIds }, at) =>
      productIds.forEach((id, index) => {
        if (known.has(id)) return
        context.addIssue({
          code: 'custom',
          message: 'no product has this ID',
          path: ['funnels', at, 'productIds', index],
        })
      }),
    )
  })

const config = z
  .strictObject({
    stores: z.array(store).min(1),
    generation: z
      .strictObject({ previewAfterMs: count, readyAfterMs: count })
      .refine(({ previewAfterMs, readyAfterMs }) => previewAfterMs <= readyAfterMs, {
        message: 'must not be before previewAfterMs',
        path: ['readyAfterMs'],
      })
      .default({ previewAfterMs: 1500, readyAfterMs: 3000 }),
    /** Who makes the pictures; null: the sandbox's own drawing. */
    generator: z
      .strictObject({
        provider: z.literal('fashn'),
        url: ofContract(httpUrl).default('https://api.fashn.ai/v1'),
        /** Whether it reaches the service at its publicUrl, to tell what it makes. */
        webhook: z.boolean().default(false),
      })
      .nullable()
      .default(null),
    /** An S3-compatible bucket for photos and pictures, in place of files; its server's URL has no trailing slash. */
    bucket: z
      .strictObject({
        endpoint: ofContract(httpUrl).refine((url) => !url.endsWith('/'), 'must not end with a slash'),
        name: text,
        region: text.default('us-east-1'),
      })
      .nullable()
      .default(null),
    /** How old a job may be that is still begun with. */
    giveUpAfterMinutes: z.number().positive().default(60),
    /** For how long a photo is kept after its last use, and a try-on with its pictures. */
    keep: z
      .strictObject({
        photoHours: z.number().positive().max(876_000).default(24),
        pictureDays: z.number().positive().max(36_500).default(30),
      })
      .default({ photoHours: 24, pictureDays: 30 }),
    /** Only these addresses' X-Forwarded-For is believed. */
    trustedProxies: z.array(z.string().refine(isRange, 'an address, or a range such as 10.0.0.0/8')).default([]),
    /** Where clients reach the service, where that is not where it listens. */
    publicUrl: ofContract(httpUrl)
      .refine((url) => new URL(url).origin === url, 'an http(s) origin, such as https://try-on.example')
      .optional(),
  })
  .superRefine((value, context) => {
    unique(value.stores, ['stores'], context)
    const leastMinutes = Math.max(value.giveUpAfterMinutes, uploadExpiryMs / 60_000)
    const least = { photoHours: leastMinutes / 60, pictureDays: leastMinutes / 1_440 }
    for (const name of ['photoHours', 'pictureDays'] as const) {
      const message =
        'must be as long as a target takes photos, which is ten minutes, and a job may wait (giveUpAfterMinutes)'
      if (value.keep[name] < least[name]) context.addIssue({ code: 'custom', message, path: ['keep', name] })
    }
    if (value.generator?.webhook && value.publicUrl === undefined)
      context.addIssue({ code: 'custom', message: 'a webhook is told of at this address', path: ['publicUrl'] })
    const keys = value.stores.map(({ apiKey }) => apiKey)
    keys.forEach((key, at) => {
      if (keys.indexOf(key) === at) return
      context.addIssue({ code: 'custom', message: 'another store has this key', path: ['stores', at, 'apiKey'] })
    })
  })

export type Config = z.infer<typeof config>
export type ConfigInput = z.input<typeof config>
/** A store without its key. */
export type StoreConfig = Omit<Config['stores'][number], 'apiKey'>
export type ProductConfig = StoreConfig['products'][number]
export type VariantConfig = ProductConfig['variants'][number]
export type FunnelConfig = StoreConfig['funnels'][number]

/** A configuration that cannot be used; the message names the path of each wrong field. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

export function parseConfig(input: unknown): Config {
  const read = config.safeParse(input)
  if (read.success) return read.data
  const lines = read.error.issues.map(({ path, message }) => `  ${pathOf(path)}: ${message}`)
  throw new ConfigError(`the configuration is not valid:\n${lines.join('\n')}`)
}

/** One store, as it stands among those of a configuration; its images are URLs. Throws `ConfigError`. */
export function parseStore(input: unknown): Config['stores'][number] {
  const [read] = parseConfig({ stores: [input] }).stores
  const files = (read?.products ?? []).filter(({ image }) => image && !isUrl(image)).map(({ id }) => id)
  if (files.length > 0)
    throw new ConfigError(`only a URL is an image in every process; other ones have the products ${files.join(', ')}`)
  return read!
}

export const isUrl = (image: string) => /^https?:\/\//i.test(image)

const pathOf = (path: readonly PropertyKey[]) =>
  path.map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at === 0 ? '' : '.'}${String(key)}`)).join('') ||
  'the file'

function unique(items: readonly { id: string | number }[], path: PropertyKey[], context: z.RefinementCtx): void {
  const firsts = new Set<string | number>()
  items.forEach(({ id }, at) => {
    if (!firsts.has(id)) return void firsts.add(id)
    context.addIssue({ code: 'custom', message: 'this ID is taken', path: [...path, at, 'id'] })
  })
}
