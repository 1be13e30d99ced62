import { endpoints, ipWindowMs, type Operation } from 'fitting-room/contract'
import { RecentRequests, type RequestCount } from '../ip-limiter.ts'
import type { Clock } from '../ports.ts'
import type { Database } from './database.ts'
import { hexKeyOf } from './key-of.ts'
import type { Rounds } from './rounds.ts'

interface Wanted {
  client: string
  threshold: number
}

/** What a round has written. */
interface Written {
  /** Greater than all before it, also than those that a server has lost as it fell. */
  number: number
  /** The number of what all processes had written last, 0 where there is nothing. */
  before: number
  /** When, by the clock that counts, in epoch ms. */
  at: number
}

/** What another round has, in text. */
interface Heard {
  number: string
  at: string
  clients: string
}

/** How many hexadecimal digits of an address's hash tell clients apart. */
const digits = 32

/** How many rounds of others are read at a time. */
const batch = 100

const others = `select number, at, clients from fitting_room.counted_between($1, $2, $3, ${batch})`

const old = `delete from fitting_room.counted where number in (
  select number from fitting_room.counted
  where at <= coalesce($1::bigint, (extract(epoch from statement_timestamp()) * 1000)::bigint) - $2::bigint
  -- what another process deletes is not waited for
  order by number for update skip locked
)`

/**
 * The count of all processes of one database, by its clock unless another one is given. Each round writes down who came, one
 * round after the other whatever process it is of, and reads what others have written since its last one: so each process
 * counts all requests, in one order. To have the database count each client would cost as much as all the rest.
 */
export function postgresLimiter(
  { query }: Database,
  ask: Rounds,
  report: (error: unknown) => void,
  clock?: Clock,
): RequestCount {
  const recent = new RecentRequests()
  /** The number of the last round that is counted here. */
  let heard = 0
  let forgotAt = -Infinity

  function forget(): void {
    const now = (clock ?? Date).now()
    if (Math.abs(now - forgotAt) < ipWindowMs) return
    forgotAt = now
    // a process may have stood still as it was about to read them
    query(old, [clock?.now() ?? null, 2 * ipWindowMs]).catch(report)
  }

  async function hear({ number: until, at: now }: Written): Promise<void> {
    for (;;) {
      const rows = await query<Heard>(others, [heard, until, now - ipWindowMs])
      for (const { number, at, clients } of rows) {
        for (let from = 0; from < clients.length; from += digits)
          recent.count(clients.slice(from, from + digits), Infinity, Number(at))
        heard = Number(number)
      }
      if (rows.length < batch) return
    }
  }

  const count = ask<Wanted, number>({
    name: 'counted',
    holdsOthers: true,
    text: `select number, before, at from fitting_room.count(decode($1, 'hex'), $2)`,
    of: (requests) => ({
      values: [requests.map(({ client }) => client).join(''), clock?.now() ?? null],
      async answers([written]: Written[]) {
        const { number, before, at } = written!
        forget()
        if (before !== heard) await hear(written!)
        heard = number
        return requests.map(({ client, threshold }) => recent.count(client, threshold, at))
      },
    }),
  })

  return {
    count: (ip: string, operation: Operation) =>
      count({ client: hexKeyOf(ip).slice(0, digits), threshold: endpoints[operation].threshold }),
  }
}
