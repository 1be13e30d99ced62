import { PGlite } from '@electric-sql/pglite'
import { createSandbox, type Sandbox } from '@fitting-room/service/sandbox'
import type { GenerationRequest } from 'fitting-room/contract'
import {
  openRunner,
  type PostgresQueries,
  type Runner,
  type RunnerEntry,
  type RunnerOptions,
} from 'fitting-room/runner'
import type { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createItems } from '../../adapters/runner/items.ts'
import { openPool, startPostgresServer, type PostgresServer } from '../../service/test/postgres-server.ts'
import { deferred } from '../../src/platform/deferred.ts'
import { isTryOnError } from '../../src/rules/try-on-error.ts'
import { onePixel } from '../kill-points/load.ts'
import { openSandbox } from '../support/open-sandbox.ts'
import { scaledClock } from '../support/scaled-clock.ts'

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
const sandboxKey = { headers: { 'X-Service-SDK-Key': 'sandbox-key' } }
const isSubmission = ({ method, url }: Request) => method === 'POST' && url.endsWith('/generations')
const isPoll = ({ method, url }: Request) => method === 'GET' && url.includes('/generations/')
const testTee = (variantId: string) => ({ ...tee, productId: '1009', variantId })

/** The database, some of whose questions do not come to it as they were asked. */
function askedOf(database: PostgresQueries, query: PostgresQueries['query']): PostgresQueries {
  const exec = (text: string) => embedded.exec(text)
  return database === embedded ? Object.assign({ query }, { exec }) : { query }
}

describe.each([
  ['PostgreSQL', () => pool],
  ['PGlite', () => embedded],
] as [string, () => PostgresQueries][])('a runner on %s', (name, databaseOf) => {
  let sandbox: Sandbox
  let runners: Runner[]
  const asked = (query: PostgresQueries['query']) => askedOf(databaseOf(), query)
  /** As another process would open it. */
  const open = async (options: Partial<RunnerOptions> = {}) => {
    const { fetch, putPhoto, baseUrl } = sandbox
    const own = { baseUrl, apiKey: 'sandbox-key', database: databaseOf(), clock: scaledClock(20) }
    // one pixel is advised against
    const parts = { ...own, fetch, putPhoto, photos: { advice: false } }
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
  /** As once a heart has not beaten for a while. */
  const handBack = () => databaseOf().query(`update test_${names}_queue.job set state = 'created'`)
  const sent = (request: string) => sandbox.ledger.requests.filter((each) => each.startsWith(request)).length

  /** As a process that is stopped before the first statement of that kind, or once it was told something, or where that fails. */
  async function stopping(
    isIt: (text: string, values: unknown[]) => boolean,
    { at = 'before', failure, ...options }: { at?: 'before' | 'after'; failure?: Error } & Partial<RunnerOptions> = {},
  ) {
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
  }

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

  it('takes no photo that is advised against, by itself or by the application, unless it is told to', async () => {
    const runner = await open({ photos: {} })
    const small = await runner.add({ id: 'small', product: tee, photo }).catch(({ problem }) => problem)
    expect(small).toMatchObject({ kind: 'photoAdvice', advice: 'small' })
    const other = await open({ checkPhoto: () => 'no drawings' })
    const own = await other.add({ id: 'own', product: tee, photo }).catch(({ problem }) => problem)
    expect(own).toMatchObject({ kind: 'photoAdvice', advice: 'own', message: 'no drawings' })
    expect(await runner.list()).toEqual([])
    await runner.add({ id: 'told', product: tee, photo, despiteAdvice: true })
    expect(await runner.list()).toMatchObject([{ id: 'told' }])
  })

  it('keeps no place from others for what waits for a photo that can not be uploaded', async () => {
    const runner = await open({ putPhoto: async () => Promise.reject(new Error('no way there')) })
    const imageUrl = 'https://shop.test/person.png'
    for (const nth of [1, 2, 3]) await runner.add({ id: `held-${nth}`, product: tee, photo })
    await runner.add({ id: 'free', product: tee, photo: { imageUrl } })
    await runner.run({ atOnce: 2 })
    await vi.waitUntil(async () => (await runner.get('free'))?.isEnded, { timeout: 120_000, interval: 20 })
    expect((await runner.list()).filter(({ isEnded }) => isEnded).map(({ id }) => id)).toEqual(['free'])
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

  it('takes a word that names what was seen for that alone, however often it comes', async () => {
    const runner = await open()
    await runner.run()
    const { id } = await runner.add({ id: 'look', product: testTee('9001'), photo })
    await runner.settled()
    const seen = (await runner.get(id))!
    await runner.retry(seen)
    for (const intent of ['retry', 'forget'] as const)
      await expect(runner[intent](seen)).rejects.toMatchObject({ kind: 'notAllowed' })
    await runner.settled()
    for (const intent of ['retry', 'forget'] as const)
      await expect(runner[intent](seen)).rejects.toMatchObject({ kind: 'notAllowed' })
    expect(sandbox.ledger.accepted).toBe(2)
    await runner.forget((await runner.get(id))!)
    expect(await runner.get(id)).toBeNull()
  })

  it('sends nothing again of which nobody knows what has become', async () => {
    const runner = await open()
    await runner.run()
    await runner.add({ id: 'look', product: testTee('9004'), photo })
    await runner.settled()
    expect(await runner.get('look')).toMatchObject({ state: 'outcomeUnknown', problem: { kind: 'outcomeUnknown' } })
    expect(sent('POST /generations')).toBe(1)
  })

  describe('of a submission whose answer came late', () => {
    /** The outcome was unknown, and the job has been written down since; nothing is at work any more. */
    async function answeredLate(before = async () => {}): Promise<void> {
      const answer = deferred()
      const fetch: typeof sandbox.fetch = async (input, init) => {
        const answered = await sandbox.fetch(input, init)
        if (new Request(input, init).method === 'POST' && String(input).endsWith('/generations')) await answer.promise
        return answered
      }
      const runner = await open({ fetch, timing: { submitTimeoutMs: 2_000 } })
      await runner.run()
      await runner.add({ id: 'look', product: tee, photo })
      await runner.settled()
      expect(await runner.get('look')).toMatchObject({ state: 'outcomeUnknown', isEnded: true })
      await before()
      answer.resolve()
      const noted = `select 1 from test_${names}_records where value like '%"accepted"%'`
      const isNoted = async () => (await databaseOf().query(noted)).rows.length > 0
      await vi.waitUntil(isNoted, { timeout: 60_000, interval: 20 })
      await runner.close()
    }

    async function isFollowed(): Promise<void> {
      const runner = await open()
      await runner.run()
      await runner.settled()
      expect(await runner.get('look')).toMatchObject({ state: 'final' })
      expect(sandbox.ledger.accepted).toBe(1)
    }

    it('follows the job where it is told to try it again, once, however often it is told at once', async () => {
      await answeredLate()
      const [one, other] = [await open(), await open()]
      const told = await Promise.allSettled([one.retry('look'), other.retry('look'), one.retry('look')])
      const reasons = told.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
      expect(reasons).toMatchObject([{ kind: 'notAllowed' }, { kind: 'notAllowed' }])
      await isFollowed()
    })

    it.each(['forget', 'retry'] as const)(
      'keeps the job that is followed from a %s() that came too late',
      async (intent) => {
        await answeredLate()
        const { runner, reached, goOn } = await stopping((text) => /update \w+_items set (left_for|consent)/.test(text))
        const late = runner[intent]('look').catch((error: unknown) => error)
        await reached
        await (await open()).retry('look')
        goOn()
        expect(await late).toMatchObject({ kind: 'notAllowed' })
        await isFollowed()
      },
    )

    it('follows the job, too, that was learnt since an earlier word could not clear up', async () => {
      let isDown = false
      const query: PostgresQueries['query'] = (text, values) =>
        isDown && !/^\s*select/.test(text) && String(values?.[0]).includes(':')
          ? Promise.reject(new Error('down'))
          : databaseOf().query(text, values)
      await answeredLate(async () => {
        const runner = await open({ database: asked(query) })
        isDown = true
        await expect(runner.retry('look')).rejects.toThrow()
        isDown = false
      })
      await (await open()).retry('look')
      await isFollowed()
    })

    it('is not tried again while it is being forgotten', async () => {
      await answeredLate()
      const { runner, reached, goOn } = await stopping((text) => /delete from \w+_items/.test(text))
      const forgotten = runner.forget('look')
      await reached
      const other = await open()
      await expect(other.retry('look')).rejects.toMatchObject({ kind: 'notAllowed' })
      goOn()
      await forgotten
      expect([await other.get('look'), sandbox.ledger.accepted]).toEqual([null, 1])
    })

    it('does not take for no job what it can not read', async () => {
      await answeredLate()
      const ofRecord = (text: string, [key]: unknown[]) =>
        /^\s*select/.test(text) && String(key).endsWith(':try-on:1001:2001')
      const { runner } = await stopping(ofRecord, { failure: new Error('gone') })
      await expect(runner.retry('look')).rejects.toThrow('storageUnreadable')
      await runner.retry('look')
      await isFollowed()
    })
  })

  it('follows a job of which an answer could not be understood where it is told to try it again', async () => {
    let isUnderstood = false
    const fetch: typeof sandbox.fetch = async (input, init) => {
      return isPoll(new Request(input, init)) && !isUnderstood
        ? new Response('<html>', { status: 200 })
        : sandbox.fetch(input, init)
    }
    const runner = await open({ fetch })
    await runner.run()
    await runner.add({ id: 'look', product: tee, photo })
    await runner.settled()
    expect(await runner.get('look')).toMatchObject({ state: 'protocolError', isEnded: true })
    isUnderstood = true
    await runner.retry('look')
    await runner.settled()
    expect(await runner.get('look')).toMatchObject({ state: 'final' })
    expect(sandbox.ledger.accepted).toBe(1)
  })

  it('goes on by itself once a key is taken again, for the same address', async () => {
    const addresses: unknown[] = []
    const fetch: typeof sandbox.fetch = async (input, init) => {
      const request = new Request(input, init)
      if (isSubmission(request)) addresses.push(((await request.clone().json()) as GenerationRequest).customerEmail)
      return sandbox.fetch(request)
    }
    const customerEmail = 'lookbook@shop.test'
    const runner = await open({ fetch, customerEmail, clock: scaledClock(60), timing: { submitTimeoutMs: 3_600_000 } })
    await runner.run()
    await runner.add({ id: 'look', product: testTee('9011'), photo })
    await runner.settled()
    expect(await runner.get('look')).toMatchObject({ state: 'final' })
    expect([addresses, sandbox.ledger.accepted]).toEqual([[customerEmail, customerEmail], 1])
    for (const table of ['items', 'records'])
      expect(JSON.stringify(await databaseOf().query(`select * from test_${names}_${table}`))).not.toContain(
        customerEmail,
      )
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

  it('goes on with what waits for a key where a process ended without letting go of it', async () => {
    let [key, isGone] = ['sandbox-key', false]
    const query: PostgresQueries['query'] = (text, values) =>
      isGone ? Promise.reject(new Error('the process has ended')) : databaseOf().query(text, values)
    const held = deferred()
    const fetch: RunnerOptions['fetch'] = (input, init) => {
      if (key !== 'held') return sandbox.fetch(input, init)
      held.resolve()
      return new Promise(() => {})
    }
    const one = await open({ apiKey: () => key, fetch, database: asked(query), onError: () => {} })
    await one.run()
    await one.add({ id: 'look', product: testTee('9003'), photo })
    await vi.waitUntil(() => sandbox.ledger.accepted === 1, { timeout: 120_000, interval: 20 })
    key = 'another-key'
    const other = await open()
    const state = async () => (await other.get('look'))?.state
    await vi.waitUntil(async () => (await state()) === 'unauthorized', { timeout: 120_000, interval: 20 })
    // its next turn is at it
    key = 'held'
    await held.promise
    isGone = true
    await one.close().catch(() => {})
    await other.run()
    await other.settled()
    expect([await state(), sandbox.ledger.accepted]).toEqual(['final', 1])
  })

  it('sends nothing whose claim the database does not take, and goes on once it does', async () => {
    let isFull = false
    const query: PostgresQueries['query'] = (text, values) =>
      isFull && /insert into \w+_records/.test(text)
        ? Promise.reject(new Error('no space left'))
        : databaseOf().query(text, values)
    const one = await open({ database: asked(query), onError: () => {} })
    await one.run()
    // what is counted for all of them stands
    await one.add({ id: 'before', product: tee, photo })
    await one.settled()
    isFull = true
    await one.add({ id: 'look', product: tee, photo })
    const problem = async () => (await one.get('look'))?.problem
    await vi.waitUntil(async () => (await problem())?.kind === 'storage', { timeout: 120_000, interval: 20 })
    expect([await one.get('look'), sandbox.ledger.accepted]).toMatchObject([{ isEnded: false }, 1])
    await one.close()
    isFull = false
    // its next turn need not be waited for
    await databaseOf().query(`update test_${names}_queue.job set start_after = now() where state = 'created'`)
    const other = await open()
    await other.run()
    await other.settled()
    expect([await other.get('look'), sandbox.ledger.accepted]).toMatchObject([{ state: 'final' }, 2])
  })

  it.each(['lost it', 'is gone', 'goes on by itself'])(
    'follows a job that it has told where its record %s',
    async (what) => {
      let isGone = false
      const isOfJob = (values: unknown[] = []) =>
        values.some((each) => /"phase":"(accepted|preview|final)"/.test(String(each)))
      const query: PostgresQueries['query'] = (text, values) =>
        isOfJob(values) || (isGone && /_(records|items)/.test(text))
          ? Promise.reject(new Error('no space left'))
          : databaseOf().query(text, values)
      const fetch: typeof sandbox.fetch = async (input, init) => {
        const answer = await sandbox.fetch(input, init)
        const isPoll = new Request(input, init).method === 'GET' && String(input).includes('/generations/')
        return isPoll ? Response.json({ data: { status: 'PROCESSING' } }) : answer
      }
      const one = await open({ fetch, database: asked(query), onError: () => {} })
      await one.add({ id: 'look', product: tee, photo })
      await one.run()
      const jobId = async () => (await one.get('look'))?.attempt?.jobId
      await vi.waitUntil(async () => (await jobId()) != null, { timeout: 120_000, interval: 20 })
      const told = await jobId()
      isGone = true
      await one.close().catch(() => {})
      const records = `test_${names}_records`
      if (what === 'is gone') await databaseOf().query(`delete from ${records}`)
      if (what === 'goes on by itself')
        await databaseOf().query(
          `update ${records} set value = replace(value, '"phase":"claimed"', '"phase":"consented"')`,
        )
      const other = await open()
      await other.run()
      await other.settled()
      const followed = { state: 'final', attempt: { jobId: told } }
      expect([await other.get('look'), sandbox.ledger.accepted]).toMatchObject([followed, 1])
    },
  )

  it.each([
    ['only claimed', 'outcomeUnknown'],
    ['told', 'stalled'],
  ])('sends nothing for what was begun at another base URL, and %s', async (what, state) => {
    let isGone = false
    const query: PostgresQueries['query'] = (text, values) =>
      isGone ? Promise.reject(new Error('the process has ended')) : databaseOf().query(text, values)
    const fetch: typeof sandbox.fetch = async (input, init) => {
      const request = new Request(input, init)
      const answer = await sandbox.fetch(request)
      if (isPoll(request)) return Response.json({ data: { status: 'PROCESSING' } })
      return isSubmission(request) && what !== 'told' ? new Promise(() => {}) : answer
    }
    const one = await open({ fetch, database: asked(query), onError: () => {} })
    await one.add({ id: 'look', product: tee, photo })
    await one.run()
    const jobId = async () => (await one.get('look'))?.attempt?.jobId ?? null
    const isBegun = async () => sandbox.ledger.accepted === 1 && (what !== 'told' || (await jobId()) !== null)
    await vi.waitUntil(isBegun, { timeout: 120_000, interval: 20 })
    const told = await jobId()
    isGone = true
    await one.close().catch(() => {})
    await handBack()
    const moved: string[] = []
    const elsewhere: RunnerOptions['fetch'] = (input) => Promise.reject(new Error(String(moved.push(String(input)))))
    const other = await open({ baseUrl: 'https://moved.test', fetch: elsewhere })
    await other.run()
    await other.settled()
    const problem = { kind: 'input', at: 'baseUrl' }
    expect(await other.get('look')).toMatchObject({ state, isEnded: true, attempt: { jobId: told }, problem })
    await other.close()
    // back where it was, with the word for another submission where nobody knows a job
    const again = await open()
    await again.retry('look')
    await again.run()
    await again.settled()
    expect(await again.get('look')).toMatchObject({
      state: 'final',
      ...(told !== null && { attempt: { jobId: told } }),
    })
    expect([moved, sandbox.ledger.accepted]).toEqual([[], told === null ? 2 : 1])
  })

  describe('of a job that no database takes for a while', () => {
    /** Of what knows the job that many statements about the item are refused, and all about its record. */
    async function refusing(times: number, options: Partial<RunnerOptions> = {}) {
      let left = times
      const reached = deferred()
      const query: PostgresQueries['query'] = (text, values = []) => {
        const knows = values.some((each) =>
          /"jobId":"|"phase":"(accepted|preview|final|unauthorized)"/.test(String(each)),
        )
        const isItem = /update \w+_items/.test(text)
        const isStanding =
          sandbox.ledger.accepted > 0 && /select 1 from \w+_items where id = .* not is_ended/.test(text)
        const isRefused = knows ? !isItem || left-- > 0 : isStanding && left > 0
        if (isRefused && isItem) reached.resolve()
        return isRefused ? Promise.reject(new Error('down')) : databaseOf().query(text, values)
      }
      const runner = await open({ onError: () => {}, ...options, database: asked(query) })
      return { runner, reached: reached.promise, goOn: () => (left = 0) }
    }

    it('tells nothing else until it does, and follows it', async () => {
      const heard: string[] = []
      const { runner } = await refusing(3)
      runner.on(({ state }) => heard.push(state))
      await runner.run()
      await runner.add({ id: 'look', product: tee, photo })
      await runner.settled()
      expect([await runner.get('look'), sandbox.ledger.accepted]).toMatchObject([{ state: 'final' }, 1])
      await runner.close()
      expect(heard).not.toContain('outcomeUnknown')
      expect(heard).not.toContain('unauthorized')
    })

    it('does not end before it does', async () => {
      const { runner, reached, goOn } = await refusing(Infinity)
      await runner.run()
      await runner.add({ id: 'look', product: testTee('9003'), photo })
      await reached
      const closed = runner.close()
      goOn()
      await closed
      expect((await (await open()).get('look'))?.attempt?.jobId).toEqual(expect.any(String))
    })

    it('tells which it was where it has to end before', async () => {
      const told = deferred<string>()
      const onError = (error: unknown) => void (isTryOnError(error) && error.jobId && told.resolve(error.jobId))
      const { runner, reached } = await refusing(Infinity, { onError })
      await runner.run()
      await runner.add({ id: 'look', product: testTee('9003'), photo })
      await reached
      await runner.close()
      const answer = await sandbox.fetch(`${sandbox.baseUrl}/generations/${await told.promise}`, sandboxKey)
      expect(answer.status).toBe(200)
    })
  })

  it('goes on by itself with a job that is known by the time that its outcome is told as unknown', async () => {
    const [held, answer] = [deferred(), deferred()]
    let told: Promise<unknown> | null = null
    const query: PostgresQueries['query'] = async (text, values = []) => {
      const isTelling = /update \w+_items set state/.test(text)
      if (isTelling && values[2] === 'outcomeUnknown')
        return (told = held.promise.then(() => databaseOf().query(text, values))) as ReturnType<typeof query>
      if (isTelling && /"jobId":"/.test(String(values[4]))) {
        held.resolve()
        await told
      }
      return databaseOf().query(text, values)
    }
    const fetch: typeof sandbox.fetch = async (input, init) => {
      const request = new Request(input, init)
      const answered = await sandbox.fetch(request)
      if (isSubmission(request)) await answer.promise
      return answered
    }
    const timing = { submitTimeoutMs: 2_000 }
    const runner = await open({ fetch, database: asked(query), timing, onError: () => answer.resolve() })
    await runner.run()
    await runner.add({ id: 'look', product: testTee('9003'), photo })
    const state = async () => (await runner.get('look'))?.state
    await vi.waitUntil(async () => (await state()) === 'final', { timeout: 120_000, interval: 20 })
    expect(sandbox.ledger.accepted).toBe(1)
  })

  it('takes what is learnt late of one that ended with an outcome that nobody knew', async () => {
    const runner = await open()
    const { id } = await runner.add({ id: 'look', product: tee, photo })
    const items = createItems(databaseOf(), `test_${names}`)
    const item = (await items.read(id))!
    const attempt = { id: 'a', jobId: null, startedAt: 1 }
    const known = { ...attempt, jobId: 'job' }
    const nothing = { result: null, problem: null, message: null }
    const problem = { kind: 'storage' } as const
    await items.save(item, { ...nothing, state: 'outcomeUnknown', isEnded: true, attempt, problem })
    expect(await items.save(item, { ...nothing, state: 'processing', isEnded: false, attempt: known })).toBe(true)
    expect(await runner.get(id)).toMatchObject({ state: 'outcomeUnknown', isEnded: true, attempt: known, problem })
    // what was judged by less is not left for that
    expect(await items.leave({ ...item, attempt }, 'retry')).toBe(false)
    await items.save(item, { ...nothing, state: 'outcomeUnknown', isEnded: true, attempt })
    expect(await runner.get(id)).toMatchObject({ attempt: known })
    await items.save(item, { ...nothing, state: 'final', isEnded: true, attempt: known })
    expect(await runner.get(id)).toMatchObject({ state: 'final', isEnded: true })
    await items.save(item, { ...nothing, state: 'failed', isEnded: true, attempt: known })
    expect(await runner.get(id)).toMatchObject({ state: 'final' })
  })

  it('ends what another process had ended, and could not tell any more', async () => {
    let isDead = false
    const query: PostgresQueries['query'] = async (text, values = []) => {
      const result = isDead ? null : await databaseOf().query(text, values)
      isDead ||= /_records/.test(text) && values.some((each) => String(each).includes('"phase":"failed"'))
      if (isDead || !result) throw new Error('the process has ended')
      return result
    }
    const one = await open({ database: asked(query), onError: () => {} })
    await one.add({ id: 'look', product: testTee('9001'), photo })
    await one.run()
    await vi.waitUntil(() => isDead, { timeout: 120_000, interval: 20 })
    await handBack()
    const other = await open()
    await other.run()
    await other.settled()
    expect(await other.get('look')).toMatchObject({ state: 'failed', isEnded: true })
    await one.close().catch(() => {})
  })

  it('goes on with what only waited for another one where a process was closed', async () => {
    const one = await open({ fetch: () => new Promise(() => {}) })
    for (const id of ['a', 'b']) await one.add({ id, product: tee, photo })
    await one.run()
    const active = () => databaseOf().query(`select 1 from test_${names}_queue.job where state = 'active'`)
    await vi.waitUntil(async () => (await active()).rows.length === 2, { timeout: 120_000, interval: 20 })
    await one.close()
    const other = await open()
    await other.run()
    await other.settled()
    expect((await other.list()).map(({ state }) => state)).toEqual(['final', 'final'])
    expect(sandbox.ledger.accepted).toBe(2)
  })

  it('lets one of two have it that forgets and tries again at once', async () => {
    const [one, other] = [await open(), await open()]
    await one.run()
    const ids = ['a', 'b', 'c', 'd']
    for (const id of ids) await one.add({ id, product: testTee('9001'), photo })
    await one.settled()
    const said = await Promise.all(ids.map((id) => Promise.allSettled([one.forget(id), other.retry(id)])))
    await one.settled()
    const left = new Set((await one.list()).map(({ id }) => id))
    // who was told that it is forgotten has not got it; where storage is too slow for both, nothing has happened
    const isSo = (at: number) => said[at]?.map(({ status }) => status === 'fulfilled')
    const retried = ids.filter((_id, at) => isSo(at)?.[1])
    ids.forEach((id, at) => expect([id, isSo(at)]).toEqual([id, [!left.has(id), retried.includes(id) && left.has(id)]]))
    expect(sandbox.ledger.accepted).toBe(ids.length + retried.length)
  })

  it('has not tried again what it could not clear up after', async () => {
    let isDown = false
    const query: PostgresQueries['query'] = (text, values) =>
      // of what its room keeps
      isDown && String(values?.[0]).includes(':') ? Promise.reject(new Error('down')) : databaseOf().query(text, values)
    const runner = await open({ database: asked(query) })
    await runner.run()
    await runner.add({ id: 'look', product: testTee('9001'), photo })
    await runner.settled()
    isDown = true
    await expect(runner.retry('look')).rejects.toThrow()
    isDown = false
    await runner.settled()
    expect([await runner.get('look'), sandbox.ledger.accepted]).toMatchObject([{ state: 'failed', isEnded: true }, 1])
    await runner.retry('look')
    await runner.settled()
    expect(sandbox.ledger.accepted).toBe(2)
  })

  it('carries out what is added again once it was forgotten', async () => {
    const runner = await open()
    await runner.run()
    for (let times = 1; times <= 3; times += 1) {
      await runner.add({ id: 'look', product: tee, photo })
      await runner.settled()
      expect(await runner.get('look')).toMatchObject({ state: 'final' })
      await runner.forget('look')
    }
    expect(sandbox.ledger.accepted).toBe(3)
  })

  it('sends nothing for what was forgotten, however late a process comes to it', async () => {
    // it has read what there is to do
    const { runner: late, reached, goOn } = await stopping((text) => /select id, consent/.test(text), { at: 'after' })
    const own = await open()
    await own.add({ id: 'look', product: tee, photo: { imageUrl: 'https://photos.test/p.jpg' } })
    await late.run()
    await reached
    const item = await own.get('look')
    expect(item).toMatchObject({ isEnded: false })
    await databaseOf().query(`update test_${names}_items set is_ended = true, state = 'failed'`)
    await own.forget('look')
    goOn()
    const isAtWork = async () =>
      (await databaseOf().query(`select 1 from test_${names}_queue.job where state = 'active'`)).rows.length > 0
    await vi.waitUntil(async () => !(await isAtWork()), { timeout: 120_000, interval: 50 })
    expect(sent('POST /generations')).toBe(0)
  })

  it.each([
    ['what it has come to', /update \w+_items set state/],
    ['whether it stands', /select 1 from \w+_items where id = .* not is_ended/],
  ])('gives a try-on another turn where a statement about %s is never answered', async (_, statement) => {
    const own = await open()
    await own.add({ id: 'look', product: tee, photo })
    const { runner, reached } = await stopping((text) => statement.test(text), { onError: () => {} })
    await runner.run()
    await reached
    await own.settled()
    expect([await own.get('look'), sandbox.ledger.accepted]).toMatchObject([{ state: 'final' }, 1])
  })

  it('gives a try-on another turn whose query fails', async () => {
    let failures = 0
    const query: PostgresQueries['query'] = (text, values) =>
      // of its record, as it is read and written
      String(values?.[0]).includes(':try-on:') && failures-- > 0
        ? Promise.reject(new Error('gone'))
        : databaseOf().query(text, values)
    const errors: unknown[] = []
    const runner = await open({ database: asked(query), onError: (error) => errors.push(error) })
    await runner.run()
    for (const after of [1, 2, 3, 5]) {
      failures = after
      await runner.add({ id: `look-${after}`, product: tee, photo })
      await runner.settled()
      expect(await runner.get(`look-${after}`)).toMatchObject({ isEnded: true })
    }
    expect(sandbox.ledger.accepted).toBeLessThanOrEqual(4)
  })

  it('ends one whose photo is gone', async () => {
    const runner = await open()
    await runner.add({ id: 'look', product: tee, photo })
    await databaseOf().query(`delete from test_${names}_item_photos`)
    await runner.run()
    await runner.settled()
    expect(await runner.get('look')).toMatchObject({ state: 'rejected', problem: { kind: 'photo', reason: 'missing' } })
  })

  it('carries out what a process left unqueued that added it', async () => {
    const [adder, worker] = [await open(), await open()]
    await worker.run()
    const query: PostgresQueries['query'] = (text, values) =>
      /insert into test_\d+_queue|_queue\.job/.test(text) && values?.length
        ? Promise.reject(new Error('gone'))
        : databaseOf().query(text, values)
    const dying = await open({ database: asked(query) })
    await expect(dying.add({ id: 'look', product: tee, photo })).rejects.toThrow()
    await worker.settled()
    expect(await adder.get('look')).toMatchObject({ state: 'final' })
  })

  it('keeps no place for one that waits', async () => {
    const runner = await open({ timing: { deadlineMs: 2_000 } })
    await runner.run({ atOnce: 1 })
    await runner.add({ id: 'never', product: testTee('9012'), photo })
    await runner.add({ id: 'look', product: tee, photo })
    await vi.waitUntil(async () => (await runner.get('look'))?.isEnded, { timeout: 120_000, interval: 50 })
    expect(await runner.get('never')).toMatchObject({ state: 'stalled', isEnded: false })
  })

  it('says what is wrong with its options, and with what it is asked for', async () => {
    for (const [at, options] of Object.entries({
      baseUrl: { baseUrl: 'nonsense' },
      customerEmail: { customerEmail: 'x@' },
      name: { name: 'a; drop table b' },
      database: { database: {} as PostgresQueries },
      'timing.requestTimeoutMs': { timing: { requestTimeoutMs: -5 } },
    }))
      await expect(open(options)).rejects.toMatchObject({ problem: { kind: 'input', at } })
    const runner = await open()
    await expect(runner.run({ atOnce: 0 })).rejects.toMatchObject({ problem: { kind: 'input', at: 'atOnce' } })
    await expect(runner.get('a\0b')).rejects.toMatchObject({ problem: { kind: 'input', at: 'id' } })
    await runner.run()
    await expect(runner.run()).rejects.toThrow('runs already')
    await runner.close()
    await expect(runner.add({ id: 'look', product: tee, photo })).rejects.toThrow('closed')
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

  // in one session there is nobody beside it, and no connection that breaks
  const withOthers = name === 'PostgreSQL' ? it : null
  withOthers?.('keeps a photo that is added with another try-on while the first one is forgotten', async () => {
    const runner = await open()
    await runner.add({ id: 'look', product: tee, photo })
    await runner.run()
    await runner.settled()
    const other = await pool.connect()
    await other.query('begin')
    await other.query(`update test_${names}_item_photos set used_at = clock_timestamp()`)
    await other.query(
      `insert into test_${names}_items (id, consent, state, is_ended, told, ordered, visitor, photo, namespace)
       select 'other', gen_random_uuid(), 'final', true, told, ordered, visitor, photo, namespace from test_${names}_items`,
    )
    const forgotten = runner.forget('look')
    const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%test_${names}_item_photos%'`
    await vi.waitUntil(async () => (await pool.query(waiting)).rows.length > 0, { timeout: 60_000, interval: 20 })
    await other.query('commit')
    other.release()
    await forgotten
    expect((await pool.query(`select hash from test_${names}_item_photos`)).rows).toHaveLength(1)
    expect(await runner.get('look')).toBeNull()
  })

  withOthers?.('looks for work again where the look before was never answered', async () => {
    const { runner, reached } = await stopping((text) => /name = 'try-ons'.+skip locked/is.test(text), {
      onError: () => {},
    })
    await runner.run({ atOnce: 1 })
    await reached
    await runner.add({ id: 'look', product: tee, photo })
    await runner.settled()
    expect([await runner.get('look'), sandbox.ledger.accepted]).toMatchObject([{ state: 'final' }, 1])
  })

  withOthers?.('leaves no photo where two are forgotten at once that share it', async () => {
    const ids = ['one', 'another']
    const runner = await open()
    for (const id of ids) await runner.add({ id, product: tee, photo })
    await runner.run()
    await runner.settled()
    const isRemoval = (text: string) => /delete from \w+_items/.test(text)
    const forgetting = await Promise.all(ids.map(() => stopping(isRemoval)))
    const forgotten = Promise.all(forgetting.map((process, at) => process.runner.forget(ids[at]!)))
    await Promise.all(forgetting.map(({ reached }) => reached))
    // both statements begin before either takes effect
    const other = await pool.connect()
    await other.query('begin')
    await other.query(`select 1 from test_${names}_items for update`)
    for (const { goOn } of forgetting) goOn()
    const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%delete from test_${names}_items%'`
    await vi.waitUntil(async () => (await pool.query(waiting)).rows.length === 2, { timeout: 60_000, interval: 20 })
    await other.query('commit')
    other.release()
    await forgotten
    expect((await pool.query(`select hash from test_${names}_item_photos`)).rows).toEqual([])
  })

  it('leaves nothing that a process writes which comes to it after it was forgotten', async () => {
    const records = async () =>
      (await databaseOf().query(`select key from test_${names}_records`)).rows.map(
        (row) => (row as { key: string }).key,
      )
    const isStill = (text: string) =>
      /select 1 from \w+_items where id = \$1 and consent = \$2 and not is_ended/.test(text)
    const { runner: late, reached, goOn } = await stopping(isStill, { at: 'after', onError: () => undefined })
    await late.add({ id: 'look', product: tee, photo: { imageUrl: 'https://photos.test/p.jpg' } })
    await late.run()
    await reached
    await databaseOf().query(`update test_${names}_items set is_ended = true, state = 'failed'`)
    await (await open()).forget('look')
    goOn()
    await late.close()
    expect((await records()).filter((key) => /try-on|photo|visitor/.test(key))).toEqual([])
    expect(sent('POST /generations')).toBe(0)
  })

  it('has tried again what could not be queued at once, and says so', async () => {
    const runner = await open()
    await runner.add({ id: 'look', product: testTee('9004'), photo })
    await runner.run()
    await runner.settled()
    const before = sandbox.ledger.accepted
    const errors: unknown[] = []
    const query: PostgresQueries['query'] = (text, values) =>
      /queued_at = clock_timestamp/.test(text) ? Promise.reject(new Error('gone')) : databaseOf().query(text, values)
    const other = await open({ database: asked(query), onError: (error) => errors.push(error) })
    await other.retry('look')
    expect(errors).toMatchObject([{ message: 'gone' }])
    await runner.settled()
    expect(sandbox.ledger.accepted).toBe(before + 1)
  })

  it('adds what is forgotten at the same time', async () => {
    const runner = await open()
    await runner.add({ id: 'look', product: tee, photo })
    await runner.run()
    await runner.settled()
    const { runner: other, reached, goOn } = await stopping((text) => /^\s*select id, consent, state/.test(text))
    const added = other.add({ id: 'look', product: tee, photo })
    await reached
    await runner.forget('look')
    goOn()
    expect(await added).toMatchObject({ id: 'look', state: 'idle', isEnded: false })
    await runner.settled()
    expect(sandbox.ledger.accepted).toBe(2)
  })

  it('removes a photo that a process has left', async () => {
    const runner = await open()
    await runner.add({ id: 'look', product: tee, photo })
    await databaseOf().query(`delete from test_${names}_items`)
    await runner.run()
    expect((await databaseOf().query(`select hash from test_${names}_item_photos`)).rows).toEqual([])
  })

  it('leaves no photo, and can be told to forget again, whichever of its statements fails', async () => {
    const runner = await open()
    await runner.add({ id: 'look', product: tee, photo })
    await runner.run()
    await runner.settled()
    let before = Infinity
    const query: PostgresQueries['query'] = (text, values) =>
      /_items|_item_photos/.test(text) && before-- === 0
        ? Promise.reject(new Error('gone'))
        : databaseOf().query(text, values)
    const dying = await open({ database: asked(query), onError: () => undefined })
    for (let at = 0; (await runner.get('look')) !== null; at++) {
      before = at
      await dying.forget('look').catch(() => undefined)
      before = Infinity
    }
    const { rows } = await databaseOf().query(`select hash from test_${names}_item_photos`)
    expect(rows).toEqual([])
  })
})
