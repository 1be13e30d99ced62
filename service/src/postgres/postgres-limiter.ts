import { endpoints, ipWindowMs, type Operation } from 'fitting-room/contract'
import { aheadMs, highestThreshold, secondsUntilFree, type RequestCount } from '../ip-limiter.ts'
import type { Clock } from '../ports.ts'
import type { Database } from './database.ts'
import { hexKeyOf } from './key-of.ts'
import { plainArray, type Rounds } from './rounds.ts'

interface Wanted {
  /** Of the address. */
  key: string
  threshold: number
}

interface Counted {
  /** Of the address, in hexadecimal digits. */
  key: string
  count: number
  /** By the clock that counts, in epoch ms. */
  now: number
  /** When its requests came, in no order. */
  at: number[]
}

const lowestThreshold = Math.min(...Object.values(endpoints).map(({ threshold }) => threshold))

/** A moment in epoch ms, or the database's own now where the parameter is null. */
const nowOr = (parameter: string) =>
  `coalesce(${parameter}::bigint, (extract(epoch from statement_timestamp()) * 1000)::bigint)`

/** The count of all processes of one database, by its clock unless another one is given. */
export function postgresLimiter(
  { query }: Database,
  ask: Rounds,
  report: (error: unknown) => void,
  clock?: Clock,
): RequestCount {
  let forgotAt = -Infinity

  function forget(): void {
    const now = (clock ?? Date).now()
    if (now < forgotAt + ipWindowMs) return
    forgotAt = now
    query(
      `delete from fitting_room.requests where address in (
         -- whose address is at it is not waited for
         select address from fitting_room.requests where last_at <= ${nowOr('$1')} - $2 order by address for update skip locked
       )`,
      [clock?.now() ?? null, ipWindowMs],
    ).catch(report)
  }

  const count = ask<Wanted, number>({
    name: 'counted',
    holdsRows: true,
    text: `insert into fitting_room.requests as known (address, at, last_at)
       -- in one order, so that no two processes wait for each other
       select decode(key, 'hex'), array_fill(now, array[more]), now
       from unnest($1::text[], $2::integer[]) as asked (key, more),
         ${nowOr('$3')} as now order by key
       on conflict (address) do update set last_at = excluded.last_at,
         -- as long as there are few it does not matter which of them still count
         at = case when cardinality(known.at) + cardinality(excluded.at) <= $6 then known.at else array(
           select each from unnest(known.at) each
           where each > excluded.last_at - $4::bigint and each <= excluded.last_at + $7::bigint order by each desc limit $5
         ) end || excluded.at
       returning encode(address, 'hex') as key, cardinality(at) as count, last_at as now, at`,
    // nobody else is refused
    rows: `json_agg(counted) filter (where count > ${lowestThreshold})::text`,
    of(requests) {
      const asked = new Map<string, number>()
      for (const { key } of requests) asked.set(key, (asked.get(key) ?? 0) + 1)
      return {
        values: [
          plainArray([...asked.keys()]),
          plainArray([...asked.values()]),
          clock?.now() ?? null,
          ipWindowMs,
          highestThreshold,
          lowestThreshold,
          aheadMs,
        ],
        answers(counted: Counted[]) {
          forget()
          return waitsOf(requests, asked, counted)
        },
      }
    },
  })

  return {
    count: (ip: string, operation: Operation) =>
      count({ key: hexKeyOf(ip), threshold: endpoints[operation].threshold }),
  }
}

/** How long each has to wait, in the order in which they came; `asked` has how many there are of each address. */
function waitsOf(requests: Wanted[], asked: Map<string, number>, counted: Counted[]): number[] {
  const of = new Map(counted.map((each) => [each.key, each]))
  return requests.map(({ key, threshold }) => {
    const later = (asked.get(key) ?? 1) - 1
    asked.set(key, later)
    const found = of.get(key)
    if (!found) return 0
    const { count: all, at, now } = found
    const until = at.toSorted((a, b) => a - b)
    // those of this call that came after it do not count yet
    const blockingAt = until[until.length - later - threshold] ?? now
    return secondsUntilFree(all - later, threshold, blockingAt, now)
  })
}
