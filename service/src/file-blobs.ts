import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import type { BlobStore } from './ports.ts'

/** Photos and pictures as files of a folder; the ending tells the type. */
export function fileBlobs(folder: string): BlobStore {
  const made = mkdir(folder, { recursive: true })
  const fileOf = (name: string) => join(folder, basename(name))
  return {
    async put(name, { bytes }) {
      await made
      // a reader never sees half a picture
      await writeFile(`${fileOf(name)}.part`, bytes)
      await rename(`${fileOf(name)}.part`, fileOf(name))
    },
    async get(name) {
      const bytes = await readFile(fileOf(name)).catch(() => null)
      return bytes && { bytes: new Uint8Array(bytes), type: `image/${extname(name).slice(1)}` }
    },
  }
}
