import { describe, expect, it } from 'vitest'
import { ConfigError, parseConfig, sandboxConfig } from '@fitting-room/service'

const good = {
  stores: [
    {
      id: 'demo',
      apiKey: 'some-key',
      integrations: { sdk: true, api: true },
      funnels: [{ id: 12, funnelType: 'dress', generationModel: 'SERVICE_PRO', productIds: ['1001'] }],
      products: [{ id: '1001', title: 'Dress', variants: [{ id: '2001', title: 'M' }] }],
    },
  ],
}
const changed = (change: (config: any) => void) => {
  const config = structuredClone(good) as any
  change(config)
  return config
}

describe('a configuration', () => {
  it('may leave out what is off, none, unlimited or usual', () => {
    const config = parseConfig(good)
    expect(config.stores[0]).toMatchObject({ email: null, tryOnCap: null, credits: null, storefront: null })
    expect(config.generation).toEqual({ previewAfterMs: 1500, readyAfterMs: 3000 })
  })

  it.each([
    ['stores', (config: any) => delete config.stores],
    ['stores[0].apiKey', (config: any) => (config.stores[0].apiKey = '')],
    ['stores[0].integrations.sdk', (config: any) => (config.stores[0].integrations.sdk = 'yes')],
    ['stores[0].funnels[0].funnelType', (config: any) => (config.stores[0].funnels[0].funnelType = 'shoes')],
    ['stores[0].funnels[0].productIds[0]', (config: any) => (config.stores[0].funnels[0].productIds = ['7'])],
    ['stores[0].products[0].id', (config: any) => (config.stores[0].products[0].id = 'gid://x/Product/1')],
    ['stores[0].products[0].variants', (config: any) => (config.stores[0].products[0].variants = [])],
    [
      'stores[0].products[0].variants[0].test',
      (config: any) => (config.stores[0].products[0].variants[0].test = 'boom'),
    ],
    ['stores[0].email.freeTryOns', (config: any) => (config.stores[0].email = { freeTryOns: -1 })],
    ['stores[0].tryOnCap.windowSeconds', (config: any) => (config.stores[0].tryOnCap = { max: 1, message: '' })],
    ['stores[1].id', (config: any) => config.stores.push({ ...config.stores[0], apiKey: 'other-key' })],
    ['stores[1].apiKey', (config: any) => config.stores.push({ ...config.stores[0], id: 'other' })],
    ['generation.readyAfterMs', (config: any) => (config.generation = { previewAfterMs: 2, readyAfterMs: 1 })],
    ['stores[0]', (config: any) => (config.stores[0].colour = 'red')],
    ['stores[0].apiKey', (config: any) => (config.stores[0].apiKey = 'k')],
    [
      'stores[0].products[0].variants[1].id',
      (config: any) => config.stores[0].products[0].variants.push({ id: '2001', title: 'L' }),
    ],
    ['trustedProxies[0]', (config: any) => (config.trustedProxies = ['10.0.0.0/99'])],
    ['keep.photoHours', (config: any) => (config.keep = { photoHours: 0.5 })],
    ['keep.pictureDays', (config: any) => (config.keep = { pictureDays: 0.02 })],
    ['stores[0].id', (config: any) => (config.stores[0].id = 'x'.repeat(201))],
    ['publicUrl', (config: any) => (config.publicUrl = 'https://shop.example/try-on')],
    ['publicUrl', (config: any) => (config.generator = { provider: 'fashn', webhook: true })],
  ])('is refused with the path %s', (path, change) => {
    const parse = () => parseConfig(changed(change))
    expect(parse).toThrow(ConfigError)
    expect(parse).toThrow(`  ${path}: `)
  })
})

describe('the sandbox', () => {
  it('has at least six products over all five funnel types, and a variant for every outcome', () => {
    const [store] = sandboxConfig().stores
    expect(store?.products.length).toBeGreaterThanOrEqual(6)
    expect(new Set(store?.funnels.map(({ funnelType }) => funnelType)).size).toBe(5)
    const outcomes = new Set(store?.products.flatMap(({ variants }) => variants.map(({ test }) => test)))
    expect(outcomes.size).toBe(14)
  })
})
