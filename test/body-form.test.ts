import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createFittingRoom } from 'fitting-room'
import { createClient, type Client } from 'fitting-room/client'
import { refusal, refusedKey } from './support/answers.ts'
import { manualClock } from 'fitting-room/testing'

/** What the platform's fetch does, by path and form; 'lost' is a connection that dies. */
type Network = (path: string, streamed: boolean, nth: number) => Response | 'lost'

const baseUrl = 'https://api.test'
const order = { funnelId: 12, productId: '1', variantId: '2', imageUrl: 'https://photos.test/p.png' }
const job = { data: { jobId: '8b7c1f6e-4d3a-4b1e-9f37-3f2b8a1d9c11', etaSeconds: 40, uniqueUserId: null } }
const target = { data: { uploadUrl: 'https://api.test/u', imageUrl: 'https://api.test/i' } }
const refuse = ({ body, ...init }: ReturnType<typeof refusal>) => Response.json(body, init)
const tooMany = () => refuse(refusal('rateLimitExceeded', { retryAfter: 1 }))

const Stream = ReadableStream
let sent: string[]
let network: Network
let client: Client
const clock = manualClock()

/** A browser that sends streams: it has a document, and its fetch is the platform's. */
beforeEach(() => {
  sent = []
  vi.stubGlobal('document', {})
  vi.stubGlobal('fetch', async (input: string, init: RequestInit) => {
    const path = new URL(input).pathname
    const streamed = init.body instanceof Stream
    sent.push(`${streamed ? 'stream' : 'plain'} ${path}`)
    const met = network(path, streamed, sent.length)
    if (met === 'lost') throw new TypeError('failed to fetch')
    return met
  })
  client = createClient({ baseUrl, apiKey: 'key', clock })
})
afterEach(() => vi.unstubAllGlobals())

const served = (path: string) => Response.json(path === '/uploads' ? target : job)

describe('how a submission goes out', () => {
  it('as a stream where the origin takes one, asked once an hour at the most', async () => {
    network = served
    await client.createGeneration(order)
    await client.createGeneration(order)
    expect(sent).toEqual(['stream /uploads', 'stream /generations', 'stream /generations'])
    clock.advance(3_599_000)
    await client.createGeneration(order)
    clock.advance(2_000)
    await client.createGeneration(order)
    expect(sent.slice(4)).toEqual(['stream /uploads', 'stream /generations'])
  })

  it('as a stream right after an upload that went out as one', async () => {
    network = served
    await client.createUpload({ contentType: 'image/png' })
    await client.createGeneration(order)
    expect(sent).toEqual(['stream /uploads', 'stream /generations'])
  })

  it('plainly where streams fail and a plain request passes', async () => {
    network = (path, streamed) => (streamed ? 'lost' : served(path))
    expect((await client.createGeneration(order)).kind).toBe('accepted')
    expect(sent).toEqual(['stream /uploads', 'plain /uploads', 'stream /uploads', 'plain /generations'])
  })

  it.each([500, 404, 400])('plainly where streams fail and POST /uploads is answered %i', async (status) => {
    network = (path, streamed) =>
      streamed ? 'lost' : path === '/uploads' ? Response.json({}, { status }) : served(path)
    expect((await client.createGeneration(order)).kind).toBe('accepted')
    expect(sent.at(-1)).toBe('plain /generations')
  })

  it('as a stream where POST /uploads fails in every form', async () => {
    network = (path) => (path === '/uploads' ? Response.json({}, { status: 500 }) : served(path))
    expect((await client.createGeneration(order)).kind).toBe('accepted')
    expect(sent.at(-1)).toBe('stream /generations')
  })

  it('not at all while nothing passes', async () => {
    network = () => 'lost'
    expect((await client.createGeneration(order)).kind).toBe('notSent')
    expect(sent).toEqual(['stream /uploads', 'plain /uploads'])
  })

  it('not before the wait is over where the last try is throttled, which is an answer like any other', async () => {
    network = (path, _, nth) =>
      path !== '/uploads' ? served(path) : nth === 1 ? 'lost' : nth === 2 ? served(path) : tooMany()
    expect((await client.createGeneration(order)).kind).toBe('throttled')
    expect(sent).toHaveLength(3)
    // and up to six seconds, so that not all come back in one moment
    clock.advance(7_000)
    await client.createGeneration(order)
    expect(sent.at(-1)).toBe('stream /generations')
  })

  it('not at all where the key is refused', async () => {
    network = () => refuse(refusedKey)
    expect(await client.createGeneration(order)).toMatchObject({ kind: 'rejected', reason: 'key' })
    expect(sent).toEqual(['stream /uploads'])
  })

  it('plainly, with nothing asked, over http, by a fetch of the application, and where there are no streams', async () => {
    network = served
    await createClient({ baseUrl: 'http://api.test', apiKey: 'key' }).createGeneration(order)
    await createClient({ baseUrl, apiKey: 'key', fetch }).createGeneration(order)
    vi.stubGlobal('ReadableStream', undefined)
    await client.createGeneration(order)
    expect(sent).toEqual(Array(3).fill('plain /generations'))
  })

  it('not at all where the order breaks the contract, or the base URL cannot be read', async () => {
    network = served
    expect(await client.createGeneration({ ...order, funnelId: 0 })).toMatchObject({ kind: 'rejected', at: 'funnelId' })
    const lost = createClient({ baseUrl: () => '', apiKey: 'key' })
    expect(await lost.createGeneration(order)).toMatchObject({ kind: 'rejected', at: 'baseUrl' })
    expect(sent).toEqual([])
  })
})

describe('what happens while it is asked', () => {
  /** Does something before the probe is answered. */
  const during =
    (happen: () => void): Network =>
    (path) => (path === '/uploads' && happen(), served(path))

  it('whether the submission is wanted is asked afterwards', async () => {
    network = served
    await client.createGeneration(order, { isWanted: () => sent.push('asked') > 0 })
    expect(sent).toEqual(['stream /uploads', 'asked', 'stream /generations'])
  })

  it('a submission that was aborted meanwhile never left', async () => {
    const stop = new AbortController()
    network = during(() => stop.abort())
    const outcome = await client.createGeneration(order, { signal: stop.signal })
    expect(outcome).toMatchObject({ kind: 'notSent', situation: 'unwanted', operation: 'createGeneration' })
    expect(sent).toEqual(['stream /uploads'])
  })

  it('a base URL that changed meanwhile gets neither the probe’s key nor the submission', async () => {
    let url = baseUrl
    network = during(() => (url = 'https://other.test'))
    const moving = createClient({ baseUrl: () => url, apiKey: 'key', clock })
    expect(await moving.createGeneration(order)).toMatchObject({ situation: 'moved', operation: 'createGeneration' })
    url = 'https://third.test'
    const apiKey = async () => {
      url = 'https://fourth.test'
      return 'key'
    }
    const key = createClient({ baseUrl: () => url, apiKey, clock })
    expect(await key.createGeneration(order)).toMatchObject({ situation: 'moved', operation: 'createGeneration' })
    expect(sent).toEqual(['stream /uploads'])
  })
})

/** A room on a page that sends streams, with a photo that needs no upload, so that it asks first. */
function submitting(url: () => string) {
  vi.stubGlobal('document', { visibilityState: 'visible', addEventListener() {} })
  const room = createFittingRoom({ baseUrl: url, apiKey: 'key' })
  const tryOn = room.tryOn({ productId: '1', variantId: '2', funnelIds: [12] })
  const ended = tryOn.result()
  const word = tryOn.start({ imageUrl: 'https://photos.test/p.png' })
  return { room, tryOn, ended, word }
}
const funnel = () => Response.json({ data: { id: 12, funnelType: 'dress', generationModel: 'SERVICE_PRO' } })

it('while it is asked nothing is out: startOver() ends it', async () => {
  let letGo = () => {}
  const held = new Promise<void>((resolve) => (letGo = resolve))
  network = (path) => (path === '/funnel' ? funnel() : served(path))
  const answering = fetch
  vi.stubGlobal('fetch', async (input: string, init: RequestInit) => {
    if (input.endsWith('/uploads')) await held
    return answering(input, init)
  })
  const { room, tryOn, ended, word } = submitting(() => baseUrl)
  await word
  await expect.poll(() => tryOn.get().state).toBe('submitting')
  expect(tryOn.get().can).toMatchObject({ startOver: true, discard: true })
  await tryOn.startOver()
  letGo()
  await expect(ended).rejects.toMatchObject({ kind: 'stopped' })
  expect(sent.filter((each) => each.endsWith('/generations'))).toEqual([])
  room.close()
})

it('a base URL that changes while it is asked gets no submission', async () => {
  let base = baseUrl
  network = (path) => {
    if (path === '/funnel') return funnel()
    base = 'https://elsewhere.test'
    return served(path)
  }
  const { room, ended, word } = submitting(() => base)
  await word
  await expect(ended).rejects.toMatchObject({ kind: 'refused' })
  expect(sent.filter((each) => each.endsWith('/generations'))).toEqual([])
  room.close()
})
