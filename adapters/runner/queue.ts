import { fromPglite, PgBoss } from 'pg-boss'
import type { PostgresQueries } from '../storage/postgres-tables.ts'
import type { Item } from './items.ts'

/** One try-on of the queue. */
type Queued = Pick<Item, 'id' | 'round'>

/** Which try-on is whose turn, among all processes of a database. */
export interface RunnerQueue {
  /** Queues it once, however often that is said. */
  add(queued: Queued): Promise<void>
  /** Works on so many at once; what rejects, or whose process falls silent, has another turn. */
  run(atOnce: number, work: (queued: Queued) => Promise<void>): Promise<void>
  /** Takes nothing more, and resolves once nothing is in work. */
  close(): Promise<void>
}

const queueName = 'try-ons'
/** How long a process may be silent, and how long a try-on may have its turn, in seconds. */
const heartbeatSeconds = 10
const expireInSeconds = 82_800
/** One whose process is gone has another turn after that time, in seconds, however often. */
const retryDelay = 1
const retryLimit = 1_000_000
/** How long the queue remembers what is done, in seconds: the entries tell the rest. */
const deleteAfterSeconds = 60
const pollingIntervalSeconds = 2
const superviseIntervalSeconds = 3
/** How long those in work are waited for at the end, in ms. */
const longestCloseMs = 60_000

export async function openQueue(
  database: PostgresQueries,
  name: string,
  onError: (error: unknown) => void,
): Promise<RunnerQueue> {
  const boss = new PgBoss({
    schema: `${name}_queue`,
    schedule: false,
    superviseIntervalSeconds,
    monitorIntervalSeconds: superviseIntervalSeconds,
    ...(isEmbedded(database) ? { db: fromPglite(database), backend: 'pglite' } : { db: { executeSql } }),
  })

  async function executeSql(text: string, values: unknown[] = []): Promise<{ rows: unknown[] }> {
    // several statements go without parameters, and have several results
    const result = await (values.length > 0 ? database.query(text, values) : database.query(text))
    return { rows: [result].flat().flatMap(({ rows }) => rows) }
  }

  boss.on('error', onError)
  await boss.start()
  await boss.createQueue(queueName, { heartbeatSeconds, expireInSeconds, retryLimit, retryDelay, deleteAfterSeconds })
  const wake = () => boss.getWipData().forEach(({ id }) => boss.notifyWorker(id))

  return {
    async add({ id, round }) {
      await boss.send(queueName, { id, round }, { id: await uuidOf(`${id}:${round}`) })
      wake()
    },
    async run(atOnce, work) {
      await boss.work<Queued>(queueName, { pollingIntervalSeconds, localConcurrency: atOnce }, async (jobs) => {
        for (const { data } of jobs) await work(data)
        // there may be more
        wake()
      })
    },
    close: () => boss.stop({ graceful: true, timeout: longestCloseMs }),
  }
}

type Embedded = Parameters<typeof fromPglite>[0]

/** It takes several statements by another name. */
const isEmbedded = (database: object): database is Embedded & PostgresQueries => 'exec' in database

/** The same for the same name: a job of that ID is queued once. */
async function uuidOf(name: string): Promise<string> {
  const hash = await hashOf(new TextEncoder().encode(name))
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-')
}

/** As hexadecimal digits. */
export async function hashOf(bytes: BufferSource): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
