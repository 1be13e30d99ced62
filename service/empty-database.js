import { writeFile } from 'node:fs/promises'
import { PGlite } from '@electric-sql/pglite'

// a first start would take seconds to make what is the same for everybody
const database = await PGlite.create()
const dump = await database.dumpDataDir('gzip')
await writeFile(new URL('empty-database.tar.gz', import.meta.url), new Uint8Array(await dump.arrayBuffer()))
await database.close()
