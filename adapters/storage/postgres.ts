import type { AtomicStorage, PhotoStore, StoredPhoto } from '../../src/ports.ts'
import { postgresRecords } from './postgres-records.ts'
import { postgresTables, type PostgresQueries } from './postgres-tables.ts'

export { postgresBudget, type PostgresBudgetOptions } from './postgres-budget.ts'
export type { PostgresQueries }

export interface PostgresStorageOptions {
  /** What the tables' names begin with: lower-case letters, digits and `_`. Default: `fitting_room`. */
  name?: string | undefined
}

/**
 * Keeps records and photos in a PostgreSQL database that any number of processes share, in two tables that the first
 * use creates. Throws a `TypeError` for an invalid `name`; rejects with the database's own errors.
 */
export function postgresStorage(
  database: PostgresQueries,
  { name = 'fitting_room' }: PostgresStorageOptions = {},
): AtomicStorage {
  const records = postgresRecords(database, name)
  const table = `${name}_photos`
  const { rows } = postgresTables(database, {
    [table]: 'key text collate "C" primary key, about text not null, bytes bytea not null',
  })

  const photos: PhotoStore = {
    async get(key) {
      const [found] = await rows<{ about: string; bytes: Uint8Array }>(
        `select about, bytes from ${table} where key = $1`,
        key,
      )
      if (!found) return undefined
      const about = JSON.parse(found.about) as Omit<StoredPhoto, 'bytes'>
      return { ...about, bytes: new Uint8Array(found.bytes).buffer }
    },
    set: (key, { bytes, ...about }) =>
      rows(
        `insert into ${table} values ($1, $2, $3) on conflict (key) do update set about = excluded.about, bytes = excluded.bytes`,
        key,
        JSON.stringify(about),
        new Uint8Array(bytes),
      ),
    remove: (key) => rows(`delete from ${table} where key = $1`, key),
    keys: async () => (await rows<{ key: string }>(`select key from ${table}`)).map(({ key }) => key),
  }

  return {
    photos,
    getItem: records.read,
    setItem: (key, value) => records.update(key, () => value),
    removeItem: records.remove,
    update: (key, change) => records.update(key, (old) => change(old)),
  }
}
