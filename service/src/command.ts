import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command, CommandName } from './arguments.ts'
import { parseStore } from './config.ts'
import { startEmbeddedPostgres } from './embedded/embedded-postgres.ts'
import { loadConfig, readJson } from './load-config.ts'
import { fromCaller } from './open-data.ts'
import { openDatabase, type Database } from './postgres/database.ts'
import { migrate } from './postgres/migrations.ts'
import { disconnect, importStore, isImported, issueKey, removeStore } from './postgres/told-stores.ts'

type Work = (database: Database, command: Command) => Promise<string>

const commands: Record<CommandName, Work> = {
  'key refresh': async (database, command) => issueKey(database, await known(database, command)),
  async 'key disconnect'(database, command) {
    await disconnect(database, await known(database, command))
    return `${command.of} has no key`
  },
  async 'store import'(database, { of, config }) {
    const store = parseStore(readJson(fromCaller(of)))
    const others = loadConfig(fromCaller(config)).stores.filter(({ id }) => id !== store.id)
    if (others.some(({ apiKey }) => apiKey === store.apiKey) || !(await importStore(database, store)))
      throw new Error('another store has this key')
    return `${store.id} is imported`
  },
  async 'store remove'(database, { of }) {
    if (!(await removeStore(database, of))) throw new Error(`no store ${of} was imported`)
    return `${of} is as it is configured, or is no more`
  },
}

/**
 * Carries a command out. A folder is one process's at a time, so its service must not run, and has run before. Resolves with
 * what is to be told; rejects where there is no such store or folder.
 */
export async function carryOut(command: Command, databaseUrl?: string): Promise<string> {
  const folder = fromCaller(command.data)
  if (!databaseUrl && !existsSync(join(folder, 'database')))
    throw new Error(`no service has kept anything in ${folder}; --data gives another folder`)
  const embedded = databaseUrl ? null : await startEmbeddedPostgres(folder)
  const database = openDatabase(embedded?.connection ?? { connectionString: databaseUrl ?? '' }, 1, () => {})
  try {
    await migrate(database)
    return await commands[command.name](database, command)
  } finally {
    await database.close()
    await embedded?.close()
  }
}

/** The store's ID, where there is such a store. */
async function known(database: Database, { of, config }: Command): Promise<string> {
  const ids = loadConfig(fromCaller(config)).stores.map(({ id }) => id)
  if (ids.includes(of) || (await isImported(database, of))) return of
  throw new Error(`${config} has no store ${of}, and none was imported; it has ${ids.join(', ')}`)
}
