import type { PostgresQueries } from 'fitting-room/runner'
import { expect, it, vi } from 'vitest'
import { photo, tee, testTee, onEachDatabase } from './on-each-database.ts'

onEachDatabase('a runner that forgets,', (world) => {
  const { databaseOf, pool, open, asked, stopping, sent, withOthers } = world
  const keptKeys = async () =>
    (await databaseOf().query(`select key from ${world.prefix}_records`)).rows.map(
      (row) => (row as { key: string }).key,
    )

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
    expect(world.sandbox.ledger.accepted).toBe(ids.length + retried.length)
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
    expect([await runner.get('look'), world.sandbox.ledger.accepted]).toMatchObject([
      { state: 'failed', isEnded: true },
      1,
    ])
    await runner.retry('look')
    await runner.settled()
    expect(world.sandbox.ledger.accepted).toBe(2)
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
    expect(world.sandbox.ledger.accepted).toBe(3)
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
    await databaseOf().query(`update ${world.prefix}_items set is_ended = true, state = 'failed'`)
    await own.forget('look')
    goOn()
    const isAtWork = async () =>
      (await databaseOf().query(`select 1 from ${world.prefix}_queue.job where state = 'active'`)).rows.length > 0
    await vi.waitUntil(async () => !(await isAtWork()), { timeout: 120_000, interval: 50 })
    expect(sent('POST /generations')).toBe(0)
  })

  it('ends one whose photo is gone', async () => {
    const runner = await open()
    await runner.add({ id: 'look', product: tee, photo })
    await databaseOf().query(`delete from ${world.prefix}_item_photos`)
    await runner.run()
    await runner.settled()
    expect(await runner.get('look')).toMatchObject({ state: 'rejected', problem: { kind: 'photo', reason: 'missing' } })
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
      JSON.stringify((await databaseOf().query(`select * from ${world.prefix}_${table}`)).rows)
    expect([await left('items'), await left('item_photos'), await left('photos')]).toEqual(['[]', '[]', '[]'])
    // what all share of the service is no try-on's, and a late answer is known by how often there was a reset
    expect((await keptKeys()).filter((key) => !/^budget:|:(?:pace|times|catalog)$/.test(key))).toEqual([])
    expect(await left('records')).not.toMatch(/imageUrl|1001:2001|"2001"/)
  })

  withOthers?.('keeps a photo that is added with another try-on while the first one is forgotten', async () => {
    const runner = await open()
    await runner.add({ id: 'look', product: tee, photo })
    await runner.run()
    await runner.settled()
    const other = await pool().connect()
    await other.query('begin')
    await other.query(`update ${world.prefix}_item_photos set used_at = clock_timestamp()`)
    await other.query(
      `insert into ${world.prefix}_items (id, consent, state, is_ended, told, ordered, visitor, photo, namespace)
       select 'other', gen_random_uuid(), 'final', true, told, ordered, visitor, photo, namespace from ${world.prefix}_items`,
    )
    const forgotten = runner.forget('look')
    const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%${world.prefix}_item_photos%'`
    await vi.waitUntil(async () => (await pool().query(waiting)).rows.length > 0, { timeout: 60_000, interval: 20 })
    await other.query('commit')
    other.release()
    await forgotten
    expect((await pool().query(`select hash from ${world.prefix}_item_photos`)).rows).toHaveLength(1)
    expect(await runner.get('look')).toBeNull()
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
    const other = await pool().connect()
    await other.query('begin')
    await other.query(`select 1 from ${world.prefix}_items for update`)
    for (const { goOn } of forgetting) goOn()
    const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%delete from ${world.prefix}_items%'`
    await vi.waitUntil(async () => (await pool().query(waiting)).rows.length === 2, { timeout: 60_000, interval: 20 })
    await other.query('commit')
    other.release()
    await forgotten
    expect((await pool().query(`select hash from ${world.prefix}_item_photos`)).rows).toEqual([])
  })

  it('leaves nothing that a process writes which comes to it after it was forgotten', async () => {
    const isStill = (text: string) =>
      /select 1 from \w+_items where id = \$1 and consent = \$2 and not is_ended/.test(text)
    const { runner: late, reached, goOn } = await stopping(isStill, { at: 'after', onError: () => undefined })
    await late.add({ id: 'look', product: tee, photo: { imageUrl: 'https://photos.test/p.jpg' } })
    await late.run()
    await reached
    await databaseOf().query(`update ${world.prefix}_items set is_ended = true, state = 'failed'`)
    await (await open()).forget('look')
    goOn()
    await late.close()
    expect((await keptKeys()).filter((key) => !key.endsWith(':catalog'))).toEqual([])
    expect(sent('POST /generations')).toBe(0)
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
    expect(world.sandbox.ledger.accepted).toBe(2)
  })

  it('removes a photo that a process has left', async () => {
    const runner = await open()
    await runner.add({ id: 'look', product: tee, photo })
    await databaseOf().query(`delete from ${world.prefix}_items`)
    await runner.run()
    expect((await databaseOf().query(`select hash from ${world.prefix}_item_photos`)).rows).toEqual([])
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
    const { rows } = await databaseOf().query(`select hash from ${world.prefix}_item_photos`)
    expect(rows).toEqual([])
  })
})
