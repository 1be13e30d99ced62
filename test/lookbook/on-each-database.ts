import { PGlite } from '@electric-sql/pglite'
import { createSandbox, type Sandbox } from '@fitting-room/service/sandbox'
import type { Clock } from 'fitting-room'
import { openRunner, type PostgresQueries, type Runner, type RunnerOptions } from 'fitting-room/runner'
import type { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from 'vitest'
import { openPool, startPostgresServer, type PostgresServer } from '../../service/test/postgres-server.ts'
import { deferred } from '../../src/platform/deferred.ts'
import { onePixel } from '../kill-points/load.ts'
import { openSandbox } from '../support/open-sandbox.ts'
import { scaledClock } from '../support/scaled-clock.ts'

export const photo = { bytes: onePixel }
export const tee = { productId: '1001', variantId: '2001', funnelIds: [11] }
export const testTee = (variantId: string) => ({ ...tee, productId: '1009', variantId })
export const sandboxKey = { headers: { 'X-Service-SDK-Key': 'sandbox-key' } }
export const isSubmission = ({ method, url }: Request) => method === 'POST' && url.endsWith('/generations')
export const isPoll = ({ method, url }: Request) => method === 'GET' && url.includes('/generations/')

interface Stopping extends Partial<RunnerOptions> {
  at?: 'before' | 'after'
  failure?: Error
}

/** Runners of one database and one sandbox, both new for each test. */
interface RunnerWorld {
  readonly sandbox: Sandbox
  /** What the names in the database begin with. */
  readonly prefix: string
  databaseOf(): PostgresQueries
  /** What `pg` has of the database, where that is a server. */
  pool(): Pool
  /** The platform's time, that many times as fast, which runs out for nothing that the database is still to answer. */
  clockOf(times: number): Clock
  /** As another process would open it. */
  open(options?: Partial<RunnerOptions>): Promise<Runner>
  /** The database, some of whose questions do not come to it as they were asked. */
  asked(query: PostgresQueries['query']): PostgresQueries
  /** As a process that is stopped before the first statement of that kind, or once it was told something, or where that fails. */
  stopping(
    isIt: (text: string, values: unknown[]) => boolean,
    options?: Stopping,
  ): Promise<{ runner: Runner; reached: Promise<void>; goOn(): void }>
  /** As once a heart has not beaten for a while. */
  handBack(): Promise<unknown>
  /** How many requests begin with that. */
  sent(request: string): number
  /** In one session there is nobody beside it, and no connection that breaks. */
  withOthers: typeof it | null
}

/** Declares the same tests on a PostgreSQL and on a PGlite. */
export function onEachDatabase(title: string, tests: (world: RunnerWorld) => void): void {
  let server: PostgresServer
  let pool: Pool
  const embedded = new PGlite()
  beforeAll(async () => {
    // it is loaded when it is used, which has a limit
    await import('../../adapters/photos/prepare.ts')
    server = await startPostgresServer()
    pool = openPool({ connectionString: await server.newDatabase() })
  })
  afterAll(async () => {
    await pool.end()
    await server.close()
    await embedded.close()
  })

  describe(`${title} on PostgreSQL`, () => tests(worldOf(() => pool, { pool: () => pool, withOthers: it })))
  describe(`${title} on PGlite`, () => tests(worldOf(() => embedded, { pool: () => pool, withOthers: null })))
}

function worldOf(
  realOf: () => PostgresQueries,
  { pool, withOthers }: Pick<RunnerWorld, 'pool' | 'withOthers'>,
): RunnerWorld {
  let names = 0
  /** What the database is still to answer. */
  const asking = new Set<Promise<unknown>>()
  const clockOf = (times: number) => scaledClock(times, () => Promise.allSettled(asking))
  let sandbox: Sandbox
  let runners: Runner[]
  beforeEach(() => {
    names += 1
    runners = []
    sandbox = createSandbox({ config: openSandbox({ previewAfterMs: 60, readyAfterMs: 150 }) })
  })
  afterEach(async () => {
    for (const runner of runners) await runner.close()
    await sandbox.close()
  })

  async function open(options: Partial<RunnerOptions> = {}): Promise<Runner> {
    const { fetch, putPhoto, baseUrl } = sandbox
    const own = { baseUrl, apiKey: 'sandbox-key', database: databaseOf(), clock: clockOf(20) }
    // one pixel is advised against
    const parts = { ...own, fetch, putPhoto, photos: { advice: false } }
    const runner = await openRunner({ ...parts, name: `test_${names}`, ...options })
    runners.push(runner)
    return runner
  }

  function asked(query: PostgresQueries['query']): PostgresQueries {
    const database = realOf()
    if (!(database instanceof PGlite)) return { query }
    // by which it is known
    const exec = (text: string) => database.exec(text)
    return Object.assign({ query }, { exec })
  }

  const databaseOf = () =>
    asked((text, values) => {
      const answer = realOf().query(text, values)
      const heard = () => void asking.delete(answer)
      asking.add(answer)
      answer.then(heard, heard)
      return answer
    })

  return {
    get sandbox() {
      return sandbox
    },
    get prefix() {
      return `test_${names}`
    },
    databaseOf,
    pool,
    clockOf,
    open,
    asked,
    async stopping(isIt, { at = 'before', failure, ...options } = {}) {
      const reached = deferred()
      const goOn = deferred()
      let isFirst = true
      const stop = async () => {
        isFirst = false
        if (failure) throw failure
        reached.resolve()
        await goOn.promise
      }
      const query: PostgresQueries['query'] = async (text, values) => {
        const isMeant = () => isFirst && isIt(text, values ?? [])
        if (at === 'before' && isMeant()) await stop()
        const result = await databaseOf().query(text, values)
        if (at === 'after' && isMeant() && result.rows.length > 0) await stop()
        return result
      }
      const runner = await open({ ...options, database: asked(query) })
      return { runner, reached: reached.promise, goOn: () => goOn.resolve() }
    },
    handBack: () => databaseOf().query(`update test_${names}_queue.job set state = 'created'`),
    sent: (request) => sandbox.ledger.requests.filter((each) => each.startsWith(request)).length,
    withOthers,
  }
}
