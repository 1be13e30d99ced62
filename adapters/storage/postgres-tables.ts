/** What is asked of a database: a `Pool` of `pg`, a PGlite, and whatever else answers like them. */
export interface PostgresQueries {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

/** Tables that are made at the first use, by whoever is first. */
export interface PostgresTables {
  rows<Row>(text: string, ...values: unknown[]): Promise<Row[]>
}

/** What those are told who make one table at once, all but one: it is there when they look again. */
const madeMeanwhile = new Set(['23505', '42P07', '42710'])

const mostTries = 10

/**
 * `tables` are the columns of each, and `indexes` by what some are looked up besides, in SQL's words; throws a `TypeError`
 * for a name that would be read as something else.
 */
export function postgresTables(
  database: PostgresQueries,
  tables: Readonly<Record<string, string>>,
  indexes: Readonly<Record<string, readonly string[]>> = {},
): PostgresTables {
  for (const name of Object.keys(tables))
    if (!/^[a-z_][a-z0-9_]{0,50}$/.test(name)) throw new TypeError('name: lower-case letters, digits and _')
  let made: Promise<unknown> | null = null

  async function create(what: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await database.query(`create ${what}`)
        return
      } catch (error) {
        if (tries === mostTries || !madeMeanwhile.has((error as { code?: string }).code ?? '')) throw error
      }
    }
  }

  async function make(): Promise<void> {
    for (const [name, columns] of Object.entries(tables)) await create(`table if not exists ${name} (${columns})`)
    for (const [name, all] of Object.entries(indexes))
      for (const [at, by] of all.entries()) await create(`index if not exists ${name}_${at} on ${name} ${by}`)
  }

  return {
    async rows<Row>(text: string, ...values: unknown[]) {
      made ??= make().catch((error: unknown) => {
        made = null
        throw error
      })
      await made
      return (await database.query(text, values)).rows as Row[]
    },
  }
}
