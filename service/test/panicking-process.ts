import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../src/embedded/embedded-postgres.ts'
import { openDatabase } from '../src/postgres/database.ts'

/** Takes a folder's database to where it needs another file for its log, and the folder takes none. */
const folder = process.argv[2] ?? ''
const { connection } = await startEmbeddedPostgres(folder)
const { query, transaction } = openDatabase(connection, 1, console.error)
await query('create table written (number int)')
// so it calls a file before that is whole
mkdirSync(join(folder, 'database/pg_wal/xlogtemp.42'))
const refused = await transaction(async (inTransaction) => {
  await inTransaction.query('insert into written values (1)')
  await inTransaction.query('select pg_switch_wal()')
  await inTransaction.query('insert into written values (2)')
}).catch((error: unknown) => error)
console.error(refused)
// it ends by nothing else
setInterval(() => undefined, 1_000)
