import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from './load-config.ts'
import { fromCaller } from './open-data.ts'
import { startEmbeddedPostgres } from './embedded/embedded-postgres.ts'
import { openDatabase } from './postgres/database.ts'
import { disconnect, issueKey } from './postgres/issue-key.ts'
import { migrate } from './postgres/migrations.ts'

export interface KeyCommand {
  what: 'refresh' | 'disconnect'
  storeId: string
  /** The configuration's file, which has the store. */
  config: string
  /** The folder of the try-ons, where no `DATABASE_URL` says where they are. */
  data: string
}

/**
 * Changes a store's key in the database: at once in all of its processes. A folder is one process's at a time, so its service
 * must not run, and has run before. Resolves with what is to be told; rejects where there is no such store or folder.
 */
export async function changeKey({ what, storeId, config, data }: KeyCommand, databaseUrl?: string): Promise<string> {
  const ids = loadConfig(fromCaller(config)).stores.map(({ id }) => id)
  if (!ids.includes(storeId)) throw new Error(`${config} has no store ${storeId}; it has ${ids.join(', ')}`)
  const folder = fromCaller(data)
  if (!databaseUrl && !existsSync(join(folder, 'database')))
    throw new Error(`no service has kept anything in ${folder}; --data gives another folder`)
  const embedded = databaseUrl ? null : await startEmbeddedPostgres(folder)
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
