import type { AtomicStorage, PhotoStore, StoredPhoto } from '../../src/ports.ts'

/** What is asked of a database: a `Pool` of `pg`, a PGlite, and whatever else answers like them. */
export interface PostgresQueries {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

export interface PostgresStorageOptions {
  /** What the tables' names begin with: lower-case letters, digits and `_`. Default: `fitting_room`. */
  name?: string | undefined
}

interface Kept {
  value: string
  /** Another one with every change. */
  version: string
}

/** What those are told who make one table at once, all but one: it is there when they look again. */
const madeMeanwhile = new Set(['23505', '42P07', '42710'])

const mostTries = 10

/**
 * Keeps records and photos in a PostgreSQL database that any number of processes share, in two tables that are made at the
 * first use. An update is written where nobody else has written meanwhile, and is tried again where somebody has: no
 * transaction, so any pool will do. Throws a `TypeError` for a name that is none; rejects with the database's own errors.
 */
export function postgresStorage(
  database: PostgresQueries,
  { name = 'fitting_room' }: PostgresStorageOptions = {},
): AtomicStorage {
  if (!/^[a-z_][a-z0-9_]{0,50}$/.test(name)) throw new TypeError('name: lower-case letters, digits and _')
  const records = `${name}_records`
  const photos = `${name}_photos`
  let made: Promise<unknown> | null = null

  async function create(table: string, columns: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await database.query(`create table if not exists ${table} (key text collate "C" primary key, ${columns})`)
        return
      } catch (error) {
        if (tries === mostTries || !madeMeanwhile.has((error as { code?: string }).code ?? '')) throw error
      }
    }
  }

  async function make(): Promise<void> {
    await create(records, 'value text not null, version uuid not null')
    await create(photos, 'about text not null, bytes bytea not null')
  }

  async function rows<Row>(text: string, ...values: unknown[]): Promise<Row[]> {
    made ??= make().catch((error: unknown) => {
      made = null
      throw error
    })
    await made
    return (await database.query(text, values)).rows as Row[]
  }

  /** Whether nobody else was first. */
  async function replaced(key: string, old: Kept | undefined, next: string | null): Promise<boolean> {
    if (next === null && !old) return true
    const done = !old
      ? await rows(
          `insert into ${records} values ($1, $2, gen_random_uuid()) on conflict do nothing returning 1`,
          key,
          next,
        )
      : next === null
        ? await rows(`delete from ${records} where key = $1 and version = $2 returning 1`, key, old.version)
        : await rows(
            `update ${records} set value = $3, version = gen_random_uuid() where key = $1 and version = $2 returning 1`,
            key,
            old.version,
            next,
          )
    return done.length > 0
  }

  const read = async (key: string): Promise<Kept | undefined> =>
    (await rows<Kept>(`select value, version from ${records} where key = $1`, key))[0]

  async function update(key: string, change: (old: string | null) => string | null): Promise<void> {
    for (;;) {
      const old = await read(key)
      if (await replaced(key, old, change(old?.value ?? null))) return
    }
  }

  const photoStore: PhotoStore = {
    async get(key) {
      const [found] = await rows<{ about: string; bytes: Uint8Array }>(
        `select about, bytes from ${photos} where key = $1`,
        key,
      )
      if (!found) return undefined
      const about = JSON.parse(found.about) as Omit<StoredPhoto, 'bytes'>
      return { ...about, bytes: new Uint8Array(found.bytes).buffer }
    },
    set: (key, { bytes, ...about }) =>
      rows(
        `insert into ${photos} values ($1, $2, $3) on conflict (key) do update set about = excluded.about, bytes = excluded.bytes`,
        key,
        JSON.stringify(about),
        new Uint8Array(bytes),
      ),
    remove: (key) => rows(`delete from ${photos} where key = $1`, key),
  }

  return {
    photos: photoStore,
    update,
    getItem: async (key) => (await read(key))?.value ?? null,
    setItem: (key, value) => update(key, () => value),
    removeItem: (key) => rows(`delete from ${records} where key = $1`, key),
  }
}
