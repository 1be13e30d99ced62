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
  /** When its requests came, in no order; null where it has fewer than any threshold. */
  at: number[] | null
}

const lowestThreshold = Math.min(...Object.values(endpoints).map(({ threshold }) => threshold))

/** The count of all processes of one database; their clocks must agree. */
export function postgresLimiter(
  { query }: Database,
  ask: Rounds,
  report: (error: unknown) => void,
  clock: Clock = Date,
): RequestCount {
  let forgotAt = clock.now()

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
       select decode(key, 'hex'), array_fill($3::bigint, array[more]), $3
       from unnest($1::text[], $2::integer[]) as asked (key, more) order by key
       on conflict (address) do update set last_at = excluded.last_at, at = array(
         select each from unnest(known.at) each where each > $3 - $4::bigint and each <= $3 + $7::bigint order by each desc limit $5
       ) || excluded.at
       returning encode(address, 'hex') as key, cardinality(at) as count,
         case when cardinality(at) > $6 then at end as at`,
    of(requests) {
      const now = clock.now()
      forget(now)
      const asked = new Map<string, number>()
      for (const { key } of requests) asked.set(key, (asked.get(key) ?? 0) + 1)
      return {
        values: [[...asked.keys()], [...asked.values()], now, ipWindowMs, highestThreshold, lowestThreshold, aheadMs],
        answers: (counted: Counted[]) => waitsOf(requests, asked, counted, now),
      }
    },
  })

  return {
    count: (ip: string, operation: Operation) =>
      count({ key: hexKeyOf(ip), threshold: endpoints[operation].threshold }),
  }
}

/** How long each has to wait, in the order in which they came; `asked` has how many there are of each address. */
function waitsOf(requests: Wanted[], asked: Map<string, number>, counted: Counted[], now: number): number[] {
  const of = new Map(counted.map((each) => [each.key, each]))
  return requests.map(({ key, threshold }) => {
    const later = (asked.get(key) ?? 1) - 1
    asked.set(key, later)
    const { count: all, at } = of.get(key) ?? { count: 1, at: null }
    const until = at?.toSorted((a, b) => a - b) ?? []
    // those of this call that came after it do not count yet
    const blockingAt = until[until.length - later - threshold] ?? now
    return secondsUntilFree(all - later, threshold, blockingAt, now)
  })
}
