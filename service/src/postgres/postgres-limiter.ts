import { endpoints, ipWindowMs, type Operation } from 'fitting-room/contract'
import { aheadMs, highestThreshold, secondsUntilFree, type RequestCount } from '../ip-limiter.ts'
import type { Clock } from '../ports.ts'
import type { Database } from './database.ts'
import { hexKeyOf } from './key-of.ts'
import type { Rounds } from './rounds.ts'

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
  /** When its requests came, in no order; null where it has fewer than any threshold. */
  at: number[] | null
}

const lowestThreshold = Math.min(...Object.values(endpoints).map(({ threshold }) => threshold))

/** The count of all processes of one database, by its clock unless another one is given. */
export function postgresLimiter(
  { query }: Database,
  ask: Rounds,
  report: (error: unknown) => void,
  clock?: Clock,
): RequestCount {
  let forgotAt = -Infinity

  function forget(now: number): void {
    if (now < forgotAt + ipWindowMs) return
    forgotAt = now
    query(
      `delete from fitting_room.requests where address in (
         -- whose address is at it is not waited for
         select address from fitting_room.requests where last_at <= $1 order by address for update skip locked
       )`,
      [now - ipWindowMs],
    ).catch(report)
  }

  const count = ask<Wanted, number>({
    name: 'counted',
    text: `insert into fitting_room.requests as known (address, at, last_at)
       -- in one order, so that no two processes wait for each other
       select decode(key, 'hex'), array_fill(now, array[more]), now
       from unnest($1::text[], $2::integer[]) as asked (key, more),
         coalesce($3::bigint, (extract(epoch from statement_timestamp()) * 1000)::bigint) as now order by key
       on conflict (address) do update set last_at = excluded.last_at, at = array(
         select each from unnest(known.at) each
         where each > excluded.last_at - $4::bigint and each <= excluded.last_at + $7::bigint order by each desc limit $5
       ) || excluded.at
       returning encode(address, 'hex') as key, cardinality(at) as count, last_at as now,
         case when cardinality(at) > $6 then at end as at`,
    of(requests) {
      const asked = new Map<string, number>()
      for (const { key } of requests) asked.set(key, (asked.get(key) ?? 0) + 1)
      return {
        values: [
          [...asked.keys()],
          [...asked.values()],
          clock?.now() ?? null,
          ipWindowMs,
          highestThreshold,
          lowestThreshold,
          aheadMs,
        ],
        answers(counted: Counted[]) {
          forget(counted[0]?.now ?? 0)
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
    const { count: all, at, now } = of.get(key) ?? { count: 1, at: null, now: 0 }
    const until = at?.toSorted((a, b) => a - b) ?? []
    // those of this call that came after it do not count yet
    const blockingAt = until[until.length - later - threshold] ?? now
    return secondsUntilFree(all - later, threshold, blockingAt, now)
  })
}
