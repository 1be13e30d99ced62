import { openServerStore } from '../src/open-store.ts'
import { openDatabase, type Database } from '../src/postgres/database.ts'
import { startPostgresServer, type PostgresServer } from './postgres-server.ts'

export interface ServiceDatabase {
  server: PostgresServer
  /** Of a database with the service's tables. */
  address: string
  database: Database
  close(): Promise<void>
}

/** A database of the service's on a server of its own, for all tests of a file. */
export async function startServiceDatabase(): Promise<ServiceDatabase> {
  const report = (error: unknown) => console.error(error)
  const server = await startPostgresServer()
  const address = await server.newDatabase()
  await (await openServerStore(address, { report })).store.close()
  const database = openDatabase({ connectionString: address }, 4, report)
  return {
    server,
    address,
    database,
    async close() {
      await database.close()
      await server.close()
    },
  }
}
