import { PGlite } from '@electric-sql/pglite'
import type { Operation } from 'fitting-room/contract'
import { postgresBudget, postgresStorage } from 'fitting-room/storage/postgres'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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

  it('tells of a database that fails, of each request that asked it', async () => {
    const broken = postgresBudget({ query: () => Promise.reject(new Error('gone')) })
    const asked = await Promise.allSettled(
      Array.from({ length: 3 }, async () => broken.ask({ operation: 'getFunnel' })),
    )
    expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
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
