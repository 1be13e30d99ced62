import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as after } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { serve, type Config, type Job } from '@fitting-room/service'
import { openRunner } from 'fitting-room/runner'
import { openPool, startPostgresServer } from '../../service/test/postgres-server.ts'
import { onePixel } from '../kill-points/load.ts'
import { openLedger } from '../support/open-ledger.ts'
import { openSandbox } from '../support/open-sandbox.ts'
import { undrawn } from '../support/undrawn.ts'

export interface LookbookOptions {
  tryOns: number
  processes: number
  /** How many each process has in work at once. */
  atOnce: number
  generation: Config['generation']
  /** How long the next process lives, in ms. */
  livesMs: () => number
  onProgress?: (ended: number, kills: number) => void
}

export interface LookbookReport {
  kills: number
  /** Jobs that the service has accepted. */
  paid: number
  finals: number
  /** Of which it is told that they may have been paid for. */
  unknown: number
  /** Try-ons with more than one job. */
  twice: number
  /** Try-ons that have not ended with the picture of their job, nor are told to be unknown. */
  lost: number
  /** From the first process's start to the last try-on's end, in ms. */
  tookMs: number
}

const child = fileURLToPath(new URL('./child.ts', import.meta.url))

/** A lookbook on a PostgreSQL, through one IP to the real service, by processes that are killed again and again. */
export async function playLookbook(options: LookbookOptions): Promise<LookbookReport> {
  const { tryOns, processes, atOnce, generation, livesMs, onProgress } = options
  const sandbox = openSandbox(generation)
  const stores = sandbox.stores.map((store) => ({ ...store, tryOnCap: null, credits: null }))
  const { store, jobs } = openLedger()
  const server = await serve({ config: { ...sandbox, stores }, store, ...undrawn }, 0)
  const postgres = await startPostgresServer()
  const connectionString = await postgres.newDatabase()
  const database = openPool({ connectionString })
  const runner = await openRunner({ database, baseUrl: server.url, apiKey: 'sandbox-key' })
  const ids = Array.from({ length: tryOns }, (_, at) => `look-${at}`)
  for (const id of ids)
    await runner.add({
      id,
      product: { productId: '1001', variantId: '2001', funnelIds: [11] },
      photo: { bytes: onePixel },
      despiteAdvice: true,
      uniqueUserId: id,
    })

  let isOver = false
  let kills = 0
  async function keepRunning(): Promise<void> {
    while (!isOver) {
      const env = { ...process.env, LOOKBOOK: JSON.stringify({ connectionString, baseUrl: server.url, atOnce }) }
      const running = spawn(process.execPath, ['--conditions=fitting-room-source', child], { env })
      const ended = once(running, 'exit')
      await Promise.race([once(running.stdout, 'data'), ended])
      await Promise.race([after(livesMs(), null, { ref: false }), settled])
      running.kill('SIGKILL')
      if (!isOver) kills += 1
      await ended
    }
  }

  const begunAt = performance.now()
  const progress = runner.on(({ isEnded }) => isEnded && onProgress?.((ended += 1), kills))
  let ended = 0
  const settled = runner.settled().then(() => (isOver = true))
  await Promise.all(Array.from({ length: processes }, keepRunning))
  const tookMs = performance.now() - begunAt
  progress.unsubscribe()

  const paidFor = jobsByVisitor(jobs.values())
  const entries = await runner.list()
  const isTold = ({ id, state, attempt }: (typeof entries)[number]) =>
    state === 'outcomeUnknown' || (state === 'final' && paidFor.get(id)?.some((job) => job.id === attempt?.jobId))
  await runner.close()
  await database.end()
  await postgres.close()
  await server.close()
  return {
    kills,
    paid: jobs.size,
    finals: entries.filter(({ state }) => state === 'final').length,
    unknown: entries.filter(({ state }) => state === 'outcomeUnknown').length,
    twice: [...paidFor.values()].filter(({ length }) => length > 1).length,
    lost: tryOns - entries.filter(isTold).length,
    tookMs,
  }
}

function jobsByVisitor(jobs: Iterable<Job>): Map<string, Job[]> {
  const found = new Map<string, Job[]>()
  for (const job of jobs) found.set(job.visitorId, [...(found.get(job.visitorId) ?? []), job])
  return found
}
