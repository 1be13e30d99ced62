import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createClient, type Client } from 'fitting-room/client'
import { refusal, refusedKey } from './support/answers.ts'
import { manualClock, type ManualClock } from 'fitting-room/testing'
import { putPhoto } from '../src/wire/put-photo.ts'

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void

let url: string
let requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[]
let handler: Handler
let close: () => Promise<void>
let clock: ManualClock
let client: Client

/** A real socket whose answers each test writes byte by byte. */
beforeEach(async () => {
  requests = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
      handler(request, response, body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  close = () => (server.closeAllConnections(), new Promise((resolve) => server.close(() => resolve())))
  clock = manualClock()
  client = createClient({ baseUrl: () => `${url}/`, apiKey: () => 'key-1', clock })
})
afterEach(() => close())

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Handler =>
  (_, response) =>
    void response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
const refuse = ({ status, body, headers }: ReturnType<typeof refusal>) => json(status, body, headers)
const job = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'
const order = { funnelId: 12, productId: '1001', variantId: '2001', imageUrl: 'https://cdn.example/a.jpeg' }
const started = { data: { jobId: job, etaSeconds: 40, uniqueUserId: null } }

/** Every operation, and what it must put on the wire. */
const operations: [string, () => Promise<{ kind: string }>, string, unknown][] = [
  [
    'getContext',
    () => client.getContext(),
    'GET /context',
    { storefront: { apiUrl: 'https://s.example', publicToken: 't' } },
  ],
  [
    'getFunnel',
    () => client.getFunnel([12, 7]),
    'GET /funnel?funnelIds=12%2C7',
    { id: 12, funnelType: 'dress', generationModel: 'SERVICE_PRO' },
  ],
  [
    'createUpload',
    () => client.createUpload({ contentType: 'image/png' }),
    'POST /uploads',
    { uploadUrl: 'https://u.example/a', imageUrl: 'https://u.example/b' },
  ],
  [
    'getRequestsLeft',
    () => client.getRequestsLeft({ uniqueUserId: 'a b' }),
    'GET /requests-left?uniqueUserId=a+b',
    { requestsLeft: 1, totalRequests: 0, uniqueUserId: 'a b' },
  ],
  [
    'registerCustomer',
    () => client.registerCustomer({ email: 'a@example.com' }),
    'POST /customer-register',
    { requestsLeft: -1, totalRequests: 0, uniqueUserId: 'v' },
  ],
  ['createGeneration', () => client.createGeneration(order), 'POST /generations', started.data],
  ['getGeneration', () => client.getGeneration(job), `GET /generations/${job}`, { status: 'PROCESSING' }],
]

describe.each(operations)('%s', (name, call, line, data) => {
  it('sends one request with the key and reads its answer', async () => {
    handler = json(200, { data })
    expect(await call()).toEqual({ kind: 'accepted', data })
    expect(requests.map((each) => `${each.method} ${each.url}`)).toEqual([line])
    expect(requests[0]?.headers['x-service-sdk-key']).toBe('key-1')
    if (line.startsWith('POST')) expect(requests[0]?.headers['content-type']).toBe('application/json')
  })

  const unknown = name === 'createGeneration' ? 'outcomeUnknown' : 'unavailable'
  const faults: [string, Handler, string][] = [
    ['a connection that dies after the request', (request) => void request.socket.destroy(), unknown],
    [
      'a body that is cut',
      (_, response) => (
        response.writeHead(200, { 'Content-Length': '500' }),
        response.write('{"data":'),
        setImmediate(() => response.destroy())
      ),
      unknown,
    ],
    [
      'a 4xx whose body is cut',
      (_, response) => (
        response.writeHead(404, { 'Content-Length': '500' }),
        response.write('{"err'),
        setImmediate(() => response.destroy())
      ),
      unknown,
    ],
    ['a body that is no JSON', (_, response) => void response.writeHead(200).end('<html>'), 'protocolError'],
    ['an empty body', (_, response) => void response.writeHead(200).end(), 'protocolError'],
    ['a redirect', (_, response) => void response.writeHead(307, { Location: `${url}/elsewhere` }).end(), unknown],
    ['a 401', refuse(refusedKey), 'rejected'],
    ['a 500', json(500, { error: 'x' }), unknown],
    ['an IP limit', refuse(refusal('rateLimitExceeded', { retryAfter: 2 })), 'throttled'],
  ]

  it.each(faults)('%s is one exchange, not repeated', async (_, answer, kind) => {
    handler = answer
    expect((await call()).kind).toBe(kind)
    expect(requests).toHaveLength(1)
  })

  it('ends at its time limit', async () => {
    let arrived = () => {}
    const arrival = new Promise<void>((resolve) => (arrived = resolve))
    handler = () => arrived()
    const outcome = call()
    await arrival
    clock.advance(60_000)
    expect((await outcome).kind).toBe(unknown)
    expect(requests).toHaveLength(1)
  })

  it('makes no request without a key, and says so', async () => {
    for (const apiKey of ['', 'ключ', () => Promise.reject(new Error('secret')), () => '\n']) {
      client = createClient({ baseUrl: url, apiKey, clock })
      const outcome = await call()
      expect(outcome).toMatchObject({ kind: 'rejected', reason: 'key', situation: 'noKey' })
      expect(JSON.stringify(outcome)).not.toContain('secret')
    }
    expect(requests).toEqual([])
  })

  it('makes no request when the key hangs', async () => {
    client = createClient({ baseUrl: url, apiKey: () => new Promise(() => {}), clock })
    const outcome = call()
    clock.advance(10_000)
    expect(await outcome).toMatchObject({ kind: 'rejected', situation: 'noKey' })
  })

  it('tells a service that is not there from a lost answer', async () => {
    await close()
    expect((await call()).kind).toBe(name === 'createGeneration' ? 'notSent' : 'unavailable')
    client = createClient({ baseUrl: url, apiKey: 'key', clock, fetch: (input, init) => fetch(input, init) })
    expect((await call()).kind).toBe(unknown)
    close = async () => {}
  })
})

describe('the key and the base URL', () => {
  it('are read again for every request', async () => {
    handler = json(200, { data: { status: 'PROCESSING' } })
    let turn = 1
    client = createClient({ baseUrl: () => `${url}/v${turn}`, apiKey: async () => `key-${turn}`, clock })
    await client.getGeneration(job)
    turn = 2
    await client.getGeneration(job)
    expect(requests.map(({ url: path, headers }) => [path, headers['x-service-sdk-key']])).toEqual([
      [`/v1/generations/${job}`, 'key-1'],
      [`/v2/generations/${job}`, 'key-2'],
    ])
  })

  it('a base URL that is none makes no request', async () => {
    client = createClient({ baseUrl: () => 'nowhere', apiKey: 'key', clock })
    expect(await client.getFunnel([1])).toMatchObject({ kind: 'rejected', situation: 'invalid', at: 'baseUrl' })
  })

  it('can be sent where the runtime knows no redirect "error", as that of Cloudflare Workers', async () => {
    const { fetch: send } = globalThis
    const checkRedirect = (init?: RequestInit) => {
      if (init?.redirect === 'error') throw new TypeError('Invalid redirect value')
    }
    const worker: typeof fetch = async (to, init) => (checkRedirect(init), send(to, init))
    vi.stubGlobal(
      'Request',
      class extends Request {
        constructor(to: string, init?: RequestInit) {
          checkRedirect(init)
          super(to, init)
        }
      },
    )
    handler = json(404, { error: 'Not found' })
    client = createClient({ baseUrl: url, apiKey: 'key', clock, fetch: worker })
    expect(await client.getFunnel([1])).toMatchObject({ kind: 'rejected', situation: 'requestRefused' })
    vi.stubGlobal('fetch', worker)
    const photo = { bytes: new ArrayBuffer(1), type: 'image/png' } as const
    expect(await putPhoto(url, photo, { signal: new AbortController().signal })).toBe(404)
    vi.unstubAllGlobals()
  })

  it('never follow a redirect to another origin', async () => {
    const reached: string[] = []
    const other = createServer((request, response) => {
      reached.push(request.url ?? '')
      response.end()
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/steal`
    handler = (_, response) => void response.writeHead(302, { Location: location }).end()
    await client.getContext()
    expect(reached).toEqual([])
    await new Promise((resolve) => other.close(resolve))
  })
})

describe('requests that break the contract', () => {
  it.each([
    ['funnelIds', () => client.getFunnel([])],
    ['contentType', () => client.createUpload({ contentType: 'image/gif' as 'image/png' })],
    ['email', () => client.registerCustomer({ email: 'x' })],
    ['variantId', () => client.createGeneration({ ...order, variantId: '0' })],
    ['jobId', () => client.getGeneration('../context')],
    ['uniqueUserId', () => client.getRequestsLeft({ uniqueUserId: '' })],
  ])('are not sent, and name the field %s', async (at, call) => {
    handler = json(200, {})
    expect(await call()).toMatchObject({ kind: 'rejected', reason: 'request', situation: 'invalid', at })
    expect(requests).toEqual([])
  })
})

/** Answers `started`, but only when told to. */
function heldAnswer() {
  let answer = () => {}
  const arrival = new Promise<void>((resolve) => {
    handler = (request, response, body) => {
      answer = () => json(200, started)(request, response, body)
      resolve()
    }
  })
  return { arrival, answer: () => answer() }
}

describe('a submission', () => {
  it('tells which attempt it is of to the page’s own origin, and to no other', async () => {
    handler = json(200, started)
    await client.createGeneration(order, { turn: 'attempt' })
    vi.stubGlobal('origin', url)
    await client.createGeneration(order, { turn: 'attempt' })
    await client.getFunnel([12], { turn: 'attempt' })
    vi.stubGlobal('origin', 'https://elsewhere.example')
    await client.createGeneration(order, { turn: 'attempt' })
    // a sandboxed frame, which has the address and not the origin
    vi.stubGlobal('location', { origin: url })
    vi.stubGlobal('origin', 'null')
    await client.createGeneration(order, { turn: 'attempt' })
    vi.unstubAllGlobals()
    const told = requests.map(({ headers }) => headers['idempotency-key'])
    expect(told).toEqual([undefined, 'attempt', undefined, undefined, undefined])
  })

  it('is not aborted by its time limit: a late answer is told', async () => {
    const { arrival, answer } = heldAnswer()
    let late: (outcome: unknown) => void = () => {}
    const told = new Promise((resolve) => (late = resolve))
    const outcome = client.createGeneration(order, { onLateAnswer: late })
    await arrival
    clock.advance(60_000)
    expect(await outcome).toMatchObject({ kind: 'outcomeUnknown', situation: 'timeout' })
    answer()
    expect(await told).toEqual({ kind: 'accepted', data: started.data })
  })

  it('is not aborted by the caller’s signal either', async () => {
    const { arrival, answer } = heldAnswer()
    const stop = new AbortController()
    const told = new Promise((resolve) => {
      const options = { signal: stop.signal, onLateAnswer: resolve }
      void client.createGeneration(order, options).then((outcome) => expect(outcome.kind).toBe('outcomeUnknown'))
    })
    await arrival
    stop.abort()
    answer()
    expect(await told).toMatchObject({ kind: 'accepted' })
  })
})

describe('the photo’s PUT', () => {
  const photo = { bytes: new Uint8Array([1, 2, 3]).buffer, type: 'image/png' }

  it('sends the bytes with their type and without the key', async () => {
    handler = (_, response) => void response.writeHead(200).end()
    const seen: number[] = []
    const outcome = await client.putPhoto(`${url}/signed?x=1`, photo, { onProgress: ({ sent }) => seen.push(sent) })
    expect(outcome).toEqual({ kind: 'accepted', data: null })
    expect(requests[0]?.headers).toMatchObject({ 'content-type': 'image/png', 'content-length': '3' })
    expect(requests[0]?.headers).not.toHaveProperty('x-service-sdk-key')
    expect(seen).toEqual([0, 3])
  })

  it.each([
    [403, 'rejected'],
    [413, 'rejected'],
    [500, 'unavailable'],
  ])('%i is %s', async (status, kind) => {
    handler = (_, response) => void response.writeHead(status).end()
    expect((await client.putPhoto(`${url}/signed`, photo)).kind).toBe(kind)
  })
})

describe('the gate', () => {
  it('holds back what the service would refuse, and lets it go when the window has moved', async () => {
    handler = json(200, { data: { status: 'PROCESSING' } })
    for (let count = 0; count < 120; count++) await client.getGeneration(job)
    expect(await client.getFunnel([12])).toMatchObject({ kind: 'throttled', situation: 'held', retryAfterMs: 60_000 })
    expect((await client.getGeneration(job)).kind).toBe('accepted')
    expect(requests).toHaveLength(121)
    clock.advance(60_000)
    handler = json(200, { data: { id: 12, funnelType: 'dress', generationModel: 'SERVICE_PRO' } })
    expect((await client.getFunnel([12])).kind).toBe('accepted')
  })

  it('learns from a refusal: what has no higher threshold waits as well', async () => {
    handler = refuse(refusal('rateLimitExceeded', { retryAfter: 5 }))
    await client.getFunnel([12])
    const held = await client.registerCustomer({ email: 'a@example.com' })
    // not all come back in one moment
    expect(held).toMatchObject({ situation: 'held', retryAfterMs: expect.toSatisfy((ms: number) => ms >= 5_000) })
    handler = json(200, { data: { status: 'PROCESSING' } })
    expect((await client.getGeneration(job)).kind).toBe('accepted')
    expect(requests).toHaveLength(2)
  })
})
