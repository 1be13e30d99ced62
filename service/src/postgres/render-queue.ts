import { PgBoss } from 'pg-boss'
import { spare, type Job } from '../ports.ts'
import type { Connection, Database, Queries } from './database.ts'

/** Jobs on their way to the renderer, in the service's own database. */
export interface RenderQueue {
  /** Queues a job in a transaction, with which it stands or falls; resolves once that is sent. */
  add(job: Pick<Job, 'id' | 'storeId'>, inTransaction: Queries): Promise<void>
  /** Something was queued: who has nothing to do looks at once. */
  wake(): void
  /** `giveUp` hears of jobs that ended every process that worked on them. */
  run(work: (jobId: string) => Promise<void>, giveUp: (jobId: string) => Promise<void>): Promise<void>
  close(): Promise<void>
}

export interface RenderQueueOptions {
  /** A server that other processes share, or the database that is this process's own, with its one connection. */
  place: Connection | Database
  /** How many jobs this process works on at once, whosoever they are; and some of other stores than that has most. */
  atOnce: number
  report: (error: unknown) => void
}

const queueName = 'render'
/** Where jobs go that were handed out often enough. */
const givenUpName = 'render-given-up'

/** How long a process that works on a job may be silent, and how long a job may take at all, in seconds. */
const heartbeatSeconds = 15
const expireInSeconds = 3_600
/** How often a job is handed out again whose process ended: who works on it gives it up by its age, long before. */
const retryLimit = 1_000
/** How long the queue remembers what is done, in seconds: the jobs' own rows tell the rest. */
const deleteAfterSeconds = 60
/** How often processes look for jobs that they were not told of, in seconds. */
const pollingIntervalSeconds = 2
/** How often it is looked for jobs whose process fell silent, in seconds. */
const superviseIntervalSeconds = 10
/** How long a job that nobody takes is remembered, in seconds: a year. */
const retentionSeconds = 31_536_000
/** How long jobs in work are waited for at the end, in ms: longer than a provider has to answer. */
const longestCloseMs = 40_000

export async function openRenderQueue(options: RenderQueueOptions): Promise<RenderQueue> {
  const { place, atOnce, report } = options
  const isOwn = 'query' in place
  const boss = new PgBoss({
    schema: 'fitting_room_queue',
    schedule: false,
    superviseIntervalSeconds,
    monitorIntervalSeconds: superviseIntervalSeconds,
    ...(isOwn ? { db: sqlOf(place), backend: 'pglite' } : { ...place, max: 3, useListenNotify: true }),
  })
  boss.on('error', ({ message }) => report(new Error(`the queue: ${message}`)))
  await boss.start()
  const terms = { retentionSeconds, heartbeatSeconds, expireInSeconds, retryLimit, deleteAfterSeconds, notify: !isOwn }
  await boss.createQueue(givenUpName, terms)
  await boss.createQueue(queueName, { ...terms, deadLetter: givenUpName })
  // what was in work before this process started is in nobody's work
  if (isOwn) await takeUpOrphans(boss)
  let workers: string[] = []
  const wake = () => workers.forEach((id) => boss.notifyWorker(id))

  return {
    add({ id, storeId }, { query }) {
      return new Promise((sent, reject) => {
        const sending: Queries['query'] = (text, values) => {
          const rows = query<never>(text, values)
          sent()
          return rows
        }
        const terms = { db: sqlOf({ query: sending }), group: { id: storeId } }
        boss.send(queueName, { jobId: id }, terms).catch(reject)
      })
    },
    wake,
    async run(work, giveUp) {
      const handle = async (jobs: { data: { jobId: string } }[]) => {
        for (const { data } of jobs) await work(data.jobId)
        // there may be more
        wake()
      }
      const places = { localConcurrency: atOnce + spare, localGroupConcurrency: atOnce }
      await boss.work(queueName, { pollingIntervalSeconds, ...places }, handle)
      workers = boss.getWipData().map(({ id }) => id)
      await boss.work<{ jobId: string }>(givenUpName, { pollingIntervalSeconds }, async (jobs) => {
        for (const { data } of jobs) await giveUp(data.jobId)
      })
    },
    close: () => boss.stop({ graceful: true, timeout: longestCloseMs }),
  }
}

/** As the queue wants to run its statements. */
const sqlOf = ({ query }: Queries) => ({
  executeSql: async (text: string, values?: unknown[]) => ({ rows: await query<object>(text, values) }),
})

/** How many jobs are looked through for them; those beyond fall silent like any other. */
const orphansAtMost = 100_000

/** Jobs that the process before was at when it ended. */
async function takeUpOrphans(boss: PgBoss): Promise<void> {
  const jobs = await boss.findJobs(queueName, { limit: orphansAtMost })
  const orphans = jobs.filter(({ state }) => state === 'active').map(({ id }) => id)
  if (orphans.length > 0) await boss.fail(queueName, orphans, { message: 'the process ended' })
}
