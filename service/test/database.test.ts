import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startEmbeddedPostgres } from '../src/embedded/embedded-postgres.ts'
import { openFolderStore } from '../src/folder-store.ts'
import { openServerStore } from '../src/open-store.ts'
import { openDatabase, type Database, type Queries } from '../src/postgres/database.ts'
import { gathered } from '../src/postgres/gathered.ts'
import { oneByOne } from '../src/postgres/limited.ts'
import { openRounds, type Question } from '../src/postgres/rounds.ts'
import { disconnect, importStore, issueKey, removeStore, toldStores } from '../src/postgres/told-stores.ts'
import { parseConfig } from '../src/config.ts'
import { deferred } from '../../src/platform/deferred.ts'
import { suiteConfig } from '../../test/support/suite-config.ts'
import { queuedJob } from './queued-job.ts'
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

describe('what is asked for together', () => {
  it('goes in one call with all that came while the last one was out, in its order', async () => {
    const calls: number[][] = []
    const answers: (() => void)[] = []
    const twice = gathered(async (items: number[]) => {
      calls.push(items)
      await new Promise<void>((resolve) => answers.push(resolve))
      return items.map((item) => item * 2)
    }, 10)
    const first = twice(1)
    await expect.poll(() => answers.length).toBe(1)
    const later = [twice(2), twice(3), twice(4)]
    answers[0]?.()
    expect(await first).toBe(2)
    await expect.poll(() => answers.length).toBe(2)
    answers[1]?.()
    expect(await Promise.all(later)).toEqual([4, 6, 8])
    expect(calls).toEqual([[1], [2, 3, 4]])
  })

  it('fails together, and what comes after it does not', async () => {
    let isBroken = true
    const same = gathered(async (items: number[]) => {
      if (isBroken) throw new Error('broken')
      return items
    }, 10)
    const failed = await Promise.allSettled([same(1), same(2)])
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    isBroken = false
    expect(await same(3)).toBe(3)
  })
})

describe('a transaction', () => {
  const photos = () => database.query<{ name: string }>('select name from fitting_room.photos')
  const insert = 'insert into fitting_room.photos values ($1, 0)'

  it('writes nothing where a statement failed that nobody waited for, and says what failed first', async () => {
    const broken = database.transaction(async ({ query }) => {
      void query(insert, ['one'])
      void query('select 1 / $1::integer', [0])
      void query(insert, ['two'])
    })
    await expect(broken).rejects.toThrow('division by zero')
    expect(await photos()).toEqual([])
  })

  it('rejects where its connection is ended in the middle, and the next one has another', async () => {
    const pid = 'select pg_backend_pid() as pid'
    const broken = database.transaction(async ({ query }) => {
      const [own] = await query<{ pid: number }>(pid)
      await database.query('select pg_terminate_backend($1)', [own?.pid])
      await query(insert, ['never'])
    })
    await expect(broken).rejects.toThrow()
    expect(await database.transaction(async ({ query }) => (await query(pid)).length)).toBe(1)
  })

  it('has written what it did not wait for once it has resolved', async () => {
    await database.transaction(async ({ query }) => void query(insert, ['three']))
    expect(await photos()).toEqual([{ name: 'three' }])
  })
})

it('a folder has room again where something was deleted', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tidy-'))
  const made = async () => {
    const { store } = await openFolderStore(folder, { report })
    await store.transaction(async (ledger) => {
      for (let at = 0; at < 500; at++)
        await ledger.addJob(queuedJob({ id: randomUUID(), storeId: 'main', state: 'failed', acceptedAt: 1 }))
    })
    while ((await store.expire({ photos: 0, jobs: 2 }, async (names) => names)) > 0);
    await store.tidy?.()
    await store.close()
  }
  const sizeOnceMade = async () => {
    await made()
    const embedded = await startEmbeddedPostgres(folder)
    const own = openDatabase(embedded.connection, 1, report)
    const [size] = await own.query<{ size: string }>("select pg_relation_size('fitting_room.jobs') as size")
    await own.close()
    await embedded.close()
    return size
  }
  const first = await sizeOnceMade()
  expect(await sizeOnceMade()).toEqual(first)
  await rm(folder, { recursive: true })
})

describe('a round', () => {
  const list = <T>(name: string, type: string): Question<T, T[]> => ({
    name,
    text: `select asked.item from unnest($1::${type}[]) as asked (item)`,
    of: (items) => ({
      values: [items],
      answers: (rows: { item: T }[]) => items.map(() => rows.map(({ item }) => item)),
    }),
  })

  it('asks all that is wanted in it with one statement, of each question all at once', async () => {
    let statements = 0
    const query: Database['query'] = (text, values) => (statements++, database.query(text, values))
    const ask = openRounds({ query })
    const [texts, numbers] = [ask(list<string>('texts', 'text')), ask(list<number>('numbers', 'integer'))]
    expect(await Promise.all([numbers(1), texts('a'), numbers(2), texts('b')])).toEqual([
      [1, 2],
      ['a', 'b'],
      [1, 2],
      ['a', 'b'],
    ])
    expect(statements).toBe(1)
    expect(await texts('c')).toEqual(['c'])
  })

  it('fails only for those whose statement the database refuses, and is followed by the next one', async () => {
    const ask = openRounds(database)
    const refused: Question<number, number> = {
      name: 'refused',
      holdsOthers: true,
      text: `select 1 / asked.item as item from unnest($1::integer[]) as asked (item)`,
      of: (items) => ({ values: [items], answers: (rows: { item: number }[]) => rows.map(({ item }) => item) }),
    }
    const [divided, texts] = [ask(refused), ask(list<string>('texts', 'text'))]
    const ends = await Promise.allSettled([divided(0), texts('a'), divided(1)])
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected'])
    expect(await Promise.all([divided(1), texts('b')])).toEqual([1, ['b']])
  })

  it('rejects, and is followed by the next one, where a question cannot even be put', async () => {
    const ask = openRounds(database)
    const odd: Question<number, number> = {
      ...list<never>('odd', 'integer'),
      of([item]) {
        if (item === 0) throw new Error('no clock')
        return { values: [[item]], answers: (rows: { item: number }[]) => rows.map((row) => row.item) }
      },
    }
    await expect(ask(odd)(0)).rejects.toThrow('no clock')
    expect(await ask(odd)(1)).toBe(1)
  })

  it('takes what comes while one is out along with the next, in the order in which it came', async () => {
    const asked: unknown[] = []
    const query: Database['query'] = (text, values) => (asked.push(values?.[0]), database.query(text, values))
    const texts = openRounds({ query })(list<string>('texts', 'text'))
    const first = texts('a')
    await expect.poll(() => asked).toEqual([['a']])
    await Promise.all([first, texts('b'), texts('c')])
    expect(asked).toEqual([['a'], ['b', 'c']])
  })
})

it('of those that have one name one goes on at a time, in its turn, and holds no other one up', async () => {
  const inLine = oneByOne()
  const begun: string[] = []
  let end = () => {}
  const first = inLine('one', () => new Promise<void>((resolve) => (end = resolve)))
  const run = (name: string, what: string) => inLine(name, async () => void begun.push(what))
  const waiting = [run('one', 'second'), run('one', 'third')]
  await run('another', 'other')
  end()
  await Promise.all([first, ...waiting])
  expect(begun).toEqual(['other', 'second', 'third'])
})

it('of imported stores only those are read that are not known', async () => {
  const read: unknown[][] = []
  const query: Queries['query'] = async (text, values) => {
    const rows = await database.query(text, values)
    read.push(rows.flatMap((row) => ('data' in row && row.data ? ((row.data as { id: string }).id ?? []) : [])))
    return rows as never
  }
  const [one, other] = parseConfig(suiteConfig).stores.map((store, at) => ({
    ...store,
    id: `told-${at}`,
    apiKey: `key ${at}`,
  }))
  const ask = openRounds(database)(toldStores({ query }))
  await importStore(database, one!)
  expect([...(await ask('key 0')).imported.keys()]).toEqual(['told-0'])
  await importStore(database, other!)
  expect([...(await ask('key 1')).imported.keys()].toSorted()).toEqual(['told-0', 'told-1'])
  await ask('key 1')
  expect(read).toEqual([['told-0'], ['told-1']])
  // however many stores and keys there are, a request asks for no more
  expect(await database.query(toldStores(database).text)).toHaveLength(1)
  for (const { id } of [one!, other!]) await removeStore(database, id)
})

it('commands of several stores come one after the other, and none waits for what waits for it', async () => {
  const others = Array.from({ length: 6 }, () => openDatabase({ connectionString: address }, 1, report))
  onTestFinished(async () => void (await Promise.all(others.map((each) => each.close()))))
  const stores = Array.from({ length: 3 }, (_, at) => ({
    ...parseConfig(suiteConfig).stores[0]!,
    id: `at-once-${at}`,
    apiKey: `key-at-once-${at}`,
  }))
  const deadlocks = async () => {
    await database.query('select pg_stat_force_next_flush()')
    const [row] = await database.query<{ deadlocks: string }>(
      'select deadlocks from pg_stat_database where datname = current_database()',
    )
    return Number(row?.deadlocks)
  }
  const before = await deadlocks()
  const carryOut = others.map(async (own, at) => {
    for (let turn = 0; turn < 30; turn += 1)
      for (const store of stores) await (at % 2 ? removeStore(own, store.id) : importStore(own, store))
  })
  await Promise.all(carryOut)
  expect(await deadlocks()).toBe(before)
  for (const { id } of stores) await removeStore(database, id)
})

it('a job that waits is begun though the clock was set back meanwhile', async () => {
  const own = await server.newDatabase()
  const { store } = await openServerStore(own, { report })
  const job = queuedJob({ id: randomUUID(), storeId: 'main' })
  await store.transaction(async (ledger) => ledger.addJob(job))
  const asked = openDatabase({ connectionString: own }, 1, report)
  // which is what the queue takes for now
  await asked.query(`create or replace function fitting_room_queue.job_now() returns timestamptz
    as $$ select now() - interval '1 hour' $$ language sql`)
  const begun = deferred<string>()
  await store.run(
    async (jobId) => begun.resolve(jobId),
    async () => {},
  )
  expect(await begun.promise).toBe(job.id)
  await asked.close()
  await store.close()
})

it('what commands say counts beside others that say the same, and where the database has lost that it was said', async () => {
  const [store] = parseConfig(suiteConfig).stores
  const own = { ...store!, id: 'told-apart', apiKey: 'told apart' }
  const ask = openRounds(database)(toldStores(database))
  for (let round = 0; round < 20; round += 1) {
    await importStore(database, own)
    await Promise.all([removeStore(database, own.id), issueKey(database, own.id), disconnect(database, own.id)])
  }
  const key = await issueKey(database, own.id)
  await database.query('truncate fitting_room.told')
  expect((await ask(key)).issuedTo).toBe(own.id)
  await disconnect(database, own.id)
  expect([(await ask(key)).issuedTo, (await ask(key)).isIssued(own.id)]).toEqual([null, true])
  expect(await database.query('select version from fitting_room.told')).toHaveLength(1)
})

it('goes on where two write the same at once, however the database is set up', async () => {
  const strict = openDatabase(
    {
      connectionString: `${address}${address.includes('?') ? '&' : '?'}options=-c%20default_transaction_isolation%3Dserializable`,
    },
    1,
    report,
  )
  onTestFinished(strict.close)
  const show = () => strict.transaction(({ query }) => query('show transaction_isolation'))
  expect(await show()).toEqual([{ transaction_isolation: 'read committed' }])
})

it('says what to do where a pooler before it gives a statement to a session that does not know it', async () => {
  const one = openDatabase({ connectionString: address }, 1, report)
  onTestFinished(one.close)
  const ask = () => one.query('select $1::int as one', [1])
  await ask()
  await one.query('deallocate all')
  await expect(ask()).rejects.toMatchObject({ code: '26000', message: expect.stringContaining('give it session mode') })
})

it('of a server tells the time there', async () => {
  const { store } = await openServerStore(address, { report })
  onTestFinished(store.close)
  const [row] = await database.query<{ at: string }>('select extract(epoch from now()) * 1000 as at')
  const now = await store.now?.()
  expect([now! >= Number(row?.at), now! - Number(row?.at) < 600_000]).toEqual([true, true])
})

it('ends a transaction of which nobody says anything', async () => {
  const limit = await database.query('show idle_in_transaction_session_timeout')
  expect(limit).toEqual([{ idle_in_transaction_session_timeout: '10s' }])
})

it('survives connections that are ended as they are made', async () => {
  const other = openDatabase({ connectionString: address }, 4, () => {})
  for (let round = 0; round < 30; round += 1) {
    const asked = Array.from({ length: 8 }, () =>
      other.transaction(({ query }) => query('select 1 as one')).catch(() => []),
    )
    await database
      .query(
        `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()
       and backend_type = 'client backend'`,
      )
      .catch(() => [])
    await Promise.all(asked)
  }
  // the word of the last end may be under way still
  await expect.poll(() => other.query('select 1 as one').catch(() => [])).toEqual([{ one: 1 }])
  await other.close()
})

it('in a folder leaves the socket of the folder that it was copied from alone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'service-'))
  const [first, second] = [join(folder, 'first'), join(folder, 'second')]
  const live = await startEmbeddedPostgres(first)
  await mkdir(second)
  // as far as a copy takes it that does not wait for the database
  await cp(join(first, 'socket'), join(second, 'socket'))
  const copied = await startEmbeddedPostgres(second)
  const { host } = live.connection as { host: string }
  expect(existsSync(host)).toBe(true)
  await copied.close()
  await live.close()
  await rm(folder, { recursive: true })
})
