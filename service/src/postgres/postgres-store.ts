import {
  newVisitor,
  type Counted,
  picturesOf,
  stageOf,
  type Job,
  type Ledger,
  type Polled,
  type Stage,
  type Store,
  type Visitor,
} from '../ports.ts'
import type { Database, Queries } from './database.ts'
import { inOneTurn } from './gathered.ts'
import { keyOf } from './key-of.ts'
import type { JobQueue } from './job-queue.ts'
import { plainArray, type Question, type Rounds } from './rounds.ts'
import { HeldElsewhere, sharedTransactions } from './shared-transactions.ts'
import { toldStores } from './told-stores.ts'

/** Over how many rows a store's credits are spread, so that submissions do not wait for each other. */
const shards = 16

/** A store in PostgreSQL: what has been acknowledged is there after whatever happens to the process. */
export function postgresStore(database: Database, ask: Rounds, queue: JobQueue): Store {
  const poll = ask(polled)
  const transaction = sharedTransactions(database, (queries, isShared) => ledgerOn(queries, queue, isShared))
  return {
    async transaction(work) {
      const queued = new Set<Stage>()
      const result = await transaction((ledger) => {
        const note = (add: (job: Job) => Promise<void>) => (job: Job) => {
          queued.add(stageOf(job))
          return add(job)
        }
        return work({ ...ledger, addJob: note(ledger.addJob), passOn: note(ledger.passOn) })
      })
      queued.forEach(queue.wake)
      return result
    },
    async visitor(storeId, id) {
      const [known] = await database.query<{ data: Visitor }>(shopper, [storeId, keyOf(id)])
      return known?.data ?? newVisitor(storeId, id)
    },
    async job(id) {
      const [known] = await database.query<{ data: Job }>('select data from fitting_room.jobs where id = $1', [id])
      return known?.data ?? null
    },
    told: ask(toldStores(database)),
    poll: (jobId, visitorId) => poll({ jobId, visitorId }),
    async keepPhoto(name, at) {
      await database.query(
        'insert into fitting_room.photos values ($1, $2) on conflict (name) do update set used_at = excluded.used_at',
        [name, at],
      )
    },
    expire: (until, remove) => expire(database, until, remove),
    run: queue.run,
    waiting: queue.waiting,
    async close() {
      await queue.close()
      await database.close()
    },
  }
}

const anonymous = 'select visitor_id from fitting_room.anonymous_visitors where store_id = $1 and address = $2'
const shopper = 'select data from fitting_room.visitors where store_id = $1 and key = $2'

const lock = (take: string) =>
  `select at, ${take}(number) as has from unnest($1::bigint[]) with ordinality as asked (number, at)`
const waitFor = lock('pg_advisory_xact_lock')
const takeFree = lock('pg_try_advisory_xact_lock')
const shoppers = `select at, data from unnest($1::text[], $2::text[]) with ordinality as asked (store, id, at)
  join fitting_room.visitors on store_id = store and key = sha256(convert_to(id, 'UTF8'))`
const saveShoppers = `insert into fitting_room.visitors
  select data ->> 'storeId', sha256(convert_to(data ->> 'id', 'UTF8')), data from jsonb_array_elements($1) as data
  on conflict (store_id, key) do update set data = excluded.data`
const usePhotos = `update fitting_room.photos set used_at = at
  from unnest($1::text[], $2::bigint[]) as used (used_name, at) where name = used_name`
const insertJobs = `insert into fitting_room.jobs
  select (data ->> 'id')::uuid, data ->> 'state', data from jsonb_array_elements($1) as data`

/** The number under which one transaction at a time has a shopper. */
const lockOf = (storeId: string, id: string) => Buffer.from(keyOf(JSON.stringify([storeId, id]))).readBigInt64BE()

/** Sends as one what is written in one turn; resolves once it is sent. */
const sent = <A>(send: (all: A[]) => unknown) =>
  inOneTurn<A, void>(async (all) => {
    await send(all)
    return all.map(() => undefined)
  })

/** The shoppers of one turn, once they are this transaction's; null where another process has one that is not waited for. */
const shoppersOn = ({ query }: Queries, isShared: boolean) =>
  inOneTurn<[storeId: string, id: string], Visitor | null>(async (asked) => {
    const [storeIds, ids] = [asked.map(([storeId]) => storeId), asked.map(([, id]) => id)]
    const numbers = plainArray(asked.map(([storeId, id]) => String(lockOf(storeId, id))))
    const [locked, known] = await Promise.all([
      // by their names, as there may be no rows, and one that is made for that would be for nothing where it is refused
      query<{ at: string; has: unknown }>(isShared ? takeFree : waitFor, [numbers]),
      query<{ at: string; data: Visitor }>(shoppers, [storeIds, ids]),
    ])
    const held = new Set(locked.flatMap(({ at, has }) => (has === false ? [Number(at) - 1] : [])))
    const found = new Map(known.map(({ at, data }) => [Number(at) - 1, data]))
    return asked.map(([storeId, id], at) => (held.has(at) ? null : (found.get(at) ?? newVisitor(storeId, id))))
  })

/**
 * Its writes are sent once they resolve, and known to have come to something at the transaction's end; what many works
 * ask of it in one turn is one statement. In one that is shared a shopper whom another process has is not waited for, as
 * that may wait for one of this transaction's: it rejects with `HeldElsewhere`.
 */
function ledgerOn(queries: Queries, queue: JobQueue, isShared: boolean): Ledger {
  const { query } = queries
  const visitorOf = shoppersOn(queries, isShared)
  const save = (job: Job) =>
    void query('update fitting_room.jobs set state = $2, data = $3 where id = $1', [job.id, job.state, job])
  const usePhoto = sent<{ name: string; at: number }>((used) => {
    // in one order, so that two processes do not wait for each other
    const photos = used.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    void query(usePhotos, [photos.map(({ name }) => name), photos.map(({ at }) => at)])
  })
  return {
    async visitor(storeId, id) {
      const visitor = await visitorOf([storeId, id])
      if (visitor === null) throw new HeldElsewhere()
      return visitor
    },

    // one shopper is one work's at a time
    saveVisitor: sent((visitors) => void query(saveShoppers, [JSON.stringify(visitors)])),

    async anonymousId(storeId, ip, fresh) {
      const read = () => query<{ visitor_id: string }>(anonymous, [storeId, keyOf(ip)])
      // most are known, and a row that is not written is not waited for
      const [known] = await read()
      if (known) return known.visitor_id
      void query('insert into fitting_room.anonymous_visitors values ($1, $2, $3) on conflict do nothing', [
        storeId,
        keyOf(ip),
        fresh,
      ])
      const [made] = await read()
      return made?.visitor_id ?? fresh
    },

    async takeCredit(storeId, credits) {
      const take = (choice: string) => takeFrom(queries, storeId, credits, choice)
      // a row that another submission holds is passed over, unless there is no other
      const taken = (await take(anyFree)) ?? (await take(inTurn))
      if (taken !== null) return taken
      void spread(queries, storeId)
      void query(overfull, [storeId, credits])
      return take(ofAll)
    },

    async giveCreditBack(storeId, credit) {
      void query('update fitting_room.credits set used = greatest(0, used - 1) where store_id = $1 and shard = $2', [
        storeId,
        credit,
      ])
    },

    usePhoto: (name, at) => usePhoto({ name, at }),

    async job(id) {
      const [known] = await query<{ data: Job }>('select data from fitting_room.jobs where id = $1 for update', [id])
      return known?.data ?? null
    },

    addJob: sent((jobs) => {
      void query(insertJobs, [JSON.stringify(jobs)])
      return queue.add(jobs, queries)
    }),

    saveJob: async (job) => save(job),

    async passOn(job) {
      save(job)
      await queue.add([job], queries)
    },
  }
}

interface Asked {
  jobId: string
  visitorId: string | undefined
}

/** A job, and whom it is asked for. */
const polled: Question<Asked, Polled | null> = {
  name: 'polled',
  text: `select asked.at, polled as job, jsonb_build_object('id', visitors.data -> 'id',
         'counted', visitors.data -> 'counted', 'email', left(visitors.data ->> 'email', 1))::text as visitor
     from unnest($1::uuid[], $2::text[]) with ordinality as asked (job_id, visitor_id, at)
     join fitting_room.jobs on jobs.id = asked.job_id
     left join fitting_room.visitors on store_id = jobs.data ->> 'storeId'
       and key = sha256(convert_to(coalesce(asked.visitor_id, jobs.data ->> 'visitorId'), 'UTF8'))`,
  // they are put together as they are: to read and write them once more would cost as much as all the rest
  rows: `'[' || string_agg('[' || at || ',' || job || ',' || visitor || ']', ',') || ']'`,
  of: (asked) => ({
    values: [plainArray(asked.map(({ jobId }) => jobId)), asked.map(({ visitorId }) => visitorId ?? null)],
    answers(found: [at: number, job: Polled['job'], visitor: Counted | { id: null }][]) {
      const polled = asked.map((): Polled | null => null)
      for (const [at, job, visitor] of found) {
        const id = asked[at - 1]?.visitorId ?? job.visitorId
        polled[at - 1] = { job, visitor: visitor.id === null ? newVisitor(job.storeId, id) : visitor }
      }
      return polled
    },
  }),
}

/** How many of a store's credits are a row's. */
const share = `$2::integer / ${shards} + (shard < $2::integer % ${shards})::integer`

const isOverfull = `exists (select 1 from fitting_room.credits where store_id = $1 and used > ${share})`
/** A store that had more credits once may have used more of a row than is its now: then all of its rows are looked at together. */
const overfull = `select 1 from fitting_room.credits where store_id = $1 and ${isOverfull} order by shard for update`

const anyFree = `and not ${isOverfull} order by random() limit 1 for update skip locked`
/** All in one order, as one that is looked at stays locked. */
const inTurn = `and not ${isOverfull} order by shard limit 1 for update`
const ofAll = `and (select sum(used) from fitting_room.credits where store_id = $1) < $2::integer order by shard limit 1 for update`

async function takeFrom({ query }: Queries, storeId: string, credits: number, choice: string): Promise<number | null> {
  const [taken] = await query<{ shard: number }>(
    `update fitting_room.credits set used = used + 1
     where store_id = $1 and shard = (
       select shard from fitting_room.credits where store_id = $1 and used < ${share} ${choice}
     )
     returning shard`,
    [storeId, credits],
  )
  return taken?.shard ?? null
}

/** How many of each are forgotten at a time. */
const batch = 200

/** When what is of no use any more was used last, in epoch ms. */
const longAgo = -1

async function expire(
  { query, transaction }: Database,
  until: { photos: number; jobs: number },
  remove: (names: string[]) => Promise<string[]>,
): Promise<number> {
  // first nobody is told of them any more: what is to be removed may last, and fail
  const forgotten = await transaction(async (inTransaction) => {
    const jobs = await inTransaction.query<{ data: Job }>(
      `delete from fitting_room.jobs where id in (
         select id from fitting_room.jobs where accepted_at <= $1 and state <> 'queued' limit $2 for update skip locked
       ) returning data`,
      [until.jobs, batch],
    )
    const names = jobs.flatMap(({ data }) => Object.values(picturesOf(data)))
    const note = 'insert into fitting_room.photos select unnest($1::text[]), $2 on conflict do nothing'
    await inTransaction.query(note, [names, longAgo])
    return jobs.length
  })
  const unused = await query<{ name: string }>(
    'select name from fitting_room.photos where used_at < $1 order by used_at limit $2',
    [until.photos, batch],
  )
  const names = unused.map(({ name }) => name)
  const gone = await remove(names)
  // one that was used meanwhile is asked for again
  await query('delete from fitting_room.photos where name = any($1) and used_at < $2', [gone, until.photos])
  const left = names.filter((name) => !gone.includes(name))
  // behind the others, which it keeps waiting no longer
  await query('update fitting_room.photos set used_at = $2 where name = any($1) and used_at < $2', [left, until.photos])
  return forgotten + names.length
}

/** Makes the rows of a store's credits where nobody has. */
const spread = ({ query }: Queries, storeId: string) =>
  query(`insert into fitting_room.credits select $1, generate_series(0, ${shards - 1}), 0 on conflict do nothing`, [
    storeId,
  ])
