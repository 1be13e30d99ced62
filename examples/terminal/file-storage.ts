import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FlowStorage, PhotoStore } from 'fitting-room'

/**
 * A storage adapter over a folder: one file a key, replaced in one step, so that a killed process leaves the old value
 * or the new one. One process at a time.
 */
export function fileStorage(folder: string): FlowStorage {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const fileOf = (key: string) => join(folder, encodeURIComponent(key))
  const read = (key: string): Buffer | null => {
    try {
      return readFileSync(fileOf(key))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
  }
  const write = (key: string, value: string | Uint8Array) => {
    writeFileSync(`${fileOf(key)}.part`, value, { mode: 0o600, flush: true })
    renameSync(`${fileOf(key)}.part`, fileOf(key))
  }
  const remove = (key: string) => rmSync(fileOf(key), { force: true })
  const text = (key: string) => read(key)?.toString('utf8') ?? null

  const photos: PhotoStore = {
    get(key) {
      const type = text(`${key}.type`)
      const bytes = read(`${key}.bytes`)
      return type === null || bytes === null ? undefined : { type, bytes: new Uint8Array(bytes).buffer }
    },
    set(key, { bytes, type }) {
      write(`${key}.bytes`, new Uint8Array(bytes))
      write(`${key}.type`, type)
    },
    remove(key) {
      remove(`${key}.bytes`)
      remove(`${key}.type`)
    },
  }

  return {
    photos,
    getItem: text,
    setItem: write,
    removeItem: remove,
    update(key, change) {
      const value = change(text(key))
      if (value === null) remove(key)
      else write(key, value)
    },
  }
}
