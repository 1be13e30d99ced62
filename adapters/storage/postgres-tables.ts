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

/** `tables` are the columns of each; throws a `TypeError` for a name that would be read as something else. */
export function postgresTables(database: PostgresQueries, tables: Readonly<Record<string, string>>): PostgresTables {
  for (const name of Object.keys(tables))
    if (!/^[a-z_][a-z0-9_]{0,50}$/.test(name)) throw new TypeError('name: lower-case letters, digits and _')
  let made: Promise<unknown> | null = null

  async function create(name: string, columns: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await database.query(`create table if not exists ${name} (${columns})`)
        return
      } catch (error) {
        if (tries === mostTries || !madeMeanwhile.has((error as { code?: string }).code ?? '')) throw error
      }
    }
  }

  async function make(): Promise<void> {
    for (const [name, columns] of Object.entries(tables)) await create(name, columns)
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
