import { PGlite } from '@electric-sql/pglite'
import { createSandbox, type Sandbox } from '@fitting-room/service/sandbox'
import {
  openRunner,
  type PostgresQueries,
  type Runner,
  type RunnerEntry,
  type RunnerOptions,
} from 'fitting-room/runner'
import type { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { openPool, startPostgresServer, type PostgresServer } from '../service/test/postgres-server.ts'
import { onePixel } from './kill-points/load.ts'
import { openSandbox } from './support/open-sandbox.ts'
import { scaledClock } from './support/scaled-clock.ts'

let server: PostgresServer
let pool: Pool
const embedded = new PGlite()
beforeAll(async () => {
  server = await startPostgresServer()
  pool = openPool({ connectionString: await server.newDatabase() })
})
afterAll(async () => {
  await pool.end()
  await server.close()
  await embedded.close()
})

const photo = { bytes: onePixel }
const tee = { productId: '1001', variantId: '2001', funnelIds: [11] }
const testTee = (variantId: string) => ({ ...tee, productId: '1009', variantId })

describe.each([
  ['PostgreSQL', () => pool],
  ['PGlite', () => embedded],
] as [string, () => PostgresQueries][])('a runner on %s', (_, databaseOf) => {
  let sandbox: Sandbox
  let runners: Runner[]
  /** As another process would open it. */
  const open = async (options: Partial<RunnerOptions> = {}) => {
    const { fetch, putPhoto, baseUrl } = sandbox
    const parts = { baseUrl, fetch, putPhoto, apiKey: 'sandbox-key', database: databaseOf(), clock: scaledClock(20) }
    const runner = await openRunner({ ...parts, name: `test_${names}`, ...options })
    runners.push(runner)
    return runner
  }
  let names = 0
  beforeEach(() => {
    names += 1
    runners = []
    sandbox = createSandbox({ config: openSandbox({ previewAfterMs: 60, readyAfterMs: 150 }) })
  })
  afterEach(async () => {
    for (const runner of runners) await runner.close()
    await sandbox.close()
  })
  const sent = (request: string) => sandbox.ledger.requests.filter((each) => each.startsWith(request)).length

  it('carries many out, each once, and asks for a funnel and an upload once', async () => {
    const runner = await open()
    for (let nth = 0; nth < 8; nth += 1) await runner.add({ id: `look-${nth}`, product: tee, photo })
    await runner.run()
    await runner.settled()
    const entries = await runner.list()
    expect(entries.map(({ id, state, isEnded }) => [id, state, isEnded])).toEqual(
      Array.from({ length: 8 }, (__, nth) => [`look-${nth}`, 'final', true]),
    )
    expect(new Set(entries.map(({ result }) => result?.imageUrl)).size).toBe(8)
    expect([sandbox.ledger.accepted, sent('GET /funnel'), sent('POST /uploads')]).toEqual([8, 1, 1])
  })

  it('takes the same id for the same try-on, whichever process says it, and for no other one', async () => {
    const [one, other] = [await open(), await open()]
    await one.run()
    const order = { id: 'look', product: tee, photo }
    await Promise.all([one.add(order), other.add(order), one.add(order)])
    await one.settled()
    expect(await other.add(order)).toMatchObject({ state: 'final', isEnded: true })
    await expect(other.add({ ...order, product: testTee('9002') })).rejects.toMatchObject({
      problem: { kind: 'input', at: 'id' },
    })
    expect(sandbox.ledger.accepted).toBe(1)
  })

  it('says at once what is wrong with what it is given', async () => {
    const runner = await open()
    const kindOf = (order: object) =>
      runner.add({ id: 'look', product: tee, photo, ...order }).catch((error: { problem: object }) => error.problem)
    expect(await kindOf({ id: '' })).toMatchObject({ kind: 'input', at: 'id' })
    expect(await kindOf({ id: 'a\0b' })).toMatchObject({ kind: 'input', at: 'id' })
    expect(await kindOf({ product: { ...tee, variantId: 'x' } })).toMatchObject({ kind: 'input', at: 'variantId' })
    expect(await kindOf({ photo: { bytes: new Uint8Array([1, 2]) } })).toMatchObject({ kind: 'photo', reason: 'type' })
    await expect(runner.retry('nobody')).rejects.toMatchObject({ problem: { kind: 'input', at: 'id' } })
    expect(await runner.list()).toEqual([])
  })

  it('tells every process of each state once', async () => {
    const [worker, watcher] = [await open(), await open({ clock: scaledClock(100) })]
    const heard: RunnerEntry[] = []
    watcher.on((entry) => heard.push(entry))
    await worker.add({ id: 'look', product: tee, photo })
    await worker.run()
    await vi.waitUntil(() => heard.at(-1)?.isEnded, { timeout: 120_000, interval: 20 })
    await watcher.close()
    expect(heard.at(-1)).toMatchObject({ id: 'look', state: 'final' })
    expect(new Set(heard.map(({ state }) => state)).size).toBe(heard.length)
  })

  it('tells what has failed, and tries it again where it is told to, as another submission', async () => {
    const runner = await open()
    await runner.run()
    await runner.add({ id: 'look', product: testTee('9001'), photo })
    await runner.settled()
    expect(await runner.get('look')).toMatchObject({ state: 'failed', isEnded: true, problem: { kind: 'jobFailed' } })
    await runner.retry('look')
    await runner.settled()
    expect(await runner.get('look')).toMatchObject({ state: 'failed', isEnded: true })
    expect(sandbox.ledger.accepted).toBe(2)
  })

  it('sends nothing again of which nobody knows what has become', async () => {
    const runner = await open()
    await runner.run()
    await runner.add({ id: 'look', product: testTee('9004'), photo })
    await runner.settled()
    expect(await runner.get('look')).toMatchObject({ state: 'outcomeUnknown', problem: { kind: 'outcomeUnknown' } })
    expect(sent('POST /generations')).toBe(1)
  })

  it('goes on by itself once a key is taken again', async () => {
    const runner = await open({ clock: scaledClock(200) })
    await runner.run()
    await runner.add({ id: 'look', product: testTee('9011'), photo })
    await runner.settled()
    expect(await runner.get('look')).toMatchObject({ state: 'final' })
    expect([sent('POST /generations'), sandbox.ledger.accepted]).toEqual([2, 1])
  })

  it('goes on where a process was closed, with the same job', async () => {
    const one = await open()
    await one.run()
    await one.add({ id: 'look', product: testTee('9003'), photo })
    await vi.waitUntil(() => sandbox.ledger.accepted === 1, { timeout: 120_000, interval: 20 })
    await one.close()
    expect(await one.get('look')).toMatchObject({ isEnded: false })
    const other = await open()
    await other.run()
    await other.settled()
    expect(await other.get('look')).toMatchObject({ state: 'final' })
    expect(sandbox.ledger.accepted).toBe(1)
  })

  it('forgets one that has ended, with all that it kept, and no other one', async () => {
    const runner = await open()
    await runner.add({ id: 'look', product: tee, photo })
    await expect(runner.forget('look')).rejects.toMatchObject({ problem: { kind: 'notAllowed' } })
    await runner.run()
    await runner.settled()
    await runner.forget('look')
    expect(await runner.get('look')).toBeNull()
    const left = async (table: string) =>
      JSON.stringify((await databaseOf().query(`select * from test_${names}_${table}`)).rows)
    expect([await left('items'), await left('item_photos'), await left('photos')]).toEqual(['[]', '[]', '[]'])
    expect(await left('records')).not.toMatch(/imageUrl|2001/)
  })
})
