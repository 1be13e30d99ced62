import { postgresTables, type PostgresQueries } from './postgres-tables.ts'

interface Kept {
  value: string
  /** Another one with every change. */
  version: string
}

/** Texts by key that any number of processes share. */
export interface PostgresRecords {
  read(key: string): Promise<string | null>
  /**
   * Written where nobody else has written meanwhile, and tried again where somebody has: no transaction, so any pool will do.
   * `now` is the database's own time, in epoch ms; null removes.
   */
  update(key: string, change: (old: string | null, now: number) => string | null): Promise<void>
  remove(key: string): Promise<unknown>
}

export function postgresRecords(database: PostgresQueries, name: string): PostgresRecords {
  const table = `${name}_records`
  const { rows } = postgresTables(database, {
    [table]: 'key text collate "C" primary key, value text not null, version uuid not null',
  })

  /** Whether nobody else was first. */
  async function replaced(key: string, old: Kept | null, next: string | null): Promise<boolean> {
    if (next === null && !old) return true
    const done = !old
      ? await rows(
          `insert into ${table} values ($1, $2, gen_random_uuid()) on conflict do nothing returning 1`,
          key,
          next,
        )
      : next === null
        ? await rows(`delete from ${table} where key = $1 and version = $2 returning 1`, key, old.version)
        : await rows(
            `update ${table} set value = $3, version = gen_random_uuid() where key = $1 and version = $2 returning 1`,
            key,
            old.version,
            next,
          )
    return done.length > 0
  }

  return {
    async read(key) {
      const [found] = await rows<Kept>(`select value from ${table} where key = $1`, key)
      return found?.value ?? null
    },
    async update(key, change) {
      for (;;) {
        const [found] = await rows<{ now: number; value: string | null; version: string }>(
          `select (extract(epoch from clock_timestamp()) * 1000)::float8 as now, value, version
           from (select $1::text as key) as asked left join ${table} using (key)`,
          key,
        )
        const { now = NaN, value = null, version = '' } = found ?? {}
        const old = value === null ? null : { value, version }
        if (await replaced(key, old, change(value, now))) return
      }
    },
    remove: (key) => rows(`delete from ${table} where key = $1`, key),
  }
}
