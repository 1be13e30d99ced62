import { randomBytes } from 'node:crypto'
import type { RequestCount } from './ip-limiter.ts'
import { usualPlaces, type Clock, type Places, type Stage, type Store } from './ports.ts'
import { openDatabase, type Connection, type Database } from './postgres/database.ts'
import { migrate } from './postgres/migrations.ts'
import { postgresLimiter } from './postgres/postgres-limiter.ts'
import { postgresStore } from './postgres/postgres-store.ts'
import { openJobQueue } from './postgres/job-queue.ts'
import { openRounds } from './postgres/rounds.ts'
import type { Turns } from './turns.ts'

/** A store that outlasts the process, and what its processes have in common. */
export interface DurableStore {
  store: Store
  /** What upload targets are signed with. */
  uploadSecret: Uint8Array
  /** The count of each client's requests, where several processes share it. */
  limiter?: RequestCount
}

export interface DurableStoreOptions {
  /** How many jobs of each stage this process works on at once. Default: 12 of one store to fetch, and 4 to render. */
  places?: Readonly<Record<Stage, Places>>
  /** The line in which jobs wait. */
  turns?: Turns
  /** What several processes count requests and delete by. Default: the database's. */
  clock?: Clock
  /** How long a statement may take, in ms, before its connection is given up. Default: a minute. */
  queryMs?: number
  report: (error: unknown) => void
}

/**
 * How many requests may be at the database at once: one more than all that may wait there for others (shared works, those
 * alone, photos, addresses), so that polls go on.
 */
const serverConnections = 11

/** A store in a PostgreSQL server, which several processes may share. */
export function openServerStore(connectionString: string, options: DurableStoreOptions): Promise<DurableStore> {
  return openStore({ connectionString }, { ...options, isEmbedded: false })
}

/** A store behind this connection, whose tables are made where they are missing. */
export async function openStore(
  connection: Connection,
  { places = usualPlaces, turns, clock, queryMs, report, isEmbedded }: DurableStoreOptions & { isEmbedded: boolean },
): Promise<DurableStore> {
  const database = openDatabase(connection, isEmbedded ? 1 : serverConnections, report, queryMs)
  try {
    await (isEmbedded ? migrate(database, report) : migrateServer(connection, report))
    const uploadSecret = await secretOf(database, 'uploads')
    const queue = await openJobQueue({ place: isEmbedded ? database : connection, places, turns, queryMs, report })
    const ask = openRounds(database)
    const shared = !isEmbedded && { limiter: postgresLimiter(database, ask, report, clock) }
    const store = postgresStore(database, ask, queue)
    const own = isEmbedded ? { tidy: () => tidy(database) } : { now: () => timeOf(database, clock) }
    return { store: { ...store, ...own }, uploadSecret, ...shared }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** From how many bytes on a table is tidied: how a small one is read best is no rule for when it has grown. */
const leastTidied = 200_000

/** As a server does by itself. */
async function tidy({ query }: Database): Promise<void> {
  const tables = await query<{ name: string }>(
    `select format('%I.%I', nspname, relname) as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relkind = 'r' and nspname like 'fitting\\_room%' and pg_table_size(pg_class.oid) > $1`,
    [leastTidied],
  )
  // what else is asked goes in between
  for (const { name } of tables) await query(`vacuum (truncate off) ${name}`)
}

/** By a connection of its own, as what is large takes its time. */
async function migrateServer(connection: Connection, report: (error: unknown) => void): Promise<void> {
  const database = openDatabase(connection, 1, report, 0)
  await migrate(database, report).finally(database.close)
}

/** In epoch ms. */
async function timeOf({ query }: Database, clock: Clock | undefined): Promise<number> {
  if (clock) return clock.now()
  const [row] = await query<{ now: string }>('select extract(epoch from clock_timestamp()) * 1000 as now')
  return Number(row?.now)
}

/** Random bytes that all processes of the database share. */
async function secretOf({ query }: Database, name: string): Promise<Uint8Array> {
  await query('insert into fitting_room.secrets values ($1, $2) on conflict do nothing', [name, randomBytes(32)])
  const [kept] = await query<{ value: Buffer }>('select value from fitting_room.secrets where name = $1', [name])
  if (!kept) throw new Error(`the database keeps no secret for ${name}`)
  return kept.value
}
