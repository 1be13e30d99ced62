import type { Config, StoreConfig } from '../config.ts'
import type { Told } from '../ports.ts'
import { randomText } from '../random.ts'
import type { Database, Queries } from './database.ts'
import { hexKeyOf, keyOf } from './key-of.ts'
import type { Question } from './rounds.ts'

interface Row {
  /** Of all that commands have said: another one with each of them; null where the database has lost it. */
  told: string | null
  /** Null in a row that says nothing of a store. */
  store_id: string | null
  /** In hexadecimal digits. */
  hash: string | null
  version: string | null
  /** Null where it is known. */
  data: StoreConfig | null
}

/** All of it, at one moment. */
const everything = `select (select version::text from fitting_room.told limit 1) as told, said.* from (select 1) as one
  left join (
    select store_id, encode(hash, 'hex') as hash, null as version, null::jsonb as data from fitting_room.keys
    union all select store_id, null, version::text, case when version = any($1::uuid[]) then null else data end
    from fitting_room.stores
  ) as said on true`

interface Known {
  told: string | null
  issued: ReadonlySet<string>
  /** By the hashes of their keys. */
  holders: ReadonlyMap<string, string>
  imported: ReadonlyMap<string, StoreConfig>
  byVersion: ReadonlyMap<string, StoreConfig>
}

/** What commands have said, for each key. It is read again when that is another one, and of imported stores those that are. */
export function toldStores({ query }: Queries): Question<string, Told> {
  let known: Known = { told: null, issued: new Set(), holders: new Map(), imported: new Map(), byVersion: new Map() }
  return {
    name: 'told',
    text: 'select version from fitting_room.told',
    of: (keys) => ({ values: [], answers: (rows: { version: string }[]) => answers(rows, keys) }),
  }

  async function answers([asked]: { version: string }[], keys: string[]): Promise<Told[]> {
    if (asked?.version !== known.told) known = knownOf(await query(everything, [[...known.byVersion.keys()]]), known)
    const { issued, holders, imported } = known
    const isIssued = (storeId: string) => issued.has(storeId)
    const toldOf = (key: string): Told => ({ issuedTo: holders.get(hexKeyOf(key)) ?? null, isIssued, imported })
    // most of them have the same
    const told = new Map([...new Set(keys)].map((key) => [key, toldOf(key)]))
    return keys.map((key) => told.get(key) as Told)
  }
}

function knownOf(rows: Row[], before: Known): Known {
  const ofKeys = rows.filter(({ store_id, version }) => store_id !== null && version === null)
  const stores = rows.flatMap(({ version, data }): [string, StoreConfig][] =>
    version === null ? [] : [[version, (data ?? before.byVersion.get(version))!]],
  )
  return {
    told: rows[0]?.told ?? null,
    issued: new Set(ofKeys.map(({ store_id }) => store_id!)),
    holders: new Map(ofKeys.flatMap(({ store_id, hash }) => (hash === null ? [] : [[hash, store_id!]]))),
    imported: new Map(stores.map(([, store]) => [store.id, store])),
    byVersion: new Map(stores),
  }
}

const putKey = 'insert into fitting_room.keys values ($1, $2) on conflict (store_id) do update set hash = excluded.hash'

/** Gives a store a new key, which is its only one at once, in all processes; also where it was disconnected. */
export async function issueKey(database: Database, storeId: string): Promise<string> {
  const key = randomText()
  await setKey(database, storeId, keyOf(key))
  return key
}

/** Leaves a store without a key, at once, in all processes. */
export const disconnect = (database: Database, storeId: string): Promise<void> => setKey(database, storeId, null)

/** As a transaction, which is said again where it and another command waited for each other. */
const setKey = (database: Database, storeId: string, hash: Uint8Array | null): Promise<void> =>
  database.transaction(async ({ query }) => void (await query(putKey, [storeId, hash])))

/** Of two commands at once the second sees the first; first of all, or each may have what the other one waits for. */
const oneAtATime = 'lock table fitting_room.keys in share row exclusive mode'

/** Puts a store in the place of whatever has its ID, with its key, at once, in all processes; false where another one has that. */
export function importStore(database: Database, { apiKey, ...store }: Config['stores'][number]): Promise<boolean> {
  return database.transaction(async ({ query }) => {
    await query(oneAtATime)
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
    await query(oneAtATime)
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
