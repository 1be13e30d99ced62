import { keyOf } from './key-of.ts'
import { Socket } from 'node:net'
import { Pool, type PoolClient, type QueryConfig } from 'pg'

/** Where a database is, in node-postgres's words. */
export type Connection = { connectionString: string } | { host: string; user: string; database: string }

export interface Queries {
  /** The rows of a statement, its parameters as `$1` and on; of several without parameters all of their rows. */
  query<R extends object>(text: string, values?: readonly unknown[]): Promise<R[]>
}

export interface Database extends Queries {
  /**
   * What `work` writes stands once this resolves; where it or one of its statements rejects, none of it does. Statements
   * are sent as they come, so it need not wait for those whose rows it does not read. It is called again where the
   * database ended it, so that others who waited for each other could go on.
   */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T>
  close(): Promise<void>
}

const ignore = () => undefined

/** How long a request waits for a connection, in ms, before it is told that there is none. */
const connectionTimeoutMillis = 10_000

/** The code of a transaction that was ended as it and another one waited for each other, and how often it is tried. */
const deadlock = '40P01'
const mostTries = 5

/** The codes of statements that a session does not know, or knows already, which were prepared in another one. */
const ofAnotherSession = ['26000', '42P05']

/** What a statement is called, so that a connection reads and plans it once; the same in all processes. */
const names = new Map<string, string>()

/** How long one may take, in ms, before its connection is given up: others wait for its answer, and a network may have forgotten it. */
export const longestQueryMs = 60_000

/** How long a process may hold what others want and say, or take, nothing, in ms: one that stands still stops nobody else. */
const longestIdleMs = 10_000

/**
 * What each session begins with: a pooler before the server would take none of it for a connection's own terms. In any other
 * isolation what two say at once of the same row ends one of them. No statement is worth being compiled.
 */
const begun = `deallocate all; set default_transaction_isolation = 'read committed'; set jit = off; set idle_in_transaction_session_timeout = ${longestIdleMs}; set tcp_user_timeout = ${longestIdleMs}`

/** Who reads of an error that a pooler makes of right statements is told what to do. */
function withAdvice(error: unknown): unknown {
  const { code = '', message } = error as Error & { code?: string }
  if (!ofAnotherSession.includes(code)) return error
  const advice = 'the database is reached through a pooler in transaction mode: give it session mode'
  return Object.assign(new Error(`${message}; ${advice}`, { cause: error }), { code })
}

function prepared(text: string, values: readonly unknown[]): QueryConfig {
  const name = names.get(text) ?? Buffer.from(keyOf(text)).toString('hex').slice(0, 32)
  names.set(text, name)
  return { name, text, values: [...values] }
}

/** Sends all that is written in one turn at once: each statement by itself costs about as much. */
class TurnSocket extends Socket {
  #isHeld = false

  override write(...written: unknown[]): boolean {
    if (!this.#isHeld) {
      this.#isHeld = true
      this.cork()
      process.nextTick(() => {
        this.#isHeld = false
        this.uncork()
      })
    }
    return super.write(...(written as Parameters<Socket['write']>))
  }
}

/** A statement that takes longer than `queryMs` rejects; of 0 none does. */
export function openDatabase(
  connection: Connection,
  atOnce: number,
  report: (error: unknown) => void,
  queryMs = longestQueryMs,
): Database {
  let isOpen = true
  const terms = {
    connectionTimeoutMillis,
    query_timeout: queryMs,
    keepAlive: true,
    pipeline: true,
    stream: () => new TurnSocket(),
  }
  const pool = new Pool({ ...connection, ...terms, max: atOnce })
  pool.on('connect', (client) => {
    // one that breaks has its statements reject, and nothing else
    client.on('error', ignore)
    // where sessions outlast connections, it has the names of the one before
    void client.query(begun).catch(ignore)
  })
  // an idle connection that breaks is replaced by the next request's; of the error only the text is nobody's secret
  pool.on('error', ({ message }) => isOpen && report(new Error(`a connection to the database broke: ${message}`)))
  const queriesOf = (client: Pool | PoolClient): Queries => ({
    async query<R extends object>(text: string, values: readonly unknown[] = []) {
      const result: unknown = await client
        .query(values.length > 0 ? prepared(text, values) : text)
        .catch((error: unknown) => Promise.reject(withAdvice(error)))
      // several statements have several results
      return ([result].flat() as { rows: R[] }[]).flatMap(({ rows }) => rows)
    },
  })

  async function once<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    const sent: Promise<unknown>[] = []
    const send = <R>(query: Promise<R>): Promise<R> => {
      sent.push(query)
      query.catch(() => undefined)
      return query
    }
    try {
      // waited for: what follows one that failed would stand by itself, each statement alone
      await client.query('begin')
      const { query } = queriesOf(client)
      const result = await work({ query: (text, values) => send(query(text, values)) })
      // a transaction of which a statement failed is rolled back by its end
      void send(client.query('commit'))
      await Promise.all(sent)
      client.release()
      return result
    } catch (error) {
      const isUndone = await client.query('rollback').then(
        () => true,
        () => false,
      )
      // a connection that cannot even do that is given up
      client.release(!isUndone)
      // what failed first tells why the rest did
      throw await Promise.all(sent).then(
        () => error,
        (first: unknown) => first,
      )
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
