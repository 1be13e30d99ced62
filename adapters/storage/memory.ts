import type { AtomicStorage, PhotoStore, StoredPhoto } from '../../src/ports.ts'

/** Keeps records for as long as the page lives, and nothing on disk. */
export function memoryStorage(): AtomicStorage {
  const items = new Map<string, string>()
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
    update(key, change) {
      const value = change(items.get(key) ?? null)
      if (value === null) items.delete(key)
      else items.set(key, value)
    },
    durable: false,
    photos: memoryPhotos(),
  }
}

/** Keeps photos for as long as the page lives. */
export function memoryPhotos(): PhotoStore {
  const photos = new Map<string, StoredPhoto>()
  return {
    get: (key) => photos.get(key),
    set: (key, photo) => void photos.set(key, photo),
    remove: (key) => void photos.delete(key),
    keys: () => [...photos.keys()],
  }
}
