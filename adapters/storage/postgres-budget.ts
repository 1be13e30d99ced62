import { asked, nothingSent, priceIn, refusedFor, type IpCount } from '../../src/budget/ip-count.ts'
import * as is from '../../src/contract/schema.ts'
import { withinLimit } from '../../src/platform/clock.ts'
import { jsonIn } from '../../src/rules/json.ts'
import { systemClock } from '../../src/platform/system-clock.ts'
import type { Budget, Clock } from '../../src/ports.ts'
import { postgresRecords } from './postgres-records.ts'
import type { PostgresQueries } from './postgres-tables.ts'

export interface PostgresBudgetOptions {
  /** What the table's name begins with: lower-case letters, digits and `_`. Default: `fitting_room`. */
  name?: string | undefined
  /** A name for the client IP, if the processes of one database send through several. Default: `default`. */
  address?: string | undefined
  /** Timers. Default: the platform's. */
  clock?: Clock | undefined
}

/** How long the database may take for what was asked together, in ms. */
const changeLimitMs = 5_000

type Change = (count: IpCount, now: number) => IpCount

/**
 * One exact budget for all processes of one database that send through one client IP, by the database's clock; requests
 * are refused only because of what others send from there. Throws a `TypeError` for an invalid `name`.
 */
export function postgresBudget(
  database: PostgresQueries,
  { name = 'fitting_room', address = 'default', clock = systemClock }: PostgresBudgetOptions = {},
): Budget {
  const records = postgresRecords(database, name)
  const key = `budget:${address}`
  /** What is asked while an answer is out goes with the next one. */
  let next: { changes: Change[]; done: Promise<void> } | null = null
  let last: Promise<void> = Promise.resolve()
  let price = 0

  const carryOut = (changes: readonly Change[]) =>
    records.update(key, (old, now) => {
      const count = changes.reduce((known, each) => each(known, now), readCount(old))
      price = priceIn(count, now)
      return JSON.stringify(count)
    })

  function change(how: Change): Promise<void> {
    if (next) {
      next.changes.push(how)
      return next.done
    }
    const changes = [how]
    const done = last.then(() => {
      next = null
      // one that is never answered keeps nobody else waiting
      return withinLimit(clock, changeLimitMs, carryOut(changes))
    })
    next = { changes, done }
    last = done.catch(() => undefined)
    return done
  }

  return {
    async ask({ operation }) {
      let waitMs = 0
      await change((known, now) => {
        const { waitMs: ms, count } = asked(known, operation, now)
        waitMs = ms
        return count
      })
      return waitMs
    },
    async learn({ operation }, refusedMs) {
      if (refusedMs) await change((known, now) => refusedFor(known, operation, refusedMs, now))
    },
    price: () => price,
  }
}

const schema = is.object({
  sent: is.listOf(is.number),
  closed: is.tableOf(is.number),
  registrationUntil: is.nullable(is.number),
})

/** What cannot be read is as good as nothing: the service's refusals tell it anew. */
const readCount = (stored: string | null): IpCount => schema.safeParse(jsonIn(stored)).data ?? nothingSent
