import { Pool, type PoolClient } from 'pg'

/** Where a database is, in node-postgres's words. */
export type Connection = { connectionString: string } | { host: string; user: string; database: string }

export interface Queries {
  /** The rows of a statement, its parameters as `$1` and on; of several without parameters all of their rows. */
  query<R extends object>(text: string, values?: readonly unknown[]): Promise<R[]>
}

export interface Database extends Queries {
  /**
   * What `work` writes stands once this resolves; where it rejects, none of it does. It is called again where the database
   * ended it, so that others who waited for each other could go on.
   */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** How long a request waits for a connection, in ms, before it is told that there is none. */
const connectionTimeoutMillis = 10_000

/** The code of a transaction that was ended as it and another one waited for each other, and how often it is tried. */
const deadlock = '40P01'
const mostTries = 5

export function openDatabase(connection: Connection, atOnce: number, report: (error: unknown) => void): Database {
  let isOpen = true
  const pool = new Pool({ ...connection, max: atOnce, connectionTimeoutMillis })
  // an idle connection that breaks is replaced by the next request's; of the error only the text is nobody's secret
  pool.on('error', ({ message }) => isOpen && report(new Error(`a connection to the database broke: ${message}`)))
  const queriesOf = (client: Pool | PoolClient): Queries => ({
    async query<R extends object>(text: string, values: readonly unknown[] = []) {
      const result: unknown = await (values.length > 0 ? client.query(text, [...values]) : client.query(text))
      // several statements have several results
      return ([result].flat() as { rows: R[] }[]).flatMap(({ rows }) => rows)
    },
  })

  async function once<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    try {
      await client.query('begin')
      const result = await work(queriesOf(client))
      await client.query('commit')
      client.release()
      return result
    } catch (error) {
      const isUndone = await client.query('rollback').then(
        () => true,
        () => false,
      )
      // a connection that can not even do that is given up
      client.release(!isUndone)
      throw error
    }
  }

  return {
    ...queriesOf(pool),
    async transaction(work) {
      for (let tries = 1; ; tries++) {
        try {
          return await once(work)
        } catch (error) {
          if ((error as { code?: unknown }).code !== deadlock || tries === mostTries) throw error
        }
      }
    },
    close() {
      isOpen = false
      return pool.end()
    },
  }
}
