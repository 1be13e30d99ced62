import { fromCaller } from './open-data.ts'
import { startEmbeddedPostgres } from './embedded/embedded-postgres.ts'
import { openDatabase } from './postgres/database.ts'
import { disconnect, issueKey } from './postgres/issue-key.ts'
import { migrate } from './postgres/migrations.ts'

export interface KeyCommand {
  what: 'refresh' | 'disconnect'
  storeId: string
  /** The folder of the try-ons, where no `DATABASE_URL` says where they are. */
  data: string
}

/**
 * Changes a store's key in the database: at once in all of its processes. A folder is one process's at a time, so its service
 * must not run. Resolves with what is to be told.
 */
export async function changeKey({ what, storeId, data }: KeyCommand, databaseUrl?: string): Promise<string> {
  const embedded = databaseUrl ? null : await startEmbeddedPostgres(fromCaller(data))
  const database = openDatabase(embedded?.connection ?? { connectionString: databaseUrl ?? '' }, 1, () => {})
  try {
    await migrate(database)
    if (what === 'refresh') return await issueKey(database, storeId)
    await disconnect(database, storeId)
    return `${storeId} has no key`
  } finally {
    await database.close()
    await embedded?.close()
  }
}
