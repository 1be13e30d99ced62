import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { endpoints } from 'fitting-room/contract'
import { outcomeOf } from '../src/rules/outcome.ts'

/** Believable pieces, so that many answers are almost right. */
const piece = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    '',
    'READY',
    'PENDING',
    'SUCCESS',
    'PROCESSING',
    'ERROR',
    'https://cdn.example/a.jpeg',
    'javascript:alert(1)',
    '//cdn.example/a.jpeg',
    '6f9619ff-8b86-4d01-b42d-00cf4fc964ff',
    '6f9619ff-8b86-4d01-b42d-00cf4fc964f',
    -1,
    -2,
    0,
    40,
    1.5,
    [],
    {},
  ),
  fc.integer(),
  fc.double(),
  fc.string(),
  fc.object({ maxDepth: 2 }),
)
const fields = (names: string[]) =>
  fc.record(Object.fromEntries(names.map((name) => [name, piece])), { requiredKeys: [] })
const success = [
  'imageUrl',
  'requestsLeft',
  'totalRequests',
  'uniqueUserId',
  'storageStatus',
  'displayUrl',
  'permanentUrl',
  'imageId',
  'tryOnUuid',
]
const status = fc.constantFrom('PROCESSING', 'SUCCESS', 'ERROR', 'success', 'DONE', 7, null)

/** What the contract says, once more and by hand. */
const isObject = (value: unknown): value is Record<string, any> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isUrl = (value: unknown) => typeof value === 'string' && /^https?:\/\/[^\s/]/i.test(value) && !/\s/.test(value)
const isWhole = (value: unknown, least: number) => Number.isSafeInteger(value) && (value as number) >= least
const isUuid = (value: unknown) =>
  typeof value === 'string' && /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(value)
const isTextOrNull = (value: unknown) => value === null || typeof value === 'string'
const maybe = (value: unknown, check: (value: unknown) => boolean) =>
  value === undefined || value === null || check(value)

function isStarted(data: unknown): boolean {
  return (
    isObject(data) &&
    isUuid(data['jobId']) &&
    isWhole(data['etaSeconds'], -Infinity) &&
    isTextOrNull(data['uniqueUserId'])
  )
}

function isJob(data: unknown): boolean {
  if (!isObject(data)) return false
  if (data['status'] === 'PROCESSING') return true
  if (data['status'] === 'ERROR') return typeof data['error'] === 'string'
  const stored = [undefined, null, 'PENDING', 'READY']
  return (
    data['status'] === 'SUCCESS' &&
    isUrl(data['imageUrl']) &&
    isWhole(data['requestsLeft'], -1) &&
    isWhole(data['totalRequests'], 0) &&
    isTextOrNull(data['uniqueUserId']) &&
    stored.includes(data['storageStatus']) &&
    maybe(data['displayUrl'], isUrl) &&
    maybe(data['permanentUrl'], isUrl) &&
    maybe(data['imageId'], (value) => typeof value === 'number' && Number.isFinite(value)) &&
    maybe(data['tryOnUuid'], (value) => typeof value === 'string')
  )
}

const wrapped = (data: fc.Arbitrary<unknown>) =>
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ data }) },
    { weight: 1, arbitrary: data },
    { weight: 1, arbitrary: piece },
  )

it.each([
  ['createGeneration', fields(['jobId', 'etaSeconds', 'uniqueUserId']), isStarted],
  [
    'getGeneration',
    fc.tuple(status, fields([...success, 'error'])).map(([is, more]) => ({ ...more, status: is })),
    isJob,
  ],
] as const)(
  '%s: 10,000 answers that no schema has made are believed exactly when they fit',
  (operation, data, fits) => {
    let misfits = 0
    const property = fc.property(wrapped(data), (generated) => {
      const body: unknown = JSON.parse(JSON.stringify(generated) ?? 'null')
      const valid = isObject(body) && fits(body['data'])
      if (!valid) misfits++
      const exchange = { came: 'answer', status: 200, body, retryAfter: null } as const
      const { kind } = outcomeOf<unknown>(operation, exchange, endpoints[operation].data)
      expect(kind).toBe(valid ? 'accepted' : 'protocolError')
    })
    const seed = Number(process.env.SEED ?? Date.now())
    fc.assert(property, { seed, numRuns: 12_000 })
    console.log(`${operation}, seed ${seed}: ${misfits} malformed answers, 0 believed`)
    expect(misfits).toBeGreaterThanOrEqual(operation === 'createGeneration' ? 10_000 : 5_000)
  },
)
