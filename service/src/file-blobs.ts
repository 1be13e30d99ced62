import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isBlobName } from './blob-name.ts'
import { removeLeft } from './left-files.ts'
import { imageTypeOf } from './photo-formats.ts'
import type { BlobStore } from './ports.ts'

/** How a file is called while it is written. */
const partPrefix = '.'

/** Photos and pictures as files of a folder, made if need be; what is in them tells the type. */
export function fileBlobs(folder: string): BlobStore {
  mkdirSync(folder, { recursive: true })
  void removeLeft(folder, (name) => name.startsWith(partPrefix)).catch(() => undefined)
  const fileOf = (name: string) => join(folder, basename(name))
  return {
    async put(name, { bytes }) {
      // a reader never sees half a picture, and two writers never each other's
      const part = join(folder, partPrefix + randomUUID())
      try {
        await writeFile(part, bytes)
        await rename(part, fileOf(name))
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
        const [{ size }, { buffer }] = await Promise.all([file.stat(), file.read(new Uint8Array(headLength), 0)])
        return { body: streamOf(partsOf(fileOf(name))), size, type: typeOf(buffer) }
      } finally {
        await file.close()
      }
    },
  }
}

/** How much of a file tells its type, and how much of one is in memory at once, in bytes. */
const headLength = 64
const partLength = 65_536

const typeOf = (head: Uint8Array) => imageTypeOf(head) ?? 'application/octet-stream'

function orMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}

/** Nothing is read before somebody reads it, as nobody does who asks for the head alone. */
function streamOf(parts: AsyncGenerator<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const source: UnderlyingDefaultSource<Uint8Array<ArrayBuffer>> = {
    async pull(controller) {
      const { done, value } = await parts.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async () => void (await parts.return(undefined)),
  }
  return new ReadableStream(source, { highWaterMark: 0 })
}

/** The file is opened when its first part is wanted, which may be never. */
async function* partsOf(path: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const file = await open(path)
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(partLength))
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}
