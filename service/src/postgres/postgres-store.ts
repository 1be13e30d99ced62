import {
  newVisitor,
  picturesOf,
  stageOf,
  type Job,
  type Ledger,
  type Polled,
  type Stage,
  type Store,
  type Visitor,
} from '../ports.ts'
import { creditsOn } from './credits.ts'
import type { Database, Queries } from './database.ts'
import { gathered, inOneTurn } from './gathered.ts'
import { hexKeyOf, numberOf } from './key-of.ts'
import { limited } from './limited.ts'
import type { JobQueue } from './job-queue.ts'
import { plainArray, type Question, type Rounds } from './rounds.ts'
import { HeldElsewhere, rowsFor, sharedTransactions } from './shared-transactions.ts'
import { toldStores } from './told-stores.ts'

/** A store in PostgreSQL: what has been acknowledged is there after whatever happens to the process. */
export function postgresStore(database: Database, ask: Rounds, queue: JobQueue): Store {
  const polled = ask(jobsPolled)
  const anonymousId = ask(anonymous)
  const shopper = ask(knownShoppers)
  const visitor = async (storeId: string, id: string) => (await shopper({ storeId, id })) ?? newVisitor(storeId, id)
  const polledFor = async (jobId: string, visitorId: string) => {
    const found = await polled(jobId)
    // most ask for the job's own shopper
    if (!found?.visitor || visitorId === found.visitor.id) return found
    return { ...found, visitor: await visitor(found.job.storeId, visitorId) }
  }
  const addAnonymous = gathered(async (all: Anonymous[]) => {
    await database.query(insertAnonymous, [...valuesOf(all), plainArray(all.map(({ fresh }) => fresh))])
    return all
  }, mostAdded)
  // another process may have its row, and stand still
  const fewPhotos = limited(3)
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
    visitor,
    async anonymousId(storeId, ip, fresh) {
      const asked = { storeId, address: hexKeyOf(ip) }
      const known = await anonymousId(asked)
      if (known !== null) return known
      await addAnonymous({ ...asked, fresh })
      return (await anonymousId(asked)) ?? fresh
    },
    async job(id) {
      const [known] = await database.query<{ data: Job }>('select data from fitting_room.jobs where id = $1', [id])
      return known?.data ?? null
    },
    told: ask(toldStores(database)),
    poll: (jobId, visitorId) => (visitorId === undefined ? polled(jobId) : polledFor(jobId, visitorId)),
    keepPhoto: (name, at) => fewPhotos(async () => void (await database.query(keepPhoto, [name, at]))),
    expire: (until, remove) => expire(database, until, remove),
    run: queue.run,
    waiting: queue.waiting,
    async close() {
      await queue.close()
      await database.close()
    },
  }
}

const keepPhoto =
  'insert into fitting_room.photos values ($1, $2) on conflict (name) do update set used_at = excluded.used_at'
// in one order, so that two processes do not wait for each other
const insertAnonymous = `insert into fitting_room.anonymous_visitors
  select store, decode(key, 'hex'), id from unnest($1::text[], $2::text[], $3::uuid[]) as added (store, key, id)
  order by store, key on conflict do nothing`

const lock = (take: string) =>
  `select at, ${take}(number) as has from unnest($1::bigint[]) with ordinality as asked (number, at)`
const waitFor = lock('pg_advisory_xact_lock')
const takeFree = lock('pg_try_advisory_xact_lock')
const shoppers = `select at, data from unnest($1::text[], $2::text[]) with ordinality as asked (store, id, at)
  join fitting_room.visitors on store_id = store and key = sha256(convert_to(id, 'UTF8'))`
const saveShoppers = `insert into fitting_room.visitors
  select data ->> 'storeId', sha256(convert_to(data ->> 'id', 'UTF8')), data from jsonb_array_elements($1) as data
  on conflict (store_id, key) do update set data = excluded.data`
const usePhotos = (rows: string) => `update fitting_room.photos set used_at = at
  from unnest($1::text[], $2::bigint[]) as used (used_name, at)
  where name = used_name and name in (select name from fitting_room.photos where name = any($1) ${rows})`
const wantedJob = (rows: string) => `select data from fitting_room.jobs where id = $1 ${rows}`
const insertJobs = `insert into fitting_room.jobs
  select (data ->> 'id')::uuid, data ->> 'state', data from jsonb_array_elements($1) as data`

/** The number under which one transaction at a time has a shopper. */
const lockOf = (storeId: string, id: string) => numberOf(JSON.stringify([storeId, id]))

/** Sends as one what is written in one turn; resolves once it is sent. */
const sent = <A>(send: (all: A[]) => unknown) =>
  inOneTurn<A, void>(async (all) => {
    await send(all)
    return all.map(() => undefined)
  })

/** The row that was found for each that was asked, whose place counts from 1. */
function rowOfEach<R extends { at: number | string }>(asked: readonly unknown[], rows: R[]): (R | undefined)[] {
  const found = new Map(rows.map((row) => [Number(row.at) - 1, row]))
  return asked.map((_, at) => found.get(at))
}

/** The shoppers of one turn, once they are this transaction's; null where another process has one that is not waited for. */
const shoppersOn = ({ query }: Queries, isShared: boolean) =>
  inOneTurn<[storeId: string, id: string], Visitor | null>(async (asked) => {
    const [storeIds, ids] = [asked.map(([storeId]) => storeId), asked.map(([, id]) => id)]
    const numbers = plainArray(asked.map(([storeId, id]) => lockOf(storeId, id)))
    const [locked, known] = await Promise.all([
      // by their names, as there may be no rows, and one that is made for that would be for nothing where it is refused
      query<{ at: string; has: unknown }>(isShared ? takeFree : waitFor, [numbers]),
      query<{ at: string; data: Visitor }>(shoppers, [storeIds, ids]),
    ])
    const held = new Set(locked.flatMap(({ at, has }) => (has === false ? [Number(at) - 1] : [])))
    const found = rowOfEach(asked, known)
    return asked.map(([storeId, id], at) => (held.has(at) ? null : (found[at]?.data ?? newVisitor(storeId, id))))
  })

/**
 * Its writes are sent once they resolve, and known to have come to something at the transaction's end; what many works
 * ask of it in one turn is one statement. In one that is shared nothing is waited for that another transaction has, as
 * that one may wait for something of this one's, and all works of this one would wait: it rejects with `HeldElsewhere`.
 */
function ledgerOn(queries: Queries, queue: JobQueue, isShared: boolean): Ledger {
  const { query } = queries
  const rows = rowsFor(isShared)
  const visitorOf = shoppersOn(queries, isShared)
  const save = (job: Job) =>
    void query('update fitting_room.jobs set state = $2, data = $3 where id = $1', [job.id, job.state, job])
  // one that another transaction has is being used by that, or is being removed
  const usePhoto = sent<{ name: string; at: number }>(
    (used) => void query(usePhotos(rows), [used.map(({ name }) => name), used.map(({ at }) => at)]),
  )
  return {
    async visitor(storeId, id) {
      const visitor = await visitorOf([storeId, id])
      if (visitor === null) throw new HeldElsewhere(storeId, id)
      return visitor
    },

    // one shopper is one work's at a time
    saveVisitor: sent((visitors) => void query(saveShoppers, [JSON.stringify(visitors)])),

    ...creditsOn(queries, isShared),

    usePhoto: (name, at) => usePhoto({ name, at }),

    async job(id) {
      const [known] = await query<{ data: Job }>(wantedJob(rows), [id])
      if (!known && isShared && (await query(anyJob, [id])).length > 0) throw new HeldElsewhere(id)
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

const anyJob = 'select 1 from fitting_room.jobs where id = $1'

interface Address {
  storeId: string
  /** Its hash. */
  address: string
}
interface Anonymous extends Address {
  fresh: string
}

/** How many new addresses are written at a time. */
const mostAdded = 1_000

const valuesOf = (asked: Address[]) => [
  asked.map(({ storeId }) => storeId),
  plainArray(asked.map(({ address }) => address)),
]

/** The visitors of addresses. */
const anonymous: Question<Address, string | null> = {
  name: 'anonymous',
  text: `select asked.at, visitor_id from unnest($1::text[], $2::text[]) with ordinality as asked (store, key, at)
    join fitting_room.anonymous_visitors on store_id = store and address = decode(key, 'hex')`,
  of: (asked) => ({
    values: valuesOf(asked),
    answers: (found: { at: number; visitor_id: string }[]) =>
      rowOfEach(asked, found).map((row) => row?.visitor_id ?? null),
  }),
}

/** Jobs, those with pictures with what is told of their shoppers: of the e-mail address no more than that there is one. */
const jobsPolled: Question<string, Polled | null> = {
  name: 'polled',
  text: `select polled as job, coalesce(visitors.data ->> 'counted', '0') as counted,
       case when visitors.data ->> 'email' is null then 'null' else '""' end as email
     from fitting_room.jobs left join fitting_room.visitors on store_id = jobs.data ->> 'storeId'
       and key = case state when 'rendered' then sha256(convert_to(jobs.data ->> 'visitorId', 'UTF8')) end
     where id = any($1::uuid[])`,
  // they are put together as they are: to read and write them once more would cost as much as all the rest
  rows: `'[' || string_agg(concat('[', job, ',', counted, ',', email, ']'), ',') || ']'`,
  of: (ids) => ({
    values: [plainArray(ids)],
    answers(rows: [job: Polled['job'], counted: number, email: '' | null][]) {
      const found = new Map<string, Polled>()
      for (const [job, counted, email] of rows)
        found.set(job.id, { job, visitor: job.pictures && { id: job.visitorId, counted, email } })
      return ids.map((id) => found.get(id) ?? null)
    },
  }),
}

/** What is known of shoppers. */
const knownShoppers: Question<{ storeId: string; id: string }, Visitor | null> = {
  name: 'shoppers',
  text: shoppers,
  of: (asked) => ({
    values: [asked.map(({ storeId }) => storeId), asked.map(({ id }) => id)],
    answers: (found: { at: number; data: Visitor }[]) => rowOfEach(asked, found).map((row) => row?.data ?? null),
  }),
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
         select id from fitting_room.jobs where accepted_at <= $1 and state <> 'queued'
         order by accepted_at limit $2 for update skip locked
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
