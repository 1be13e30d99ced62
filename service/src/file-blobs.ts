import { randomUUID } from 'node:crypto'
import { mkdirSync, type BigIntStats } from 'node:fs'
import { open, readFile, rename, rm, writeFile, type FileHandle } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isBlobName } from './blob-name.ts'
import { keepRemovingLeft } from './left-files.ts'
import { imageTypeOf } from './photo-formats.ts'
import type { BlobStore, OpenBlob } from './ports.ts'

/** How a file is called while it is written. */
const partPrefix = '.'

interface FileBlobs extends BlobStore {
  open(name: string): Promise<OpenBlob | null>
}

/** Photos and pictures as files of a folder, one that nobody else reads where it has to be made; what is in them tells the type. */
export function fileBlobs(folder: string): FileBlobs {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  keepRemovingLeft(folder, (name) => name.startsWith(partPrefix))
  const fileOf = (name: string) => join(folder, basename(name))
  return {
    async put(name, { bytes }) {
      // a reader never sees half a picture, and two writers never each other's
      const part = join(folder, partPrefix + randomUUID())
      try {
        // whoever is told of it may outlive a loss of power here
        await writeFile(part, bytes, { flush: true })
        await rename(part, fileOf(name))
        await flushNames(folder)
      } finally {
        await rm(part, { force: true })
      }
    },
    remove: (name) => rm(fileOf(name), { force: true }),
    async get(name) {
      if (!isBlobName(name)) return null
      const bytes = await readFile(fileOf(name)).catch(orMissing)
      return bytes && { bytes: new Uint8Array(bytes), type: typeOf(bytes) }
    },
    async open(name) {
      const file = isBlobName(name) ? await open(fileOf(name)).catch(orMissing) : null
      if (file === null) return null
      try {
        const [seen, { buffer, bytesRead }] = await Promise.all([
          statOf(file),
          file.read(new Uint8Array(partLength), 0),
        ])
        const size = Number(seen.size)
        const parts = size === bytesRead ? [buffer.subarray(0, bytesRead)].values() : partsOf(fileOf(name), seen)
        return { body: streamOf(parts), size, type: typeOf(buffer) }
      } finally {
        await file.close()
      }
    },
  }
}

/** As a file's own content; Windows knows no such thing. */
async function flushNames(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const names = await open(folder)
  await names.sync().finally(() => names.close())
}

/** How much of a file is in memory at once, in bytes. */
const partLength = 65_536

const typeOf = (head: Uint8Array) => imageTypeOf(head) ?? 'application/octet-stream'

function orMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}

/** Whoever sends a body tells of its errors as they are, and a file's name is what it can be asked for by. */
function orUnread({ code }: NodeJS.ErrnoException): never {
  throw new Error(`a file could not be read to its end: ${code}`)
}

type Parts = Iterator<Uint8Array<ArrayBuffer>> | AsyncIterator<Uint8Array<ArrayBuffer>>

/** Nothing is read before somebody reads it, as nobody does who asks for the head alone. */
function streamOf(parts: Parts): ReadableStream<Uint8Array<ArrayBuffer>> {
  const source: UnderlyingDefaultSource<Uint8Array<ArrayBuffer>> = {
    async pull(controller) {
      const { done, value } = await parts.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async () => void (await parts.return?.()),
  }
  return new ReadableStream(source, { highWaterMark: 0 })
}

const statOf = (file: FileHandle) => file.stat({ bigint: true })

/**
 * The file is opened when its first part is wanted, which may be never. Throws where another one has its name by then: an
 * answer whose length was told before would be followed by what the next one begins with.
 */
async function* partsOf(path: string, seen: BigIntStats): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const file = await open(path).catch(orUnread)
  try {
    const { ino, size, mtimeNs } = await statOf(file)
    if (ino !== seen.ino || size !== seen.size || mtimeNs !== seen.mtimeNs) throw new Error('a file was written anew')
    for (;;) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(partLength))
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}
