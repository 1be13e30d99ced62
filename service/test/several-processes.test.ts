import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createService, openServerStore, parseConfig, type Config, type Service } from '@fitting-room/service'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Ledger } from '../src/ports.ts'
import { suiteConfig } from '../../test/support/suite-config.ts'
import { png } from './contract.suite.ts'
import { openPool, startPostgresServer, type PostgresServer } from './postgres-server.ts'
import { queuedJob } from './queued-job.ts'
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

  it('refuse what the database does not take, and nothing that came with it', async () => {
    const { store } = await openServerStore(await server.newDatabase(), { report })
    const save = (at: number) => async (ledger: Ledger) => {
      const visitor = await ledger.visitor('main', `shopper ${at}`)
      // not waited for, as all writes
      void ledger.saveVisitor({ ...visitor, counted: 1, name: at === 7 ? 'no text: \0' : null })
    }
    const ends = await Promise.allSettled(Array.from({ length: 20 }, (_, at) => store.transaction(save(at))))
    expect(ends.flatMap(({ status }, at) => (status === 'rejected' ? at : []))).toEqual([7])
    expect([
      (await store.visitor('main', 'shopper 7')).counted,
      (await store.visitor('main', 'shopper 8')).counted,
    ]).toEqual([0, 1])
    await store.close()
  })

  it('take no credit more than there is of a store that had more once, and all that there are of one that is new', async () => {
    const address = await server.newDatabase()
    const stores = await Promise.all([0, 1, 2].map(async () => (await openServerStore(address, { report })).store))
    const takeAtOnce = async (storeId: string, credits: number, count: number) => {
      const takes = Array.from({ length: count }, (_, at) =>
        stores[at % 3]!.transaction((ledger) => ledger.takeCredit(storeId, credits)),
      )
      return (await Promise.all(takes)).filter((taken) => taken !== null).length
    }
    expect(await takeAtOnce('new', 40, 30)).toBe(30)
    expect(await takeAtOnce('new', 40, 30)).toBe(10)
    for (let round = 0; round < 5; round += 1) {
      const storeId = `had more ${round}`
      await stores[0]!.transaction((ledger) => ledger.takeCredit(storeId, 160))
      const pool = openPool({ connectionString: address })
      await pool.query('update fitting_room.credits set used = 10 * (shard = 3)::integer where store_id = $1', [
        storeId,
      ])
      await pool.end()
      expect(await takeAtOnce(storeId, 16, 30)).toBe(6)
    }
    await Promise.all(stores.map((store) => store.close()))
  })

  it('wait for each other nowhere in a circle, whatever shoppers they have together', async () => {
    const address = await server.newDatabase()
    const stores = await Promise.all([0, 1].map(async () => (await openServerStore(address, { report })).store))
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    let holding = 0
    const count = async (ledger: Ledger, id: string) => {
      const visitor = await ledger.visitor('main', id)
      await ledger.saveVisitor({ ...visitor, counted: visitor.counted + 1 })
    }
    const all = stores.flatMap((store, at) => {
      const [mine, others] = at === 0 ? ['one', 'another'] : ['another', 'one']
      // of one turn, so of one transaction
      return [
        store.transaction(async (ledger) => {
          await count(ledger, mine)
          if (++holding === 2) release()
          await held
        }),
        store.transaction(async (ledger) => {
          await held
          await count(ledger, others)
        }),
      ]
    })
    await Promise.all(all)
    const counts = await Promise.all(['one', 'another'].map((id) => stores[0]!.visitor('main', id)))
    expect(counts.map(({ counted }) => counted)).toEqual([2, 2])
    const pool = openPool({ connectionString: address })
    const { rows } = await pool.query('select deadlocks from pg_stat_database where datname = current_database()')
    expect(Number(rows[0].deadlocks)).toBe(0)
    await pool.end()
    await Promise.all(stores.map((store) => store.close()))
  })

  it('hold nobody up for a shopper whom somebody else has for long', async () => {
    const address = await server.newDatabase()
    const [one, other] = await Promise.all([0, 1].map(async () => (await openServerStore(address, { report })).store))
    let letGo = () => {}
    let isHeld = () => {}
    const held = new Promise<void>((resolve) => (isHeld = resolve))
    const holder = one!.transaction(async (ledger) => {
      await ledger.visitor('main', 'held')
      isHeld()
      await new Promise<void>((resolve) => (letGo = resolve))
    })
    await held
    const read = (id: string) => other!.transaction((ledger) => ledger.visitor('main', id))
    const waiting = Array.from({ length: 8 }, () => read('held'))
    const all = await Promise.all(Array.from({ length: 50 }, (_, at) => read(`shopper ${at}`)))
    expect(all).toHaveLength(50)
    // alone, too, as nobody has written them down
    await other!.transaction((ledger) => ledger.takeCredit('first of its store', 10))
    letGo()
    await Promise.all([holder, ...waiting])
    await Promise.all([one!.close(), other!.close()])
  })

  it('hold nobody up for credits, a try-on or a photo that somebody else has for long', async () => {
    const address = await server.newDatabase()
    const { store } = await openServerStore(address, { report })
    const job = queuedJob({ id: randomUUID(), storeId: 'main' })
    await store.keepPhoto('held.png', 1)
    await store.transaction(async (ledger) => {
      await ledger.takeCredit('main', 100)
      await ledger.addJob(job)
    })
    for (let at = 0; at < 3; at += 1) await store.transaction((ledger) => ledger.takeCredit('used up', 3))
    const pool = openPool({ connectionString: address, max: 1 })
    await pool.query('begin')
    for (const table of ['credits', 'jobs', 'photos'])
      await pool.query(`select 1 from fitting_room.${table} for update`)

    const kept: string[] = []
    // of one turn, so of one transaction
    const waiting = [
      store.transaction((ledger) => ledger.takeCredit('main', 100)),
      store.transaction((ledger) => ledger.giveCreditBack('main')),
      store.transaction((ledger) => ledger.job(job.id)),
    ].map((each, at) => each.then(() => kept.push(`waited ${at}`)))
    const atOnce = await Promise.all([
      store.transaction((ledger) => ledger.takeCredit('used up', 3)),
      store.transaction((ledger) => ledger.job(randomUUID())),
      store.transaction((ledger) => ledger.usePhoto('held.png', 2)),
      store.transaction(async (ledger) => (await ledger.visitor('main', 'another')).counted),
    ])
    expect([atOnce, kept]).toEqual([[null, null, undefined, 0], []])
    await pool.query('commit')
    await Promise.all(waiting)
    const { rows } = await pool.query('select sum(used)::integer as used from fitting_room.credits group by store_id')
    expect(new Set(rows.map(({ used }) => used))).toEqual(new Set([1, 3]))
    await pool.end()
    await store.close()
  })

  it('leave each other credits of one store, however many are taken at once', async () => {
    const address = await server.newDatabase()
    const [one, other] = await Promise.all([0, 1].map(async () => (await openServerStore(address, { report })).store))
    const take = (ledger: Ledger) => ledger.takeCredit('main', 1_000)
    await one!.transaction(take)
    let letGo = () => {}
    const until = new Promise<void>((resolve) => (letGo = resolve))
    let holding = 0
    let haveAll = () => {}
    const held = new Promise<void>((resolve) => (haveAll = resolve))
    const holders = Array.from({ length: 60 }, () =>
      one!.transaction(async (ledger) => {
        const taken = await take(ledger)
        if (++holding === 60) haveAll()
        await until
        return taken
      }),
    )
    await held
    const taken = await Promise.all(Array.from({ length: 60 }, () => other!.transaction(take)))
    expect(taken).not.toContain(null)
    letGo()
    await Promise.all(holders)
    await Promise.all([one!.close(), other!.close()])
  })

  it('give a credit back of whose rows each was emptied while it was waited for', async () => {
    const address = await server.newDatabase()
    const { store } = await openServerStore(address, { report })
    const [holder, others] = [0, 1].map(() => openPool({ connectionString: address, max: 1 }))
    const use = (shard: number, more: number) =>
      `update fitting_room.credits set used = used + ${more} where store_id = 'main' and shard = ${shard}`
    await others!.query(`insert into fitting_room.credits select 'main', shard, (shard = 0)::integer
      from generate_series(0, 15) as shard`)
    await holder!.query('begin')
    await holder!.query(use(0, -1))
    const given = store.transaction((ledger) => ledger.giveCreditBack('main'))
    const waiting = 'select 1 from pg_locks where not granted'
    await expect.poll(async () => (await others!.query(waiting)).rows.length).toBeGreaterThan(0)
    await others!.query(use(7, 1))
    await holder!.query('commit')
    await given
    const { rows } = await others!.query('select sum(used)::integer as used from fitting_room.credits')
    expect(rows).toEqual([{ used: 0 }])
    await Promise.all([holder, others].map((pool) => pool!.end()))
    await store.close()
  })

  it('hold nobody up for one shopper who says much at once', async () => {
    const { store } = await openServerStore(await server.newDatabase(), { report })
    const order: string[] = []
    const count = (id: string) =>
      store
        .transaction(async (ledger) => {
          const visitor = await ledger.visitor('main', id)
          await ledger.saveVisitor({ ...visitor, counted: visitor.counted + 1 })
        })
        .then(() => order.push(id))
    await Promise.all([...Array.from({ length: 10 }, () => count('one')), count('another')])
    expect(order.indexOf('another')).toBeLessThan(5)
    expect((await store.visitor('main', 'one')).counted).toBe(10)
    await store.close()
  })

  it('carry out what came with something that the database refuses for a reason of its own', async () => {
    const address = await server.newDatabase()
    const service = await apiOn(address, configOf(null))
    const pool = openPool({ connectionString: address })
    await pool.query(`create function refuse() returns trigger language plpgsql as $$ begin
      if new.data ->> 'visitorId' = 'shopper 7' then raise exception 'not this one'; end if; return new; end $$`)
    await pool.query('create trigger refuse before insert on fitting_room.jobs for each row execute function refuse()')
    await pool.end()
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => submit(service, at, `shopper ${at}`)))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, (_, at) => (at === 7 ? 500 : 200)))
    await service.close()
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
