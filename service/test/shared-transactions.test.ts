import { randomUUID } from 'node:crypto'
import { createService, openServerStore } from '@fitting-room/service'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Ledger } from '../src/ports.ts'
import { numberOf } from '../src/postgres/key-of.ts'
import { openPool, startPostgresServer, type PostgresServer } from './postgres-server.ts'
import { queuedJob } from './queued-job.ts'
import { configOf, report, submit, url } from './submissions.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgresServer()
})
afterAll(() => server.close())

describe('works that share transactions, of processes on one PostgreSQL,', () => {
  it('refuse what the database does not take, and nothing that came with it', async () => {
    const { store } = await openServerStore(await server.newDatabase(), { report })
    const save = (at: number) => async (ledger: Ledger) => {
      const visitor = await ledger.visitor('main', `shopper ${at}`)
      // not waited for, as all writes
      void ledger.saveVisitor({ ...visitor, counted: 1, name: at === 7 ? 'no text: \0' : null })
    }
    const ends = await Promise.allSettled(Array.from({ length: 20 }, (_, at) => store.transaction(save(at))))
    expect(ends.flatMap(({ status }, at) => (status === 'rejected' ? at : []))).toEqual([7])
    expect([
      (await store.visitor('main', 'shopper 7')).counted,
      (await store.visitor('main', 'shopper 8')).counted,
    ]).toEqual([0, 1])
    await store.close()
  })

  it('take no credit more than there is of a store that had more once, and all that there are of one that is new', async () => {
    const address = await server.newDatabase()
    const stores = await Promise.all([0, 1, 2].map(async () => (await openServerStore(address, { report })).store))
    const takeAtOnce = async (storeId: string, credits: number, count: number) => {
      const takes = Array.from({ length: count }, (_, at) =>
        stores[at % 3]!.transaction((ledger) => ledger.takeCredit(storeId, credits)),
      )
      return (await Promise.all(takes)).filter((taken) => taken !== null).length
    }
    expect(await takeAtOnce('new', 40, 30)).toBe(30)
    expect(await takeAtOnce('new', 40, 30)).toBe(10)
    for (let round = 0; round < 5; round += 1) {
      const storeId = `had more ${round}`
      await stores[0]!.transaction((ledger) => ledger.takeCredit(storeId, 160))
      const pool = openPool({ connectionString: address })
      await pool.query('update fitting_room.credits set used = 10 * (shard = 3)::integer where store_id = $1', [
        storeId,
      ])
      await pool.end()
      expect(await takeAtOnce(storeId, 16, 30)).toBe(6)
    }
    await Promise.all(stores.map((store) => store.close()))
  })

  it('wait for each other nowhere in a circle, whatever shoppers they have together', async () => {
    const address = await server.newDatabase()
    const stores = await Promise.all([0, 1].map(async () => (await openServerStore(address, { report })).store))
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    let holding = 0
    const count = async (ledger: Ledger, id: string) => {
      const visitor = await ledger.visitor('main', id)
      await ledger.saveVisitor({ ...visitor, counted: visitor.counted + 1 })
    }
    const all = stores.flatMap((store, at) => {
      const [mine, others] = at === 0 ? ['one', 'another'] : ['another', 'one']
      // of one turn, so of one transaction
      return [
        store.transaction(async (ledger) => {
          await count(ledger, mine)
          if (++holding === 2) release()
          await held
        }),
        store.transaction(async (ledger) => {
          await held
          await count(ledger, others)
        }),
      ]
    })
    await Promise.all(all)
    const counts = await Promise.all(['one', 'another'].map((id) => stores[0]!.visitor('main', id)))
    expect(counts.map(({ counted }) => counted)).toEqual([2, 2])
    const pool = openPool({ connectionString: address })
    const { rows } = await pool.query('select deadlocks from pg_stat_database where datname = current_database()')
    expect(Number(rows[0].deadlocks)).toBe(0)
    await pool.end()
    await Promise.all(stores.map((store) => store.close()))
  })

  it('hold nobody up for shoppers whom somebody else has for long', async () => {
    const address = await server.newDatabase()
    const [one, other] = await Promise.all([0, 1].map(async () => (await openServerStore(address, { report })).store))
    // more than can be waited for at once
    const ids = Array.from({ length: 8 }, (_, at) => `held ${at}`)
    let letGo = () => {}
    const until = new Promise<void>((resolve) => (letGo = resolve))
    const held: Promise<void>[] = []
    const holders = ids.map((id) => {
      let isHeld = () => {}
      held.push(new Promise((resolve) => (isHeld = resolve)))
      return one!.transaction(async (ledger) => {
        await ledger.visitor('main', id)
        isHeld()
        await until
      })
    })
    await Promise.all(held)
    const read = (id: string) => other!.transaction((ledger) => ledger.visitor('main', id))
    const waiting = [...ids, ...ids].map(read)
    const all = await Promise.all(Array.from({ length: 50 }, (_, at) => read(`shopper ${at}`)))
    expect(all).toHaveLength(50)
    // alone, too, as nobody has written them down
    await other!.transaction((ledger) => ledger.takeCredit('first of its store', 10))
    letGo()
    await Promise.all([...holders, ...waiting])
    await Promise.all([one!.close(), other!.close()])
  })

  it('let those go first that have not waited yet, however many have', async () => {
    const address = await server.newDatabase()
    const { store } = await openServerStore(address, { report })
    const ids = Array.from({ length: 30 }, (_, at) => `held ${at}`)
    const pool = openPool({ connectionString: address, max: 1 })
    await pool.query('begin')
    for (const id of ids) await pool.query('select pg_advisory_xact_lock($1)', [numberOf(JSON.stringify(['main', id]))])
    let tries = 0
    const waiting = ids.map((id) =>
      store.transaction((ledger) => {
        tries += 1
        return ledger.visitor('main', id)
      }),
    )
    // each with others, and once alone
    await expect.poll(() => tries, { timeout: 60_000 }).toBeGreaterThanOrEqual(2 * ids.length)
    const before = tries
    let triesBefore = Infinity
    // alone, too, as nobody has written them down
    await store.transaction((ledger) => {
      triesBefore = tries - before
      return ledger.takeCredit('first of its store', 10)
    })
    expect(triesBefore).toBeLessThan(ids.length / 2)
    await pool.query('rollback')
    await Promise.all(waiting)
    await pool.end()
    await store.close()
  })

  it('hold nobody up for photos that are uploaded once more while somebody else has them for long', async () => {
    const address = await server.newDatabase()
    const { store } = await openServerStore(address, { report })
    // more than there are connections
    const names = Array.from({ length: 15 }, (_, at) => `held ${at}.png`)
    await Promise.all(names.map((name) => store.keepPhoto(name, 1)))
    const pool = openPool({ connectionString: address, max: 1 })
    await pool.query('begin')
    await pool.query('select 1 from fitting_room.photos for update')
    const waiting = names.map((name) => store.keepPhoto(name, 2))
    expect(await store.poll(randomUUID(), undefined)).toBeNull()
    await pool.query('rollback')
    await Promise.all(waiting)
    await pool.end()
    await store.close()
  })

  it('hold nobody up for new addresses that cannot be written for long', async () => {
    const address = await server.newDatabase()
    const { store } = await openServerStore(address, { report })
    const pool = openPool({ connectionString: address, max: 1 })
    await pool.query('begin')
    await pool.query('lock table fitting_room.anonymous_visitors in share mode')
    // more than there are connections
    const waiting = Array.from({ length: 15 }, (_, at) => store.anonymousId('main', `10.0.0.${at}`, randomUUID()))
    for (let poll = 0; poll < 3; poll += 1) expect(await store.poll(randomUUID(), undefined)).toBeNull()
    await pool.query('rollback')
    const ids = await Promise.all(waiting)
    expect(new Set(ids).size).toBe(15)
    expect(await store.anonymousId('main', '10.0.0.3', randomUUID())).toBe(ids[3])
    await pool.end()
    await store.close()
  })

  it('hold nobody up for credits, a try-on or a photo that somebody else has for long', async () => {
    const address = await server.newDatabase()
    const { store } = await openServerStore(address, { report })
    const job = queuedJob({ id: randomUUID(), storeId: 'main' })
    await store.keepPhoto('held.png', 1)
    await store.transaction(async (ledger) => {
      await ledger.takeCredit('main', 100)
      await ledger.addJob(job)
    })
    for (let at = 0; at < 3; at += 1) await store.transaction((ledger) => ledger.takeCredit('used up', 3))
    const pool = openPool({ connectionString: address, max: 1 })
    await pool.query('begin')
    for (const table of ['credits', 'jobs', 'photos'])
      await pool.query(`select 1 from fitting_room.${table} for update`)

    const kept: string[] = []
    // of one turn, so of one transaction
    const waiting = [
      store.transaction((ledger) => ledger.takeCredit('main', 100)),
      store.transaction((ledger) => ledger.giveCreditBack('main')),
      store.transaction((ledger) => ledger.job(job.id)),
    ].map((each, at) => each.then(() => kept.push(`waited ${at}`)))
    const atOnce = await Promise.all([
      store.transaction((ledger) => ledger.takeCredit('used up', 3)),
      store.transaction((ledger) => ledger.job(randomUUID())),
      store.transaction((ledger) => ledger.usePhoto('held.png', 2)),
      store.transaction(async (ledger) => (await ledger.visitor('main', 'another')).counted),
    ])
    expect([atOnce, kept]).toEqual([[null, null, undefined, 0], []])
    await pool.query('commit')
    await Promise.all(waiting)
    const { rows } = await pool.query('select sum(used)::integer as used from fitting_room.credits group by store_id')
    expect(new Set(rows.map(({ used }) => used))).toEqual(new Set([1, 3]))
    await pool.end()
    await store.close()
  })

  it('leave each other credits of one store, however many are taken at once', async () => {
    const address = await server.newDatabase()
    const [one, other] = await Promise.all([0, 1].map(async () => (await openServerStore(address, { report })).store))
    const take = (ledger: Ledger) => ledger.takeCredit('main', 1_000)
    await one!.transaction(take)
    let letGo = () => {}
    const until = new Promise<void>((resolve) => (letGo = resolve))
    let holding = 0
    let haveAll = () => {}
    const held = new Promise<void>((resolve) => (haveAll = resolve))
    const holders = Array.from({ length: 60 }, () =>
      one!.transaction(async (ledger) => {
        const taken = await take(ledger)
        if (++holding === 60) haveAll()
        await until
        return taken
      }),
    )
    await held
    const taken = await Promise.all(Array.from({ length: 60 }, () => other!.transaction(take)))
    expect(taken).not.toContain(null)
    letGo()
    await Promise.all(holders)
    await Promise.all([one!.close(), other!.close()])
  })

  it('give a credit back of whose rows each was emptied while it was waited for', async () => {
    const address = await server.newDatabase()
    const { store } = await openServerStore(address, { report })
    const [holder, others] = [0, 1].map(() => openPool({ connectionString: address, max: 1 }))
    const use = (shard: number, more: number) =>
      `update fitting_room.credits set used = used + ${more} where store_id = 'main' and shard = ${shard}`
    await others!.query(`insert into fitting_room.credits select 'main', shard, (shard = 0)::integer
      from generate_series(0, 15) as shard`)
    await holder!.query('begin')
    await holder!.query(use(0, -1))
    const given = store.transaction((ledger) => ledger.giveCreditBack('main'))
    const waiting = 'select 1 from pg_locks where not granted'
    await expect.poll(async () => (await others!.query(waiting)).rows.length).toBeGreaterThan(0)
    await others!.query(use(7, 1))
    await holder!.query('commit')
    await given
    const { rows } = await others!.query('select sum(used)::integer as used from fitting_room.credits')
    expect(rows).toEqual([{ used: 0 }])
    await Promise.all([holder, others].map((pool) => pool!.end()))
    await store.close()
  })

  it('hold nobody up for the turn of who waits for credits, where there are others', async () => {
    const address = await server.newDatabase()
    const { store } = await openServerStore(address, { report })
    await store.transaction((ledger) => ledger.takeCredit('main', 1_000))
    const holder = openPool({ connectionString: address, max: 1 })
    await holder.query('begin')
    await holder.query('select pg_advisory_xact_lock($1)', [numberOf('credits of main')])
    // of one shopper, so that the last ones are alone
    const taken = Array.from({ length: 6 }, () =>
      store.transaction(async (ledger) => {
        await ledger.visitor('main', 'one')
        return ledger.takeCredit('main', 1_000)
      }),
    )
    expect(await Promise.all(taken)).not.toContain(null)
    // it was not ended as one that holds it for too long
    const own = `select 1 from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`
    expect((await holder.query(own)).rows).toHaveLength(1)
    await holder.query('commit')
    await holder.end()
    await store.close()
  })

  it('hold nobody up for one shopper who says much at once', async () => {
    const { store } = await openServerStore(await server.newDatabase(), { report })
    const order: string[] = []
    const count = (id: string) =>
      store
        .transaction(async (ledger) => {
          const visitor = await ledger.visitor('main', id)
          await ledger.saveVisitor({ ...visitor, counted: visitor.counted + 1 })
        })
        .then(() => order.push(id))
    await Promise.all([...Array.from({ length: 10 }, () => count('one')), count('another')])
    expect(order.indexOf('another')).toBeLessThan(5)
    expect((await store.visitor('main', 'one')).counted).toBe(10)
    await store.close()
  })

  it('carry out what came with something that the database refuses for a reason of its own', async () => {
    const address = await server.newDatabase()
    const parts = { config: configOf(null), publicUrl: url, report, works: false }
    const service = createService({ ...parts, ...(await openServerStore(address, { report })) })
    const pool = openPool({ connectionString: address })
    await pool.query(`create function refuse() returns trigger language plpgsql as $$ begin
      if new.data ->> 'visitorId' = 'shopper 7' then raise exception 'not this one'; end if; return new; end $$`)
    await pool.query('create trigger refuse before insert on fitting_room.jobs for each row execute function refuse()')
    await pool.end()
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => submit(service, at, `shopper ${at}`)))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, (_, at) => (at === 7 ? 500 : 200)))
    await service.close()
  })
})
