import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { type AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { openDrawing } from '../../src/drawing/drawing-pool.ts'
import { startEmbeddedPostgres } from '../../src/embedded/embedded-postgres.ts'
import { memoryStore } from '../../src/memory.ts'
import { openFolderStore } from '../../src/folder-store.ts'
import { openServerStore, type DurableStore } from '../../src/open-store.ts'
import { newVisitor, usualPlaces, type Job, type Store, type Visitor } from '../../src/ports.ts'
import { openDatabase, type Connection } from '../../src/postgres/database.ts'
import { openJobQueue } from '../../src/postgres/job-queue.ts'
import { sandboxConfig } from '../../src/sandbox-config.ts'
import { serve } from '../../src/server.ts'
import { expectShortLived } from '../../src/short-lived.ts'
import { queuedJob } from '../queued-job.ts'

/** What the bench asks for, and is told. */
export interface Wanted {
  kind: 'hono' | 'memory' | 'folder' | 'server'
  /** The folder, or the database's address. */
  place: string
  /** How many finished try-ons are there before, beside some that are under way. */
  jobs: number
}
export interface Served {
  url: string
  /** Some of the try-ons, by how far they have come. */
  ids: Record<Stand, string[]>
}
const stands = ['underWay', 'finished'] as const
export type Stand = (typeof stands)[number]

const report = console.error
const wanted = JSON.parse(process.argv[2] ?? '') as Wanted
const idsAtMost = 1_000

const made: Record<Stand, (id: string) => Job> = {
  underWay: (id) => queuedJob({ id, storeId: 'sandbox', visitorId: id }),
  finished: (id) => ({
    ...made.underWay(id),
    state: 'rendered',
    pictures: { preview: `${id}-preview.jpeg`, final: `${id}.jpeg` },
  }),
}
const amounts: Record<Stand, number> = { underWay: idsAtMost, finished: wanted.jobs }

const ofEach = async <T>(get: (stand: Stand) => T | Promise<T>): Promise<Record<Stand, T>> => ({
  underWay: await get('underWay'),
  finished: await get('finished'),
})

const shopper = (id: string): Visitor => ({ ...newVisitor('sandbox', id), email: 'shopper@example.com', counted: 1 })

/** Puts the try-ons and their shoppers where the service finds them, and gives the IDs of some. */
async function fillDatabase(connection: Connection, atOnce: number): Promise<Served['ids']> {
  const database = openDatabase(connection, atOnce, report)
  for (const stand of stands) {
    const job = made[stand](randomUUID())
    await database.query(
      `insert into fitting_room.jobs (id, state, data)
       select id, $3, $1::jsonb || jsonb_build_object('id', id, 'visitorId', id)
       from (select gen_random_uuid() as id from generate_series(1, $2)) made`,
      [JSON.stringify(job), amounts[stand], job.state],
    )
  }
  await database.query(
    `insert into fitting_room.visitors
     select 'sandbox', sha256(convert_to(id::text, 'UTF8')), $1::jsonb || jsonb_build_object('id', id) from fitting_room.jobs`,
    [JSON.stringify(shopper(''))],
  )
  // what a database does by itself after so much was written
  await database.query('vacuum analyze fitting_room.jobs, fitting_room.visitors')
  await database.query('checkpoint')
  const kept = await ofEach((stand) =>
    database.query<{ id: string }>('select id from fitting_room.jobs where state = $2 limit $1', [
      idsAtMost,
      made[stand]('').state,
    ]),
  )
  await database.close()
  return ofEach((stand) => kept[stand].map(({ id }) => id))
}

async function fillMemory(store: Store): Promise<Served['ids']> {
  const ids = await ofEach((stand) => Array.from({ length: amounts[stand] }, () => randomUUID()))
  await store.transaction(async (ledger) => {
    for (const stand of stands)
      for (const id of ids[stand]) {
        await ledger.saveJob(made[stand](id))
        await ledger.saveVisitor(shopper(id))
      }
  })
  return ofEach((stand) => ids[stand].slice(0, idsAtMost))
}

async function openFolder(): Promise<[DurableStore, Served['ids']]> {
  await openFolderStore(wanted.place, { report }).then(({ store }) => store.close())
  const embedded = await startEmbeddedPostgres(wanted.place)
  const ids = await fillDatabase(embedded.connection, 1)
  await embedded.close()
  return [await openFolderStore(wanted.place, { report }), ids]
}

async function openServer(): Promise<[DurableStore, Served['ids']]> {
  const opened = await openServerStore(wanted.place, { report })
  return [opened, await fillDatabase({ connectionString: wanted.place }, 1)]
}

async function openMemory(): Promise<[Pick<DurableStore, 'store'>, Served['ids']]> {
  const store = memoryStore()
  return [{ store }, await fillMemory(store)]
}

async function serveBare(): Promise<Served> {
  const app = new Hono()
  app.get('/generations/:jobId', (context) => context.json({ data: { status: 'PROCESSING' } }))
  const server = createServer(getRequestListener(app.fetch))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const ids = await ofEach(() => [randomUUID()])
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ids }
}

/** The service, which only takes: nothing is drawn meanwhile. */
async function serveService(): Promise<Served> {
  expectShortLived()
  const drawing = openDrawing({ beginsAtOnce: true, report })
  const open = { memory: openMemory, folder: openFolder, server: openServer }[wanted.kind as 'memory']
  const [opened, ids] = await open()
  const given = sandboxConfig()
  // nobody is asked for an e-mail address, and no credit runs out
  const stores = given.stores.map((store) => ({ ...store, email: null, credits: null }))
  const config = { ...given, stores, trustedProxies: ['127.0.0.1'] }
  const { url } = await serve({ ...opened, drawing, config, works: false, report }, 0)
  return { url, ids }
}

/** How many jobs a second the queue takes by itself, in as many calls at once as the service has. */
async function queued(seconds: number, atOnce: number): Promise<number> {
  const embedded = wanted.kind === 'folder' ? await startEmbeddedPostgres(wanted.place) : null
  const connection = embedded?.connection ?? { connectionString: wanted.place }
  const database = openDatabase(connection, embedded ? 1 : 10, report)
  const queue = await openJobQueue({ place: embedded ? database : connection, places: usualPlaces, report })
  let added = 0
  const product = { id: '1001', title: 'Tee', image: null }
  const until = performance.now() + seconds * 1000
  const add = async () => {
    while (performance.now() < until) {
      let rows: Promise<unknown[]> | undefined
      const job = { id: randomUUID(), storeId: 'sandbox', photo: { name: 'none' }, product }
      await queue.add([job], { query: (text, values) => (rows = database.query(text, values)) as Promise<never[]> })
      await rows
      added++
    }
  }
  await Promise.all(Array.from({ length: atOnce }, add))
  await queue.close()
  await database.close()
  await embedded?.close()
  return added / seconds
}

if (process.argv[3] === 'queue') process.send?.(await queued(Number(process.argv[4]), Number(process.argv[5])))
else process.send?.(wanted.kind === 'hono' ? await serveBare() : await serveService())

// nobody is left to serve
process.once('disconnect', () => process.exit())
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
process.on('message', (wish) => {
  process.send?.(delay.max / 1e6)
  if (wish === 'begin') delay.reset()
})
