import { createService, memoryBlobs, memoryStore, parseConfig, type Job } from '@fitting-room/service'
import { describe, expect, it, onTestFinished } from 'vitest'
import { suiteConfig } from '../../test/support/suite-config.ts'
import { createLog } from '../src/operation/log.ts'
import { createMetrics } from '../src/operation/metrics.ts'
import { redacted } from '../src/operation/redacted.ts'
import { serveOperation } from '../src/operation/serve-operation.ts'

const headers = { 'X-Service-SDK-Key': 'main-key', 'Content-Type': 'application/json' }

/** The service as the command makes it, with what it logs. */
async function operated(store = memoryStore(), isServing = true) {
  const lines: string[] = []
  const log = createLog(() => ['main-key'], { write: (line) => void lines.push(line) })
  const metrics = createMetrics(store.waiting)
  const operation = await serveOperation({ store, metrics }, { host: '127.0.0.1', port: 0 })
  const ended: Job[] = []
  operation.serves(isServing)
  const service = createService({
    config: parseConfig(suiteConfig),
    publicUrl: 'http://service.test',
    store,
    blobs: memoryBlobs(),
    report: log.report,
    observer: {
      answered: metrics.answered,
      ended(job, seconds) {
        metrics.ended(job, seconds)
        log.ended(job)
        ended.push(job)
      },
    },
  })
  onTestFinished(async () => {
    await service.close()
    await operation.close()
  })
  const call = (path: string, init: RequestInit = {}) =>
    service.fetch(new Request(`http://service.test${path}`, { headers, ...init }))
  const look = async (path: string) => {
    const answer = await fetch(operation.url + path)
    return [answer.status, await answer.text()] as const
  }
  return { lines, operation, call, look, ended, log }
}

const order = (variantId: string) => ({
  method: 'POST',
  body: JSON.stringify({
    funnelId: 12,
    productId: '1001',
    variantId,
    imageUrl: 'http://service.test/photos/none.png',
    uniqueUserId: 'somebody',
    customerEmail: 'shopper@example.com',
  }),
})

describe('for whoever runs the service', () => {
  it('it is alive, and ready while its store answers and it is not about to end', async () => {
    const inner = memoryStore()
    let isBroken = false
    const { look, operation } = await operated({
      ...inner,
      job: (id) => (isBroken ? Promise.reject(new Error('gone')) : inner.job(id)),
    })
    expect([await look('/health'), await look('/ready')]).toEqual([
      [200, 'alive'],
      [200, 'ready'],
    ])
    isBroken = true
    expect([await look('/health'), await look('/ready')]).toEqual([
      [200, 'alive'],
      [503, 'not ready'],
    ])
    isBroken = false
    expect(await look('/ready')).toEqual([200, 'ready'])
    operation.serves(false)
    expect(await look('/ready')).toEqual([503, 'not ready'])
  })

  it('it is alive, and not ready, before it serves', async () => {
    const { look } = await operated(memoryStore(), false)
    expect([await look('/health'), await look('/ready')]).toEqual([
      [200, 'alive'],
      [503, 'not ready'],
    ])
  })

  it('requests and jobs are counted, by names of which there are few', async () => {
    const { call, look, ended } = await operated()
    await call('/generations', order('2001'))
    await expect.poll(() => ended.length).toBe(1)
    for (const path of ['/funnel?funnelIds=12', `/generations/${crypto.randomUUID()}`, '/photos/a.png', '/a/b', '/c'])
      await call(path)
    await call('/funnel', { method: 'DELETE' })
    const [, text] = await look('/metrics')
    const counted = [...text.matchAll(/^fitting_room_request_seconds_count\{(.*)\} (\d+)$/gm)].map(
      ([, labels, count]) => `${labels} ${count}`,
    )
    expect(counted.toSorted()).toEqual([
      'operation="createGeneration",status="200" 1',
      'operation="getFunnel",status="200" 1',
      'operation="getGeneration",status="404" 1',
      'operation="other",status="404" 2',
      'operation="other",status="405" 1',
      'operation="photos",status="404" 1',
    ])
    expect(text).toContain('fitting_room_jobs_ended_total{state="failed"} 1')
    expect(text).toContain('fitting_room_job_seconds_count 1')
  })

  it('how many jobs wait is told, and nothing where that is not known', async () => {
    const inner = memoryStore()
    let isBroken = false
    const { look } = await operated({
      ...inner,
      waiting: async () => {
        if (isBroken) throw new Error('gone')
        return { fetch: 3, render: 20 }
      },
    })
    const waiting = async () => {
      const [status, text] = await look('/metrics')
      return [status, ...(text.match(/^fitting_room_jobs_waiting.*$/gm) ?? [])]
    }
    expect(await waiting()).toEqual([
      200,
      'fitting_room_jobs_waiting{stage="fetch"} 3',
      'fitting_room_jobs_waiting{stage="render"} 20',
    ])
    isBroken = true
    expect(await waiting()).toEqual([200])
  })

  it('a failed job is a line, which tells nobody who the shopper is', async () => {
    const { call, lines, ended } = await operated()
    const { data } = (await (await call('/generations', order('2001'))).json()) as { data: { jobId: string } }
    await expect.poll(() => ended.length).toBe(1)
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { store: 'main', product: '1001', error: 'The photo is not accessible', msg: 'a job failed' },
    ])
    for (const secret of [data.jobId, 'somebody', 'shopper@example.com', 'none.png', 'main-key'])
      expect(lines.join('')).not.toContain(secret)
  })

  it('an error is a line with what caused it, without addresses, e-mail addresses and keys', async () => {
    const { log, lines } = await operated()
    const cause = new Error('postgres://user:password@db.example/x refused shopper@example.com')
    log.report(new TypeError('GET https://cdn.example/photo.png?signature=1 with main-key failed', { cause }))
    log.report('nothing but a text with main-key')
    log.report(`${'a'.repeat(200)}@shop.example saw photo_https://cdn.example/x.png and file:///srv/app.js`)
    const [first, second, third] = lines.map((line) => JSON.parse(line) as { error: any })
    expect(first?.error).toMatchObject({
      type: 'TypeError',
      message: 'GET [address] with [key] failed',
      cause: { message: '[address] refused [e-mail]' },
    })
    expect(first?.error.stack).toContain('operation.test.ts')
    expect(second?.error).toEqual({ message: 'nothing but a text with [key]' })
    expect(third?.error).toEqual({ message: '[e-mail] saw photo_[address] and file:///srv/app.js' })
  })

  it('a key that has an address, an e-mail address or an ID in it is in no line in part', async () => {
    const keys = [
      'shop@acme.example-7f3a9c51',
      `k:${crypto.randomUUID()}:tail9secret`,
      'abc://topsecret)rest',
      'shop@acm',
    ]
    expect(redacted(`refused: ${keys.join(' ')} https://cdn.example/${keys[0]}.png`, keys)).toBe(
      'refused: [key] [key] [key] [key] [address]',
    )
  })

  it('an error of any length is a short line, whose end is no half of an address', async () => {
    const { log, lines } = await operated()
    log.report(`refused: ${'a '.repeat(1_990)}shopper@example.com ${'b'.repeat(100_000)}`)
    const [{ error }] = lines.map((line) => JSON.parse(line) as { error: { message: string } }) as [any]
    expect([error.message.length < 4_100, error.message.endsWith('a …')]).toEqual([true, true])
  })

  it('an error with a file is a line without the name of a photo or picture, which is its address', async () => {
    const { log, lines } = await operated()
    const id = crypto.randomUUID()
    for (const name of [`${id}.jpeg`, `${id}-preview.jpeg`, `anna-schmidt-${id}.png`])
      log.report(new Error(`EMFILE: too many open files, open '/data/pictures/${name}'`))
    const messages = lines.map((line) => (JSON.parse(line) as { error: { message: string } }).error.message)
    expect(new Set(messages)).toEqual(new Set(["EMFILE: too many open files, open '/data/pictures/[name]'"]))
    expect(lines.join('')).not.toMatch(new RegExp(`${id}|anna`))
  })
})
