import { Socket } from 'node:net'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endpoints } from 'fitting-room/contract'
import { IpLimiter, type RequestCount } from '../src/ip-limiter.ts'
import { openServerStore } from '../src/open-store.ts'
import type { Clock } from '../src/ports.ts'
import { openDatabase, type Database } from '../src/postgres/database.ts'
import { postgresLimiter } from '../src/postgres/postgres-limiter.ts'
import { openRounds, type Question, type Rounds } from '../src/postgres/rounds.ts'
import type { PostgresServer } from './postgres-server.ts'
import { startServiceDatabase, type ServiceDatabase } from './service-database.ts'

const report = (error: unknown) => console.error(error)
let started: ServiceDatabase
let server: PostgresServer
let database: Database
let address: string
beforeAll(async () => {
  started = await startServiceDatabase()
  ;({ server, database, address } = started)
})
afterAll(() => started.close())

it('requests of one address that come at once are counted in their order, and refused from the first one too many', async () => {
  let now = 1_000_000
  const limiter = postgresLimiter(database, openRounds(database), report, { now: () => now })
  const { threshold } = endpoints.createUpload
  const waits = (count: number) =>
    Promise.all(Array.from({ length: count }, async () => limiter.count('10.0.0.1', 'createUpload')))
  expect(await waits(threshold - 1)).toEqual(Array.from({ length: threshold - 1 }, () => 0))
  now += 20_000
  // the last that passes is of now, those before go on counting for 40 s
  expect(await waits(3)).toEqual([0, 40, 40])
  expect(await limiter.count('10.0.0.2', 'createUpload')).toBe(0)
  now += 40_001
  expect(await waits(1)).toEqual([0])
})

describe('requests that several processes count', () => {
  const { threshold } = endpoints.createUpload
  const oneProcess = () => postgresLimiter(database, openRounds(database), report)
  const countOne = async (limiter: RequestCount, ip: string) => limiter.count(ip, 'createUpload')

  it('are counted exactly, however many come at once', async () => {
    const processes = [oneProcess(), oneProcess(), oneProcess()]
    for (let turn = 0; turn < 10; turn += 1) {
      const ip = `10.0.4.${turn}`
      const asked = Array.from({ length: 3 * threshold }, (_, at) => countOne(processes[at % 3]!, ip))
      expect((await Promise.all(asked)).filter((wait) => wait === 0)).toHaveLength(threshold)
    }
    expect(await countOne(processes[1]!, '10.0.3.2')).toBe(0)
  })

  it('are counted by one that begins later, whatever had come before', async () => {
    const first = oneProcess()
    // each of them is a round, more than are read at a time
    for (let at = 0; at < threshold; at += 1) expect(await countOne(first, '10.0.3.3')).toBe(0)
    expect(await countOne(oneProcess(), '10.0.3.3')).toBeGreaterThan(0)
  })

  it('are counted where the answer was lost of the round that has written them', async () => {
    let isLost = false
    const query: Database['query'] = async (text, values) => {
      const rows = await database.query(text, values)
      if (isLost) throw new Error('the connection broke')
      return rows as never
    }
    const limiter = postgresLimiter(database, openRounds({ query }), report)
    const several = () => Promise.all(Array.from({ length: threshold - 1 }, () => countOne(limiter, '10.0.3.4')))
    isLost = true
    await expect(several()).rejects.toThrow('the connection broke')
    isLost = false
    expect(await countOne(limiter, '10.0.3.4')).toBe(0)
    expect(await countOne(limiter, '10.0.3.4')).toBeGreaterThan(0)
  })

  it('are counted after the server has lost them all', async () => {
    const [one, other] = [oneProcess(), oneProcess()]
    await countOne(one, '10.0.3.5')
    await database.query('truncate fitting_room.counted')
    for (let at = 0; at < threshold; at += 1) await countOne(other, '10.0.3.6')
    expect(await countOne(one, '10.0.3.6')).toBeGreaterThan(0)
  })

  it('are found by their numbers, also where it was planned for few of them', async () => {
    const own = await server.newDatabase()
    await openServerStore(own, { report }).then(({ store }) => store.close())
    const planned = openDatabase({ connectionString: own }, 1, report)
    await planned.query(`insert into fitting_room.counted select n, n, '' from generate_series(1, 5) as n`)
    await planned.query('analyze fitting_room.counted')
    const [one, other] = [0, 1].map(() => postgresLimiter(planned, openRounds(planned), report))
    const countBoth = async () => [await countOne(one!, '10.0.3.8'), await countOne(other!, '10.0.3.8')]
    const scans = async () => {
      await planned.query('select pg_stat_force_next_flush()')
      const [row] = await planned.query<{ seq_scan: string }>(
        `select seq_scan from pg_stat_user_tables where relname = 'counted'`,
      )
      return Number(row?.seq_scan)
    }
    // what is deleted is looked for in all of them, once
    await countBoth()
    const before = await scans()
    for (let at = 0; at < 10; at += 1) await countBoth()
    expect(await scans()).toBe(before)
    await planned.close()
  })

  it('are deleted once they do not count any more', async () => {
    const rows = async () =>
      Number((await database.query<{ count: string }>('select count(*) from fitting_room.counted'))[0]?.count)
    await countOne(oneProcess(), '10.0.3.7')
    await database.query('update fitting_room.counted set at = at - 120001')
    await countOne(oneProcess(), '10.0.3.7')
    await expect.poll(rows).toBe(1)
  })
})

it('requests are counted of whose address a process has counted some that takes no answer', async () => {
  const socket = new Socket()
  const terms = { connectionString: address, pipeline: true, stream: () => socket }
  const client = new Client(terms)
  await client.connect()
  const standing = openRounds({
    query: async <R extends object>(text: string, values?: readonly unknown[]) =>
      (await client.query<R>(text, [...(values ?? [])])).rows,
  })
  const long: Question<null, number> = {
    name: 'long',
    text: `select repeat('a', 30000000) as text`,
    of: (asked) => ({ values: [], answers: (rows: { text: string }[]) => asked.map(() => rows[0]!.text.length) }),
  }
  const count = async (rounds: Rounds) => postgresLimiter(database, rounds, report).count('10.0.0.8', 'createUpload')
  socket.pause()
  const waiting = [count(standing), standing(long)(null)]
  const blocked = () => database.query(`select 1 from pg_stat_activity where wait_event = 'ClientWrite'`)
  await expect.poll(blocked).toHaveLength(1)
  expect(await count(openRounds(database))).toBe(0)
  socket.resume()
  expect(await Promise.all(waiting)).toEqual([0, 30_000_000])
  await client.end()
})

it('requests that a clock counted before it was set back do not count', async () => {
  for (const limit of [
    (clock: Clock) => new IpLimiter(clock),
    (clock: Clock) => postgresLimiter(database, openRounds(database), report, clock),
  ]) {
    let now = 9_000_000
    const limiter = limit({ now: () => now })
    const all = async () => {
      for (let at = 0; at < 121; at += 1) await limiter.count('10.0.0.9', 'createUpload')
      return limiter.count('10.0.0.9', 'createUpload')
    }
    expect(await all()).toBeGreaterThan(0)
    now -= 3_600_000
    expect(await limiter.count('10.0.0.9', 'createUpload')).toBe(0)
    expect(await all()).toBeLessThanOrEqual(60)
  }
})
