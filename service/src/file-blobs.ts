import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
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
      const bytes = await readFile(fileOf(name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null
        throw error
      })
      return bytes && { bytes: new Uint8Array(bytes), type: imageTypeOf(bytes) ?? 'application/octet-stream' }
    },
  }
}
