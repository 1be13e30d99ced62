import { endpoints, ipWindowMs, type Operation } from 'fitting-room/contract'
import { highestThreshold, secondsUntilFree, type RequestCount } from '../ip-limiter.ts'
import type { Clock } from '../ports.ts'
import type { Database } from './database.ts'
import { keyOf } from './key-of.ts'

/** The count of all processes of one database; their clocks must agree. */
export function postgresLimiter(
  { query }: Database,
  report: (error: unknown) => void,
  clock: Clock = Date,
): RequestCount {
  let forgotAt = clock.now()

  function forget(now: number): void {
    if (now < forgotAt + ipWindowMs) return
    forgotAt = now
    query('delete from fitting_room.requests where last_at <= $1', [now - ipWindowMs]).catch(report)
  }

  return {
    async count(ip: string, operation: Operation) {
      const now = clock.now()
      const { threshold } = endpoints[operation]
      forget(now)
      const [counted] = await query<{ count: number; blocking_at: string | null }>(
        `insert into fitting_room.requests as known (address, at, last_at) values ($1, array[$2::bigint], $2)
         on conflict (address) do update set last_at = $2, at = array(
           select each from unnest(known.at) each where each > $2 - $3::bigint order by each desc limit $4
         ) || $2::bigint
         returning cardinality(at) as count, (select each from unnest(at) each order by each desc offset $5 limit 1) as blocking_at`,
        [keyOf(ip), now, ipWindowMs, highestThreshold, threshold - 1],
      )
      return secondsUntilFree(counted?.count ?? 1, threshold, Number(counted?.blocking_at ?? now), now)
    },
  }
}
