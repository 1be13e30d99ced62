import type { PostgresQueries, RunnerOptions } from 'fitting-room/runner'
import { describe, expect, it, vi } from 'vitest'
import { createItems } from '../../adapters/runner/items.ts'
import { deferred } from '../../src/platform/deferred.ts'
import { isTryOnError, type TryOnError } from '../../src/rules/try-on-error.ts'
import { isPoll, isSubmission, photo, sandboxKey, tee, testTee, onEachDatabase } from './on-each-database.ts'

onEachDatabase('a runner, of what may be paid for,', (world) => {
  const { databaseOf, open, asked, stopping, handBack } = world

  describe('of a submission whose answer came late', () => {
    /** A runner of whose submission the outcome is unknown, until its answer is let through. */
    async function unanswered(options: Partial<RunnerOptions> = {}) {
      const answer = deferred()
      const fetch: typeof world.sandbox.fetch = async (input, init) => {
        const answered = await world.sandbox.fetch(input, init)
        if (new Request(input, init).method === 'POST' && String(input).endsWith('/generations')) await answer.promise
        return answered
      }
      const runner = await open({ fetch, timing: { submitTimeoutMs: 2_000 }, onError: () => {}, ...options })
      await runner.run()
      await runner.add({ id: 'look', product: tee, photo })
      await runner.settled()
      expect(await runner.get('look')).toMatchObject({ state: 'outcomeUnknown', isEnded: true })
      return { runner, answer: () => answer.resolve() }
    }

    const isOfJob = (text: string, values: unknown[] = []) =>
      /update \w+_items set (state|job_id)/.test(text) && values.some((each) => String(each).includes('"jobId":"'))

    /** The job stands in its record, and its process has ended before the list knew of it; nothing is at work any more. */
    async function answeredLate(before = async () => {}): Promise<void> {
      const query: PostgresQueries['query'] = (text, values) =>
        isOfJob(text, values) ? Promise.reject(new Error('gone')) : databaseOf().query(text, values)
      const { runner, answer } = await unanswered({ database: asked(query) })
      await before()
      answer()
      const noted = `select 1 from ${world.prefix}_records where value like '%"accepted"%'`
      const isNoted = async () => (await databaseOf().query(noted)).rows.length > 0
      await vi.waitUntil(isNoted, { timeout: 60_000, interval: 20 })
      await runner.close()
    }

    it('goes on by itself once the answer is there', async () => {
      const { runner, answer } = await unanswered()
      answer()
      const isFinal = async () => (await runner.get('look'))?.state === 'final'
      await vi.waitUntil(isFinal, { timeout: 60_000, interval: 20 })
      expect(world.sandbox.ledger.accepted).toBe(1)
    })

    it('goes on though an earlier word had cleared up for another submission that was not taken', async () => {
      const { runner, answer } = await unanswered()
      const query: PostgresQueries['query'] = (text, values) =>
        /set consent = .* namespace = /.test(text)
          ? Promise.reject(new Error('gone'))
          : databaseOf().query(text, values)
      await expect((await open({ database: asked(query) })).retry('look')).rejects.toThrow('gone')
      answer()
      const isFinal = async () => (await runner.get('look'))?.state === 'final'
      await vi.waitUntil(isFinal, { timeout: 60_000, interval: 20 })
      expect(world.sandbox.ledger.accepted).toBe(1)
    })

    it('tells which job it was where no database takes it before the end', async () => {
      let isDown = false
      const down = deferred()
      const query: PostgresQueries['query'] = async (text, values) => {
        if (isDown && isOfJob(text, values)) down.resolve()
        if (isDown) throw new Error('down')
        return databaseOf().query(text, values)
      }
      const jobs: (string | null)[] = []
      const onError = (error: unknown) => void (isTryOnError(error) && jobs.push(error.jobId))
      const { runner, answer } = await unanswered({ database: asked(query), onError })
      isDown = true
      answer()
      await down.promise
      await runner.close()
      const [job] = jobs.filter((each) => each !== null)
      const found = await world.sandbox.fetch(`${world.sandbox.baseUrl}/generations/${job}`, sandboxKey)
      expect(found.status).toBe(200)
    })

    async function isFollowed(): Promise<void> {
      const runner = await open()
      await runner.run()
      await runner.settled()
      expect(await runner.get('look')).toMatchObject({ state: 'final' })
      expect(world.sandbox.ledger.accepted).toBe(1)
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
      expect([await other.get('look'), world.sandbox.ledger.accepted]).toEqual([null, 1])
    })

    it('does not take for no job what it cannot read', async () => {
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
    const fetch: typeof world.sandbox.fetch = async (input, init) => {
      return isPoll(new Request(input, init)) && !isUnderstood
        ? new Response('<html>', { status: 200 })
        : world.sandbox.fetch(input, init)
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
    expect(world.sandbox.ledger.accepted).toBe(1)
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
      const fetch: typeof world.sandbox.fetch = async (input, init) => {
        const answer = await world.sandbox.fetch(input, init)
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
      const records = `${world.prefix}_records`
      if (what === 'is gone') await databaseOf().query(`delete from ${records}`)
      if (what === 'goes on by itself')
        await databaseOf().query(
          `update ${records} set value = replace(value, '"phase":"claimed"', '"phase":"consented"')`,
        )
      const other = await open()
      await other.run()
      await other.settled()
      const followed = { state: 'final', attempt: { jobId: told } }
      expect([await other.get('look'), world.sandbox.ledger.accepted]).toMatchObject([followed, 1])
    },
  )

  it.each([
    ['not sent', 'rejected'],
    ['only claimed', 'outcomeUnknown'],
    ['told', 'stalled'],
  ])('sends nothing for what was begun at another base URL, and %s', async (what, state) => {
    let [isGone, wasAsked] = [false, false]
    const query: PostgresQueries['query'] = (text, values) =>
      isGone ? Promise.reject(new Error('the process has ended')) : databaseOf().query(text, values)
    const fetch: typeof world.sandbox.fetch = async (input, init) => {
      const request = new Request(input, init)
      wasAsked = true
      if (what === 'not sent') return new Promise(() => {})
      const answer = await world.sandbox.fetch(request)
      if (isPoll(request)) return Response.json({ data: { status: 'PROCESSING' } })
      return isSubmission(request) && what !== 'told' ? new Promise(() => {}) : answer
    }
    const one = await open({ fetch, database: asked(query), onError: () => {} })
    await one.add({ id: 'look', product: tee, photo })
    await one.run()
    const jobId = async () => (await one.get('look'))?.attempt?.jobId ?? null
    const paid = what === 'not sent' ? 0 : 1
    const isBegun = async () =>
      wasAsked && world.sandbox.ledger.accepted === paid && (what !== 'told' || (await jobId()) !== null)
    await vi.waitUntil(isBegun, { timeout: 120_000, interval: 20 })
    const told = await jobId()
    if (what === 'not sent') await one.close()
    isGone = true
    await one.close().catch(() => {})
    await handBack()
    const moved: string[] = []
    const elsewhere: RunnerOptions['fetch'] = (input) => Promise.reject(new Error(String(moved.push(String(input)))))
    const other = await open({ baseUrl: 'https://moved.test', fetch: elsewhere })
    await other.run()
    await other.settled()
    const problem = { kind: 'input', at: 'baseUrl' }
    expect(await other.get('look')).toMatchObject({
      state,
      isEnded: true,
      problem,
      ...(paid > 0 && { attempt: { jobId: told } }),
    })
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
    expect([moved, world.sandbox.ledger.accepted]).toEqual([[], told === null ? paid + 1 : 1])
  })

  it('sends nothing for what was begun at another base URL, and of which its record alone has the job', async () => {
    let isGone = false
    const query: PostgresQueries['query'] = async (text, values = []) => {
      if (isGone) throw new Error('the process has ended')
      // of an item
      if (/update \w+_items/.test(text) && values.some((each) => /"jobId":"/.test(String(each))))
        return new Promise(() => {})
      return databaseOf().query(text, values)
    }
    const one = await open({ database: asked(query), onError: () => {} })
    await one.add({ id: 'look', product: testTee('9003'), photo })
    await one.run()
    await vi.waitUntil(() => world.sandbox.ledger.accepted === 1, { timeout: 120_000, interval: 20 })
    const noted = `select 1 from ${world.prefix}_records where value like '%"accepted"%'`
    const isNoted = async () => (await databaseOf().query(noted)).rows.length > 0
    await vi.waitUntil(isNoted, { timeout: 120_000, interval: 20 })
    isGone = true
    await one.close().catch(() => {})
    await handBack()
    const moved = await open({ baseUrl: 'https://moved.test', onError: () => {} })
    await moved.run()
    for (let times = 0; times < 2; times += 1) {
      await moved.settled()
      expect(await moved.get('look')).toMatchObject({ state: 'stalled', attempt: { jobId: expect.any(String) } })
      await moved.retry('look')
    }
    await moved.settled()
    await moved.close()
    const again = await open()
    await again.retry('look')
    await again.run()
    await again.settled()
    expect([await again.get('look'), world.sandbox.ledger.accepted]).toMatchObject([{ state: 'final' }, 1])
  })

  it('does not leave to nobody what another process learnt the job of, while this one could not go on with it', async () => {
    const own = await open()
    await own.add({ id: 'look', product: tee, photo })
    const items = createItems(databaseOf(), world.prefix)
    const item = (await items.read('look'))!
    await items.begin(item, world.sandbox.baseUrl)
    const isReading = (text: string) => /select id, consent/.test(text)
    const { runner: moved, reached, goOn } = await stopping(isReading, { at: 'after', baseUrl: 'https://moved.test' })
    await moved.run()
    await reached
    const attempt = { id: 'a', jobId: 'job', startedAt: 1 }
    await items.save(item, { state: 'processing', isEnded: false, attempt, result: null, problem: null, message: null })
    goOn()
    const hasEnded = async () => {
      // its next turn need not be waited for
      await databaseOf().query(`update ${world.prefix}_queue.job set start_after = now() where state = 'created'`)
      return (await own.get('look'))?.isEnded
    }
    await vi.waitUntil(hasEnded, { timeout: 120_000, interval: 100 })
    expect(await own.get('look')).toMatchObject({ state: 'stalled', attempt: { jobId: 'job' } })
  })

  it('goes on by itself with a job that is known by the time that its outcome is told as unknown', async () => {
    const [held, answer] = [deferred(), deferred()]
    let told: Promise<unknown> | null = null
    let wasLost = false
    const query: PostgresQueries['query'] = async (text, values = []) => {
      const isTelling = /update \w+_items set state/.test(text)
      if (isTelling && values[2] === 'outcomeUnknown')
        return (told = held.promise.then(() => databaseOf().query(text, values))) as ReturnType<typeof query>
      if (isTelling && /"jobId":"/.test(String(values[4]))) {
        held.resolve()
        await told
        await databaseOf().query(text, values)
        // that answer is lost
        if (!wasLost) throw new Error(`gone ${(wasLost = true)}`)
      }
      return databaseOf().query(text, values)
    }
    const fetch: typeof world.sandbox.fetch = async (input, init) => {
      const request = new Request(input, init)
      const answered = await world.sandbox.fetch(request)
      if (isSubmission(request)) await answer.promise
      return answered
    }
    const timing = { submitTimeoutMs: 2_000 }
    const runner = await open({ fetch, database: asked(query), timing, onError: () => answer.resolve() })
    await runner.run()
    await runner.add({ id: 'look', product: testTee('9003'), photo })
    const state = async () => (await runner.get('look'))?.state
    await vi.waitUntil(async () => (await state()) === 'final', { timeout: 120_000, interval: 20 })
    expect(world.sandbox.ledger.accepted).toBe(1)
  })

  it('takes what is learnt late of one that ended with an outcome that nobody knew', async () => {
    const runner = await open()
    const { id } = await runner.add({ id: 'look', product: tee, photo })
    const items = createItems(databaseOf(), world.prefix)
    const item = (await items.read(id))!
    const attempt = { id: 'a', jobId: null, startedAt: 1 }
    const known = { ...attempt, jobId: 'job' }
    const nothing = { result: null, problem: null, message: null }
    const problem = { kind: 'storage' } as const
    await items.save(item, { ...nothing, state: 'outcomeUnknown', isEnded: true, attempt, problem })
    await items.save(item, { ...nothing, state: 'processing', isEnded: false, attempt: known })
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

  it.each(['save', 'learn'])(
    'has the job that is learnt late of one of which nothing was told, and begins it once: %s',
    async (way) => {
      const runner = await open()
      const { id } = await runner.add({ id: 'look', product: tee, photo })
      const items = createItems(databaseOf(), world.prefix)
      const item = (await items.read(id))!
      const nothing = { result: null, problem: null, message: null }
      const attempt = { id: 'a', jobId: 'job', startedAt: 1 }
      await items.save(item, { ...nothing, state: 'outcomeUnknown', isEnded: true, attempt: null })
      if (way === 'save') await items.save(item, { ...nothing, state: 'processing', isEnded: false, attempt })
      else await items.learn(item, attempt)
      expect(await runner.get(id)).toMatchObject({ state: 'outcomeUnknown', isEnded: true, attempt })
      await items.goOnLate()
      const again = (await items.read(id))!
      expect([again.isEnded, again.attempt, await items.begin(again, world.sandbox.baseUrl)]).toEqual([
        false,
        attempt,
        null,
      ])
    },
  )

  it.each(['retry', 'forget'] as const)(
    'tells which job an answer has that comes once %s() was accepted: nobody else would know it',
    async (word) => {
      const answer = deferred()
      const errors: unknown[] = []
      let submissions = 0
      const fetch: typeof world.sandbox.fetch = async (input, init) => {
        const request = new Request(input, init)
        const answered = await world.sandbox.fetch(request)
        if (isSubmission(request) && ++submissions === 1) await answer.promise
        return answered
      }
      const runner = await open({ fetch, timing: { submitTimeoutMs: 2_000 }, onError: (error) => errors.push(error) })
      await runner.run()
      await runner.add({ id: 'look', product: tee, photo })
      const state = async () => (await runner.get('look'))?.state
      await vi.waitUntil(async () => (await state()) === 'outcomeUnknown', { timeout: 120_000, interval: 20 })
      await runner[word]('look')
      answer.resolve()
      await vi.waitUntil(() => errors.length > 0, { timeout: 120_000, interval: 20 })
      expect(errors).toEqual([
        expect.objectContaining({ kind: 'stopped', jobId: expect.stringMatching(/^[\da-f-]{36}$/) }),
      ])
      if (word === 'retry')
        await vi.waitUntil(async () => (await state()) === 'final', { timeout: 120_000, interval: 20 })
      const followed = (await runner.get('look'))?.attempt?.jobId
      expect((errors[0] as TryOnError).jobId).not.toBe(followed)
    },
  )
})
