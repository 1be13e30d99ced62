import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import {
  createService,
  memoryBlobs,
  memoryStore,
  parseConfig,
  type BlobStore,
  type Job,
  type Provider,
  type Store,
} from '@fitting-room/service'
import sharp from 'sharp'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { standStill } from '../../test/support/stand-still.ts'
import { suiteConfig } from '../../test/support/suite-config.ts'
import { DrawingEnded } from '../src/drawing/not-drawn.ts'
import { PutOff } from '../src/put-off.ts'
import { finished, prepared } from '../src/drawing/renderer.ts'
import { fashn } from '../src/provider/fashn.ts'
import { NotBegun } from '../src/provider/not-begun.ts'
import type { Clock } from '../src/ports.ts'
import { createProvided } from '../src/provider/provided.ts'
import { sendOnce } from '../src/provider/send-once.ts'
import { startedAs } from '../src/provider/changed-job.ts'
import { createWorker } from '../src/worker.ts'
import { png } from './contract.suite.ts'
import { answer, lost, startFashnStandIn, type Answer, type FashnStandIn } from './fashn-stand-in.ts'
import { PhotoNotAccessible } from '../src/photo-problems.ts'
import { queuedJob } from './queued-job.ts'

let standIn: FashnStandIn
beforeEach(async () => {
  standIn = await startFashnStandIn()
})
afterEach(() => standIn.close())

const fetchPicture = async (url: string) => new Uint8Array(await (await fetch(url)).arrayBuffer())
const providerAt = (url: string) => fashn({ url, key: 'fa-secret', prepared, finished, fetchPicture, busyMs: 1 })

const accepted = queuedJob({ id: '6f9619ff-8b86-4d01-b42d-00cf4fc964ff', storeId: 'main', provided: true, credit: 0 })

interface WorkerTerms {
  webhook?: string | null
  answerMs?: number
  patienceMs?: number
  photo?: Uint8Array<ArrayBuffer>
  ending?: AbortSignal
  store?: Store
  blobs?: BlobStore
  clock?: Clock
}

/** A worker with one job, whose store has one credit, which that job has. */
async function worker(
  provider: Provider | undefined,
  stored: Partial<Job> = {},
  { webhook = null, answerMs = 0, patienceMs = 600_000, photo = png, ...more }: WorkerTerms = {},
) {
  const { store = memoryStore(), blobs = memoryBlobs(), clock = Date, ending } = more
  await blobs.put('photo.png', { bytes: photo, type: 'image/png' })
  await store.transaction(async (ledger) => {
    await ledger.takeCredit('main', 1)
    await ledger.addJob({ ...accepted, ...stored })
  })
  const reports: Error[] = []
  const report = (error: unknown) => void reports.push(error as Error)
  const times = { lookMs: 1, answerMs, patienceMs }
  const provided =
    provider && createProvided({ provider, store, clock, webhookOf: () => webhook, report, ending, ...times })
  const { work } = createWorker({
    config: parseConfig(suiteConfig),
    store,
    blobs,
    generator: () => Promise.reject(new Error('nobody draws')),
    provided,
    fetchPhoto: () => Promise.reject(new Error('nothing is fetched')),
    garmentOf: async () => png,
    report,
    clock,
  })
  return {
    blobs,
    reports,
    startedAs: (jobId: string, id: string) => startedAs(store, jobId, id),
    job: () => store.job(accepted.id),
    /** The job once it is done with, and whether its credit was given back. */
    async worked() {
      await work(accepted.id, 'render')
      const isFree = await store.transaction((ledger) => ledger.takeCredit('main', 1))
      return { job: (await store.job(accepted.id))!, isCreditBack: isFree !== null }
    },
  }
}

describe('FASHN', () => {
  it('makes the pictures, of which the service keeps copies', async () => {
    const { worked, blobs } = await worker(providerAt(standIn.url))
    const { job, isCreditBack } = await worked()
    expect([job.state, job.asked?.id, isCreditBack]).toEqual(['rendered', 'prediction-1', false])
    const [final, preview] = await Promise.all([blobs.get(job.pictures!.final), blobs.get(job.pictures!.preview)])
    expect((await sharp(final!.bytes).metadata()).width).toBe(30)
    expect(preview!.bytes.length).toBeGreaterThan(0)
    expect(standIn.asked[0]).toEqual({ authorization: 'Bearer fa-secret', search: '' })
    const [{ model_name, inputs } = { model_name: '', inputs: {} as Record<string, string> }] = standIn.runs
    expect([model_name, inputs['category'], inputs['mode']]).toEqual(['tryon-v1.6', 'tops', 'quality'])
    for (const name of ['model_image', 'garment_image']) expect(inputs[name]).toMatch(/^data:image\/jpeg;base64,\/9j\//)
  })

  it.each([
    ['lost', lost],
    ['a server’s error', answer(500)],
    ['no answer in its words', answer(200, { what: 'ever' })],
  ])('is asked once where its answer is %s: the job fails, and its credit is given back', async (_, fault) => {
    standIn.faults.push(fault)
    const { worked, reports } = await worker(providerAt(standIn.url))
    const { job, isCreditBack } = await worked()
    expect([job.state, job.error, isCreditBack]).toEqual(['failed', 'Generation failed', true])
    expect(standIn.runs).toHaveLength(1)
    expect(reports.map(({ message }) => message)).toEqual([
      'whether a provider has begun pictures is not known',
      'a provider never said whether it has begun pictures',
    ])
  })

  it.each([400, 401, 402, 404])('that refuses with %i has begun nothing', async (status) => {
    standIn.faults.push(answer(status))
    const { worked, reports } = await worker(providerAt(standIn.url))
    expect(await worked()).toMatchObject({ job: { state: 'failed' }, isCreditBack: true })
    expect([standIn.runs.length, reports[0]]).toEqual([1, expect.any(NotBegun)])
  })

  it('at which nobody listens has begun nothing', async () => {
    const { worked, reports } = await worker(providerAt('http://127.0.0.1:1'), {}, { patienceMs: 0 })
    expect(await worked()).toMatchObject({ job: { state: 'failed' }, isCreditBack: true })
    expect(reports).toEqual([expect.any(NotBegun)])
  })

  it('whose connection breaks before it stands is asked again, as it has begun nothing', async () => {
    const ends = new AbortController()
    let tries = 0
    const server = createServer((socket) => {
      if (++tries === 2) ends.abort()
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { worked, job, reports } = await worker(providerAt(url), {}, { ending: ends.signal })
    await expect(worked()).rejects.toThrow(DrawingEnded)
    expect([tries, reports, (await job())?.asked]).toEqual([2, [], null])
    server.close()
  })

  it('is sent nothing by a process that stood still until its time was over', async () => {
    const heard = vi.fn<() => void>()
    const server = createServer((socket) => socket.on('data', heard).on('error', () => {})).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const sending = sendOnce(url, { method: 'POST', body: '{}', longestMs: 10, againMs: 1 })
    standStill(20)
    await expect(sending).rejects.toThrow(NotBegun)
    server.close()
    await once(server, 'close')
    expect(heard).not.toHaveBeenCalled()
  })

  it('is not sent the rest by a process that stood still in the middle until its time was over', async () => {
    let bytes = 0
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const connected = once(server, 'connection')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const body = 'x'.repeat(32 * 1024 * 1024)
    const refused = expect(sendOnce(url, { method: 'POST', body, longestMs: 500, againMs: 1 })).rejects.toThrow(
      NotBegun,
    )
    const [socket] = (await connected) as [Socket]
    const closed = once(socket, 'close')
    socket.on('data', (chunk) => (bytes += chunk.length)).on('error', () => {})
    // a slow machine may have been so late that nothing was sent at all
    await Promise.race([once(socket, 'data'), closed])
    socket.pause()
    standStill(600)
    socket.resume()
    await refused
    await closed
    expect(bytes).toBeLessThan(body.length)
    server.close()
  })

  it('that fails before it was sent all has begun nothing', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.pause().write('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n'))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const body = 'x'.repeat(32 * 1024 * 1024)
    await expect(sendOnce(url, { method: 'POST', body, longestMs: 60_000, againMs: 1 })).rejects.toThrow(NotBegun)
    server.close()
  })

  it('that has too much to do is asked again, as it has begun nothing', async () => {
    standIn.faults.push(answer(429), answer(429))
    const { worked } = await worker(providerAt(standIn.url))
    expect((await worked()).job.state).toBe('rendered')
    expect(standIn.runs).toHaveLength(3)
  })

  it('that has too much to do for long is asked as long as its patience lasts', async () => {
    standIn.faults.push(...Array.from({ length: 25 }, () => answer(429, { error: 'ConcurrencyLimitExceeded' })))
    const { worked } = await worker(providerAt(standIn.url))
    expect((await worked()).job.state).toBe('rendered')
    expect(standIn.runs).toHaveLength(26)
    standIn.faults.push(answer(429))
    const { worked: impatient, reports } = await worker(providerAt(standIn.url), {}, { patienceMs: 0 })
    expect(await impatient()).toMatchObject({ job: { state: 'failed' }, isCreditBack: true })
    expect([standIn.runs.length, reports[0]]).toEqual([27, expect.any(NotBegun)])
  })

  it('that is out of credits is not asked again, which no wait mends', async () => {
    standIn.faults.push(answer(429, { error: 'OutOfCredits', message: 'Not enough API credits' }))
    const { worked, reports } = await worker(providerAt(standIn.url))
    expect(await worked()).toMatchObject({ job: { state: 'failed' }, isCreditBack: true })
    expect([standIn.runs.length, (reports[0] as Error).message]).toEqual([1, 'the provider answered 429 OutOfCredits'])
  })

  it('that refuses in more than a word is told of without its text, which may have anybody’s data', async () => {
    standIn.faults.push(answer(400, { error: 'no photo at https://cdn.example/ada.png', message: 'ada@example.com' }))
    const { worked, reports } = await worker(providerAt(standIn.url))
    expect((await worked()).job.state).toBe('failed')
    expect((reports[0] as Error).message).toBe('the provider answered 400')
  })

  it('that fails with more than a word is told of without that, which may be of any length', async () => {
    standIn.states = [{ status: 'failed', error: { name: 'a'.repeat(30_000), message: '' } }]
    const { worked, reports } = await worker(providerAt(standIn.url))
    expect((await worked()).job.state).toBe('failed')
    expect((reports[0] as Error).message).toBe('the provider says no more than that it failed')
  })

  it('that has too much to do is not asked again once it has told by itself that it has begun', async () => {
    const asker = await worker(providerAt(standIn.url), {}, { webhook: 'http://service.test/webhook' })
    standIn.faults.push((response) => {
      void asker.startedAs(accepted.id, 'prediction-1').then(() => answer(429)(response))
    })
    const { job } = await asker.worked()
    expect([job.state, job.asked?.id, standIn.runs.length]).toEqual(['rendered', 'prediction-1', 1])
  })

  it('is not asked by a process that is about to end: another one has the job then', async () => {
    const ends = new AbortController()
    const busy = fashn({ url: standIn.url, key: 'fa-secret', prepared, finished, fetchPicture, busyMs: 600_000 })
    const { worked, job } = await worker(busy, {}, { ending: ends.signal })
    standIn.faults.push((response) => {
      answer(429)(response)
      response.on('close', () => ends.abort())
    })
    await expect(worked()).rejects.toThrow(DrawingEnded)
    expect([(await job())?.state, (await job())?.asked, standIn.runs.length]).toEqual(['queued', null, 1])
    await expect(worked()).rejects.toThrow(DrawingEnded)
    expect(standIn.runs).toHaveLength(1)
  })

  it('is asked once more where it was not, as the store never said whether that was written', async () => {
    const inner = memoryStore()
    let isLost = false
    const transaction: Store['transaction'] = async (work) => {
      const done = await inner.transaction(work)
      if (!isLost || !(await inner.job(accepted.id))?.asked) return done
      isLost = false
      throw new Error('the answer was lost')
    }
    const { worked } = await worker(providerAt(standIn.url), {}, { store: { ...inner, transaction } })
    isLost = true
    await expect(worked()).rejects.toThrow(PutOff)
    expect([(await worked()).job.state, standIn.runs.length]).toEqual(['rendered', 1])
  })

  it('is not asked by a process that stood still since it said that it would, and then by another', async () => {
    const inner = memoryStore()
    let stoodStillMs = 0
    const transaction: Store['transaction'] = async (work) => {
      const done = await inner.transaction(work)
      if ((await inner.job(accepted.id))?.asked && standIn.runs.length === 0) stoodStillMs ||= 31_000
      return done
    }
    const clock = { now: () => Date.now() + stoodStillMs }
    const { worked } = await worker(providerAt(standIn.url), {}, { store: { ...inner, transaction }, clock })
    await expect(worked()).rejects.toThrow(PutOff)
    expect([(await inner.job(accepted.id))?.asked, standIn.runs.length]).toEqual([null, 0])
    expect([(await worked()).job.state, standIn.runs.length]).toEqual(['rendered', 1])
  })

  it('is asked by whoever is next where who was about to ask has not', async () => {
    const store = memoryStore()
    const asked = { since: Date.now(), id: null }
    const { worked, job } = await worker(providerAt(standIn.url), { asked }, { store, answerMs: 60_000 })
    const waiting = worked()
    await store.transaction(async (ledger) => ledger.saveJob({ ...(await job())!, asked: null }))
    await expect(waiting).rejects.toThrow(PutOff)
    expect([(await worked()).job.state, standIn.runs.length]).toEqual(['rendered', 1])
  })

  it('that has too much to do is not asked again for a job that has ended meanwhile', async () => {
    const store = memoryStore()
    const { worked } = await worker(providerAt(standIn.url), {}, { store })
    standIn.faults.push((response) => {
      void store
        .transaction(async (ledger) => ledger.saveJob({ ...(await ledger.job(accepted.id))!, state: 'failed' }))
        .then(() => answer(429)(response))
    })
    await worked()
    expect(standIn.runs).toHaveLength(1)
  })

  it('that has too much to do has not been asked, as far as other processes know', async () => {
    const store = memoryStore()
    const { worked } = await worker(providerAt(standIn.url), {}, { store })
    const asked: unknown[] = []
    const seen: Answer = (response) =>
      void store.job(accepted.id).then((job) => (asked.push(job?.asked?.since), answer(429)(response)))
    standIn.faults.push(seen, seen)
    const [saved, job] = [store.transaction, vi.fn<(job: Job) => void>()]
    store.transaction = (work) =>
      saved((ledger) => work({ ...ledger, saveJob: (each) => (job(each), ledger.saveJob(each)) }))
    await worked()
    expect(asked).toEqual([expect.any(Number), expect.any(Number)])
    expect(job.mock.calls.map(([each]) => each.asked && 'asked').slice(0, 4)).toEqual(['asked', null, 'asked', null])
  })

  it.each([
    ['5', 5_000],
    ['9999999', 60_000],
    ['-1', 1],
    ['tomorrow', 1],
  ])('that names a time of %s is asked again after %i ms', async (given, ms) => {
    standIn.faults.push((response) => void response.writeHead(429, { 'Retry-After': given }).end())
    const { funnelType, generationModel } = accepted
    const order = { photo: png, garment: png, webhook: null, funnelType, generationModel }
    const send = await providerAt(standIn.url).prepare(order)
    await expect(send()).rejects.toMatchObject({ name: 'NotBegun', againMs: ms })
  })

  it('that becomes another protocol has said nothing that anybody knows', async () => {
    standIn.faults.push((response) => {
      response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
    })
    const { worked } = await worker(providerAt(standIn.url))
    expect(await worked()).toMatchObject({ job: { state: 'failed' }, isCreditBack: true })
    expect(standIn.runs).toHaveLength(1)
  })

  it('is asked once though the database fails as it answers, and its pictures are had', async () => {
    const inner = memoryStore()
    let failures = 0
    const store: Store = {
      ...inner,
      transaction: (work) => (failures-- > 0 ? Promise.reject(new Error('no database')) : inner.transaction(work)),
    }
    const { worked } = await worker(providerAt(standIn.url), {}, { store })
    standIn.faults.push((response) => {
      failures = 3
      answer(200, { id: 'prediction-1', error: null })(response)
    })
    expect((await worked()).job).toMatchObject({ state: 'rendered', asked: { id: 'prediction-1' } })
    expect(standIn.runs).toHaveLength(1)
  })

  it('has its pictures kept though that fails at first', async () => {
    const inner = memoryBlobs()
    let failures = 0
    const blobs: BlobStore = {
      ...inner,
      put: (name, blob) => (failures-- > 0 ? Promise.reject(new Error('no room')) : inner.put(name, blob)),
    }
    const { worked } = await worker(providerAt(standIn.url), {}, { blobs })
    failures = 1
    expect((await worked()).job.state).toBe('rendered')
    expect(standIn.runs).toHaveLength(1)
  })

  it('is not asked, nor written down, for a photo that cannot be made ready', async () => {
    const { worked } = await worker(providerAt(standIn.url), {}, { photo: png.slice(0, 30) })
    expect((await worked()).job).toMatchObject({
      state: 'failed',
      error: 'The photo is not readable as an image',
      asked: null,
    })
    expect(standIn.runs).toEqual([])
  })

  it.each([
    ['PoseError', 'No person who can try this on was found in the photo'],
    ['ContentModerationError', 'No person who can try this on was found in the photo'],
    ['PipelineError', 'Generation failed'],
  ])('that fails with %s makes the job fail with words for the shopper', async (name, error) => {
    standIn.states.splice(0, 2, { status: 'failed', error: { name, message: 'internal words' } })
    const { worked } = await worker(providerAt(standIn.url))
    expect(await worked()).toMatchObject({ job: { state: 'failed', error }, isCreditBack: true })
  })

  it('that cannot be looked at for a while is looked at again', async () => {
    standIn.states.unshift({ status: 7 }, { status: 'in_queue' })
    const { worked } = await worker(providerAt(standIn.url))
    expect((await worked()).job.state).toBe('rendered')
  })
})

describe('finished pictures that cannot be had', () => {
  it('by a process that stood still for long are looked for again', async () => {
    let stoodStillMs = 0
    const clock = { now: () => Date.now() + stoodStillMs }
    const { look, prepare } = providerAt(standIn.url)
    const provider: Provider = {
      prepare,
      look: async (id) => {
        if (stoodStillMs > 0) return look(id)
        stoodStillMs = 3_600_000
        throw new Error('the network is not back')
      },
    }
    const { worked } = await worker(provider, {}, { clock })
    expect((await worked()).job.state).toBe('rendered')
  })

  it('are no fault of the shopper’s photo, and whoever runs the service is told', async () => {
    const look = () => Promise.reject(new PhotoNotAccessible())
    const provider: Provider = { prepare: async () => async () => 'prediction-1', look }
    const { worked, reports } = await worker(provider, {}, { patienceMs: 0 })
    const { job, isCreditBack } = await worked()
    expect([job.state, job.error, isCreditBack]).toEqual(['failed', 'Generation failed', true])
    expect(reports.map(({ message }) => message)).toEqual(['finished pictures of a provider could not be had'])
  })
})

describe('what a provider tells', () => {
  it('that is no JSON is told of without its beginning, which may be anybody’s data', async () => {
    standIn.faults.push((response) => void response.writeHead(200).end('kim@shop.example has no photo'))
    const { worked, reports } = await worker(providerAt(standIn.url))
    expect((await worked()).job.state).toBe('failed')
    const told = reports.flatMap((error) => [error.message, String(error.cause)]).join()
    expect(told).toContain('is no JSON')
    expect(told).not.toContain('kim')
  })

  it('as a picture, and is none, is fetched no more than a few times', async () => {
    let fetched = 0
    const fetchPicture = async () => new Uint8Array(++fetched)
    const { worked, reports } = await worker(
      fashn({ url: standIn.url, key: 'fa-secret', prepared, finished, fetchPicture, busyMs: 1 }),
    )
    const { job, isCreditBack } = await worked()
    expect([job.state, job.error, isCreditBack, fetched]).toEqual(['failed', 'Generation failed', true, 3])
    expect(reports.map(({ message }) => message)).toEqual(['finished pictures of a provider could not be had'])
  })
})

describe('a job whose process ended', () => {
  const since = Date.now()

  it('while a provider was asked is not sent again: it fails, and its credit is given back', async () => {
    const { worked } = await worker(providerAt(standIn.url), { asked: { since, id: null } })
    expect(await worked()).toMatchObject({ job: { state: 'failed' }, isCreditBack: true })
    expect(standIn.runs).toEqual([])
  })

  it('while a provider was asked goes on when that tells of it', async () => {
    const stored: Partial<Job> = { asked: { since, id: null } }
    const { worked, startedAs } = await worker(providerAt(standIn.url), stored, {
      webhook: 'https://try-on.example/webhooks/x',
    })
    const done = worked()
    await startedAs(accepted.id, 'prediction-7')
    expect(await done).toMatchObject({ job: { state: 'rendered', asked: { id: 'prediction-7' } }, isCreditBack: false })
    expect(standIn.runs).toEqual([])
  })

  it('once the provider had answered goes on with the same pictures, however old it is', async () => {
    const { worked } = await worker(providerAt(standIn.url), {
      asked: { since, id: 'prediction-7' },
      acceptedAt: 0,
    })
    expect((await worked()).job.state).toBe('rendered')
    expect(standIn.runs).toEqual([])
  })

  it('is left to a process that has its provider, and fails once its time is over', async () => {
    let now = Date.now()
    const asked = { since: now, id: 'prediction-1' }
    const { worked, job } = await worker(undefined, { asked }, { clock: { now: () => now } })
    await expect(worked()).rejects.toThrow(PutOff)
    expect((await job())?.state).toBe('queued')
    now += parseConfig(suiteConfig).giveUpAfterMinutes * 60_000
    expect(await worked()).toMatchObject({ job: { state: 'failed' }, isCreditBack: true })
  })

  it('is not asked for by two processes at once', async () => {
    const { worked, job } = await worker(providerAt(standIn.url), {}, { answerMs: 60_000 })
    await Promise.all([worked(), worked()])
    expect([(await job())?.state, standIn.runs.length]).toEqual(['rendered', 1])
  })
})

describe('a provider that tells of its jobs', () => {
  it('does so at an address that nobody else can make, to whichever process that leads', async () => {
    const config = parseConfig({
      ...suiteConfig,
      generation: { previewAfterMs: 0, readyAfterMs: 0 },
      generator: { provider: 'fashn', url: standIn.url, webhook: true },
      publicUrl: 'http://service.test',
    })
    const store = memoryStore()
    const uploadSecret = new Uint8Array(32)
    const url = 'http://service.test'
    // its answer is lost, whatever it has begun
    standIn.faults.push(lost)
    const reports: Error[] = []
    const service = createService({
      config,
      store,
      publicUrl: url,
      uploadSecret,
      provider: providerAt(standIn.url),
      report: (error) => reports.push(error as Error),
    })
    const other = createService({ config: parseConfig(suiteConfig), store, publicUrl: url, uploadSecret, works: false })
    const call = (path: string, body: object, process = service) =>
      process.fetch(
        new Request(url + path, {
          method: 'POST',
          headers: { 'X-Service-SDK-Key': 'main-key', 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        }),
      )
    const { data } = (await (await call('/uploads', { contentType: 'image/png' })).json()) as {
      data: { uploadUrl: string; imageUrl: string }
    }
    await service.fetch(
      new Request(data.uploadUrl, { method: 'PUT', body: png, headers: { 'Content-Type': 'image/png' } }),
    )
    const order = { funnelId: 12, productId: '1001', variantId: '2001', imageUrl: data.imageUrl }
    const started = (await (await call('/generations', order)).json()) as { data: { jobId: string } }
    await expect.poll(() => reports.length).toBe(1)
    const webhook = new URL(new URLSearchParams(standIn.asked[0]?.search).get('webhook_url') ?? '')
    expect((await call(`${webhook.pathname}x`, { id: 'prediction-1' })).status).toBe(404)
    expect((await call(webhook.pathname, { id: '' })).status).toBe(400)
    expect((await call(webhook.pathname, { id: 'prediction-1', status: 'completed' }, other)).status).toBe(200)
    await expect.poll(async () => (await store.job(started.data.jobId))?.state).toBe('rendered')
    expect(standIn.runs).toHaveLength(1)
    await service.close()
    await other.close()
  })

  it('is one whose key is there', () => {
    const config = parseConfig({ ...suiteConfig, generator: { provider: 'fashn' } })
    for (const providerKey of [undefined, 'as-echo-gives-it\n'])
      expect(() => createService({ config, publicUrl: 'http://service.test', providerKey })).toThrow('FASHN_API_KEY')
  })
})
