import type { GenerationRequest } from 'fitting-room/contract'
import type { PostgresQueries, RunnerOptions } from 'fitting-room/runner'
import { expect, it, vi } from 'vitest'
import { deferred } from '../../src/platform/deferred.ts'
import { isSubmission, onEachDatabase, photo, tee, testTee } from './on-each-database.ts'

onEachDatabase('a runner, whose turns end and begin,', (world) => {
  const { databaseOf, open, asked, handBack } = world

  it('goes on by itself once a key is taken again, for the same address', async () => {
    const addresses: unknown[] = []
    const fetch: typeof world.sandbox.fetch = async (input, init) => {
      const request = new Request(input, init)
      if (isSubmission(request)) addresses.push(((await request.clone().json()) as GenerationRequest).customerEmail)
      return world.sandbox.fetch(request)
    }
    const customerEmail = 'lookbook@shop.test'
    const runner = await open({
      fetch,
      customerEmail,
      clock: world.clockOf(60),
      timing: { submitTimeoutMs: 3_600_000 },
    })
    await runner.run()
    await runner.add({ id: 'look', product: testTee('9011'), photo })
    await runner.settled()
    expect(await runner.get('look')).toMatchObject({ state: 'final' })
    expect([addresses, world.sandbox.ledger.accepted]).toEqual([[customerEmail, customerEmail], 1])
    for (const table of ['items', 'records'])
      expect(JSON.stringify(await databaseOf().query(`select * from ${world.prefix}_${table}`))).not.toContain(
        customerEmail,
      )
  })

  it('goes on where a process was closed, with the same job', async () => {
    const one = await open()
    await one.run()
    await one.add({ id: 'look', product: testTee('9003'), photo })
    await vi.waitUntil(() => world.sandbox.ledger.accepted === 1, { timeout: 120_000, interval: 20 })
    await one.close()
    expect(await one.get('look')).toMatchObject({ isEnded: false })
    const other = await open()
    await other.run()
    await other.settled()
    expect(await other.get('look')).toMatchObject({ state: 'final' })
    expect(world.sandbox.ledger.accepted).toBe(1)
  })

  it('goes on with what waits for a key where a process ended without letting go of it', async () => {
    let [key, isGone] = ['sandbox-key', false]
    const query: PostgresQueries['query'] = (text, values) =>
      isGone ? Promise.reject(new Error('the process has ended')) : databaseOf().query(text, values)
    const held = deferred()
    const fetch: RunnerOptions['fetch'] = (input, init) => {
      if (key !== 'held') return world.sandbox.fetch(input, init)
      held.resolve()
      return new Promise(() => {})
    }
    const one = await open({ apiKey: () => key, fetch, database: asked(query), onError: () => {} })
    await one.run()
    await one.add({ id: 'look', product: testTee('9003'), photo })
    await vi.waitUntil(() => world.sandbox.ledger.accepted === 1, { timeout: 120_000, interval: 20 })
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
    expect([await state(), world.sandbox.ledger.accepted]).toEqual(['final', 1])
  })

  it('waits where its base URL cannot be read for a while', async () => {
    let [isAway, wasAway] = [false, false]
    const address = world.sandbox.baseUrl
    const baseUrl = () => {
      if (isAway) throw new Error('the settings are away')
      return address
    }
    const fetch: typeof world.sandbox.fetch = async (input, init) => {
      const request = new Request(input, init)
      if (request.url.includes('/funnel') && !wasAway) wasAway = isAway = true
      return world.sandbox.fetch(request)
    }
    const runner = await open({ baseUrl, fetch, onError: () => {} })
    await runner.run()
    await runner.add({ id: 'look', product: tee, photo })
    const problem = async () => (await runner.get('look'))?.problem
    await vi.waitUntil(async () => (await problem()) !== null, { timeout: 120_000, interval: 20 })
    expect([await runner.get('look'), world.sandbox.ledger.accepted]).toMatchObject([{ isEnded: false }, 0])
    isAway = false
    const hasEnded = async () => {
      // its next turn need not be waited for
      await databaseOf().query(`update ${world.prefix}_queue.job set start_after = now() where state = 'created'`)
      return (await runner.get('look'))?.isEnded
    }
    await vi.waitUntil(hasEnded, { timeout: 120_000, interval: 100 })
    expect(await runner.get('look')).toMatchObject({ state: 'final' })
  })

  it('ends nothing where its base URL cannot be read for a moment, whichever that is', async () => {
    const address = world.sandbox.baseUrl
    let [reads, goneAt] = [0, 0]
    const baseUrl = () => {
      if (++reads === goneAt) throw new Error('the settings are away')
      return address
    }
    const runner = await open({ baseUrl, onError: () => {} })
    await runner.run()
    for (let moment = 1; reads >= goneAt; moment++) {
      const id = `look ${moment}`
      goneAt = moment
      reads = 0
      await runner.add({
        id,
        product: tee,
        photo: { bytes: new Uint8Array([...photo.bytes, moment]) },
      })
      const hasEnded = async () => {
        await databaseOf().query(`update ${world.prefix}_queue.job set start_after = now() where state = 'created'`)
        return (await runner.get(id))?.isEnded
      }
      await vi.waitUntil(hasEnded, { timeout: 120_000, interval: 20 })
      expect([moment, (await runner.get(id))?.state]).toEqual([moment, 'final'])
    }
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
    const active = () => databaseOf().query(`select 1 from ${world.prefix}_queue.job where state = 'active'`)
    await vi.waitUntil(async () => (await active()).rows.length === 2, { timeout: 120_000, interval: 20 })
    await one.close()
    const other = await open()
    await other.run()
    await other.settled()
    expect((await other.list()).map(({ state }) => state)).toEqual(['final', 'final'])
    expect(world.sandbox.ledger.accepted).toBe(2)
  })
})
