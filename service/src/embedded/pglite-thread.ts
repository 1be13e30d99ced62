import { PGlite } from '@electric-sql/pglite'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'
import { parseTar } from 'nanotar'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { parentPort, workerData } from 'node:worker_threads'
import { limited } from '../postgres/limited.ts'
import type { ThreadData, ThreadMessage } from './embedded-postgres.ts'

/** An empty database that comes with the package; without it one is made, which takes longer. */
const empty = new URL('../../empty-database.tar.gz', import.meta.url)

/** Only this user may look into it, as PostgreSQL has its folders. */
const mode = 0o700

/** A folder is whole before it has its name, whenever the process ends. */
async function make(folder: string): Promise<void> {
  const part = `${folder}.part`
  await rm(part, { recursive: true, force: true })
  mkdirSync(part, { mode })
  if (existsSync(empty)) await unpack(part)
  else await (await PGlite.create(part)).close()
  await rename(part, folder)
}

async function unpack(folder: string): Promise<void> {
  const items = parseTar(gunzipSync(readFileSync(empty)))
  for (const { name, type } of items) if (type === 'directory') mkdirSync(join(folder, name), { recursive: true, mode })
  const files = items.filter(({ type }) => type !== 'directory')
  // a thousand, each of which would be waited for, and all of them may be more than can be open
  const some = limited(50)
  const write = ({ name, data }: (typeof files)[number]) => writeFile(join(folder, name), data ?? '', { mode: 0o600 })
  await Promise.all(files.map((file) => some(() => write(file))))
}

/**
 * How PostgreSQL tells that it ends, or that there is a file which it makes: it knows its own no more. In a row a zero byte
 * is followed by more of a length, so that nothing that is kept in it reads like that.
 */
const ends = ['SPANIC\0VPANIC\0', 'SERROR\0VERROR\0C58P02\0'].map((text) => Buffer.from(text))
const longest = Math.max(...ends.map(({ length }) => length))

const reasonIn = (said: Buffer) => /C\w{5}\0M([^\0]*)/.exec(said.toString())?.[1] ?? 'it gives no reason'

/** A PGlite that has to end goes on and answers nobody, so its thread does. */
class EndingPGlite extends PGlite {
  override async execProtocolRawStream(...[message, options]: Parameters<PGlite['execProtocolRawStream']>) {
    let before = Buffer.alloc(0)
    const onRawData = (data: Uint8Array) => {
      const said = Buffer.concat([before, data])
      if (ends.some((each) => said.includes(each))) end(reasonIn(said))
      before = said.subarray(-longest)
      options?.onRawData(data)
    }
    try {
      await super.execProtocolRawStream(message, { ...options, onRawData })
    } catch (error) {
      end(String(error))
    }
  }
}

/** At once: it may not come back from what it is in. */
function end(reason: string): never {
  parentPort?.postMessage({ ended: reason } satisfies ThreadMessage)
  process.exit(1)
}

/** The database in a thread of its own: it computes without a pause, and requests go on meanwhile. */
const { folder, socket } = workerData as ThreadData
if (!existsSync(folder)) await make(folder)
const database = new EndingPGlite(folder, {
  // what PostgreSQL takes by itself is zeroed at every start, which takes half a second
  startParams: [...PGlite.defaultStartParams, '-c', 'shared_buffers=32MB'],
})
await database.waitReady
// statements of two connections at once would be mixed up
const server = new PGLiteSocketServer({ db: database, path: socket, maxConnections: 1 })
await server.start()
parentPort?.postMessage('ready' satisfies ThreadMessage)
parentPort?.once('message', async () => {
  await server.stop()
  await database.close()
  parentPort?.postMessage('closed' satisfies ThreadMessage)
  // with nothing left to hear it ends by itself
  parentPort?.close()
})
