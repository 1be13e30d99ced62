import { createService, fileBlobs, memoryStore, parseConfig, serve, type Store } from '@fitting-room/service'
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { intakeByFile } from '../src/file-intake.ts'
import { suiteConfig } from '../../test/support/suite-config.ts'

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
