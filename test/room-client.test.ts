import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFittingRoom, type Fetch } from 'fitting-room'
import { createClient } from 'fitting-room/client'
import { createRoomClient, type RoomClient } from '../src/wire/room-client.ts'
import type { ClientOptions } from '../src/wire/operations.ts'
import { manualClock, type ManualClock } from 'fitting-room/testing'
import { createWorld, person, product, type World } from './support/world.ts'

const order = { funnelId: 12, productId: '1001', variantId: '2001', imageUrl: 'https://cdn.example/a.jpeg' }
const job = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'
const started = { data: { jobId: job, etaSeconds: 40, uniqueUserId: null } }
const funnel = { data: { id: 12, funnelType: 'dress', generationModel: 'SERVICE_PRO' } }

let clock: ManualClock
let sent: { path: string; key: string | null }[]
let answer: (path: string) => Response
let settings: { baseUrl: string; apiKey: string }
let reads: number

const served: Fetch = async (input, init) => {
  const { pathname: path } = new URL(String(input))
  sent.push({ path, key: new Headers(init?.headers).get('X-Service-SDK-Key') })
  return answer(path)
}

/** A client whose base URL and key are what `settings` say. */
const client = (options: Partial<ClientOptions> = {}): RoomClient =>
  createRoomClient({
    baseUrl: () => settings.baseUrl,
    apiKey: () => (reads++, settings.apiKey),
    clock,
    fetch: served,
    ...options,
  })

beforeEach(() => {
  clock = manualClock()
  sent = []
  reads = 0
  settings = { baseUrl: 'https://api.test', apiKey: 'key-1' }
  answer = (path) => Response.json(path === '/generations' ? started : funnel)
})

/** Lets everything happen that waits for nothing. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A question that the test answers. */
function question<T>() {
  let reply: (value: T) => void = () => {}
  let refuse: (reason: Error) => void = () => {}
  let asked = () => {}
  const arrival = new Promise<void>((resolve) => (asked = resolve))
  const replied = new Promise<T>((resolve, reject) => ((reply = resolve), (refuse = reject)))
  return {
    ask: () => (asked(), replied),
    arrival,
    reply: (value: T) => reply(value),
    refuse: () => refuse(new Error()),
  }
}

describe('a submission asks last whether it is still wanted', () => {
  const unwanted = { kind: 'notSent', situation: 'unwanted', operation: 'createGeneration' }

  it.each<[string, () => boolean | Promise<boolean>]>([
    ['says no', () => false],
    ['says no later', async () => false],
    ['says nothing', (() => undefined) as unknown as () => boolean],
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
  ])('whoever is asked %s: nothing is sent', async (_, isWanted) => {
    expect(await client().createGeneration(order, { isWanted })).toMatchObject(unwanted)
    expect(sent).toEqual([])
  })

  it('an answer that does not come in time is no', async () => {
    const wanted = question<boolean>()
    const outcome = client().createGeneration(order, { isWanted: wanted.ask })
    await wanted.arrival
    clock.advance(10_000)
    expect(await outcome).toMatchObject(unwanted)
    wanted.reply(true)
    await turn()
    expect(sent).toEqual([])
  })

  it('it is asked when the key has been read, and what is wanted leaves in the same turn', async () => {
    const key = question<string>()
    const wanted = question<boolean>()
    let asked = false
    void wanted.arrival.then(() => (asked = true))
    const outcome = client({ apiKey: key.ask }).createGeneration(order, { isWanted: wanted.ask })
    await turn()
    expect(asked).toBe(false)
    key.reply('key-1')
    await wanted.arrival
    expect(sent).toEqual([])
    const left = wanted.ask().then(async () => {
      for (let microtask = 0; microtask < 3; microtask++) await Promise.resolve()
      return sent.length
    })
    wanted.reply(true)
    expect(await left).toBe(1)
    expect(await outcome).toEqual({ kind: 'accepted', data: started.data })
  })

  it('a base URL that changed meanwhile gets nothing', async () => {
    const isWanted = async () => {
      settings.baseUrl = 'https://other.test'
      return true
    }
    expect(await client().createGeneration(order, { isWanted })).toMatchObject({
      situation: 'moved',
      reason: 'request',
    })
    expect(sent).toEqual([])
  })

  it('the caller’s abort before it left means that it never left', async () => {
    const stop = new AbortController()
    const wanted = question<boolean>()
    const outcome = client().createGeneration(order, { isWanted: wanted.ask, signal: stop.signal })
    await wanted.arrival
    stop.abort()
    wanted.reply(true)
    expect(await outcome).toMatchObject(unwanted)
    expect(await client().createGeneration(order, { signal: stop.signal })).toMatchObject(unwanted)
    expect(sent).toEqual([])
  })

  it('what is refused before is not asked about', async () => {
    const never = () => expect.unreachable('nothing would have been sent')
    const options = { isWanted: never }
    expect(await client({ apiKey: '' }).createGeneration(order, options)).toMatchObject({ situation: 'noKey' })
    expect(await client().createGeneration({ ...order, funnelId: 0 }, options)).toMatchObject({ situation: 'invalid' })
  })
})

describe('the budget learns once what has become of what it has let go', () => {
  let learnt: [string, number | null][]
  const budget = (waitMs = 0): ClientOptions['budget'] => ({
    ask: () => waitMs,
    learn: ({ operation }, refusedMs) => void learnt.push([operation, refusedMs]),
    price: () => 0,
  })
  beforeEach(() => void (learnt = []))

  it('that it was let in, or refused for a while', async () => {
    const room = client({ budget: budget() })
    await room.getFunnel([12])
    await room.createGeneration(order)
    answer = () => Response.json({ error: 'Rate limit exceeded' }, { status: 429, headers: { 'Retry-After': '7' } })
    await room.createGeneration(order)
    expect(learnt.filter(([operation]) => operation !== 'createUpload')).toEqual([
      ['getFunnel', 0],
      ['createGeneration', 0],
      ['createGeneration', 7_000],
    ])
  })

  it('nothing where it was not sent, whatever has stopped it after its turn had come', async () => {
    const room = client({ budget: budget() })
    await room.probe()
    settings.apiKey = ''
    await room.submit(order)
    settings.apiKey = 'key-1'
    await room.probe()
    await room.submit(order, { isWanted: () => false })
    expect(learnt.filter(([operation]) => operation === 'createGeneration')).toEqual([
      ['createGeneration', null],
      ['createGeneration', null],
    ])
  })

  it('nothing of what it has not let go', async () => {
    await client({ budget: budget(5_000) }).createGeneration(order)
    await client({ budget: budget(), apiKey: '' }).createGeneration(order)
    // one that was given up before it was its turn takes none
    const ask = () => expect.unreachable('it was given up')
    await client({ budget: { ...budget()!, ask } }).getFunnel([12], { signal: AbortSignal.abort() })
    expect(learnt.filter(([operation]) => operation === 'createGeneration')).toEqual([])
  })

  it('that no answer came in time, and not once more when it comes', async () => {
    const late = question<Response>()
    const room = client({ budget: budget() })
    await room.probe()
    answer = () => late.ask() as unknown as Response
    const ended = room.submit(order)
    await late.arrival
    clock.advance(120_000)
    expect(await ended).toMatchObject({ kind: 'outcomeUnknown' })
    late.reply(Response.json(started))
    await turn()
    expect(learnt.filter(([operation]) => operation === 'createGeneration')).toEqual([['createGeneration', null]])
  })
})

describe('the key', () => {
  it('goes only to the base URL that it was read for', async () => {
    const key = question<string>()
    const outcome = client({ apiKey: key.ask }).getFunnel([12])
    settings.baseUrl = 'https://other.test'
    key.reply('key-1')
    expect(await outcome).toMatchObject({ kind: 'rejected', situation: 'moved' })
    expect(sent).toEqual([])
  })

  it('is read once for a request, once for a look whether there is one, and not for the photo', async () => {
    const room = client({ putPhoto: async () => 200 })
    expect(await room.readKey()).toBe(true)
    expect(reads).toBe(1)
    await room.getFunnel([12])
    await room.createUpload({ contentType: 'image/png' })
    await room.createGeneration(order)
    await room.putPhoto('https://uploads.test/a', { bytes: new ArrayBuffer(1), type: 'image/png' })
    expect([reads, sent.length]).toEqual([4, 3])
  })

  it.each<[string, unknown]>([
    [
      'throws',
      () => {
        throw new Error('secret')
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret'))],
    ['gives a number', () => 7],
    ['gives null', () => null],
    ['gives nothing', async () => {}],
    ['gives an object', () => ({ key: 'key-1' })],
    ['is missing', undefined],
  ])('apiKey that %s is an outcome, and nothing is sent', async (_, apiKey) => {
    const room = client({ apiKey: apiKey as () => string })
    expect(await room.getFunnel([12])).toMatchObject({ kind: 'rejected', reason: 'key', situation: 'noKey' })
    expect(await room.createGeneration(order)).toMatchObject({ kind: 'rejected', reason: 'key', situation: 'noKey' })
    expect([await room.readKey(), await room.keyChanged()]).toEqual([false, false])
    expect(sent).toEqual([])
  })

  it('has changed when it is another than the one that was sent and refused', async () => {
    const room = client()
    expect(await room.keyChanged()).toBe(true)
    answer = () => {
      settings.apiKey = 'key-2'
      return Response.json({ error: 'Unauthorized' }, { status: 401 })
    }
    expect(await room.getFunnel([12])).toMatchObject({ situation: 'keyRefused' })
    expect(await room.keyChanged()).toBe(true)
    settings.apiKey = 'key-1'
    expect(await room.keyChanged()).toBe(false)
    settings.apiKey = ''
    expect(await room.keyChanged()).toBe(false)
  })

  it('that was refused once and is taken again is no refused key', async () => {
    const room = client()
    answer = () => Response.json({ error: 'Unauthorized' }, { status: 401 })
    await room.getFunnel([12])
    answer = () => Response.json(funnel)
    await room.getFunnel([12])
    expect(await room.keyChanged()).toBe(true)
  })
})

describe('a room’s key', () => {
  let world: World
  beforeEach(() => void (world = createWorld({ gated: false })))
  afterEach(() => world.close())

  it('is read once for every request, and once before the claim', async () => {
    const tryOn = world.room({ apiKey: () => (reads++, 'main-key') }).tryOn(product)
    tryOn.subscribe(() => {})
    await tryOn.start(person)
    await world.until(tryOn, 'final')
    const withKey = world.sent.filter(({ headers }) => headers.has('X-Service-SDK-Key'))
    expect(withKey.length).toBeGreaterThan(3)
    expect(reads).toBe(withKey.length + 1)
  })

  it('is another when it differs from what was sent, not from what was read around it', async () => {
    const keys = ['wrong-key', 'main-key']
    const room = world.room({ apiKey: () => keys.shift() ?? 'main-key' })
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    await tryOn.start(person)
    expect((await world.until(tryOn, 'final')).problem).toBeNull()
  })

  it('that was refused is the one that was sent, however often it changes', async () => {
    const keys: string[] = []
    const tryOn = world.room({ apiKey: () => keys.shift() ?? 'main-key' }).tryOn(product)
    tryOn.subscribe(() => {})
    await tryOn.start(person)
    await world.until(tryOn, 'processing')
    keys.push('main-key', 'wrong-key')
    await world.until(tryOn, 'unauthorized')
    await world.until(tryOn, 'final')
  })

  it('cannot be had of the room, nor can anything but the operations', () => {
    const names = ['createGeneration', 'createUpload', 'getContext', 'getFunnel', 'getGeneration', 'getRequestsLeft']
    expect(Object.keys(world.room().client).sort()).toEqual([...names, 'putPhoto', 'registerCustomer'])
    expect(Object.keys(createClient({ baseUrl: 'https://api.test', apiKey: 'key' })).sort()).toEqual(
      Object.keys(world.room().client).sort(),
    )
  })
})

describe('the installation', () => {
  it('is the first base URL that was read', () => {
    settings.baseUrl = 'https://api.test/v1//'
    const room = client()
    settings.baseUrl = 'https://api.test/v2/'
    expect(room.installation()).toBe('https://api.test/v2')
    expect(room.isSameInstallation()).toBe(true)
    settings.baseUrl = 'https://api.test/v3'
    expect(room.isSameInstallation()).toBe(false)
    expect(room.installation()).toBe('https://api.test/v2')
    settings.baseUrl = 'https://api.test/v2'
    expect(room.isSameInstallation()).toBe(true)
  })

  it.each(['', '/api', 'ftp://api.test'])('there is none at "%s"', async (baseUrl) => {
    const room = client({ baseUrl })
    expect(room.isSameInstallation()).toBe(false)
    expect(room.installation()).toBeNull()
    const problem: unknown = expect.objectContaining({ kind: 'input', at: 'baseUrl' })
    const { visitor } = createFittingRoom({ baseUrl, apiKey: 'key' })
    expect(visitor.get().uniqueUserId).toBeNull()
    await expect(createFittingRoom({ baseUrl, apiKey: 'key' }).ready).rejects.toMatchObject({ problem })
  })

  it('a function that throws gives none', async () => {
    const room = client({
      baseUrl: () => {
        throw new Error('not yet')
      },
    })
    expect(room.isSameInstallation()).toBe(false)
    expect(await room.getFunnel([12])).toMatchObject({ situation: 'invalid', at: 'baseUrl' })
  })
})

describe('a fetch of the application', () => {
  it.each<[string, unknown]>([
    [
      'throws',
      () => {
        throw new TypeError('offline')
      },
    ],
    ['rejects with no error', () => Promise.reject(null)],
    ['gives nothing', () => undefined],
    ['gives no response', async () => ({})],
  ])('that %s is a lost answer', async (_, fetch) => {
    const room = client({ fetch: fetch as Fetch })
    expect(await room.createGeneration(order)).toMatchObject({ kind: 'outcomeUnknown', situation: 'lost' })
    expect(await room.getFunnel([12])).toMatchObject({ kind: 'unavailable', situation: 'lost' })
  })

  it('a putPhoto that throws is one as well', async () => {
    const putPhoto = () => {
      throw new TypeError('offline')
    }
    const photo = { bytes: new ArrayBuffer(1), type: 'image/png' }
    const outcome = await client({ putPhoto }).putPhoto('https://uploads.test/a', photo)
    expect(outcome).toMatchObject({ kind: 'unavailable', situation: 'lost' })
  })

  it('a photo whose upload was given up before is not sent', async () => {
    const putPhoto = () => expect.unreachable('it was given up')
    const photo = { bytes: new ArrayBuffer(1), type: 'image/png' }
    const outcome = await client({ putPhoto }).putPhoto('https://uploads.test/a', photo, {
      signal: AbortSignal.abort(),
    })
    expect(outcome).toMatchObject({ kind: 'unavailable', situation: 'aborted' })
  })
})

describe('an e-mail address that was sent', () => {
  const refusal = (error: string) => () => Response.json({ error, message: error }, { status: 400 })

  it('is in no answer of the run, to whatever request', async () => {
    const room = client()
    answer = refusal('Ada%40Shop.Example is refused')
    const refused = await room.registerCustomer({ email: 'ada@shop.example' })
    expect(refused).toMatchObject({ answer: { error: '[e-mail] is refused', message: '[e-mail] is refused' } })
    answer = refusal('ada&commat;shop.example is refused')
    expect(await room.getFunnel([12])).toMatchObject({ answer: { error: '[e-mail] is refused' } })
    await room.createGeneration({ ...order, customerEmail: 'bob@shop.example' })
    answer = refusal(String.raw`ada\u0040shop.example, bob@SHOP.example`)
    expect(await room.getGeneration(job)).toMatchObject({ answer: { error: '[e-mail], [e-mail]' } })
  })

  it('of another page is in no text for developers; a merchant may name its own to shoppers', async () => {
    const body = { error: 'no credit for ada@shop.example', code: 'ada@shop.example', message: 'Ask help@shop.example' }
    answer = () => Response.json(body, { status: 400 })
    expect(await client().getFunnel([12])).toMatchObject({
      answer: { error: 'no credit for [e-mail]', code: '[e-mail]', message: 'Ask help@shop.example' },
    })
  })

  it('is hidden in JSON however that escapes it, and the JSON stays whole', async () => {
    const body = String.raw`{"error":"\nob\u0040shop.example\n"}`
    answer = () => new Response(body, { status: 400 })
    const outcome = await client().registerCustomer({ email: 'ob@shop.example' })
    expect(outcome).toMatchObject({ situation: 'requestRefused', answer: { error: '\n[e-mail]\n' } })
  })

  it('is forgotten with the shopper, but not by answers that were on their way', async () => {
    const room = client()
    let reply: (response: Response) => void = () => {}
    const held = new Promise<Response>((resolve) => (reply = resolve))
    const slow = client({ fetch: () => held })
    const outcome = slow.registerCustomer({ email: 'ada@shop.example' })
    await turn()
    slow.forgetAddresses()
    reply(refusal('ada@shop.example')())
    expect(await outcome).toMatchObject({ answer: { message: '[e-mail]' } })

    answer = refusal('ada@shop.example')
    await room.registerCustomer({ email: 'ada@shop.example' })
    room.forgetAddresses()
    expect(await room.getFunnel([12])).toMatchObject({ answer: { message: 'ada@shop.example' } })
  })
})

it('an answer without a header and a body is none: it stands for a connection that ended behind an interim one', async () => {
  answer = () => new Response(null)
  expect(await client().createGeneration(order)).toMatchObject({ kind: 'outcomeUnknown', situation: 'lost' })
  answer = () => new Response(null, { headers: { Date: 'Mon, 30 Nov 2026 02:00:00 GMT' } })
  expect(await client().createGeneration(order)).toMatchObject({ kind: 'protocolError' })
  // no interim answer has such a status
  answer = () => new Response(null, { status: 401 })
  expect(await client().createGeneration(order)).toMatchObject({ kind: 'rejected', reason: 'key' })
})

it('an address that was there and cannot be read for a while has refused no job', async () => {
  let isAway = false
  const baseUrl = () => {
    if (isAway) throw new Error('the settings are away')
    return 'https://api.test'
  }
  const room = client({ baseUrl })
  await room.getFunnel([12])
  isAway = true
  const jobId = '00000000-0000-4000-8000-000000000001'
  expect(await room.getGeneration(jobId)).toMatchObject({ kind: 'unavailable', situation: 'moved' })
  const never = client({ baseUrl })
  expect(await never.getFunnel([12])).toMatchObject({ kind: 'rejected', situation: 'invalid', at: 'baseUrl' })
})

it('a key that an answer repeats is hidden in it, and so is an address, but no ID and no URL is rewritten', async () => {
  const key = client()
  settings = { ...settings, apiKey: 'key-12345' }
  answer = () => Response.json({ error: 'not with key-12345' }, { status: 400 })
  expect(await key.getFunnel([12])).toMatchObject({ answer: { error: 'not with [key]' } })
  settings = { ...settings, apiKey: 'key/12345+' }
  answer = () => Response.json({ error: 'not with key%2F12345%2B' }, { status: 400 })
  expect(await key.getFunnel([12])).toMatchObject({ answer: { error: 'not with [key]' } })
  const uniqueUserId = 'ada@shop.example'
  answer = () => Response.json({ data: { requestsLeft: 1, totalRequests: 1, uniqueUserId } })
  expect(await key.registerCustomer({ email: uniqueUserId })).toMatchObject({ data: { uniqueUserId } })
})

it.each(['_', 'x', 'e'])('a key %j hides nothing of what the contract names', async (apiKey) => {
  settings = { ...settings, apiKey }
  answer = () => Response.json({ error: 'email_required', code: 'EMAIL_REQUIRED' }, { status: 403 })
  expect(await client().getFunnel([12])).toMatchObject({ answer: { error: 'email_required', code: 'EMAIL_REQUIRED' } })
  answer = () => Response.json({ error: 'x', message: 'Please relax' }, { status: 429 })
  expect(await client().getFunnel([12])).toMatchObject({ answer: { message: 'Please relax' } })
  answer = () => Response.json({ error: 'Rate limit exceeded' }, { status: 429, headers: { 'Retry-After': '7' } })
  expect(await client().getFunnel([12])).toMatchObject({ kind: 'throttled' })
})

describe('time limits', () => {
  let close = async () => {}
  afterEach(() => close())

  it('of Infinity never end a request', async () => {
    let respond: RequestListener = () => {}
    const arrived = new Promise<() => void>((resolve) => {
      respond = (_, response) => resolve(() => response.end(JSON.stringify(started)))
    })
    const server = createServer((request, response) => respond(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    close = () => new Promise((resolve) => server.close(() => resolve()))
    const { port } = server.address() as AddressInfo
    const room = createRoomClient({
      baseUrl: `http://127.0.0.1:${port}`,
      apiKey: 'key',
      timing: { requestTimeoutMs: Infinity, submitTimeoutMs: Infinity },
    })
    const outcome = room.createGeneration(order, { isWanted: async () => true })
    const reply = await arrived
    reply()
    expect(await outcome).toMatchObject({ kind: 'accepted' })
  })
})
