import { PGlite } from '@electric-sql/pglite'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'
import { parentPort, workerData } from 'node:worker_threads'
import type { ThreadData } from './embedded-postgres.ts'

/** The database in a thread of its own: it computes without a pause, and requests go on meanwhile. */
const { folder, socket } = workerData as ThreadData
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
