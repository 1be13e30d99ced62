import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { openServerStore } from '../src/open-store.ts'
import { newVisitor, ofMaking, type Job } from '../src/ports.ts'
import { openDatabase } from '../src/postgres/database.ts'
import { migrate, migrations } from '../src/postgres/migrations.ts'
import { disconnect, issueKey } from '../src/postgres/told-stores.ts'
import { deferred } from '../../src/platform/deferred.ts'
import { queuedJob } from './queued-job.ts'
import { startPostgresServer, type PostgresServer } from './postgres-server.ts'

const report = (error: unknown) => console.error(error)
let server: PostgresServer
beforeAll(async () => void (server = await startPostgresServer()))
afterAll(() => server.close())

/** What is read of a job by who polls. */
const withoutMaking = (job: Job) =>
  Object.fromEntries(Object.entries(job).filter(([name]) => !(ofMaking as readonly string[]).includes(name)))

const jobId = '00000000-0000-4000-8000-000000000001'
const opened = async () => {
  const connectionString = await server.newDatabase()
  const own = openDatabase({ connectionString }, 1, report)
  onTestFinished(own.close)
  await own.query('create schema fitting_room')
  await own.query('create table fitting_room.schema_version (version integer not null)')
  return { ...own, connectionString }
}

it.each(migrations.map((_, at) => at + 1))(
  'of version %i is brought to this one with all that is in it',
  async (from) => {
    const own = await opened()
    for (const migration of migrations.slice(0, from)) await own.query(migration)
    await own.query('insert into fitting_room.schema_version values ($1)', [from])
    const job = queuedJob({ id: jobId, storeId: 'main', acceptedAt: 1_234 })
    await own.query(`insert into fitting_room.jobs values ($1, 'queued', $2)`, [jobId, job])
    await migrate(own)
    await migrate(own)
    expect(await own.query('select version from fitting_room.schema_version')).toEqual([{ version: migrations.length }])
    expect(await own.query('select id, accepted_at::integer as at from fitting_room.jobs')).toEqual([
      { id: jobId, at: 1_234 },
    ])
    await own.query('select had_key, former_hash from fitting_room.stores')
    expect(await own.query('select version from fitting_room.told')).toHaveLength(1)
    const [known] = await own.query<{ polled: string }>('select polled from fitting_room.jobs')
    expect(JSON.parse(known!.polled)).toEqual(withoutMaking(job))
  },
)

it('can be written where its changes are passed on to another server, and brought to this version once more', async () => {
  const own = await opened()
  await migrate(own)
  await own.query('create publication everything for all tables')
  await issueKey(own, 'main')
  await disconnect(own, 'main')
  // as where an older schema was put back beneath what came later
  await own.query('update fitting_room.schema_version set version = 6')
  await migrate(own)
  await issueKey(own, 'main')
  expect(await own.query('select version from fitting_room.told')).toHaveLength(1)
})

it('waits for whoever reads it, as a backup does, for longer with each try, and holds up nobody meanwhile', async () => {
  const own = await opened()
  // the sixth changes the jobs
  for (const migration of migrations.slice(0, 5)) await own.query(migration)
  await own.query('insert into fitting_room.schema_version values (5)')
  const { connectionString } = own
  const [backup, other] = [new Client({ connectionString }), new Client({ connectionString })]
  await Promise.all([backup.connect(), other.connect()])
  await backup.query('begin; lock table fitting_room.jobs in access share mode')
  const waits: string[] = []
  const transaction: typeof own.transaction = (work) =>
    own.transaction((queries) => {
      const query: typeof own.query = (text, values) => {
        if (text.includes('lock_timeout')) waits.push(text)
        return queries.query(text, values)
      }
      return work({ query })
    })
  const twice = deferred()
  const migrating = migrate({ ...own, transaction }, () => waits.length === 2 && twice.resolve())
  await twice.promise
  expect(waits).toEqual(['set local lock_timeout = 200', 'set local lock_timeout = 400'])
  await other.query('select from fitting_room.jobs')
  await backup.query('commit')
  await migrating
  await other.query('select polled from fitting_room.jobs')
  await Promise.all([backup.end(), other.end()])
})

it('of a newer version is left alone', async () => {
  const own = await opened()
  await own.query('insert into fitting_room.schema_version values (99)')
  await expect(migrate(own)).rejects.toThrow('the database is of version 99')
  expect(await own.query('select version from fitting_room.schema_version')).toEqual([{ version: 99 }])
})

it('looks shoppers up by a hash of their ID, however long that is', async () => {
  const { query, connectionString } = await opened()
  const { store } = await openServerStore(connectionString, { report })
  onTestFinished(store.close)
  const visitor = { ...newVisitor('main', 'x'.repeat(10_000)), email: 'a@example.com' }
  await store.transaction((ledger) => ledger.saveVisitor(visitor))
  expect(await query('select octet_length(key) as bytes from fitting_room.visitors')).toEqual([{ bytes: 32 }])
  expect(await store.visitor('main', visitor.id)).toEqual(visitor)
})

it('is refused where the database is not in UTF8', async () => {
  const { query, connectionString } = await opened()
  await query(`create database latin1 encoding 'LATIN1' locale 'C' template template0`)
  const other = openServerStore(connectionString.replace(/[^/]+$/, 'latin1'), { report })
  await expect(other).rejects.toThrow('the database is in LATIN1')
})

/** A database of its own, and the address for a role that may do what is said. */
async function lesserRole(rights: string[]): Promise<string> {
  const connectionString = await server.newDatabase()
  await (await openServerStore(connectionString, { report })).store.close()
  const own = openDatabase({ connectionString }, 1, report)
  const role = `lesser_${randomUUID().slice(0, 8)}`
  await own.query(`create role ${role} login password 'lesser'`)
  for (const right of rights) await own.query(`grant ${right} to ${role}`)
  await own.close()
  const address = new URL(connectionString)
  address.username = role
  address.password = 'lesser'
  return address.href
}

it('is used by a role that may create nothing, once another one has made it', async () => {
  const schemas = 'fitting_room, fitting_room_queue'
  const address = await lesserRole([
    `usage on schema ${schemas}`,
    `select, insert, update, delete on all tables in schema ${schemas}`,
  ])
  const { store, limiter } = await openServerStore(address, { report })
  onTestFinished(store.close)
  const job = queuedJob({ id: jobId, storeId: 'main', acceptedAt: 1_234 })
  const begun = deferred<string>()
  await store.run(
    async (id) => begun.resolve(id),
    async () => {},
  )
  await store.transaction((ledger) => ledger.addJob(job))
  expect(await begun.promise).toBe(jobId)
  expect(await limiter?.count('192.0.2.1', 'getGeneration')).toBe(0)
  expect(await store.expire({ photos: 0, jobs: 0 }, async (names) => names)).toBe(0)
})

it('says so where its role may not use it', async () => {
  await expect(openServerStore(await lesserRole([]), { report })).rejects.toThrow('the role of the database')
})
