import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { AtomicStorage, PhotoStore, StoredPhoto } from '../../../src/ports.ts'
import { createTurns, isLost, type Turn } from './turns.ts'

/** Those of this process, by folder: two storages of one folder wait for each other. */
const turnsOf = new Map<string, ReturnType<typeof createTurns>>()

/** What the files of photos end with: `%` ends none of a value. */
const photoEnding = '%photo'

/**
 * Keeps records and photos in a folder, a file each, for Node and similar runtimes. A change is on disk once it
 * resolves, and a killed process leaves either the old value or the new one; several processes may use the folder at
 * once. Only the owner may read the files (mode 0600). The first change creates the folder; if it cannot be read or
 * written to, calls reject with the file system's own error.
 */
export function fileStorage(folder: string): AtomicStorage {
  const at = resolve(folder)
  // `%` begins no file of a key
  const inTurn = turnsOf.get(at) ?? createTurns(join(at, '%turns'))
  turnsOf.set(at, inTurn)
  const fileOf = (key: string, kind = '') => join(at, nameOf(key) + kind)
  const photoOf = (key: string) => fileOf(key, photoEnding)

  async function write(turn: Turn, file: string, ...parts: (string | Uint8Array)[]): Promise<void> {
    const handle = await open(turn.part, 'w', 0o600)
    try {
      for (const each of parts) await handle.writeFile(each)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await turn.check()
    await rename(turn.part, file).catch(isLost)
    await settle(at)
  }

  async function remove(turn: Turn, file: string): Promise<void> {
    await mkdir(turn.part, { mode: 0o700 })
    await turn.check()
    await rename(file, join(turn.part, 'removed')).catch(isLost)
    await settle(at)
  }

  const change = (key: string, how: (old: string | null) => string | null) =>
    inTurn(async (turn) => {
      const file = fileOf(key)
      const old = await read(file)
      const next = how(old && old.toString('utf8'))
      if (next !== null) await write(turn, file, next)
      else if (old) await remove(turn, file)
    })

  const photos: PhotoStore = {
    get: async (key) => photoIn(await read(photoOf(key))),
    set: (key, { bytes, ...about }) =>
      inTurn((turn) => write(turn, photoOf(key), `${JSON.stringify(about)}\n`, new Uint8Array(bytes))),
    remove: (key) =>
      inTurn(async (turn) => {
        const file = photoOf(key)
        if (await stat(file).catch(ifThere)) await remove(turn, file)
      }),
    // of a long key only its hash is known
    keys: async () =>
      ((await readdir(at).catch(ifThere)) ?? [])
        .filter((name) => name.endsWith(photoEnding) && !name.startsWith('%'))
        .map((name) => decodeURIComponent(name.slice(0, -photoEnding.length))),
  }

  return {
    photos,
    getItem: async (key) => (await read(fileOf(key)))?.toString('utf8') ?? null,
    setItem: (key, value) => change(key, () => value),
    removeItem: (key) => change(key, () => null),
    update: change,
  }
}

/** Names of files end at 255 bytes, and some mean something else. */
function nameOf(key: string): string {
  const isPlain = /^(?!\.{0,2}$)\P{Surrogate}{1,200}$/u.test(key) && encodeURIComponent(key).length <= 200
  return isPlain ? encodeURIComponent(key) : `%${createHash('sha256').update(JSON.stringify(key)).digest('hex')}`
}

const read = (file: string): Promise<Buffer | null> => readFile(file).catch(ifThere)

/** Null for what is not there. */
function ifThere(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}

/** What a photo is stands in its first line. */
function photoIn(found: Buffer | null): StoredPhoto | undefined {
  if (!found) return undefined
  const end = found.indexOf('\n')
  const about = JSON.parse(found.toString('utf8', 0, end)) as Omit<StoredPhoto, 'bytes'>
  return { ...about, bytes: new Uint8Array(found.subarray(end + 1)).buffer }
}

/** A name that was changed outlasts a power cut once its folder is written, where the system can do that. */
async function settle(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null)
  await handle?.sync().catch(() => undefined)
  await handle?.close()
}
