import { PGlite } from '@electric-sql/pglite'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'
import { existsSync } from 'node:fs'
import { readFile, rename, rm } from 'node:fs/promises'
import { parentPort, workerData } from 'node:worker_threads'
import type { ThreadData } from './embedded-postgres.ts'

/** An empty database that comes with the package; without it one is made, which takes longer. */
const empty = new URL('../../empty-database.tar.gz', import.meta.url)

/** A folder is whole before it has its name, whenever the process ends. */
async function make(folder: string): Promise<void> {
  const part = `${folder}.part`
  await rm(part, { recursive: true, force: true })
  const loaded = existsSync(empty) ? { loadDataDir: new Blob([await readFile(empty)]) } : {}
  await (await PGlite.create(part, loaded)).close()
  await rename(part, folder)
}

/** The database in a thread of its own: it computes without a pause, and requests go on meanwhile. */
const { folder, socket } = workerData as ThreadData
if (!existsSync(folder)) await make(folder)
const database = await PGlite.create(folder)
// statements of two connections at once would be mixed up
const server = new PGLiteSocketServer({ db: database, path: socket, maxConnections: 1 })
await server.start()
parentPort?.postMessage('ready')
parentPort?.once('message', async () => {
  await server.stop()
  await database.close()
  parentPort?.postMessage('closed')
})
