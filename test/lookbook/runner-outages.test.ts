import type { PostgresQueries, Runner, RunnerOptions } from 'fitting-room/runner'
import { describe, expect, it, vi } from 'vitest'
import { deferred } from '../../src/platform/deferred.ts'
import { isTryOnError } from '../../src/rules/try-on-error.ts'
import { isSubmission, photo, sandboxKey, tee, testTee, onEachDatabase } from './on-each-database.ts'

onEachDatabase('a runner beside what fails,', (world) => {
  const { databaseOf, open, asked, stopping, withOthers } = world

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
    expect([await one.get('look'), world.sandbox.ledger.accepted]).toMatchObject([{ isEnded: false }, 1])
    await one.close()
    isFull = false
    // its next turn need not be waited for
    await databaseOf().query(`update ${world.prefix}_queue.job set start_after = now() where state = 'created'`)
    const other = await open()
    await other.run()
    await other.settled()
    expect([await other.get('look'), world.sandbox.ledger.accepted]).toMatchObject([{ state: 'final' }, 2])
  })

  describe('whose process was killed', () => {
    /** As killed once `reached` says so, while the request that `isIt` means was out: nothing of it comes to the database any more. */
    async function killed(isIt: (request: Request) => boolean, reached: (look: Runner) => Promise<boolean>) {
      const end = deferred()
      let isGone = false
      const fetch: typeof world.sandbox.fetch = async (input, init) => {
        const request = new Request(input, init)
        const answer = await world.sandbox.fetch(input, init)
        if (isIt(request)) await end.promise
        return answer
      }
      const query: PostgresQueries['query'] = (text, values) =>
        isGone && /_(records|items)/.test(text) ? Promise.reject(new Error('gone')) : databaseOf().query(text, values)
      const runner = await open({ fetch, database: asked(query), onError: () => {} })
      await runner.run()
      await runner.add({ id: 'look', product: tee, photo })
      await vi.waitUntil(() => reached(runner), { timeout: 120_000, interval: 20 })
      isGone = true
      end.resolve()
      await runner.close().catch(() => {})
    }

    const record = () => `${world.prefix}_records`
    const ofTryOn = `where key like '%:try-on:1001:2001'`

    it.each([
      ['is junk', () => `update ${record()} set value = 'junk' ${ofTryOn}`],
      [
        'is of a later version',
        () => `update ${record()} set value = replace(value, '"version":2', '"version":9') ${ofTryOn}`,
      ],
      ['is gone', () => `delete from ${record()} ${ofTryOn}`],
    ])(
      'in mid-submission ends as one that nobody knows of where its record %s, and is tried again only where that is said',
      async (_, spoil) => {
        await killed(
          isSubmission,
          async (runner) => (await runner.get('look'))?.state === 'submitting' && world.sandbox.ledger.accepted === 1,
        )
        await databaseOf().query(spoil())
        const other = await open()
        await other.run()
        await other.settled()
        const unknown = { state: 'outcomeUnknown', isEnded: true, problem: { kind: 'recordUnreadable' } }
        expect([await other.get('look'), world.sandbox.ledger.accepted]).toMatchObject([unknown, 1])
        await other.retry('look')
        await other.settled()
        expect([await other.get('look'), world.sandbox.ledger.accepted]).toMatchObject([{ state: 'final' }, 2])
      },
    )

    it('before anything was submitted is begun anew, however long ago that was, and nothing is reported', async () => {
      await killed(
        ({ url }) => url.endsWith('/uploads'),
        async () => world.sent('POST /uploads') === 1,
      )
      const [errors, clock] = [[] as unknown[], world.clockOf(20)]
      const later = { ...clock, now: () => clock.now() + 900_000 }
      const other = await open({ clock: later, onError: (error) => errors.push(error) })
      await other.run()
      await other.settled()
      expect([await other.get('look'), world.sandbox.ledger.accepted, errors]).toMatchObject([
        { state: 'final' },
        1,
        [],
      ])
    })
  })

  describe('of a job that no database takes for a while', () => {
    /** Of what knows the job that many statements about the item are refused, and all about its record. */
    async function refusing(times: number, options: Partial<RunnerOptions> = {}) {
      let left = times
      let isCut = false
      const reached = deferred()
      const query: PostgresQueries['query'] = (text, values = []) => {
        const knows = values.some((each) =>
          /"jobId":"|"phase":"(accepted|preview|final|unauthorized)"/.test(String(each)),
        )
        const isItem = /update \w+_items/.test(text)
        const isStanding =
          world.sandbox.ledger.accepted > 0 && /select 1 from \w+_items where id = .* not is_ended/.test(text)
        const isRefused = isCut || (knows ? !isItem || left-- > 0 : isStanding && left > 0)
        if (isRefused && isItem) reached.resolve()
        return isRefused ? Promise.reject(new Error('down')) : databaseOf().query(text, values)
      }
      const runner = await open({ onError: () => {}, ...options, database: asked(query) })
      return { runner, reached: reached.promise, goOn: () => (left = 0), cut: () => (isCut = true) }
    }

    it('tells nothing else until it does, and follows it', async () => {
      const heard: string[] = []
      const { runner } = await refusing(3)
      runner.on(({ state }) => heard.push(state))
      await runner.run()
      await runner.add({ id: 'look', product: tee, photo })
      await runner.settled()
      expect([await runner.get('look'), world.sandbox.ledger.accepted]).toMatchObject([{ state: 'final' }, 1])
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
      const { runner, reached, cut } = await refusing(Infinity, { onError })
      await runner.run()
      await runner.add({ id: 'look', product: testTee('9003'), photo })
      await reached
      cut()
      await runner.close()
      const answer = await world.sandbox.fetch(`${world.sandbox.baseUrl}/generations/${await told.promise}`, sandboxKey)
      expect(answer.status).toBe(200)
    })
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
    expect([await own.get('look'), world.sandbox.ledger.accepted]).toMatchObject([{ state: 'final' }, 1])
  })

  it('goes on with nothing that a close() has left, however long the last look for it takes', async () => {
    const asks = deferred()
    const answer = deferred()
    const looks = deferred()
    const mayLook = deferred()
    const query: PostgresQueries['query'] = async (text, values) => {
      if (/select 1 from \w+_items where id = .* namespace/.test(text)) {
        looks.resolve()
        await mayLook.promise
      }
      return databaseOf().query(text, values)
    }
    const fetch: RunnerOptions['fetch'] = async (input, init) => {
      if (String(input).includes('/funnel')) {
        asks.resolve()
        await answer.promise
      }
      return world.sandbox.fetch(input, init)
    }
    const runner = await open({ database: asked(query), fetch, onError: () => {} })
    await runner.add({ id: 'look', product: tee, photo })
    await runner.run()
    await asks.promise
    const closed = runner.close()
    await looks.promise
    answer.resolve()
    // long enough for a submission
    for (let asked = 0; asked < 300; asked += 1) await databaseOf().query('select 1')
    mayLook.resolve()
    await closed
    expect(world.sandbox.ledger.accepted).toBe(0)
    const other = await open()
    await other.run()
    await other.settled()
    expect([await other.get('look'), world.sandbox.ledger.accepted]).toMatchObject([{ state: 'final' }, 1])
  })

  it('queues another turn once, however often the end of the one before is not taken', async () => {
    let failures = 2
    const ended = deferred()
    const query: PostgresQueries['query'] = async (text, values = []) => {
      const isEnd = /_queue/.test(text) && /'completed'/.test(text) && /update/i.test(text) && values.length > 0
      if (isEnd && failures-- > 0) throw new Error('gone')
      const answer = await databaseOf().query(text, values)
      if (isEnd) ended.resolve()
      return answer
    }
    const runner = await open({ database: asked(query), timing: { deadlineMs: 2_000 }, onError: () => {} })
    await runner.add({ id: 'never', product: testTee('9012'), photo })
    await runner.run()
    await ended.promise
    const next = `select 1 from ${world.prefix}_queue.job where data->>'id' = 'never' and data->>'waits' = '1'`
    expect((await databaseOf().query(next)).rows).toHaveLength(1)
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
    expect(world.sandbox.ledger.accepted).toBeLessThanOrEqual(4)
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

  withOthers?.('looks for work again where the look before was never answered', async () => {
    const { runner, reached } = await stopping((text) => /name = 'try-ons'.+skip locked/is.test(text), {
      onError: () => {},
    })
    await runner.run({ atOnce: 1 })
    await reached
    await runner.add({ id: 'look', product: tee, photo })
    await runner.settled()
    expect([await runner.get('look'), world.sandbox.ledger.accepted]).toMatchObject([{ state: 'final' }, 1])
  })

  it('has tried again what could not be queued at once, and says so', async () => {
    const runner = await open()
    await runner.add({ id: 'look', product: testTee('9004'), photo })
    await runner.run()
    await runner.settled()
    const before = world.sandbox.ledger.accepted
    const errors: unknown[] = []
    const query: PostgresQueries['query'] = (text, values) =>
      /queued_at = clock_timestamp/.test(text) ? Promise.reject(new Error('gone')) : databaseOf().query(text, values)
    const other = await open({ database: asked(query), onError: (error) => errors.push(error) })
    await other.retry('look')
    expect(errors).toMatchObject([{ message: 'gone' }])
    await runner.settled()
    expect(world.sandbox.ledger.accepted).toBe(before + 1)
  })
})
