import { describe, expect, it } from 'vitest'
import * as contract from 'fitting-room/contract'

const fits = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success
const uuid = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'
const url = 'https://cdn.example/a.jpeg'

/** Every resource of contract §2: one value that fits, and changes that do not. */
const resources: [
  string,
  { safeParse(value: unknown): { success: boolean } },
  Record<string, unknown>,
  Record<string, unknown[]>,
][] = [
  ['ApiError', contract.apiError, { error: 'x' }, { error: [undefined, 1], code: [1, null], message: [1, null] }],
  [
    'Funnel',
    contract.funnel,
    { id: 1, funnelType: 'dress', generationModel: 'SERVICE_PRO' },
    { id: [0, 1.5, '1', undefined], funnelType: ['shoes', undefined], generationModel: ['SERVICE', undefined] },
  ],
  [
    'UploadRequest',
    contract.uploadRequest,
    { contentType: 'image/heic', customKey: 'A_b-1' },
    { contentType: ['image/gif', undefined], customKey: ['', 'x'.repeat(101), 'a b', 'a/b', null] },
  ],
  [
    'UploadTarget',
    contract.uploadTarget,
    { uploadUrl: url, imageUrl: url },
    { uploadUrl: ['x', undefined, 'javascript:alert(1)'], imageUrl: ['', null, 'data:image/png;base64,AA'] },
  ],
  [
    'VisitorStatus',
    contract.visitorStatus,
    { requestsLeft: -1, totalRequests: 0, uniqueUserId: null },
    { requestsLeft: [-2, 0.5, null], totalRequests: [-1, '0', undefined], uniqueUserId: [undefined, 1] },
  ],
  [
    'RegisterRequest',
    contract.registerRequest,
    { email: 'a@example.com' },
    { email: ['a', '', undefined, 'a@b@c'], name: ['', null], uniqueUserId: ['', null] },
  ],
  [
    'RegisteredVisitor',
    contract.registeredVisitor,
    { requestsLeft: 0, totalRequests: 1, uniqueUserId: 'v' },
    { uniqueUserId: [null, '', undefined] },
  ],
  [
    'GenerationRequest',
    contract.generationRequest,
    { funnelId: 1, productId: '1', variantId: 2, imageUrl: url },
    {
      funnelId: [0, '1'],
      productId: ['0', '', -1, 1.5, 2 ** 53, 'gid://x/ProductVariant/1', '1\n', ' 1', '١'],
      variantId: ['0', 0, 'gid://x/Product/1', 'gid://X Y/ProductVariant/1'],
      imageUrl: ['photo', 'ftp://a/b', undefined],
      uniqueUserId: [''],
      customerEmail: ['x'],
      moreLooksConsent: ['true', 1],
    },
  ],
  [
    'GenerationStarted',
    contract.generationStarted,
    { jobId: uuid, etaSeconds: 40, uniqueUserId: null },
    { jobId: ['7', `${uuid}0`, '', undefined], etaSeconds: [1.5, '40', undefined], uniqueUserId: [undefined, 7] },
  ],
  [
    'StorefrontContext',
    contract.storefrontContext,
    { storefront: { apiUrl: url, publicToken: 't' } },
    { storefront: [undefined, {}, { apiUrl: 'x', publicToken: 't' }, { apiUrl: url }] },
  ],
  [
    'Polled job: Processing',
    contract.polledJob,
    { status: 'PROCESSING' },
    { status: ['processing', 'QUEUED', undefined] },
  ],
  ['Polled job: Failed', contract.polledJob, { status: 'ERROR', error: 'x' }, { error: [undefined, null, 5] }],
  [
    'Polled job: Success',
    contract.polledJob,
    {
      status: 'SUCCESS',
      imageUrl: url,
      requestsLeft: 1,
      totalRequests: 2,
      uniqueUserId: null,
      storageStatus: 'READY',
      displayUrl: null,
      permanentUrl: url,
      imageId: 7,
      tryOnUuid: 'u',
    },
    {
      imageUrl: ['', undefined, null],
      requestsLeft: [-2],
      totalRequests: [-1],
      uniqueUserId: [undefined],
      storageStatus: ['FAILED', 1],
      displayUrl: ['x'],
      permanentUrl: ['x'],
      imageId: ['7'],
      tryOnUuid: [7],
    },
  ],
]

describe.each(resources)('§2 %s', (_, schema, good, bad) => {
  it('takes what fits, with fields that it does not know', () => {
    expect(fits(schema, good)).toBe(true)
    expect(fits(schema, { ...good, unknownField: { deep: [1] } })).toBe(true)
  })

  it.each(Object.entries(bad).flatMap(([field, values]) => values.map((value) => [field, value] as const)))(
    'refuses %s = %o',
    (field, value) => expect(fits(schema, { ...good, [field]: value })).toBe(false),
  )
})

describe('§2 optional fields of Success', () => {
  it('may be missing or null', () => {
    const least = { status: 'SUCCESS', imageUrl: url, requestsLeft: -1, totalRequests: 0, uniqueUserId: 'v' }
    expect(fits(contract.polledJob, least)).toBe(true)
    const nulls = { storageStatus: null, displayUrl: null, permanentUrl: null, imageId: null, tryOnUuid: null }
    expect(fits(contract.polledJob, { ...least, ...nulls })).toBe(true)
  })
})

describe('product and variant IDs', () => {
  it.each([
    [1001, '1001'],
    ['1001', '1001'],
    ['gid://shopify/Product/1001', '1001'],
    ['gid://other-platform2/Product/9007199254740993', '9007199254740993'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
    [9007199254740991, '9007199254740991'],
    ['0001001', '1001'],
  ])('%s is %s', (id, digits) => {
    expect(fits(contract.productId, id)).toBe(true)
    expect(contract.digitsOf(id)).toBe(digits)
  })
})

describe('§4 endpoints', () => {
  it('are the seven of the contract with their listed statuses', () => {
    const operations = Object.keys(contract.endpoints) as contract.Operation[]
    const rows = operations.map((operation) => {
      const { method, path } = contract.endpoints[operation]
      return `${method} ${path} ${contract.statuses[operation].join(' ')}`
    })
    expect(rows.sort()).toEqual(
      [
        'GET /context 200 401 403 405 429 500',
        'GET /funnel 200 400 401 404 405 429 500',
        'POST /uploads 200 400 401 405 429 500',
        'GET /requests-left 200 400 401 405 429 500',
        'POST /customer-register 200 400 401 405 429 500',
        'POST /generations 200 400 401 403 404 405 429 500',
        'GET /generations/{jobId} 200 400 401 404 405 429 500',
      ].sort(),
    )
  })
})

describe('§8 limits', () => {
  it.each([
    ['createGeneration', 120],
    ['getGeneration', 240],
    ['createUpload', 120],
    ['getFunnel', 120],
    ['getRequestsLeft', 120],
    ['registerCustomer', 60],
    ['getContext', 120],
  ] as const)('%s: %i per 60 s', (operation, threshold) => {
    expect(contract.endpoints[operation].threshold).toBe(threshold)
  })

  it('the other constants', () => {
    const { ipWindowMs, uploadExpiryMs, etaSeconds, pollIntervalMs, contractVersion } = contract
    expect([ipWindowMs, uploadExpiryMs, etaSeconds, pollIntervalMs]).toEqual([60_000, 600_000, 40, 2_000])
    expect(contractVersion).toBe('2026-09-28')
  })
})

describe('§7 situations', () => {
  it.each([
    ['productNotInFunnel', 403, { error: 'Product is not assigned to this funnel' }],
    ['emailRequired', 403, { error: 'email_required', code: 'EMAIL_REQUIRED' }],
    ['sdkNotConfigured', 403, { error: 'whatever', code: 'SDK_NOT_CONFIGURED' }],
    ['tryOnLimitReached', 429, { error: 'try_on_limit_reached', code: 'TRY_ON_LIMIT_REACHED' }],
    ['rateLimitExceeded', 429, { error: 'Rate limit exceeded' }],
    ['couldNotCreateGeneration', 500, { error: 'Could not create generation' }],
  ] as const)('%s', (situation, status, body) => {
    expect(contract.situationOf(status, body)).toBe(situation)
    expect(contract.situationOf(418, body)).toBeNull()
  })

  it('an unknown error is none of them', () => {
    expect(contract.situationOf(403, { error: 'Forbidden' })).toBeNull()
  })
})
