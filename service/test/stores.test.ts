import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createService,
  memoryStore,
  openFolderStore,
  openServerStore,
  parseConfig,
  type Service,
  type Store,
} from '@fitting-room/service'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { suiteConfig } from '../../test/support/suite-config.ts'
import { startPostgresServer, type PostgresServer } from './postgres-server.ts'

const report = (error: unknown) => console.error(error)
const url = 'http://service.test'
const headers = { 'X-Service-SDK-Key': 'main-key', 'Content-Type': 'application/json' }

/** One store whose shoppers may have five try-ons, and which has so many credits. */
const configOf = (credits: number | null) =>
  parseConfig({
    ...suiteConfig,
    stores: suiteConfig.stores.map((store) => ({
      ...store,
      email: null,
      credits,
      tryOnCap: { max: 5, windowSeconds: 3_600, message: 'Enough' },
    })),
  })

function submit(service: Service, at: number, uniqueUserId: string, variantId = '2001'): Promise<Response> {
  const body = JSON.stringify({
    funnelId: 12,
    productId: '1001',
    variantId,
    imageUrl: 'http://service.test/photos/none.png',
    uniqueUserId,
  })
  // each from an address of its own
  const ip = `10.0.${Math.floor(at / 250)}.${at % 250}`
  return service.fetch(new Request(`${url}/generations`, { method: 'POST', headers, body }), { ip })
}

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgresServer()
})
afterAll(() => server.close())

const kinds: [string, () => Promise<{ store: Store; release(): Promise<void> }>][] = [
  ['in memory', async () => ({ store: memoryStore(), release: async () => {} })],
  [
    'in a folder',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'service-'))
      return { ...(await openFolderStore(folder, { report })), release: () => rm(folder, { recursive: true }) }
    },
  ],
  [
    'in PostgreSQL',
    async () => ({ ...(await openServerStore(await server.newDatabase(), { report })), release: async () => {} }),
  ],
]

describe.each(kinds)('a store %s', (_, open) => {
  /** The statuses of 200 submissions at once, and how many are accepted. */
  async function accepted(credits: number | null, shopperOf: (at: number) => string, config = configOf(credits)) {
    const { store, release } = await open()
    // nobody works on the jobs, so that none fails and gives its credit back
    const service = createService({ config, publicUrl: url, store, works: false, report })
    const answers = await Promise.all(Array.from({ length: 200 }, (_, at) => submit(service, at, shopperOf(at))))
    await service.close()
    await release()
    return answers.filter(({ status }) => status === 200).length
  }

  it('lets through 200 submissions of one shopper at once as many as the cap says', async () => {
    expect(await accepted(null, () => 'one')).toBe(5)
  })

  it('lets through 200 submissions of as many shoppers as there are credits', async () => {
    expect(await accepted(37, (at) => `shopper ${at}`)).toBe(37)
  })

  it('gives the credit of a failed job back, and neither its count nor its place under the cap', async () => {
    const { store, release } = await open()
    const service = createService({ config: configOf(1), publicUrl: url, store, report: () => {} })
    for (let at = 0; at < 5; at += 1) {
      const answer = await submit(service, at, 'one', '2003')
      expect(answer.status).toBe(200)
      const { data } = (await answer.json()) as { data: { jobId: string } }
      await expect.poll(async () => (await store.job(data.jobId))?.state, { timeout: 15_000 }).toBe('failed')
    }
    expect((await submit(service, 6, 'one', '2001')).status).toBe(429)
    expect((await store.visitor('main', 'one'))?.counted).toBe(5)
    await service.close()
    await release()
  })

  it('keeps nothing of a submission that could not be queued', async () => {
    const { store, release } = await open()
    const transaction: Store['transaction'] = (work) =>
      store.transaction((ledger) =>
        work({ ...ledger, addJob: (job) => ledger.addJob(job).then(() => Promise.reject(new Error('queue down'))) }),
      )
    const reports: unknown[] = []
    const service = createService({
      config: configOf(1),
      publicUrl: url,
      store: { ...store, transaction },
      report: (error) => reports.push(error),
    })
    const refused = await submit(service, 0, 'one')
    expect([refused.status, await refused.json()]).toEqual([500, { error: 'Could not create generation' }])
    expect(reports).toHaveLength(1)
    expect(await store.visitor('main', 'one')).toBe(null)
    await service.close()
    await release()
  })
})

describe('several processes on one PostgreSQL', () => {
  it('have one count of a client’s requests, and one key of upload targets', async () => {
    const address = await server.newDatabase()
    const config = parseConfig(suiteConfig)
    const [one, other] = await Promise.all(
      [0, 1].map(async () =>
        createService({ config, publicUrl: url, report, ...(await openServerStore(address, { report })) }),
      ),
    )
    const ask = (service: Service) =>
      service.fetch(new Request(`${url}/funnel?funnelIds=12`, { headers }), { ip: '203.0.113.9' })
    const statuses: number[] = []
    for (let at = 0; at < 121; at += 1) statuses.push((await ask(at % 2 === 0 ? one! : other!)).status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(120)
    expect(statuses.at(-1)).toBe(429)
    const upload = new Request(`${url}/uploads`, { method: 'POST', headers, body: '{"contentType":"image/png"}' })
    const { data } = (await (await one!.fetch(upload, { ip: '203.0.113.10' })).json()) as {
      data: { uploadUrl: string }
    }
    const put = new Request(data.uploadUrl, { method: 'PUT', body: 'x', headers: { 'Content-Type': 'image/png' } })
    expect((await other!.fetch(put)).status).toBe(200)
    await Promise.all([one!.close(), other!.close()])
  })

  it('do the jobs of each other', async () => {
    const address = await server.newDatabase()
    const config = configOf(null)
    const api = createService({
      config,
      publicUrl: url,
      report,
      works: false,
      ...(await openServerStore(address, { report })),
    })
    const worker = await openServerStore(address, { report })
    const working = createService({ config, publicUrl: url, report, ...worker })
    const answer = await submit(api, 0, 'one', '2003')
    const { data } = (await answer.json()) as { data: { jobId: string } }
    await expect.poll(async () => (await worker.store.job(data.jobId))?.state, { timeout: 15_000 }).toBe('failed')
    await Promise.all([api.close(), working.close()])
  })
})
