import { fromPglite, PgBoss } from 'pg-boss'
import { withinLimit } from '../../src/platform/clock.ts'
import type { Clock } from '../../src/ports.ts'
import type { PostgresQueries } from '../storage/postgres-tables.ts'
import { hashOf } from './hash.ts'
import { statementMs } from './items.ts'
import type { Consent } from './items.types.ts'

/** A consent that waits for its turn, for the how manieth time. */
type Queued = Consent & { waits?: number }

/** Which try-on is whose turn, among all processes of a database. */
interface RunnerQueue {
  /** Queues a consent once, however often that is said. */
  add(consent: Consent): Promise<void>
  /**
   * Works on so many at once; one whose work resolves with `again` has another turn later, and one whose work rejects, or
   * whose process falls silent, soon.
   */
  run(atOnce: number, work: (consent: Consent) => Promise<'ended' | 'again'>): Promise<void>
  /** Takes nothing more, and resolves once nothing is in work, or a while later. */
  close(): Promise<void>
}

const queueName = 'try-ons'
/** How long a process may be silent, and how long a try-on may have its turn, in seconds. */
const heartbeatSeconds = 10
const expireInSeconds = 82_800
/** One whose work rejected, or whose process is gone, has another turn after that time, in seconds, however often. */
const retryDelay = 3
const retryLimit = 1_000_000
/** One that waits for something has another turn after that time, in seconds, and after twice as long each time. */
const waitSeconds = 15
const longestWaitSeconds = 3_600
/** How long the queue remembers what is done, and what nobody takes, in seconds. */
const deleteAfterSeconds = 60
const retentionSeconds = 31_536_000
const pollingIntervalSeconds = 2
const superviseIntervalSeconds = 3
/** How long those in work are waited for at the end, and how long that may take a database that hangs, in ms. */
const longestCloseMs = 60_000
const closeLimitMs = 75_000

export async function openQueue(
  database: PostgresQueries,
  name: string,
  clock: Clock,
  onError: (error: unknown) => void,
): Promise<RunnerQueue> {
  /** Making its tables, or bringing them up to date, may take long. */
  let isMade = false
  const boss = new PgBoss({
    schema: `${name}_queue`,
    schedule: false,
    superviseIntervalSeconds,
    monitorIntervalSeconds: superviseIntervalSeconds,
    ...(isEmbedded(database) ? { db: fromPglite(database), backend: 'pglite' } : { db: { executeSql } }),
  })

  async function executeSql(text: string, values: unknown[] = []): Promise<{ rows: unknown[] }> {
    // several statements go without parameters, and have several results
    const answer = values.length > 0 ? database.query(text, values) : database.query(text)
    const result = await withinLimit(clock, isMade ? statementMs : Infinity, answer)
    return { rows: [result].flat().flatMap(({ rows }) => rows) }
  }

  boss.on('error', onError)
  await boss.start()
  isMade = true
  const retries = { retryLimit, retryDelay, retentionSeconds, deleteAfterSeconds }
  await boss.createQueue(queueName, { heartbeatSeconds, expireInSeconds, ...retries })
  const wake = () => boss.getWipData().forEach(({ id }) => boss.notifyWorker(id))

  async function later({ id, consent, waits = 0 }: Queued): Promise<void> {
    const startAfter = Math.min(waitSeconds * 2 ** waits, longestWaitSeconds)
    const next = { id, consent, waits: waits + 1 }
    // once, however often this turn is taken, as where the database does not hear of its end
    await boss.send(queueName, next, { startAfter, id: await uuidOf(`${consent} ${next.waits}`) })
  }

  return {
    async add({ id, consent }) {
      await boss.send(queueName, { id, consent }, { id: consent })
      wake()
    },
    async run(atOnce, work) {
      await boss.work<Queued>(queueName, { pollingIntervalSeconds, localConcurrency: atOnce }, async (jobs) => {
        for (const { data } of jobs) {
          if ((await work(data)) === 'again') await later(data)
        }
        // there may be more
        wake()
      })
    },
    close: () => withinLimit(clock, closeLimitMs, boss.stop({ graceful: true, timeout: longestCloseMs })),
  }
}

const uuidOf = async (text: string) =>
  (await hashOf(new TextEncoder().encode(text))).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5')

type Embedded = Parameters<typeof fromPglite>[0]

/** It takes several statements by another name. */
const isEmbedded = (database: object): database is Embedded & PostgresQueries => 'exec' in database
