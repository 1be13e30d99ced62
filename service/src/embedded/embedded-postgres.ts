import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Connection } from '../postgres/database.ts'
import { lockFolder } from './folder-lock.ts'

export interface ThreadData {
  folder: string
  socket: string
}

/** What a thread tells: where it ends by itself, why. */
export type ThreadMessage = 'ready' | 'closed' | { ended: string }

export interface EmbeddedPostgres {
  connection: Connection
  close(): Promise<void>
}

/** How long a thread that has closed its database may take to end by itself, in ms. */
const longestExitMs = 10_000

const socketPrefix = join(tmpdir(), 'fitting-room-')

/**
 * A socket's address has to be short; what a process has left that was killed is known by a note, which tells of which folder
 * it is: a copy has the note of another one, which may be in use.
 */
async function socketFolder(folder: string): Promise<string> {
  const note = join(folder, 'socket')
  const [before = '', of] = (await readFile(note, 'utf8').catch(() => '')).split('\n')
  const own = await realpath(folder)
  if (before.startsWith(socketPrefix) && of === own) await rm(before, { recursive: true, force: true })
  const host = await mkdtemp(socketPrefix)
  await writeFile(note, `${host}\n${own}`)
  return host
}

/**
 * PostgreSQL in a folder, for this process alone, with nothing to install: reached through a socket that only this user
 * can open, and by the same client as any other, over one connection, as there is one session only. Rejects where another
 * process has the folder.
 */
export async function startEmbeddedPostgres(folder: string): Promise<EmbeddedPostgres> {
  mkdirSync(folder, { recursive: true })
  const lock = lockFolder(folder)
  const host = await socketFolder(folder)
  const data: ThreadData = {
    folder: join(folder, 'database'),
    socket: join(host, '.s.PGSQL.5432'),
  }
  const thread = new Worker(new URL(`./pglite-thread${extname(import.meta.url)}`, import.meta.url), {
    workerData: data,
  })
  let isEnding = false
  async function end(): Promise<void> {
    isEnding = true
    await thread.terminate()
    await rm(host, { recursive: true, force: true })
    lock.release()
  }
  try {
    await once(thread, 'message')
  } catch (cause) {
    await end()
    const { message = 'its files are not those of a database' } = cause as Partial<Error>
    throw new Error(`the database in ${folder} cannot be opened: ${message}`, { cause })
  }
  let why = 'for no reason that is known'
  thread.on('message', (message: ThreadMessage) => {
    if (typeof message === 'object') why = message.ended
  })
  thread.once('exit', () => {
    // nothing could be answered any more: whoever watches this process begins another one
    if (!isEnding) throw new Error(`the database in ${folder} has ended by itself: ${why}`)
  })
  return {
    connection: { host, user: 'postgres', database: 'postgres' },
    async close() {
      isEnding = true
      const isOver = once(thread, 'exit').catch(() => undefined)
      thread.postMessage('close')
      await Promise.race([once(thread, 'message'), isOver])
      // one that is ended from outside while its code runs may take the process along
      await Promise.race([isOver, after(longestExitMs, null, { ref: false })])
      await end()
    },
  }
}
