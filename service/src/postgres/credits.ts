import { randomInt } from 'node:crypto'
import type { Ledger } from '../ports.ts'
import type { Queries } from './database.ts'
import { numberOf } from './key-of.ts'
import { HeldElsewhere, rowsFor } from './shared-transactions.ts'

/** Over how many rows a store's credits are spread, so that submissions do not wait for each other. */
const shards = 16

/** How many of a store's credits are a row's. */
const share = `$2::integer / ${shards} + (shard < $2::integer % ${shards})::integer`

/** A store that had more credits once may have used more of a row than is its now: then all of its rows are looked at together. */
const isOverfull = `exists (select 1 from fitting_room.credits where store_id = $1 and used > ${share})`

const takeFrom = (rows: string) => `update fitting_room.credits set used = used + 1
  where store_id = $1 and shard = (
    select shard from fitting_room.credits where store_id = $1 and used < ${share} ${rows}
  )
  returning shard`
/** From one row for all works of a transaction, `$3` rows before the first: the others are for other transactions. */
const takeFree = takeFrom(`and not ${isOverfull} order by (shard + $3::integer) % ${shards} limit 1 ${rowsFor(true)}`)
/** One at a time may wait for rows of a store: one that was looked at stays locked, and nobody must wait in a circle. */
const waitTurn = 'select pg_advisory_xact_lock($1)'
const takeInTurn = takeFrom(`and not ${isOverfull} order by shard limit 1 ${rowsFor(false)}`)
const allInTurn = `select 1 from fitting_room.credits where store_id = $1 order by shard ${rowsFor(false)}`
const takeOfAll = takeFrom(
  `and (select sum(used) from fitting_room.credits where store_id = $1) < $2::integer order by shard limit 1`,
)
/** Which row it is given to does not matter. */
const giveTo = (rows: string) => `update fitting_room.credits set used = used - 1
  where store_id = $1 and shard = (
    select shard from fitting_room.credits where store_id = $1 and used > 0
    order by (shard + $2::integer) % ${shards} limit 1 ${rows}
  )
  returning shard`

const usedOf = 'select sum(used)::integer as used from fitting_room.credits where store_id = $1'
const anyUsed = 'select 1 from fitting_room.credits where store_id = $1 and used > 0 limit 1'
/** Makes the rows of a store's credits where nobody has. */
const spread = `insert into fitting_room.credits select $1, generate_series(0, ${shards - 1}), 0 on conflict do nothing`

/** The number under which one transaction at a time waits for a store's credits. */
const turnOf = (storeId: string) => numberOf(`credits of ${storeId}`)

/** The credits of stores, as a transaction takes them and gives them back. */
export function creditsOn({ query }: Queries, isShared: boolean): Pick<Ledger, 'takeCredit' | 'giveCreditBack'> {
  const first = randomInt(shards)
  const take = async (statement: string, ...values: unknown[]) => {
    const [taken] = await query<{ shard: number }>(statement, values)
    return taken?.shard ?? null
  }

  /** A row that was looked at and not taken stays locked, which nobody may have who waits next. */
  const lookedFor = async <T>(look: () => Promise<T | null>) => {
    if (isShared) return look()
    void query('savepoint looked')
    const found = await look()
    if (found === null) void query('rollback to looked')
    return found
  }
  const takesTurn = (storeId: string) => void query(waitTurn, [turnOf(storeId)])

  return {
    async takeCredit(storeId, credits) {
      const free = await lookedFor(() => take(takeFree, storeId, credits, first))
      if (free !== null) return free
      const [known] = await query<{ used: number | null }>(usedOf, [storeId])
      const used = known?.used ?? null
      // what others have begun to take or to give back is not so yet
      if (used !== null && used >= credits) return null
      if (isShared) throw new HeldElsewhere('credits', storeId)
      takesTurn(storeId)
      if (used === null) void query(spread, [storeId])
      const taken = await take(takeInTurn, storeId, credits)
      if (taken !== null) return taken
      void query(allInTurn, [storeId])
      return take(takeOfAll, storeId, credits)
    },

    async giveCreditBack(storeId) {
      const give = (rows: string) => take(giveTo(rows), storeId, first)
      const isUsed = async () => (await query(anyUsed, [storeId])).length > 0
      const given = await lookedFor(() => give(rowsFor(true)))
      if (given !== null || !(await isUsed())) return
      if (isShared) throw new HeldElsewhere('credits', storeId)
      takesTurn(storeId)
      // those that were waited for may have none left, and others some
      while ((await give(rowsFor(false))) === null && (await isUsed()));
    },
  }
}
