import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createService, openServerStore, parseConfig, type Config, type Service } from '@fitting-room/service'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { suiteConfig } from '../../test/support/suite-config.ts'
import { png } from './contract.suite.ts'
import { openPool, startPostgresServer, type PostgresServer } from './postgres-server.ts'
import { configOf, headers, report, submit, url } from './submissions.ts'

const operating = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8')

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgresServer()
})
afterAll(() => server.close())

describe('several processes on one PostgreSQL', () => {
  /** One that answers, and does no job. */
  const apiOn = async (address: string, config: Config) =>
    createService({ config, publicUrl: url, report, works: false, ...(await openServerStore(address, { report })) })

  it.each([
    ['as many as the cap says, of one shopper', null, () => 'one', 5],
    ['as many as there are credits', 37, (at: number) => `shopper ${at}`, 37],
  ])('let through together %s', async (_, credits, shopperOf, allowed) => {
    const address = await server.newDatabase()
    const services = await Promise.all([apiOn(address, configOf(credits)), apiOn(address, configOf(credits))])
    const answers = Array.from({ length: 200 }, (_, at) => submit(services[at % 2]!, at, shopperOf(at)))
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(allowed)
    await Promise.all(services.map((service) => service.close()))
  })

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
    const asked = Array.from({ length: 200 }, (_, at) => ask(at % 2 === 0 ? one! : other!))
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(120)
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    const upload = new Request(`${url}/uploads`, { method: 'POST', headers, body: '{"contentType":"image/png"}' })
    const { data } = (await (await one!.fetch(upload, { ip: '203.0.113.10' })).json()) as {
      data: { uploadUrl: string }
    }
    const put = new Request(data.uploadUrl, { method: 'PUT', body: png, headers: { 'Content-Type': 'image/png' } })
    expect((await other!.fetch(put)).status).toBe(200)
    await Promise.all([one!.close(), other!.close()])
  })

  it('have no more connections each than operators are told', async () => {
    const address = await server.newDatabase()
    const service = await apiOn(address, configOf(null))
    const looker = openPool({ connectionString: address, max: 1 })
    let most = 0
    const looked = (async () => {
      for (let look = 0; look < 20; look += 1) {
        const { rows } = await looker.query(
          'select count(*)::integer as count from pg_stat_activity where datname = current_database()',
        )
        most = Math.max(most, Number(rows[0].count) - 1)
      }
    })()
    await Promise.all(Array.from({ length: 300 }, (_, at) => submit(service, at, `shopper ${at}`)))
    await looked
    await looker.end()
    await service.close()
    const [, told] = /at most (\d+) connections/.exec(operating) ?? []
    expect([most > 1, most <= Number(told)]).toEqual([true, true])
  })

  it('do the jobs of each other', async () => {
    const address = await server.newDatabase()
    const config = configOf(null)
    const api = await apiOn(address, config)
    const worker = await openServerStore(address, { report })
    const working = createService({ config, publicUrl: url, report, ...worker })
    const answer = await submit(api, 0, 'one', '2003')
    const { data } = (await answer.json()) as { data: { jobId: string } }
    await expect.poll(async () => (await worker.store.job(data.jobId))?.state).toBe('failed')
    await Promise.all([api.close(), working.close()])
  })

  /** A process that takes a job, says its ID and never ends it; it closes its store as it is asked to end. */
  const holder = (address: string) =>
    spawn(process.execPath, [
      '--conditions=fitting-room-source',
      '--input-type=module',
      '--eval',
      `import { openServerStore } from '@fitting-room/service'
       const { store } = await openServerStore('${address}', { report: console.error })
       const hold = (id) => (console.log(id), new Promise(() => {}))
       await store.run(hold, hold)
       process.on('SIGTERM', () => store.close().then(() => process.exit(0)))`,
    ])
  const saidBy = async ({ stdout }: ReturnType<typeof holder>) =>
    ((await once(stdout, 'data')) as [Buffer])[0].toString().trim()

  it('hand back what they are at and do not end as they are asked to end', async () => {
    const address = await server.newDatabase()
    const api = await apiOn(address, configOf(1))
    const ended = holder(address)
    const { data } = (await (await submit(api, 0, 'one', '2003')).json()) as { data: { jobId: string } }
    expect(await saidBy(ended)).toBe(data.jobId)
    ended.kill('SIGTERM')
    expect(await once(ended, 'exit')).toEqual([0, null])
    const pool = openPool({ connectionString: address })
    const { rows } = await pool.query('select state, retry_count from fitting_room_queue.job where name = $1', [
      'render',
    ])
    await pool.end()
    // it is nobody's, before anybody has noticed that its process is silent
    expect(rows).toEqual([{ state: 'retry', retry_count: 0 }])
    const working = createService({
      config: configOf(1),
      publicUrl: url,
      report,
      ...(await openServerStore(address, { report })),
    })
    await expect.poll(async () => (await submit(api, 1, 'another', '2003')).status).toBe(200)
    await Promise.all([api.close(), working.close()])
  })

  it('do the jobs of one that was killed', async () => {
    const address = await server.newDatabase()
    const config = configOf(null)
    const api = await apiOn(address, config)
    const killed = holder(address)
    const { data } = (await (await submit(api, 0, 'one', '2003')).json()) as { data: { jobId: string } }
    expect(await saidBy(killed)).toBe(data.jobId)
    killed.kill('SIGKILL')
    const worker = await openServerStore(address, { report })
    const working = createService({ config, publicUrl: url, report, ...worker })
    // once it has been silent for long enough
    await expect.poll(async () => (await worker.store.job(data.jobId))?.state).toBe('failed')
    await Promise.all([api.close(), working.close()])
  })

  it('give up a job that is too old, with its credit given back', async () => {
    const address = await server.newDatabase()
    const api = await apiOn(address, configOf(1))
    const { data } = (await (await submit(api, 0, 'one')).json()) as { data: { jobId: string } }
    const reports: Error[] = []
    const worker = await openServerStore(address, { report })
    const working = createService({
      config: configOf(1),
      publicUrl: url,
      ...worker,
      clock: { now: () => Date.now() + 3_600_000 },
      report: (error) => reports.push(error as Error),
    })
    await expect.poll(async () => (await worker.store.job(data.jobId))?.state).toBe('failed')
    expect(reports.map(({ message }) => message)).toEqual(['a job was too old to be done'])
    expect((await submit(api, 1, 'another')).status).toBe(200)
    await Promise.all([api.close(), working.close()])
  })
})
