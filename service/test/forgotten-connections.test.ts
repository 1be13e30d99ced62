import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openServerStore } from '../src/open-store.ts'
import { openPool, startPostgresServer, type PostgresServer } from './postgres-server.ts'
import { queuedJob } from './queued-job.ts'

/** What a network does that forgets connections and tells nobody, and what a database does that takes its time. */

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgresServer()
})
afterAll(() => server.close())

/** How long a statement may take, in ms: long enough for all others. */
const queryMs = 5_000
const report = () => {}

/** A way to the database; what is sent on the connections that it has forgotten is lost. */
async function network(address: string) {
  let forgotten = 0
  let count = 0
  const proxy = createServer((near) => {
    const number = ++count
    const far = connect(Number(new URL(address).port), '127.0.0.1')
    const end = () => (near.destroy(), far.destroy())
    for (const socket of [near, far]) socket.on('error', end).on('close', end)
    near.on('data', (bytes) => number > forgotten && far.write(bytes))
    far.on('data', (bytes) => number > forgotten && near.write(bytes))
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const through = new URL(address)
  through.port = String((proxy.address() as AddressInfo).port)
  return { address: through.href, forget: () => void (forgotten = count), close: () => proxy.close() }
}

it('jobs are done though the network has forgotten the connections of before', async () => {
  const address = await server.newDatabase()
  const way = await network(address)
  const [{ store }, other] = await Promise.all([
    openServerStore(way.address, { queryMs, report }),
    openServerStore(address, { report }),
  ])
  const done: string[] = []
  const work = async (id: string) => void done.push(id)
  await store.run(work, work)
  const queue = async () => {
    const id = randomUUID()
    await other.store.transaction((ledger) => ledger.addJob(queuedJob({ id, storeId: 'main' })))
    return id
  }
  const first = await queue()
  await expect.poll(() => done, { timeout: 120_000 }).toContain(first)
  way.forget()
  const second = await queue()
  await expect.poll(() => done, { timeout: 120_000 }).toContain(second)
  way.close()
  await Promise.all([store.close(), other.store.close()])
})

it('a schema is brought to this version however long that takes', async () => {
  const address = await server.newDatabase()
  const pool = openPool({ connectionString: address })
  const client = await pool.connect()
  await client.query('select pg_advisory_lock(4702111)')
  const opening = openServerStore(address, { queryMs, report })
  await client.query(`select pg_sleep(${(2 * queryMs) / 1000})`)
  client.release(true)
  const { store } = await opening
  await store.close()
  await pool.end()
})

it('a job that is put off is not handed out again at once', async () => {
  const address = await server.newDatabase()
  const { store } = await openServerStore(address, { report })
  await store.transaction((ledger) => ledger.addJob(queuedJob({ id: randomUUID(), storeId: 'main' })))
  let tries = 0
  const putOff = () => ((tries += 1), Promise.reject(new Error('put off')))
  await store.run(putOff, putOff)
  await expect.poll(() => tries, { timeout: 60_000 }).toBe(1)
  const pool = openPool({ connectionString: address })
  const waitOf = async () => {
    const { rows } = await pool.query(
      `select extract(epoch from start_after - started_on) >= 2 as waits from fitting_room_queue.job
       where name = 'render' and state = 'retry'`,
    )
    return rows
  }
  await expect.poll(waitOf, { timeout: 60_000, interval: 20 }).toEqual([{ waits: true }])
  await pool.end()
  await store.close()
})

it('a job is handed out again as soon in the one stage as in the other', async () => {
  const { store } = await openServerStore(await server.newDatabase(), { report })
  const elsewhere = { photo: { url: 'https://a.example/a.png' } }
  for (const each of [{}, elsewhere])
    await store.transaction((ledger) => ledger.addJob(queuedJob({ id: randomUUID(), storeId: 'main', ...each })))
  const tries = { fetch: 0, render: 0 }
  await store.run(
    async (_, stage) => ((tries[stage] += 1), Promise.reject(new Error('put off'))),
    async () => {},
  )
  await expect.poll(() => tries.fetch, { timeout: 180_000 }).toBeGreaterThan(4)
  expect(tries.render).toBeLessThan(5 * tries.fetch)
  await store.close()
})

it('queues of an earlier version hand out jobs again as those of this one', async () => {
  const address = await server.newDatabase()
  const reopened = async () => (await openServerStore(address, { report })).store.close()
  await reopened()
  const pool = openPool({ connectionString: address })
  await pool.query('update fitting_room_queue.queue set retry_delay = 0, retry_limit = 1000')
  await reopened()
  const { rows } = await pool.query(
    `select retry_delay, retry_limit from fitting_room_queue.queue where name in ('fetch', 'render', 'given-up')`,
  )
  const terms = { retry_delay: 2, retry_limit: 50_000 }
  expect(rows).toEqual([terms, terms, terms])
  await pool.end()
})
