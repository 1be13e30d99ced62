import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { serve } from '@hono/node-server'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Budget, FittingRoomOptions } from 'fitting-room'
import { createProxy, type ProxyOptions } from 'fitting-room/proxy'
import { manualClock } from 'fitting-room/testing'
import { deferred } from '../src/platform/deferred.ts'
import { exactBudget } from '../adapters/proxy/exact-budget.ts'
import { refusal } from './support/answers.ts'
import { serveFetch } from './support/serve-fetch.ts'
import { answers, createWorld, person, product, type World } from './support/world.ts'

let world: World
beforeEach(() => {
  world = createWorld({ gated: false })
})
afterEach(() => world.close())

const cookieName = 'fitting-room-visitor'
const anId = '00000000-0000-4000-8000-000000000001'
const submission = { ...product, funnelIds: undefined, funnelId: 12, imageUrl: 'https://photos.test/ada.png' }

/** The proxy before the world's service. */
function proxyOf(options: Partial<ProxyOptions> = {}) {
  const { fetch, clock } = world
  return createProxy({ baseUrl: 'https://api.test', apiKey: 'main-key', fetch, clock, onError: () => {}, ...options })
}

interface Asked {
  method?: string
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

function asked(path: string, { method = 'GET', body, headers = {}, signal }: Asked = {}): Request {
  const json = body !== undefined && { 'Content-Type': 'application/json' }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return new Request(`https://shop.test/api${path}`, {
    method,
    headers: { ...json, ...headers },
    ...(body !== undefined && { body: text }),
    ...(signal && { signal }),
  })
}
const generation = (more: Asked = {}) => asked('/generations', { method: 'POST', body: submission, ...more })
const cookie = (id: string) => ({ headers: { Cookie: `other=1; ${cookieName}=${id}` } })
const idIn = (response: Response) =>
  new RegExp(`^${cookieName}=([^;]*)`).exec(response.headers.get('Set-Cookie') ?? '')?.[1]

/** An address at which nobody listens any more. */
async function deserted(): Promise<string> {
  const server = await serveFetch(async () => new Response())
  server.close()
  return server.url
}

const nobody = await deserted()

/** A browser on the shop's page: it keeps the cookie, and shows it to no script. */
function browser(handle: (request: Request) => Promise<Response>) {
  let kept: string | undefined
  return async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init)
    if (kept !== undefined) request.headers.set('Cookie', `${cookieName}=${kept}`)
    const response = await handle(request)
    kept = idIn(response) ?? kept
    return response
  }
}

const json = { 'Content-Type': 'application/json' }
const cutOff = () => {
  const body = new ReadableStream({ pull: (controller) => controller.error(new TypeError('terminated')) })
  const init = { method: 'POST', headers: json, body, duplex: 'half' }
  return new Request('https://shop.test/api/generations', init)
}
async function readBefore(): Promise<Request> {
  const request = generation()
  await request.text()
  return request
}

const behind = (handle: (request: Request) => Promise<Response>): Partial<FittingRoomOptions> => ({
  baseUrl: 'https://shop.test/api',
  apiKey: 'proxied',
  fetch: browser(handle),
})

describe('a room behind the proxy', () => {
  it('comes to its picture, with one submission, and the key on the server alone', async () => {
    const tryOn = world.room(behind(proxyOf())).tryOn(product)
    tryOn.subscribe(() => {})
    await tryOn.start(person)
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
    const keys = world.sent
      .filter(({ method }) => method !== 'PUT')
      .map(({ headers }) => headers.get('X-Service-SDK-Key'))
    expect(new Set(keys)).toEqual(new Set(['main-key']))
    // the signed target is the photo's own
    const put = world.sent.find(({ method }) => method === 'PUT')
    expect(put?.headers.has('X-Service-SDK-Key')).toBe(false)
  })

  it('comes to its picture over a port, as a server of Node’s has it', async () => {
    const listening = deferred<number>()
    const server = serve({ fetch: proxyOf(), port: 0, hostname: '127.0.0.1' }, ({ port }) => listening.resolve(port))
    const tryOn = world
      .room({ baseUrl: `http://127.0.0.1:${await listening.promise}/api`, apiKey: 'proxied', fetch: undefined })
      .tryOn(product)
    tryOn.subscribe(() => {})
    const result = tryOn.start(person).then(() => tryOn.result())
    // what comes over the port comes in its own time
    for (let isDone = false; !isDone;) {
      await world.pass(100)
      isDone = await Promise.race([result.then(() => true), new Promise<false>((go) => setImmediate(go, false))])
    }
    expect(tryOn.get().state).toBe('final')
    expect(world.count('POST', '/generations')).toBe(1)
    server.close()
  })

  it('is one shopper of the service, and another browser another one', async () => {
    const handle = proxyOf()
    for (const each of [1, 2]) {
      const tryOn = world.room({ ...behind(handle), namespace: `shopper-${each}` }).tryOn(product)
      tryOn.subscribe(() => {})
      await tryOn.start(person)
      await world.until(tryOn, 'final')
    }
    const ids = world.sent.filter(({ path }) => path === '/generations').map(({ body }) => body.uniqueUserId)
    expect(ids).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), expect.stringMatching(/^[0-9a-f-]{36}$/)])
    expect(ids[0]).not.toBe(ids[1])
  })

  it('waits where the line is full, and is not told that anything has failed', async () => {
    const budget = { ask: () => 5_000, learn() {}, price: () => 0 }
    const handle = proxyOf({ budget, waitingAtMost: 1 })
    void handle(generation())
    const tryOn = world.room({ ...behind(handle), budget: undefined }).tryOn(product)
    tryOn.subscribe(() => {})
    void tryOn.start(person)
    await world.until(tryOn, ({ trouble }) => trouble?.kind === 'throttled')
    expect(tryOn.get()).toMatchObject({ state: 'preparing', problem: null })
  })
})

describe('the shopper', () => {
  it('gets an ID of their own with the first answer, in a cookie that no script can read', async () => {
    const response = await proxyOf()(asked('/funnel?funnelIds=12'))
    expect(response.headers.get('Set-Cookie')).toMatch(
      /^fitting-room-visitor=[0-9a-f-]{36}; Path=\/api; Max-Age=15552000; HttpOnly; SameSite=Lax; Secure$/,
    )
  })

  it.each<[string, (more: Asked) => Request, (sent: { body: any; url: URL }) => string | null]>([
    ['GET /requests-left', (more) => asked('/requests-left', more), ({ url }) => url.searchParams.get('uniqueUserId')],
    [
      'GET /generations/{jobId}',
      (more) => asked(`/generations/${anId}`, more),
      ({ url }) => url.searchParams.get('uniqueUserId'),
    ],
    ['POST /generations', generation, ({ body }) => body.uniqueUserId],
    [
      'POST /customer-register',
      (more) => asked('/customer-register', { method: 'POST', body: { email: 'ada@example.com' }, ...more }),
      ({ body }) => body.uniqueUserId,
    ],
  ])('is handed on with %s', async (_, request, idOf) => {
    const id = '11111111-1111-4111-8111-111111111111'
    const seen: { body: any; url: URL }[] = []
    const handle = proxyOf({
      fetch: async (input, init) => {
        const sent = new Request(input, init)
        seen.push({ url: new URL(sent.url), body: sent.body && JSON.parse(await sent.clone().text()) })
        return world.fetch(sent)
      },
    })
    const response = await handle(request(cookie(id)))
    expect(response.headers.has('Set-Cookie')).toBe(false)
    expect(seen.map(idOf)).toEqual([id])
  })

  it('who has an ID keeps it', async () => {
    await proxyOf()(generation({ ...cookie(anId), body: { ...submission, uniqueUserId: 'own' } }))
    expect(world.sent.at(-1)?.body.uniqueUserId).toBe('own')
  })

  it.each(['', 'junk', '<script>', `${anId}x`])('with the cookie "%s" gets one that is an ID', async (junk) => {
    const response = await proxyOf()(generation(cookie(junk)))
    expect(idIn(response)).toMatch(/^[0-9a-f-]{36}$/)
    expect(world.sent.at(-1)?.body.uniqueUserId).toBe(idIn(response))
  })

  it('is forgotten by the browser that asks for it', async () => {
    const response = await proxyOf()(asked('/visitor', { method: 'DELETE', ...cookie(anId) }))
    expect([response.status, response.headers.get('Set-Cookie')]).toEqual([204, expect.stringContaining('Max-Age=0')])
    expect(world.sent).toEqual([])
  })
})

describe('what is not passed on', async () => {
  it.each<[string, Request, number]>([
    ['a path of nothing', asked('/nothing'), 404],
    ['a page of another site', asked('/context', { headers: { 'Sec-Fetch-Site': 'cross-site' } }), 403],
    ['a page of a sister site', asked('/context', { headers: { 'Sec-Fetch-Site': 'same-site' } }), 403],
    ['another origin path', new Request('https://shop.test/elsewhere/funnel'), 404],
    ['another method', asked('/funnel', { method: 'POST', body: {} }), 405],
    [
      'a form of another site',
      asked('/generations', { method: 'POST', headers: { 'Content-Type': 'text/plain' } }),
      400,
    ],
    [
      'another JSON',
      asked('/generations', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json-patch' },
        body: submission,
      }),
      400,
    ],
    ['no JSON', generation({ body: 'x' }), 400],
    ['a list', generation({ body: [] }), 400],
    ['a body that ends in the middle', cutOff(), 400],
    ['a body that somebody has read', await readBefore(), 400],
    ['more than 64 KiB', generation({ body: { ...submission, more: 'x'.repeat(70_000) } }), 400],
    ['no photo', generation({ body: { ...submission, imageUrl: undefined } }), 400],
    ['a job ID that is none', asked('/generations/1'), 400],
    ['no funnels', asked('/funnel'), 400],
  ])('%s', async (_, request, status) => {
    const response = await proxyOf()(request)
    expect(response.status).toBe(status)
    expect(await response.json()).toEqual({
      error: expect.any(String),
      ...(status === 400 && { message: expect.any(String) }),
    })
    expect(world.sent).toEqual([])
  })

  it('a preflight, which lets no other origin in', async () => {
    const response = await proxyOf()(asked('/generations', { method: 'OPTIONS' }))
    expect([response.status, response.headers.get('Access-Control-Allow-Origin')]).toEqual([204, null])
  })

  it('what is no options at all is refused when the proxy is made', () => {
    expect(() => createProxy(undefined as never)).toThrow(expect.objectContaining({ kind: 'input' }))
  })

  it.each([
    ['path', { path: '/api/' }],
    ['path', { path: 'api' }],
    ['waitingAtMost', { waitingAtMost: 0 }],
  ])('a wrong %s is refused when the proxy is made', (at, options) => {
    expect(() => proxyOf(options)).toThrow(
      expect.objectContaining({ kind: 'input', problem: expect.objectContaining({ at }) }),
    )
  })
})

describe('a submission', () => {
  /** One whose browser has gone while it was out. */
  async function vanished() {
    const handle = proxyOf()
    const gone = new AbortController()
    const { reached, release } = world.hold('POST', '/generations')
    const first = handle(generation({ ...cookie(anId), signal: gone.signal }))
    await reached
    gone.abort()
    return { handle, first, release }
  }

  it('that is said again by the browser while it is out is sent once, and answered alike', async () => {
    const handle = proxyOf()
    const { reached, release } = world.hold('POST', '/generations')
    const first = handle(generation(cookie(anId)))
    await reached
    const again = handle(generation(cookie(anId)))
    release()
    const [one, other] = await Promise.all([first, again].map(async (each) => (await each).json()))
    expect(one).toEqual(other)
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('whose browser was gone when its answer came gives that to the browser that says it again', async () => {
    const { handle, first, release } = await vanished()
    release()
    const { data } = (await (await first).json()) as { data: { jobId: string } }
    expect(await (await handle(generation(cookie(anId)))).json()).toMatchObject({ data: { jobId: data.jobId } })
    expect(world.count('POST', '/generations')).toBe(1)
    await world.pass(61_000)
    await handle(generation(cookie(anId)))
    expect(world.count('POST', '/generations')).toBe(2)
  })

  it('whose browser was gone when nobody knew what has become of it is not sent for the browser that says it again', async () => {
    const handle = proxyOf()
    const gone = new AbortController()
    const broken = answers(500, { error: 'Could not create generation' })
    world.fault('POST', '/generations', [async (reach, request) => (gone.abort(), broken(reach, request))])
    await handle(generation({ ...cookie(anId), signal: gone.signal }))
    await world.pass(3_000)
    expect((await handle(generation(cookie(anId)))).status).toBe(500)
    expect(world.count('POST', '/generations')).toBe(1)
    await world.pass(1_000)
    expect((await handle(generation(cookie(anId)))).status).toBe(200)
  })

  it('whose answer a browser has taken is a new one when its words are said anew', async () => {
    const { handle, first, release } = await vanished()
    const again = handle(generation(cookie(anId)))
    release()
    await Promise.all([first, again])
    await world.pass(1_000)
    await handle(generation(cookie(anId)))
    expect(world.count('POST', '/generations')).toBe(2)
  })

  it('that names its shopper is sent once, though the browser keeps no cookie', async () => {
    const handle = proxyOf()
    const { reached, release } = world.hold('POST', '/generations')
    const named = () =>
      generation({ body: { ...submission, uniqueUserId: 'own' }, headers: { Origin: 'https://shop.test' } })
    const first = handle(named())
    await reached
    const again = handle(named())
    release()
    await Promise.all([first, again])
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('whose kept answer was taken is a new one when its words are said anew', async () => {
    const { handle, first, release } = await vanished()
    release()
    await first
    await world.pass(2_000)
    await handle(generation(cookie(anId)))
    expect(world.count('POST', '/generations')).toBe(1)
    await world.pass(1_000)
    await handle(generation(cookie(anId)))
    expect(world.count('POST', '/generations')).toBe(2)
  })

  it('that came to nothing known is not what a later word is told', async () => {
    const handle = proxyOf()
    world.fault('POST', '/generations', [answers(500, { error: 'Could not create generation' })])
    const gone = new AbortController()
    const first = handle(generation({ ...cookie(anId), signal: gone.signal }))
    gone.abort()
    expect((await first).status).toBe(429)
    const second = handle(generation(cookie(anId)))
    expect((await second).status).toBe(500)
    await world.pass(1_000)
    expect((await handle(generation(cookie(anId)))).status).toBe(200)
  })

  it('of a browser that is nobody yet is not sent, and makes it somebody', async () => {
    const handle = proxyOf()
    const headers = { Origin: 'https://shop.test' }
    const response = await handle(generation({ headers }))
    expect([response.status, response.headers.get('Retry-After'), idIn(response)]).toEqual([
      429,
      null,
      expect.stringMatching(/^[0-9a-f-]{36}$/),
    ])
    expect(world.sent).toEqual([])
    const next = { headers: { ...headers, ...cookie(idIn(response) ?? '').headers } }
    expect((await handle(generation(next))).status).toBe(200)
  })

  it('that says which word it carries out is sent once, however late its browser says it again', async () => {
    const handle = proxyOf()
    const ofWord = (word: string) =>
      handle(generation({ headers: { ...cookie(anId).headers, 'Idempotency-Key': word } })).then((each) => each.json())
    const first = await ofWord('one')
    await world.pass(30_000)
    expect(await ofWord('one')).toEqual(first)
    expect(world.count('POST', '/generations')).toBe(1)
    // the same photo of the same shopper, by another word
    expect(await ofWord('two')).not.toEqual(first)
    expect(world.count('POST', '/generations')).toBe(2)
    await world.pass(600_000)
    await ofWord('one')
    expect(world.count('POST', '/generations')).toBe(3)
  })

  it('of two words whose names only begin alike takes none for the other: it refuses longer ones', async () => {
    const handle = proxyOf()
    const ofWord = (word: string) =>
      handle(generation({ headers: { ...cookie(anId).headers, 'Idempotency-Key': word } }))
    const long = 'x'.repeat(100)
    expect((await ofWord(long)).status).toBe(200)
    expect([(await ofWord(`${long}1`)).status, world.count('POST', '/generations')]).toEqual([400, 1])
  })

  it('of a new word waits for none that is out', async () => {
    const handle = proxyOf()
    const ofWord = (word: string) =>
      handle(generation({ headers: { ...cookie(anId).headers, 'Idempotency-Key': word } }))
    const { reached, release } = world.hold('POST', '/generations')
    const first = ofWord('one')
    await reached
    expect((await ofWord('two')).status).toBe(200)
    release()
    await first
    expect(world.count('POST', '/generations')).toBe(2)
  })

  it('of one word is sent once for a program that keeps no cookie and names no shopper, and of none each time', async () => {
    const handle = proxyOf()
    const headers = { 'Idempotency-Key': 'one' }
    const both = await Promise.all([handle(generation({ headers })), handle(generation({ headers }))])
    const [one, other] = await Promise.all(both.map((each) => each.json()))
    expect([one, world.count('POST', '/generations')]).toEqual([other, 1])
    await Promise.all([handle(generation()), handle(generation())])
    expect(world.count('POST', '/generations')).toBe(3)
  })

  it('that was refused is sent for the same word', async () => {
    const handle = proxyOf()
    const { status, body } = refusal('emailRequired')
    world.fault('POST', '/generations', [answers(status, body)])
    const ofWord = () => handle(generation({ headers: { ...cookie(anId).headers, 'Idempotency-Key': 'one' } }))
    expect([(await ofWord()).status, (await ofWord()).status]).toEqual([403, 200])
  })

  it('is not joined by any number of others, who are not told that it was refused', async () => {
    const handle = proxyOf()
    const { reached, release } = world.hold('POST', '/generations')
    const all = Array.from({ length: 22 }, () => handle(generation(cookie(anId))))
    await reached
    release()
    const statuses = (await Promise.all(all)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(20)
    expect(statuses.slice(20)).toEqual([502, 502])
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('whose browser has gone before it was sent is not sent', async () => {
    let give = (_key: string) => {}
    const apiKey = () => new Promise<string>((resolve) => (give = resolve))
    const gone = new AbortController()
    const answer = proxyOf({ apiKey })(generation({ signal: gone.signal }))
    await world.settle()
    gone.abort()
    give('main-key')
    expect((await answer).status).toBe(429)
    expect(world.sent).toEqual([])
  })

  it('of which nobody knows what has become is not sent again as its answer comes', async () => {
    for (const status of [499, 500]) {
      const handle = proxyOf()
      const before = world.count('POST', '/generations')
      world.fault('POST', '/generations', [answers(status, { error: 'no' })])
      const answered = [await handle(generation(cookie(anId))), await handle(generation(cookie(anId)))]
      expect(answered.map((response) => response.status)).toEqual([status, status])
      expect(world.count('POST', '/generations') - before).toBe(1)
    }
  })

  it('that was refused is sent when it is said again at once', async () => {
    const handle = proxyOf()
    const { status, body } = refusal('emailRequired')
    world.fault('POST', '/generations', [answers(status, body)])
    expect((await handle(generation(cookie(anId)))).status).toBe(403)
    expect((await handle(generation(cookie(anId)))).status).toBe(200)
    expect(world.count('POST', '/generations')).toBe(2)
  })

  it('that is a word of its own is sent, as is another shopper’s', async () => {
    const handle = proxyOf()
    await handle(generation(cookie(anId)))
    await world.pass(1_000)
    await handle(generation(cookie(anId)))
    await Promise.all([handle(generation()), handle(generation())])
    expect(world.count('POST', '/generations')).toBe(4)
  })

  it('whose browser has gone while it waited in line is not sent', async () => {
    let waitMs = 5_000
    const gone = new AbortController()
    const handle = proxyOf({ budget: { ask: () => waitMs, learn() {}, price: () => 0 } })
    const answer = handle(generation({ signal: gone.signal }))
    await world.settle()
    gone.abort()
    waitMs = 0
    expect((await answer).status).toBe(429)
    await world.pass(30_000)
    expect(world.sent).toEqual([])
  })

  it.each<[string, Partial<ProxyOptions>, number]>([
    ['for want of a key', { apiKey: () => Promise.reject(new Error('no key today')) }, 429],
    ['for an empty key', { apiKey: '' }, 429],
    ['for a key that no header can carry', { apiKey: 'main-key\n1' }, 429],
    ['for a key that the service refuses', { apiKey: 'main-key-of-yesterday' }, 429],
    ['for an address with a password', { baseUrl: 'https://me:main-key@api.test' }, 429],
    ['for want of an address', { baseUrl: 'nowhere' }, 429],
    ['as nobody is there', { baseUrl: nobody, fetch: undefined }, 429],
    ['and is lost', { fetch: () => Promise.reject(new TypeError('terminated')) }, 502],
  ])('%s is answered so that the room knows whether it is out', async (_, options, status) => {
    const errors: unknown[] = []
    const response = await proxyOf({ ...options, onError: (error) => errors.push(error) })(generation())
    expect(response.status).toBe(status)
    expect([response.headers.get('Retry-After'), errors.length]).toEqual([null, 1])
    expect((await response.text()) + errors.map((error) => inspect(error)).join()).not.toContain('main-key')
  })

  it('hears once that the service refuses the key, until it takes it again', async () => {
    const errors: unknown[] = []
    let apiKey = 'main-key-of-yesterday'
    const handle = proxyOf({ apiKey: () => apiKey, onError: (error) => errors.push(error) })
    const heard = async (key: string) => {
      apiKey = key
      await handle(asked('/context'))
      return errors.length
    }
    const counts: number[] = []
    for (const key of [apiKey, apiKey, 'main-key', apiKey, apiKey]) counts.push(await heard(key))
    expect(counts).toEqual([1, 1, 1, 2, 2])
  })

  it.each([
    [500, { error: 'who is main-key?' }],
    [400, { 'main-key': 'who is it?' }],
    [200, { data: { jobId: anId, etaSeconds: 1, uniqueUserId: null, of: 'main-key' } }],
  ])('is answered without the key, whoever repeats it, also with %i', async (status, body) => {
    const headers = { 'Retry-After': 'main-key' }
    const response = await proxyOf({ fetch: async () => Response.json(body, { status, headers }) })(generation())
    expect([response.status, await response.text(), response.headers.get('Retry-After')]).toEqual([
      status,
      JSON.stringify(body).replace('main-key', '[key]'),
      '[key]',
    ])
  })

  it.each([
    ['as JSON escapes it', 'who is main\\/key\\"1?'],
    ['character by character', 'who is \\u006dain/key\\"1?'],
    ['as an address escapes it', 'who is main%2Fkey%221?'],
    ['as JSON within JSON escapes it', String.raw`who is main\\/key\\\"1?`],
    ['as HTML escapes it', 'who is main/key&quot;1?'],
  ])('is answered without a key that is repeated %s, and is as it came else', async (_, error) => {
    const text = `{ "error": "${error}", "at": 9007199254740993 }`
    const proxied = proxyOf({ apiKey: 'main/key"1', fetch: async () => new Response(text, { status: 400 }) })
    expect(await (await proxied(generation())).json()).toMatchObject({ error: 'who is [key]?' })
    const other = proxyOf({ fetch: async () => new Response(text, { status: 400 }) })
    expect(await (await other(generation())).text()).toBe(text)
  })

  it('waits for its key no longer than ten seconds', async () => {
    const answer = proxyOf({ apiKey: () => new Promise(() => {}) })(generation())
    await world.settle()
    await world.pass(10_000)
    expect((await answer).status).toBe(429)
  })

  it.each([301, 308, 408, 421])(
    'that is answered %i is not answered so that a browser says it again',
    async (status) => {
      world.fault('POST', '/generations', [answers(status, { error: 'no' })])
      expect((await proxyOf()(generation())).status).toBe(502)
    },
  )
})

describe('the line', () => {
  it('answers the contract’s 429 where no more may wait, with a time', async () => {
    const handle = proxyOf({ waitingAtMost: 1, budget: { ask: () => 7_000, learn() {}, price: () => 0 } })
    void handle(generation())
    await world.settle()
    const response = await handle(asked('/funnel?funnelIds=12'))
    expect([response.status, await response.json()]).toEqual([
      429,
      { error: 'Rate limit exceeded', message: expect.any(String) },
    ])
    expect(Number(response.headers.get('Retry-After'))).toBeGreaterThanOrEqual(7)
  })

  it('sends consents first, and then in turn by shopper', async () => {
    let isOpen = false
    const order: string[] = []
    const handle = proxyOf({
      budget: { ask: () => (isOpen ? 0 : 1_000), learn() {}, price: () => 0 },
      fetch(input, init) {
        const type = typeof init?.body === 'string' && (JSON.parse(init.body) as { contentType: string }).contentType
        order.push(type || new URL(String(input)).pathname)
        return world.fetch(input, init)
      },
    })
    const [ada, bob] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'].map(cookie)
    isOpen = true
    await Promise.all([ada, bob].map((whose) => handle(asked(`/generations/${anId}`, whose))))
    isOpen = false
    order.length = 0
    const upload = (type: string, whose: Asked = {}) =>
      handle(asked('/uploads', { method: 'POST', body: { contentType: type }, ...whose }))
    const all = [
      upload('image/png', ada),
      upload('image/jpeg', ada),
      upload('image/webp', bob),
      handle(asked(`/generations/${anId}`, ada)),
      handle(generation(bob)),
    ]
    await world.settle()
    isOpen = true
    await world.pass(1_000)
    await Promise.all(all)
    expect(order.slice(0, 2)).toEqual(['/generations', `/generations/${anId}`])
    // who had a turn is behind who had none since
    expect(order.slice(2)).toEqual(['image/webp', 'image/png', 'image/jpeg'])
  })

  it('has a place for who begins after four others', async () => {
    let grants = 0
    const order: string[] = []
    const handle = proxyOf({
      budget: { ask: () => (grants-- > 0 ? 0 : 1_000), learn() {}, price: () => 0 },
      fetch: (input, init) => (order.push(new URL(String(input)).pathname), world.fetch(input, init)),
    })
    for (let count = 0; count < 9; count += 1) void handle(asked(`/generations/${anId}`))
    void handle(asked('/uploads', { method: 'POST', body: { contentType: 'image/png' } }))
    await world.settle()
    grants = 9
    await world.pass(1_000)
    expect(order.indexOf('/uploads')).toBe(4)
  })

  it('lets consents and polls go by turns, and no poll that has to wait keep a consent', async () => {
    const order: string[] = []
    let polls = 0
    let isOpen = false
    const handle = proxyOf({
      budget: {
        ask: ({ operation }) => (isOpen && (operation === 'createGeneration' || polls-- > 0) ? 0 : 1_000),
        learn() {},
        price: () => 0,
      },
      fetch: (input, init) => (order.push(init?.method ?? ''), world.fetch(input, init)),
    })
    for (let count = 0; count < 4; count += 1) {
      void handle(generation())
      void handle(asked(`/generations/${anId}`))
    }
    await world.settle()
    isOpen = true
    polls = 2
    await world.pass(1_000)
    expect(order).toEqual(['POST', 'GET', 'POST', 'GET', 'POST', 'POST'])
  })

  it('is not in the way of a page that asks for two things at once where nobody waits', async () => {
    const handle = proxyOf({ waitingAtMost: 1 })
    const upload = asked('/uploads', { method: 'POST', body: { contentType: 'image/png' }, ...cookie(anId) })
    const both = [handle(asked('/funnel?funnelIds=12', cookie(anId))), handle(upload)]
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200])
  })

  it('lets whoever had no turn yet stand in it as one, whatever they call themselves', async () => {
    let isOpen = true
    const order: string[] = []
    const handle = proxyOf({
      budget: { ask: () => (isOpen ? 0 : 1_000), learn() {}, price: () => 0 },
      fetch: (input, init) => (order.push(String(input)), world.fetch(input, init)),
    })
    await handle(asked('/context', cookie(anId)))
    isOpen = false
    order.length = 0
    // by a cookie that they made up, or by an ID that they name, another one each time
    const strangers = [1, 2, 3].flatMap((count) => [
      handle(asked('/requests-left', cookie(`${anId.slice(0, -2)}a${count}`))),
      handle(asked(`/requests-left?uniqueUserId=stranger-${count}`)),
    ])
    await world.settle()
    const known = [1, 2, 3].map(() => handle(asked('/context', cookie(anId))))
    await world.settle()
    isOpen = true
    await world.pass(1_000)
    await Promise.all([...strangers, ...known])
    expect(order.slice(0, 6).map((url) => new URL(url).pathname)).toEqual([
      '/requests-left',
      '/context',
      '/requests-left',
      '/context',
      '/requests-left',
      '/context',
    ])
  })

  it('counts no request whose key is not there yet', async () => {
    const ask = vi.fn(() => 0)
    let give = (_key: string) => {}
    const apiKey = () => new Promise<string>((resolve) => (give = resolve))
    const answer = proxyOf({ apiKey, budget: { ask, learn() {}, price: () => 0 } })(asked('/context'))
    await world.settle()
    expect(ask).not.toHaveBeenCalled()
    give('main-key')
    expect((await answer).status).toBe(200)
    expect(ask).toHaveBeenCalledOnce()
  })

  it('lets no shopper have more than a tenth of it', async () => {
    let isOpen = true
    const budget = { ask: () => (isOpen ? 0 : 1_000), learn() {}, price: () => 0 }
    const handle = proxyOf({ waitingAtMost: 20, budget })
    const answered = vi.fn()
    await handle(asked('/context', cookie(anId)))
    isOpen = false
    void handle(asked('/context'))
    await world.settle()
    for (let count = 0; count < 3; count += 1) void handle(asked('/context', cookie(anId))).then(answered)
    await world.settle()
    expect(answered).toHaveBeenCalledOnce()
  })

  it('lets none have more than a third of the count once somebody had to wait, and all of it where nobody has', async () => {
    const handle = proxyOf({ waitingAtMost: 1_000 })
    const one = () => handle(asked(`/generations/${anId}`, cookie(anId)))
    const answered: number[] = []
    const statuses = async (count: number) => {
      const all = Array.from({ length: count }, () => one().then(({ status }) => answered.push(status)))
      await world.pass(6_000)
      await Promise.all(all)
      return answered.splice(0).filter((status) => status === 404).length
    }
    expect(await statuses(130)).toBe(116)
    await world.pass(56_000)
    const [first, second] = [
      await statuses(60),
      await handle(asked(`/generations/${anId}`, cookie(`${anId.slice(0, -1)}2`))),
    ]
    expect([first, second.status]).toEqual([40, 404])
  })

  it('sends nobody who has begun away for longer than 15 s, nor anybody for longer than the count lasts', async () => {
    const handle = proxyOf({ waitingAtMost: 1, budget: { ask: () => 600_000, learn() {}, price: () => 0 } })
    void handle(generation())
    await world.settle()
    const [poll, upload] = [
      await handle(asked(`/generations/${anId}`)),
      await handle(asked('/uploads', { method: 'POST', body: { contentType: 'image/png' } })),
    ]
    expect([poll, upload].map(({ headers }) => headers.get('Retry-After'))).toEqual(['15', '60'])
  })

  it('lets polls go beside a submission that the service does not take', async () => {
    const budget: Budget = {
      ask: ({ operation }) => (operation === 'createGeneration' ? 20_000 : 0),
      learn() {},
      price: () => 0,
    }
    const handle = proxyOf({ budget })
    void handle(generation())
    await world.settle()
    expect((await handle(asked(`/generations/${anId}`))).status).toBe(404)
  })
})

describe('what is passed on', () => {
  it('is what the contract names, and nothing below it', async () => {
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`
    const body = JSON.stringify({ ...submission, more: 0 }).replace('"more":0', `"more":${deep}`)
    expect((await proxyOf()(generation({ body }))).status).toBe(200)
    expect(Object.keys(world.sent.at(-1)?.body)).not.toContain('more')
  })

  it('is answered on a connection that is not used again', async () => {
    expect((await proxyOf()(asked('/funnel?funnelIds=12'))).headers.get('Connection')).toBe('close')
  })

  it('is not kept of a funnel that is none', async () => {
    const handle = proxyOf()
    world.fault('GET', '/funnel', [async () => new Response('<html>')])
    for (let count = 0; count < 2; count += 1) await handle(asked('/funnel?funnelIds=12'))
    expect(world.count('GET', '/funnel')).toBe(2)
  })

  it('is asked once of funnels for all shoppers, and again once one is none any more', async () => {
    const handle = proxyOf()
    const funnel = (more = '') => handle(asked(`/funnel?funnelIds=12${more}`)).then((response) => response.json())
    expect(await funnel()).toEqual(await funnel('&__proto__=1&more=2'))
    const all = await Promise.all(Array.from({ length: 9 }, () => funnel()))
    expect(all[8]).toEqual(all[0])
    expect(world.count('GET', '/funnel')).toBe(1)
    world.fault('POST', '/generations', [answers(404, { error: 'Not found' })])
    await handle(generation())
    await funnel()
    expect(world.count('GET', '/funnel')).toBe(2)
    await world.pass(600_000)
    await funnel()
    expect(world.count('GET', '/funnel')).toBe(3)
  })

  it('is told to all who wait for the same funnel, be it a refusal', async () => {
    const handle = proxyOf()
    const { reached, release } = world.hold('GET', '/funnel')
    const all = Array.from({ length: 9 }, () => handle(asked('/funnel?funnelIds=99')))
    await reached
    release()
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual(Array.from({ length: 9 }, () => 404))
    expect(world.count('GET', '/funnel')).toBe(1)
  })

  it('is in no error that is told, though the platform puts it there', async () => {
    const server = createServer((socket) => {
      socket.once('data', () =>
        socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{"data":{"jobId":"a-secret"}}'),
      )
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const errors: unknown[] = []
    const handle = proxyOf({
      baseUrl: `http://127.0.0.1:${port}`,
      fetch: undefined,
      clock: undefined,
      onError: (error) => void errors.push(error),
    })
    expect((await handle(generation(cookie(anId)))).status).toBe(502)
    expect(errors).toHaveLength(1)
    expect(inspect(errors, { depth: null, showHidden: true })).not.toContain('a-secret')
    expect(String(errors[0])).toMatch(/^Error: createGeneration was not answered: \w+$/)
    server.close()
  })

  it.each<[string, Partial<Budget>]>([
    ['ask() that throws', { ask: () => broken() }],
    ['ask() that rejects', { ask: () => Promise.reject(new Error('broken')) }],
    ['learn() that throws', { learn: () => broken() }],
    ['learn() that rejects', { learn: () => Promise.reject(new Error('broken')) }],
  ])('is not kept from its answer by a budget’s %s', async (_, parts) => {
    const errors: unknown[] = []
    const budget: Budget = { ask: () => 0, learn() {}, price: () => 0, ...parts }
    const response = await proxyOf({ budget, onError: (error) => void errors.push(error) })(generation())
    await world.settle()
    expect([response.status, errors.map(String)]).toEqual([200, ['Error: broken']])
  })

  it('teaches a budget nothing by what the service has not said', async () => {
    const learnt: (number | null)[] = []
    const budget: Budget = { ask: () => 0, learn: (_, refusedMs) => learnt.push(refusedMs), price: () => 0 }
    await proxyOf({ budget })(generation())
    const handle = proxyOf({ budget, fetch: () => Promise.reject(new TypeError('away')), onError() {} })
    expect((await handle(asked('/context'))).status).toBe(502)
    expect(learnt).toEqual([0, null])
  })

  it('is answered where onError() breaks', async () => {
    const told = vi.spyOn(console, 'error').mockReturnValue()
    expect((await proxyOf({ apiKey: '', onError: () => broken() })(generation())).status).toBe(429)
    expect(told).toHaveBeenCalledOnce()
    told.mockRestore()
  })
})

function broken(): never {
  throw new Error('broken')
}

describe('the exact budget', () => {
  const fill = (budget: ReturnType<typeof exactBudget>, count: number) => {
    for (let sent = 0; sent < count; sent += 1) void budget.ask({ operation: 'createGeneration' })
  }

  it('keeps room for consents', () => {
    const budget = exactBudget(manualClock())
    fill(budget, 116)
    const waits = () =>
      (['createUpload', 'getGeneration', 'createGeneration'] as const).map(
        (operation) => Number(budget.ask({ operation })) > 0,
      )
    expect(waits()).toEqual([true, true, false])
    fill(budget, 120)
    expect(waits()).toEqual([true, true, true])
  })

  it('is never over the contract’s count, and forgets a minute later', () => {
    const clock = manualClock()
    const budget = exactBudget(clock)
    fill(budget, 500)
    // a second more, as two may come closer to each other than they were sent
    expect(budget.ask({ operation: 'createGeneration' })).toBe(61_000)
    clock.advance(61_000)
    expect(budget.ask({ operation: 'createGeneration' })).toBe(0)
  })

  it('makes room for a registration that waits, and not for ever', () => {
    const clock = manualClock()
    const budget = exactBudget(clock)
    fill(budget, 60)
    expect(budget.ask({ operation: 'getGeneration' })).toBe(0)
    expect(budget.ask({ operation: 'registerCustomer' })).toBeGreaterThan(0)
    for (const operation of ['getGeneration', 'createGeneration'] as const)
      expect(budget.ask({ operation })).toBeGreaterThan(0)
    clock.advance(61_000)
    fill(budget, 60)
    expect(budget.ask({ operation: 'registerCustomer' })).toBeGreaterThan(0)
    expect(budget.ask({ operation: 'getGeneration' })).toBe(0)
  })

  it('is closed for as long as the service refuses, to what it refuses', async () => {
    const { status, body, headers } = refusal('rateLimitExceeded', { retryAfter: 20 })
    world.fault('POST', '/uploads', [answers(status, body, headers)])
    const handle = proxyOf()
    const upload = () => handle(asked('/uploads', { method: 'POST', body: { contentType: 'image/png' } }))
    expect((await upload()).headers.get('Retry-After')).toBe('20')
    const waiting = upload()
    // what has a higher threshold may pass
    expect((await handle(asked(`/generations/${anId}`))).status).toBe(404)
    await world.pass(10_000)
    expect((await waiting).status).toBe(429)
    expect(world.count('POST', '/uploads')).toBe(1)
  })
})
