import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../src/embedded/embedded-postgres.ts'
import { openDatabase } from '../src/postgres/database.ts'

/** Takes a folder's database to where it cannot go on, as it is said. */
const [folder = '', how] = process.argv.slice(2)
const { connection } = await startEmbeddedPostgres(folder)
const { query, transaction } = openDatabase(connection, 1, console.error)
await query('create table written (text text)')
const ways: Record<string, () => Promise<unknown>> = {
  // another file for its log is wanted, which the folder does not take
  log() {
    // so it calls one before that is whole
    mkdirSync(join(folder, 'database/pg_wal/xlogtemp.42'))
    return transaction(async (inTransaction) => {
      await inTransaction.query("insert into written values ('one')")
      await inTransaction.query('select pg_switch_wal()')
      await inTransaction.query("insert into written values ('another')")
    })
  },
  file: () => query(`do $$ begin raise 'could not create file "1": File exists' using errcode = '58P02'; end $$`),
  // what is written reads like it
  row: () => query("select 'SPANIC' as s, 'VPANIC' as v, 'C58P02' as c, E'SERROR\nVERROR\n' as e"),
}
console.error(await ways[how ?? '']?.().catch((error: unknown) => error))
// it ends by nothing else
setInterval(() => undefined, 1_000)
