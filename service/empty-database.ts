import { writeFile } from 'node:fs/promises'
import { PGlite, type Transaction } from '@electric-sql/pglite'
import { usualPlaces } from './src/ports.ts'
import type { Database, Queries } from './src/postgres/database.ts'
import { openJobQueue } from './src/postgres/job-queue.ts'
import { migrate } from './src/postgres/migrations.ts'

// a first start would take seconds to make what is the same for everybody: all tables, and nothing in them

const postgres = await PGlite.create()

const queriesOf = (connection: PGlite | Transaction): Queries => ({
  async query<R extends object>(text: string, values?: readonly unknown[]) {
    const results = values ? [await connection.query<R>(text, [...values])] : await connection.exec(text)
    return results.flatMap(({ rows }) => rows as R[])
  },
})

const database: Database = {
  ...queriesOf(postgres),
  transaction: (work) => postgres.transaction((transaction) => work(queriesOf(transaction))),
  close: () => postgres.close(),
}

function report(error: unknown): never {
  throw error
}

await migrate(database)
await (await openJobQueue({ place: database, places: usualPlaces, report })).close()
// nothing here makes a database of another one, and the two to do that with are most of the files
await postgres.exec(`update pg_database set datistemplate = false where datname <> current_database()`)
for (const name of ['template0', 'template1']) await postgres.exec(`drop database ${name}`)
const dump = await postgres.dumpDataDir('gzip')
await writeFile(new URL('empty-database.tar.gz', import.meta.url), new Uint8Array(await dump.arrayBuffer()))
await database.close()
