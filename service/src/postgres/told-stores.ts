import type { Config, StoreConfig } from '../config.ts'
import type { Told } from '../ports.ts'
import { randomText } from '../random.ts'
import type { Database, Queries } from './database.ts'
import { hexKeyOf, keyOf } from './key-of.ts'
import type { Question } from './rounds.ts'

interface Row {
  store_id: string
  /** In hexadecimal digits. */
  hash: string | null
  version: string | null
  /** Null where it was not asked for, or is known. */
  data: StoreConfig | null
}

/** All of them, at one moment. */
const rowsWith = (data: string) =>
  `select store_id, encode(hash, 'hex') as hash, null as version, null::jsonb as data from fitting_room.keys
   union all select store_id, null, version::text, ${data} from fitting_room.stores order by version`

const withUnknown = rowsWith('case when version = any($1::uuid[]) then null else data end')

const versionsOf = (rows: Row[]) => rows.flatMap(({ version }) => version ?? []).join()

/** What commands have said, for each key. An imported store is read again when it is another one. */
export function toldStores({ query }: Queries): Question<string, Told> {
  /** By their versions, in the order of those. */
  let known = new Map<string, StoreConfig>()
  return {
    name: 'told',
    text: rowsWith('null'),
    of: (keys) => ({ values: [], answers: (rows: Row[]) => told(rows, keys) }),
  }

  async function told(asked: Row[], keys: string[]): Promise<Told[]> {
    let rows = asked
    if (versionsOf(rows) !== [...known.keys()].join()) {
      const before = known
      // the keys again, too: an answer is of one moment
      rows = await query<Row>(withUnknown, [[...before.keys()]])
      const found = rows.flatMap(({ version, data }) => (version === null ? [] : [{ version, data }]))
      known = new Map(found.map(({ version, data }) => [version, (data ?? before.get(version))!]))
    }
    const imported = [...known.values()]
    const issued = rows.filter(({ version }) => version === null)
    const toldOf = (key: string): Told => {
      const hash = hexKeyOf(key)
      return { imported, issued: new Map(issued.map((row) => [row.store_id, row.hash === hash])) }
    }
    // most of them have the same
    const told = new Map([...new Set(keys)].map((key) => [key, toldOf(key)]))
    return keys.map((key) => told.get(key) as Told)
  }
}

const putKey = 'insert into fitting_room.keys values ($1, $2) on conflict (store_id) do update set hash = excluded.hash'

/** Gives a store a new key, which is its only one at once, in all processes; also where it was disconnected. */
export async function issueKey({ query }: Queries, storeId: string): Promise<string> {
  const key = randomText()
  await query(putKey, [storeId, keyOf(key)])
  return key
}

/** Leaves a store without a key, at once, in all processes. */
export async function disconnect({ query }: Queries, storeId: string): Promise<void> {
  await query(putKey, [storeId, null])
}

/** Puts a store in the place of whatever has its ID, with its key, at once, in all processes; false where another one has that. */
export function importStore(database: Database, { apiKey, ...store }: Config['stores'][number]): Promise<boolean> {
  return database.transaction(async ({ query }) => {
    // of two at once the second sees the first
    await query('lock table fitting_room.keys in share row exclusive mode')
    const hash = keyOf(apiKey)
    const taken = await query(
      `select 1 from fitting_room.keys where hash = $1 and store_id <> $2
       union all select 1 from fitting_room.stores where former_hash = $1 and store_id <> $2`,
      [hash, store.id],
    )
    if (taken.length > 0) return false
    await query(
      `insert into fitting_room.stores
       select $1, gen_random_uuid(), $2, known.store_id is not null, known.hash
       from (select 1) as one left join fitting_room.keys as known on store_id = $1
       on conflict (store_id) do update set version = excluded.version, data = excluded.data`,
      [store.id, store],
    )
    await query(putKey, [store.id, hash])
    return true
  })
}

/**
 * Leaves what a configuration says of a store, and the key that it had before it was imported, or none where a command had
 * said so; resolves with whether it was imported.
 */
export function removeStore(database: Database, storeId: string): Promise<boolean> {
  return database.transaction(async ({ query }) => {
    const [gone] = await query<{ had_key: boolean; former_hash: Buffer | null }>(
      'delete from fitting_room.stores where store_id = $1 returning had_key, former_hash',
      [storeId],
    )
    if (gone?.had_key) await query(putKey, [storeId, gone.former_hash])
    else if (gone) await query('delete from fitting_room.keys where store_id = $1', [storeId])
    return gone !== undefined
  })
}

export async function isImported({ query }: Queries, storeId: string): Promise<boolean> {
  return (await query('select 1 from fitting_room.stores where store_id = $1', [storeId])).length > 0
}
