import { PgBoss } from 'pg-boss'
import { longestCloseMs, stageOf, stages, type Job, type Places, type Stage } from '../ports.ts'
import { createTurns, type Turns } from '../turns.ts'
import { longestQueryMs, type Connection, type Database, type Queries } from './database.ts'

type QueuedJob = Pick<Job, 'id' | 'storeId' | 'photo' | 'product' | 'garment'>

/** Jobs on their way through their stages, in the service's own database. */
export interface JobQueue {
  /** Queues jobs, each for its next stage, in a transaction with which they stand or fall; resolves once that is sent. */
  add(jobs: readonly QueuedJob[], inTransaction: Queries): Promise<void>
  /** Something was queued: who has nothing to do in that stage looks at once. */
  wake(stage: Stage): void
  /** `giveUp` hears of jobs that ended every process that worked on them. */
  run(work: (jobId: string, stage: Stage) => Promise<void>, giveUp: (jobId: string) => Promise<void>): Promise<void>
  /** How many jobs wait for each stage, as the queue last counted them. */
  waiting(): Promise<Record<Stage, number>>
  close(): Promise<void>
}

export interface JobQueueOptions {
  /** A server that other processes share, or the database that is this process's own, with its one connection. */
  place: Connection | Database
  places: Readonly<Record<Stage, Places>>
  turns?: Turns | undefined
  /** How long a statement may take on a server, in ms, before its connection is given up. */
  queryMs?: number | undefined
  report: (error: unknown) => void
}

/** Where jobs go that were handed out often enough. */
const givenUpName = 'given-up'

/** How long a process that works on a job may be silent, and how long a job may take at all, in seconds. */
const heartbeatSeconds = 15
const expireInSeconds = 3_600
/**
 * How often a job is handed out again: who works on it gives it up by its age before that, which may be a day. How soon, in
 * seconds: what could not be done now can hardly be at once, and what never can is not to take the turns of others.
 */
const retries = { retryLimit: 50_000, retryDelay: 2, retryBackoff: true, retryDelayMax: 30 }
/** How long the queue remembers what is done, in seconds: the jobs' own rows tell the rest. */
const deleteAfterSeconds = 60
/** How often processes look for jobs that they were not told of, in seconds. */
const pollingIntervalSeconds = 2
/** The same of each of the many that fetch: of those, some are woken to look as often as others do. */
const fetchPollingIntervalSeconds = 30
/** How many of those that have nothing to do look for one job. */
const wokenAtOnce = 2
/** How often it is looked for jobs whose process fell silent, and how many wait, in seconds. */
const superviseIntervalSeconds = 10
/** The turn from which priorities count down, in epoch seconds: PostgreSQL has them as integers. */
const firstTurn = Date.UTC(2026, 0, 1) / 1_000
/** From when on a job may be taken: a clock that is set back meanwhile keeps none of them waiting. */
const startAfter = '-1 day'
/** How long a job that nobody takes is remembered, in seconds: a year. */
const retentionSeconds = 31_536_000

export async function openJobQueue(options: JobQueueOptions): Promise<JobQueue> {
  const { place, places, turns = createTurns(), queryMs = longestQueryMs, report } = options
  const isOwn = 'query' in place
  const boss = new PgBoss({
    schema: 'fitting_room_queue',
    schedule: false,
    superviseIntervalSeconds,
    monitorIntervalSeconds: superviseIntervalSeconds,
    ...(isOwn
      ? { db: sqlOf(place), backend: 'pglite' }
      : { ...place, max: 3, useListenNotify: true, keepAlive: true, query_timeout: queryMs }),
  })
  boss.on('error', ({ message }) => report(new Error(`the queue: ${message}`)))
  await boss.start()
  const terms = {
    retentionSeconds,
    heartbeatSeconds,
    expireInSeconds,
    ...retries,
    deleteAfterSeconds,
    notify: !isOwn,
  }
  await boss.createQueue(givenUpName, terms)
  for (const stage of stages) {
    await boss.createQueue(stage, { ...terms, deadLetter: givenUpName })
  }
  // where an earlier version has made them
  for (const name of [givenUpName, ...stages]) await boss.updateQueue(name, retries)
  // what was in work before this process started is in nobody's work
  if (isOwn) await takeUpOrphans(boss)

  function wake(stage: Stage): void {
    const places = boss.getWipData().filter(({ name }) => name === stage)
    const idle = places.filter(({ count }) => count === 0).slice(0, wokenAtOnce)
    // who is at something looks again once that is done
    for (const { id } of idle.length > 0 ? idle : places) boss.notifyWorker(id)
  }

  function insert(stage: Stage, jobs: readonly QueuedJob[], query: Queries['query']): Promise<void> {
    return new Promise((sent, reject) => {
      const sending: Queries['query'] = (text, values) => {
        const rows = query<never>(text, values)
        sent()
        return rows
      }
      const queued = jobs.map(({ id, storeId }) => ({
        data: { jobId: id },
        startAfter,
        group: { id: storeId },
        priority: firstTurn - turns(storeId),
      }))
      boss.insert(stage, queued, { db: sqlOf({ query: sending }) }).catch(reject)
    })
  }

  let looking: ReturnType<typeof setInterval> | undefined

  return {
    async add(jobs, { query }) {
      const asked = stages.filter((stage) => jobs.some((job) => stageOf(job) === stage))
      const of = (stage: Stage) => jobs.filter((job) => stageOf(job) === stage)
      await Promise.all(asked.map((stage) => insert(stage, of(stage), query)))
    },
    wake,
    async run(work, giveUp) {
      looking = setInterval(wake, pollingIntervalSeconds * 1_000, 'fetch')
      for (const stage of stages) {
        const { ofOneStore, ofAll } = places[stage]
        const terms = {
          ...lookingEach(stage === 'fetch' ? fetchPollingIntervalSeconds : pollingIntervalSeconds),
          localConcurrency: ofAll,
          localGroupConcurrency: ofOneStore,
        }
        await boss.work<{ jobId: string }>(stage, terms, async (jobs) => {
          // there may be more: who was told of the next one may be who has this one
          wake(stage)
          for (const { data } of jobs) await work(data.jobId, stage)
          wake(stage)
        })
      }
      await boss.work<{ jobId: string }>(givenUpName, lookingEach(pollingIntervalSeconds), async (jobs) => {
        for (const { data } of jobs) await giveUp(data.jobId)
      })
    },
    async waiting() {
      const queues = await boss.getQueues([...stages])
      const of = (stage: Stage) => queues.find(({ name }) => name === stage)?.queuedCount ?? 0
      return { fetch: of('fetch'), render: of('render') }
    },
    close() {
      clearInterval(looking)
      return boss.stop({ graceful: true, timeout: longestCloseMs })
    },
  }
}

/** What is handed out again is told to nobody, also where other jobs are. */
const lookingEach = (seconds: number) => ({ pollingIntervalSeconds: seconds, notifyPollingIntervalSeconds: seconds })

/** As the queue wants to run its statements. */
const sqlOf = ({ query }: Queries) => ({
  executeSql: async (text: string, values?: unknown[]) => ({ rows: await query<object>(text, values) }),
})

/** How many jobs are looked through for them; those beyond fall silent like any other. */
const orphansAtMost = 100_000

/** Jobs that the process before was at when it ended. */
async function takeUpOrphans(boss: PgBoss): Promise<void> {
  for (const stage of stages) {
    const jobs = await boss.findJobs(stage, { limit: orphansAtMost })
    const orphans = jobs.filter(({ state }) => state === 'active').map(({ id }) => id)
    if (orphans.length > 0) await boss.fail(stage, orphans, { message: 'the process ended' })
  }
}
