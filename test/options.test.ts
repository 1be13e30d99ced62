import { createFittingRoom, TryOnError, type FittingRoomOptions, type TryOnProduct } from 'fitting-room'
import { memoryStorage } from 'fitting-room/storage/memory'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { checkedOptions, checkedProduct, resolvedBaseUrl } from '../src/options.ts'

it('an address is one in a browser without URL.canParse, too', () => {
  const { canParse } = URL
  Reflect.deleteProperty(URL, 'canParse')
  onTestFinished(() => void Object.assign(URL, { canParse }))
  expect(resolvedBaseUrl('https://shop.example/try-on/')).toBe('https://shop.example/try-on')
  expect(() => resolvedBaseUrl('https://')).toThrow('baseUrl')
})

const options = { baseUrl: 'https://shop.example/try-on', apiKey: 'key' }
const product = { productId: '1001', variantId: '2001', funnelIds: [12, 7] }

/** What a wrong input is refused with. */
function refusalOf(run: () => unknown): TryOnError & { kind: 'input' } {
  try {
    run()
  } catch (error) {
    if (error instanceof TryOnError && error.kind === 'input') return error
    throw error
  }
  throw new Error('it was not refused')
}

describe('options', () => {
  it('that are right come back as they are', () => {
    expect(checkedOptions(options)).toBe(options)
    const all: FittingRoomOptions = {
      ...options,
      storage: memoryStorage(),
      photoStore: undefined,
      namespace: 'Größe 🦊',
      timing: { deadlineMs: 1, pollIntervalMs: undefined },
      retentionMs: 1000,
      uniqueUserId: undefined,
      inspect: () => {},
    }
    expect(checkedOptions(all)).toBe(all)
  })

  it('may lack a base URL and a key, which are read at their first use', () => {
    const { baseUrl, apiKey }: { baseUrl?: string; apiKey?: string } = {}
    expect(() => checkedOptions({ baseUrl, apiKey } as FittingRoomOptions)).not.toThrow()
  })

  const wrong: [string, string, unknown][] = [
    ['none at all', 'options', undefined],
    ['a text', 'options', 'https://shop.example'],
    ['an empty namespace', 'namespace', { namespace: '' }],
    ['half a character in the namespace', 'namespace', { namespace: 'a\ud800' }],
    ['a namespace that is no text', 'namespace', { namespace: 1 }],
    ['an empty visitor ID', 'uniqueUserId', { uniqueUserId: '' }],
    ['half a character in the visitor ID', 'uniqueUserId', { uniqueUserId: '\udc00' }],
    ['a share of nothing', 'shareOf', { shareOf: 0 }],
    ['a retention of nothing', 'retentionMs', { retentionMs: 0 }],
    ['a retention that is no number', 'retentionMs', { retentionMs: Number.NaN }],
    ['a retention for ever, which no record can say', 'retentionMs', { retentionMs: Infinity }],
    ['a time that is no number', 'timing.deadlineMs', { timing: { deadlineMs: '1' } }],
    ['times that are no object', 'timing', { timing: 5 }],
    ['a storage without methods', 'storage', { storage: {} }],
    ['a storage that is null', 'storage', { storage: null }],
  ]
  it.each(wrong)('are refused for %s', (_, at, given) => {
    const asked = (typeof given === 'object' ? { ...options, ...given } : given) as FittingRoomOptions
    const { problem } = refusalOf(() => createFittingRoom(asked))
    expect(problem).toMatchObject({ at, given: expect.any(String), valid: expect.any(String) })
  })

  it('are refused in words that say what was given and what is valid', () => {
    expect(refusalOf(() => checkedOptions({ ...options, retentionMs: -1 })).message).toBe(
      '"retentionMs" is not valid: given -1; valid is a number of ms above 0',
    )
  })

  it('are never repeated where they may hold a key', () => {
    const nested = { ...options, storage: { apiKey: 'secret' } } as unknown as FittingRoomOptions
    expect(refusalOf(() => checkedOptions(nested))).toMatchObject({ problem: { given: 'an object' } })
    expect(refusalOf(() => checkedOptions(nested)).message).not.toContain('secret')
  })
})

describe('a product', () => {
  it('comes back with its IDs as texts and a copy of its funnels', () => {
    const read = checkedProduct({ productId: 1001, variantId: 'gid://shop/ProductVariant/2001', funnelIds: [12] })
    expect(read).toEqual({ productId: '1001', variantId: 'gid://shop/ProductVariant/2001', funnelIds: [12] })
    const funnelIds = [12, 7]
    const copied = checkedProduct({ ...product, funnelIds })
    funnelIds.pop()
    expect(copied.funnelIds).toEqual([12, 7])
  })

  const wrong: [string, string, unknown][] = [
    ['is none', 'product', undefined],
    ['has a word for an ID', 'productId', { productId: 'tee' }],
    ['has a variant of another kind', 'variantId', { variantId: 'gid://shop/Product/1' }],
    ['has an unsafe number', 'variantId', { variantId: 2 ** 53 }],
    ['has no funnels', 'funnelIds', { funnelIds: undefined }],
    ['has an empty list of funnels', 'funnelIds', { funnelIds: [] }],
    ['has a funnel that is a text', 'funnelIds', { funnelIds: ['12'] }],
  ]
  it.each(wrong)('that %s is refused', (_, at, given) => {
    const asked = (typeof given === 'object' ? { ...product, ...given } : given) as TryOnProduct
    const { problem } = refusalOf(() => createFittingRoom(options).tryOn(asked))
    expect(problem).toMatchObject({ at, given: expect.any(String), valid: expect.any(String) })
  })

  it('is refused in words that say what was given, what is valid, and an example', () => {
    expect(refusalOf(() => checkedProduct({ ...product, productId: 'tee' })).message).toBe(
      '"productId" is not valid: given "tee"; valid is digits, or gid://<platform>/Product/<digits>, for example \'1001\'',
    )
  })
})

describe('the base URL', () => {
  afterEach(() => void vi.unstubAllGlobals())
  const onPage = (origin: string) => vi.stubGlobal('location', { origin })

  it('is read anew each time, and has no slash at its end', () => {
    let url = 'https://one.example/api//'
    const option = () => url
    expect(resolvedBaseUrl(option)).toBe('https://one.example/api')
    url = 'http://127.0.0.1:8080'
    expect(resolvedBaseUrl(option)).toBe('http://127.0.0.1:8080')
  })

  it('is a path of the page’s own origin where there is a page', () => {
    onPage('https://shop.example')
    expect(resolvedBaseUrl('/api')).toBe('https://shop.example/api')
    expect(resolvedBaseUrl('/')).toBe('https://shop.example')
    expect(resolvedBaseUrl('https://api.example/v1')).toBe('https://api.example/v1')
    expect(resolvedBaseUrl('https://api.example/@shop')).toBe('https://api.example/@shop')
  })

  it('is a path of the parent’s origin in a frame whose page stands in its markup', () => {
    onPage('null')
    vi.stubGlobal('origin', 'https://shop.example')
    expect(resolvedBaseUrl('/api')).toBe('https://shop.example/api')
  })

  it.each([
    '/api',
    '',
    'api.test',
    '//api.test',
    'ftp://api.test',
    'https://me:secret@api.test',
    'https://api.test/v1?code=secret',
    'https://api.test/#v1',
    'fr_live_the-key-in-its-place',
    undefined,
  ])('%j is refused without a page, and not repeated: it may be, or hold, a key', (url) => {
    const { problem, message } = refusalOf(() => resolvedBaseUrl(url as string))
    expect(problem).toMatchObject({ at: 'baseUrl', given: url === undefined ? 'undefined' : 'a string' })
    expect(message).toContain('valid is an address with http(s)://')
  })

  it('is refused as a path of a page without an origin', () => {
    onPage('null')
    expect(refusalOf(() => resolvedBaseUrl('/api')).problem.at).toBe('baseUrl')
  })

  it('is refused where a function has none to give', () => {
    const missing = () => {
      throw new Error('not yet')
    }
    expect(refusalOf(() => resolvedBaseUrl(missing)).problem).toMatchObject({ at: 'baseUrl', given: 'a function' })
  })
})
