import {
  createService,
  fileBlobs,
  memoryBlobs,
  memoryStore,
  parseConfig,
  serve,
  type Store,
} from '@fitting-room/service'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import type { VisitorStatus } from 'fitting-room/contract'
import { EndsProcesses } from '../src/drawing/not-drawn.ts'
import { createWorker } from '../src/worker.ts'
import { PhotoNotAccessible } from '../src/photo-problems.ts'
import { PutOff } from '../src/put-off.ts'
import type { Blob } from '../src/ports.ts'
import { intakeByFile } from '../src/file-intake.ts'
import { keepRemovingLeft } from '../src/left-files.ts'
import { deferred } from '../../src/platform/deferred.ts'
import { suiteConfig } from '../../test/support/suite-config.ts'
import { queuedJob } from './queued-job.ts'

const headers = { 'X-Service-SDK-Key': 'main-key', 'Content-Type': 'application/json' }
const order = {
  funnelId: 12,
  productId: '1001',
  variantId: '2001',
  imageUrl: 'https://cdn.example/a.png',
  uniqueUserId: 'v',
}

describe('a queue that fails', () => {
  it('is 500 “Could not create generation”, and nothing was counted (§4 rule 4)', async () => {
    const reports: unknown[] = []
    const inner = memoryStore()
    const addJob = () => Promise.reject(new Error('queue down'))
    const transaction: Store['transaction'] = (work) => inner.transaction((ledger) => work({ ...ledger, addJob }))
    const config = parseConfig(suiteConfig)
    const service = createService({
      config,
      publicUrl: 'http://service.test',
      store: { ...inner, transaction },
      report: (error) => reports.push(error),
    })
    const call = async (path: string, init: RequestInit = {}) => {
      const answer = await service.fetch(new Request(`http://service.test${path}`, { headers, ...init }))
      return { status: answer.status, body: await answer.json() }
    }
    const refused = await call('/generations', { method: 'POST', body: JSON.stringify(order) })
    expect([refused.status, refused.body]).toEqual([500, { error: 'Could not create generation' }])
    expect((await call('/requests-left?uniqueUserId=v')).body.data).toMatchObject({ requestsLeft: 2, totalRequests: 0 })
    expect(reports).toHaveLength(1)
    await service.close()
  })
})

describe('a stored result that cannot be read', () => {
  it.each([
    ['a number in place of its names', 7],
    ['without names', {}],
    ['names that are none', { preview: 1, final: null }],
  ])('is 500, and no picture that is none (§7): %s', async (_, pictures) => {
    const reports: unknown[] = []
    const store = memoryStore()
    const publicUrl = 'http://service.test'
    const service = createService({
      config: parseConfig(suiteConfig),
      publicUrl,
      store,
      report: (error) => reports.push(error),
    })
    const id = randomUUID()
    const job = queuedJob({ id, storeId: 'main', state: 'rendered', pictures: pictures as never })
    await store.transaction((ledger) => ledger.addJob(job))
    const answer = await service.fetch(new Request(`${publicUrl}/generations/${id}`, { headers }))
    expect([answer.status, await answer.json()]).toEqual([500, { error: 'Internal error' }])
    expect(inspect(reports)).toContain('cannot be read')
    expect(inspect(reports)).not.toContain(id)
    await service.close()
  })
})

describe('file blobs', () => {
  it('keep whole pictures under many writers, and leave nothing else behind', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'blobs-'))
    const blobs = fileBlobs(folder)
    const written = Array.from({ length: 20 }, (_, fill) => new Uint8Array(100_000 + fill).fill(fill))
    await Promise.all(written.map((bytes) => blobs.put('a.png', { bytes, type: 'image/png' })))
    const kept = await blobs.get('a.png')
    expect(written).toContainEqual(kept?.bytes)
    expect(await readdir(folder)).toEqual(['a.png'])
    await rm(folder, { recursive: true })
  })

  it('are read as they were when they were asked for, or not to the end', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'blobs-'))
    const blobs = fileBlobs(folder)
    const put = (length: number, fill: number) =>
      blobs.put('a.png', { bytes: new Uint8Array(length).fill(fill), type: 'image/png' })
    await put(1_000, 1)
    const small = await blobs.open('a.png')
    await put(3_000, 2)
    expect(await new Response(small!.body).bytes()).toEqual(new Uint8Array(1_000).fill(1))
    for (const next of [3_000, 100_000, 300_000]) {
      await put(100_000, 1)
      const opened = await blobs.open('a.png')
      await put(next, 2)
      await expect(new Response(opened!.body).bytes()).rejects.toThrow('a file was written anew')
    }
    await put(200_000, 3)
    const reader = (await blobs.open('a.png'))!.body.getReader()
    let length = (await reader.read()).value!.length
    await put(100, 4)
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      expect(part.value.every((byte) => byte === 3)).toBe(true)
      length += part.value.length
    }
    expect(length).toBe(200_000)
    await rm(folder, { recursive: true })
  })

  it('that are gone before they are sent are not named in what is said of it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'blobs-'))
    const blobs = fileBlobs(folder)
    await blobs.put('secret-name.png', { bytes: new Uint8Array(200_000), type: 'image/png' })
    const opened = await blobs.open('secret-name.png')
    await blobs.remove('secret-name.png')
    const failed = await new Response(opened!.body).arrayBuffer().catch((error: Error) => error)
    expect(inspect(failed)).toContain('ENOENT')
    expect(inspect(failed)).not.toContain('secret-name')
    await rm(folder, { recursive: true })
  })

  it('that are put again while they are sent end the connection, and no answer is longer than it says', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'blobs-'))
    const files = fileBlobs(folder)
    const put = (length: number) => files.put('a.png', { bytes: new Uint8Array(length).fill(88), type: 'image/png' })
    const blobs = {
      ...files,
      async open(name: string) {
        const opened = await files.open(name)
        await put(500_000)
        return opened
      },
    }
    await put(100_000)
    const { url, close } = await serve({ config: parseConfig(suiteConfig), blobs, report: () => {} }, 0)
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let answer = ''
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')))
    socket.write('GET /photos/a.png HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(socket, 'close')
    const body = answer.split('\r\n\r\n')[1] ?? ''
    expect(body.length).toBeLessThanOrEqual(100_000)
    await close()
    await rm(folder, { recursive: true })
  })

  it('and uploads that a killed process has left in the middle are removed, once they are old', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'blobs-'))
    const names = ['.part', 'fitting-room-upload-1', 'a.png']
    for (const name of [...names, '.fresh']) await writeFile(join(folder, name), 'x')
    for (const name of names) await utimes(join(folder, name), 0, 0)
    fileBlobs(folder)
    intakeByFile(() => Promise.reject(new Error('nothing is uploaded')), folder)
    await expect.poll(async () => (await readdir(folder)).toSorted()).toEqual(['.fresh', 'a.png'])
    await rm(folder, { recursive: true })
  })

  it('look for what was left for as long as they run', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'blobs-'))
    keepRemovingLeft(folder, (name) => name.startsWith('.'), 20)
    await writeFile(join(folder, '.part'), 'x')
    await utimes(join(folder, '.part'), 0, 0)
    await expect.poll(() => readdir(folder)).toEqual([])
    await rm(folder, { recursive: true })
  })
})

describe('a job one of whose pictures cannot be put', () => {
  it('is put off, fails in the end, and leaves none of them behind', async () => {
    const store = memoryStore()
    const blobs = memoryBlobs()
    const put: string[] = []
    const full = async (name: string, blob: Blob) => {
      put.push(name)
      if (!name.includes('preview')) throw new Error('ENOSPC: no space left on device')
      await blobs.put(name, blob)
    }
    const job = queuedJob({ id: randomUUID(), storeId: 'main' })
    await store.transaction((ledger) => ledger.addJob(job))
    let now = job.acceptedAt
    const picture = { bytes: new Uint8Array(9), type: 'image/jpeg' }
    const { work } = createWorker({
      config: { giveUpAfterMinutes: 60 },
      store,
      blobs: { ...blobs, put: full, get: async () => picture },
      generator: async () => ({ preview: picture, final: picture }),
      fetchPhoto: () => Promise.reject(new Error('nothing lies elsewhere')),
      garmentOf: async () => new Uint8Array(1),
      report: () => {},
      // each look at the clock is a minute and more after the one before
      clock: { now: () => (now += 61_000) },
    })
    await expect(work(job.id, 'render')).rejects.toThrow(PutOff)
    expect(put).toEqual([`${job.id}-preview.jpeg`, `${job.id}.jpeg`])
    expect((await store.job(job.id))?.state).toBe('queued')
    // nobody has a use for it by then
    now += 3_600_000
    await work(job.id, 'render')
    expect((await store.job(job.id))?.state).toBe('failed')
    expect(await blobs.get(`${job.id}-preview.jpeg`)).toBe(null)
  })
})

describe('a job that another process has done meanwhile', () => {
  it('keeps its pictures, though it fails here', async () => {
    const store = memoryStore()
    const blobs = memoryBlobs()
    const job = queuedJob({ id: randomUUID(), storeId: 'main' })
    await store.transaction((ledger) => ledger.addJob(job))
    const picture = { bytes: new Uint8Array(9), type: 'image/jpeg' }
    const pictures = { preview: `${job.id}-preview.jpeg`, final: `${job.id}.jpeg` }
    const { work } = createWorker({
      config: { giveUpAfterMinutes: 60 },
      store,
      blobs: { ...blobs, get: async () => picture },
      async generator() {
        for (const name of Object.values(pictures)) await blobs.put(name, picture)
        await store.transaction(async (ledger) => ledger.saveJob({ ...job, state: 'rendered', pictures }))
        throw new Error('this process could not')
      },
      fetchPhoto: () => Promise.reject(new Error('nothing lies elsewhere')),
      garmentOf: async () => new Uint8Array(1),
      report: () => {},
      clock: Date,
    })
    await work(job.id, 'render')
    expect((await store.job(job.id))?.state).toBe('rendered')
    expect(await Promise.all(Object.values(pictures).map((name) => blobs.get(name)))).toEqual([picture, picture])
  })
})

describe('a job whose store fails as it is at work', () => {
  const broken = new Error('the connection broke')

  async function queued() {
    const store = memoryStore()
    const blobs = memoryBlobs()
    const photo = { bytes: new Uint8Array(9), type: 'image/png' }
    const job = queuedJob({ id: randomUUID(), storeId: 'main', photo: { url: 'https://a.example/a.png' } })
    await store.transaction((ledger) => ledger.addJob(job))
    const reports: unknown[] = []
    const drawn: unknown[] = []
    const workerOn = (its: Store, itsBlobs = blobs, fetchPhoto = async () => photo) =>
      createWorker({
        config: { giveUpAfterMinutes: 60 },
        store: its,
        blobs: itsBlobs,
        async generator(given) {
          drawn.push(given)
          return { preview: photo, final: photo }
        },
        fetchPhoto,
        garmentOf: async () => new Uint8Array(1),
        report: (error) => reports.push(error),
        clock: Date,
      })
    const state = async () => (await store.job(job.id))?.state
    return { store, blobs, job, reports, drawn, workerOn, state }
  }

  it.each(['keepPhoto', 'transaction'] as const)('is put off and not failed: %s', async (call) => {
    const { store, job, reports, workerOn, state } = await queued()
    const first = workerOn({ ...store, [call]: () => Promise.reject(broken) })
    await expect(first.work(job.id, 'fetch')).rejects.toThrow(PutOff)
    expect([await state(), reports]).toEqual(['queued', [broken]])
    const { work } = workerOn(store)
    await work(job.id, 'fetch')
    await work(job.id, 'render')
    expect(await state()).toBe('rendered')
  })

  it.each([
    ['fetch', 'put'],
    ['render', 'get'],
  ] as const)('is put off and not failed, either, where that of its pictures does: %s, %s', async (stage, call) => {
    const { store, blobs, job, reports, workerOn, state } = await queued()
    const { work } = workerOn(store)
    if (stage === 'render') await work(job.id, 'fetch')
    const first = workerOn(store, { ...blobs, [call]: () => Promise.reject(broken) })
    await expect(first.work(job.id, stage)).rejects.toThrow(PutOff)
    expect([await state(), reports]).toEqual(['queued', [broken]])
    if (stage === 'fetch') await work(job.id, 'fetch')
    await work(job.id, 'render')
    expect(await state()).toBe('rendered')
  })

  it('fails where its photo ends the processes that look at it, wherever that is done', async () => {
    const { store, blobs, job, workerOn, state } = await queued()
    await workerOn(store).work(job.id, 'fetch')
    await workerOn(store, { ...blobs, get: () => Promise.reject(new EndsProcesses()) }).work(job.id, 'render')
    expect(await state()).toBe('failed')
  })

  it('is put off where it is a provider’s and this process has none, as another one may', async () => {
    const { store, job, reports, workerOn, state } = await queued()
    const { work } = workerOn(store)
    await work(job.id, 'fetch')
    await store.transaction(async (ledger) => ledger.saveJob({ ...(await ledger.job(job.id))!, provided: true }))
    await expect(work(job.id, 'render')).rejects.toThrow(PutOff)
    expect([await state(), reports]).toEqual(['queued', [expect.any(Error)]])
  })

  it('is fetched, too, where an earlier version has queued it for its rendering', async () => {
    const { store, job, workerOn, state } = await queued()
    const { work } = workerOn(store)
    await work(job.id, 'render')
    expect(await state()).toBe('queued')
    await work(job.id, 'render')
    expect(await state()).toBe('rendered')
  })

  it('is put off where there is no room for what is fetched', async () => {
    const { store, job, reports, workerOn, state } = await queued()
    const folder = await mkdtemp(join(tmpdir(), 'fitting-room-test-'))
    const cleaned = () => Promise.reject(new Error('nothing arrives'))
    const take = intakeByFile(cleaned, folder)
    await rm(folder, { recursive: true })
    const request = new Request('http://a.example', { method: 'PUT', body: new Uint8Array(9) })
    const intake = () => take(request, { atMost: 9, longestMs: 60_000 }, { kind: 'job', of: 'main' }) as Promise<never>
    await expect(workerOn(store, undefined, intake).work(job.id, 'fetch')).rejects.toThrow(PutOff)
    expect([await state(), reports]).toEqual(['queued', [expect.objectContaining({ code: 'ENOENT' })]])
  })

  it('is drawn once where it was passed on, and only the answer was lost', async () => {
    const { store, job, drawn, workerOn, state } = await queued()
    const first = workerOn({
      ...store,
      transaction: (work) => store.transaction(work).then(() => Promise.reject(broken)),
    })
    await expect(first.work(job.id, 'fetch')).rejects.toThrow(PutOff)
    const { work } = workerOn(store)
    await work(job.id, 'fetch')
    expect([await state(), drawn.length]).toEqual(['queued', 0])
    await work(job.id, 'render')
    expect([await state(), drawn.length]).toEqual(['rendered', 1])
  })
})

describe('a photo that two processes have fetched', () => {
  const photo = { bytes: new Uint8Array(9), type: 'image/png' }
  const stalled = async (end: (bring: (photo: Blob) => void, fail: (error: Error) => void) => void) => {
    const store = memoryStore()
    const blobs = memoryBlobs()
    const put: string[] = []
    const job = queuedJob({ id: randomUUID(), storeId: 'main', photo: { url: 'https://a.example/a.png' } })
    await store.transaction((ledger) => ledger.addJob(job))
    let bring: (photo: Blob) => void = () => {}
    let fail: (error: Error) => void = () => {}
    const late = new Promise<Blob>((resolve, reject) => ([bring, fail] = [resolve, reject]))
    const workerOf = (fetchPhoto: () => Promise<Blob>) =>
      createWorker({
        config: { giveUpAfterMinutes: 60 },
        store,
        blobs: { ...blobs, put: (name, blob) => (put.push(name), blobs.put(name, blob)) },
        generator: async () => ({ preview: photo, final: photo }),
        fetchPhoto,
        garmentOf: async () => new Uint8Array(1),
        report: () => {},
        clock: Date,
      })
    const stale = workerOf(() => late).work(job.id, 'fetch')
    const other = workerOf(async () => photo)
    await other.work(job.id, 'fetch')
    end(bring, fail)
    await stale
    expect((await store.job(job.id))?.state).toBe('queued')
    await other.work(job.id, 'render')
    expect((await store.job(job.id))?.state).toBe('rendered')
    return Promise.all(put.filter((name) => !name.endsWith('.jpeg')).map((name) => blobs.get(name)))
  }

  it('is drawn, though the later one could not have it', async () => {
    expect(await stalled((_, fail) => fail(new PhotoNotAccessible()))).toEqual([null])
  })

  it('is kept by neither of them', async () => {
    expect(await stalled((bring) => bring(photo))).toEqual([null, null])
  })
})

describe('below HTTP', () => {
  it('what is no request gets an error body with CORS headers', async () => {
    const { url, close } = await serve({ config: parseConfig(suiteConfig) }, 0)
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let answer = ''
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
    socket.write('GET http://[ HTTP/9\r\n\r\n')
    await new Promise((resolve) => socket.once('close', resolve))
    expect(answer).toMatch(/^HTTP\/1\.1 400/)
    expect(answer).toContain('Access-Control-Allow-Origin: *')
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ error: 'Invalid request' })
    await close()
  })
})

describe('requests that are sent without waiting for answers', () => {
  it('are few: the last one’s answer ends the connection, and the others are not carried out', async () => {
    const taken: string[] = []
    const inner = memoryBlobs()
    const blobs = { ...inner, get: (name: string) => (taken.push(name), inner.get(name)) }
    const { url, close } = await serve({ config: parseConfig(suiteConfig), blobs }, 0)
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let answers = ''
    socket.on('data', (chunk: Buffer) => (answers += chunk.toString()))
    const names = Array.from({ length: 2_000 }, (_, at) => `${at}.png`)
    socket.write(names.map((name) => `GET /photos/${name} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''))
    await once(socket, 'close')
    expect(taken).toEqual(['0.png', '1.png', '2.png', '3.png'])
    expect(answers.match(/HTTP\/1\.1 404 /g)?.length).toBe(4)
    expect(answers).toMatch(/^connection: close\r$/im)
    await close()
  })

  it('are all answered where one comes before the one before has ended', async () => {
    const { url, close } = await serve({ config: parseConfig(suiteConfig) }, 0)
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let answers = ''
    socket.on('data', (chunk: Buffer) => (answers += chunk.toString()))
    const count = () => answers.match(/Picture not found/g)?.length
    for (let pair = 1; pair <= 20; pair++) {
      socket.write('GET /photos/none.png HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2))
      await expect.poll(count).toBe(2 * pair)
    }
    socket.end()
    await close()
  })

  it.each([
    ['what is no HTTP', '', '\u0001garbage\r\n\r\n'],
    ['another one, though it was to be the last', 'Connection: close\r\n', 'GET /funnel HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])('are answered though %s comes right behind, and the connection ends', async (_, header, behind) => {
    const { url, close } = await serve({ config: parseConfig(suiteConfig) }, 0)
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let answers = ''
    socket.on('data', (chunk: Buffer) => (answers += chunk.toString()))
    const body = JSON.stringify({ email: 'a@example.com', uniqueUserId: 'behind' })
    const head = `Host: a\r\nX-Service-SDK-Key: main-key\r\nContent-Type: application/json\r\n${header}`
    socket.write(`POST /customer-register HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}${behind}`)
    await once(socket, 'close')
    expect(answers.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 200'])
    expect(answers).toContain('"uniqueUserId":"behind"')
    await close()
  })

  it('are answered in their order though what is no HTTP comes while one that was carried out waits for one that was not', async () => {
    const looked = deferred()
    const inner = memoryBlobs()
    const blobs = { ...inner, get: (name: string) => looked.promise.then(() => inner.get(name)) }
    const { url, close } = await serve({ config: parseConfig(suiteConfig), blobs }, 0)
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let answers = ''
    socket.on('data', (chunk: Buffer) => (answers += chunk.toString()))
    const body = JSON.stringify({ email: 'a@example.com', uniqueUserId: 'behind' })
    const head = 'Host: a\r\nX-Service-SDK-Key: main-key\r\n'
    socket.write(
      `GET /photos/none.png HTTP/1.1\r\n${head}\r\nPOST /customer-register HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    const registered = async () => {
      const answer = await fetch(`${url}/requests-left?uniqueUserId=behind`, { headers })
      return ((await answer.json()) as { data: VisitorStatus }).data.requestsLeft
    }
    await expect.poll(registered).toBe(-1)
    socket.write('\u0001garbage\r\n\r\n')
    // it comes after that on a socket of its own
    await registered()
    looked.resolve()
    await once(socket, 'close')
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200'])
    await close()
  })

  it('are not waited for where one does not end, as what comes is no HTTP any more', async () => {
    const { url, close } = await serve({ config: parseConfig(suiteConfig) }, 0)
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let answers = ''
    socket.on('data', (chunk: Buffer) => (answers += chunk.toString()))
    const head = 'Host: a\r\nX-Service-SDK-Key: main-key\r\nContent-Type: application/json\r\n'
    socket.write(`POST /customer-register HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"ema\r\nno length`)
    await once(socket, 'close')
    expect(answers).toMatch(/^HTTP\/1\.1 400 /)
    await close()
  })

  it('are answered one after the other where each waits for the one before', async () => {
    const { url, close } = await serve({ config: parseConfig(suiteConfig) }, 0)
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    for (let at = 0; at < 50; at++) {
      socket.write('GET /photos/none.png HTTP/1.1\r\nHost: a\r\n\r\n')
      const [chunk] = (await once(socket, 'data')) as [Buffer]
      expect(chunk.toString()).toMatch(/^HTTP\/1\.1 404 [^]*Picture not found/)
    }
    socket.end()
    await close()
  })
})

describe('the client’s address', () => {
  it('is the socket’s unless a trusted proxy says otherwise, in one spelling', async () => {
    const config = parseConfig({ ...suiteConfig, trustedProxies: ['::ffff:127.0.0.1', '10.0.0.1'] })
    const service = createService({ config, publicUrl: 'http://service.test' })
    const visitorOf = async (ip: string, forwarded?: string) => {
      const given = { ...headers, ...(forwarded && { 'X-Forwarded-For': forwarded }) }
      const answer = await service.fetch(new Request('http://service.test/requests-left', { headers: given }), { ip })
      return (await answer.json()).data.uniqueUserId as string
    }
    const own = await visitorOf('1.1.1.1')
    for (const forwarded of ['1.1.1.1', '1.1.1.1:5555', '::FFFF:1.1.1.1', '9.9.9.9, 1.1.1.1', '1.1.1.1, 10.0.0.1']) {
      expect([forwarded, await visitorOf('127.0.0.1', forwarded)]).toEqual([forwarded, own])
    }
    expect(await visitorOf('2.2.2.2', '1.1.1.1')).not.toBe(own)
    await service.close()
  })
})

it('a store in memory waits for no job for ever as it ends', async () => {
  vi.useFakeTimers()
  try {
    const store = memoryStore()
    await store.transaction((ledger) => ledger.addJob(queuedJob({ id: randomUUID(), storeId: 'main' })))
    const work = vi.fn<(jobId: string) => Promise<void>>(() => new Promise(() => {}))
    await store.run(work, work)
    const closed = store.close()
    await vi.advanceTimersByTimeAsync(60_000)
    await closed
    expect(work).toHaveBeenCalledOnce()
  } finally {
    vi.useRealTimers()
  }
})
