import { PGlite } from '@electric-sql/pglite'
import type { Operation } from 'fitting-room/contract'
import { manualClock } from 'fitting-room/testing'
import { postgresBudget, postgresStorage, type PostgresQueries } from 'fitting-room/storage/postgres'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { play } from '../crowd/run.ts'
import { oneDatabase, scenarios } from '../crowd/scenarios.ts'
import { asked, nothingSent, refusedFor, type IpCount } from '../../src/budget/ip-count.ts'
import { openPool, startPostgresServer, type PostgresServer } from '../../service/test/postgres-server.ts'

let server: PostgresServer
let pools: Pool[]
beforeAll(async () => {
  server = await startPostgresServer()
  const connectionString = await server.newDatabase()
  pools = Array.from({ length: 4 }, () => openPool({ connectionString, max: 3 }))
})
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()))
  await server.close()
})

describe('the budget on PostgreSQL', () => {
  it.each([
    ['createGeneration', 120],
    ['registerCustomer', 60],
    ['getGeneration', 116],
    ['createUpload', 108],
    ['getFunnel', 108],
    ['getRequestsLeft', 108],
    ['getContext', 108],
  ] as [Operation, number][])(
    'lets no more of %s go than %i in a minute, whichever process asks',
    async (operation, most) => {
      const budgets = pools.map((pool) => postgresBudget(pool, { address: operation }))
      const waits = await Promise.all(Array.from({ length: 200 }, async (_, at) => budgets[at % 4]!.ask({ operation })))
      expect(waits.filter((ms) => ms === 0)).toHaveLength(most)
      for (const ms of waits.filter((each) => each > 0)) expect(ms).toBeLessThanOrEqual(61_000)
      await budgets[0]!.ask({ operation })
      expect(budgets[0]!.price()).toBeGreaterThanOrEqual(most > 60 ? 1 : 0)
    },
  )

  it('is closed in all processes to what the service refuses, and to nothing with a higher threshold', async () => {
    const [one, other] = pools.map((pool) => postgresBudget(pool, { address: 'closed' }))
    await one!.learn({ operation: 'createGeneration' }, 20_000)
    const waitMs = await other!.ask({ operation: 'createGeneration' })
    expect(waitMs).toBeGreaterThan(0)
    expect(waitMs).toBeLessThanOrEqual(20_000)
    expect(await other!.ask({ operation: 'getGeneration' })).toBe(0)
  })

  it.each(['20 kiosks, always busy', '100 kiosks, always busy'])(
    'lets at least 22 shoppers a minute have their picture through one IP, and nobody is refused: %s',
    async (name) => {
      const durationMs = 10 * 60_000
      const { finals, refused } = await play({ ...scenarios[name]!, durationMs }, oneDatabase(pools[0]!), 1)
      // a crowd that comes all at once is through after some minutes
      const late = finals.filter(({ at }) => at >= durationMs / 2)
      expect(late.length / (durationMs / 2 / 60_000)).toBeGreaterThanOrEqual(22)
      expect(Object.values(refused)).toEqual(Object.values(refused).map(() => 0))
    },
  )

  it('tells of a database that fails, of each request that asked it', async () => {
    const broken = postgresBudget({ query: () => Promise.reject(new Error('gone')) })
    const asked = await Promise.allSettled(
      Array.from({ length: 3 }, async () => broken.ask({ operation: 'getFunnel' })),
    )
    expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  })

  it('keeps nobody waiting for a question that is never answered', async () => {
    const database = new PGlite()
    let hangs = true
    const clock = manualClock()
    const query: PostgresQueries['query'] = (text, values) =>
      hangs ? new Promise(() => {}) : database.query(text, values)
    const budget = postgresBudget({ query }, { clock })
    const ask = async () => budget.ask({ operation: 'getFunnel' })
    const waiting = [ask(), ask()]
    await vi.waitUntil(() => clock.advanceToNext(), { timeout: 60_000 })
    hangs = false
    expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toContain('rejected')
    await database.close()
  })

  it('counts nothing that was written before the database’s clock was set back', () => {
    const filled = Array.from({ length: 200 }).reduce<IpCount>(
      (count) => asked(count, 'createGeneration', 9_000_000).count,
      nothingSent,
    )
    const refused = refusedFor(filled, 'createGeneration', 60_000, 9_000_000)
    expect(asked(refused, 'createGeneration', 9_000_000).waitMs).toBeGreaterThan(0)
    expect(asked(refused, 'createGeneration', 9_000_000 - 3_600_000).waitMs).toBe(0)
  })

  it('takes what nobody can read for nothing', async () => {
    const database = new PGlite()
    for (const junk of ['{', '{"sent":[1,"2"]}', 'null']) {
      await postgresStorage(database).setItem('budget:default', junk)
      expect(await postgresBudget(database).ask({ operation: 'createGeneration' })).toBe(0)
    }
    await database.close()
  })
})
