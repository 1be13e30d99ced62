import { del, get, promisifyRequest, set, type UseStore } from 'idb-keyval'
import type { AtomicStorage, StoredPhoto } from '../../src/ports.ts'

/**
 * Keeps records and photos in IndexedDB, in two databases of that name. A write resolves once it is on disk
 * (`durability: 'strict'`); a read-modify-write is one transaction, which no other tab can interleave.
 */
export function indexedDbStorage(name = 'fitting-room'): AtomicStorage {
  const names = { values: name, photos: `${name}-photos` }
  const records = strictStore(names.values)
  const photos = strictStore(names.photos)
  return {
    getItem: (key) => get<string>(key, records).then((value) => value ?? null),
    setItem: (key, value) => set(key, value, records),
    removeItem: (key) => del(key, records),
    removeItems: (keys, isKept) => removeIn(records, keys, isKept),
    update: (key, change) => updateIn(records, key, change),
    isBegun: async (what) => (await indexedDB.databases()).some((each) => each.name === names[what]),
    photos: {
      get: (key) => get<StoredPhoto>(key, photos),
      set: (key, photo) => set(key, photo, photos),
      remove: (key) => del(key, photos),
    },
  }
}

const table = 'items'

/** One object store in a database of its own; a connection that died is opened once more. */
function strictStore(database: string): UseStore {
  let opened: Promise<IDBDatabase> | null = null
  const open = () => {
    const request = indexedDB.open(database)
    request.onupgradeneeded = () => request.result.createObjectStore(table)
    const opening = promisifyRequest(request).then((connection) => {
      connection.onclose = () => (opened = null)
      // another page wants to upgrade or delete the database, and may
      connection.onversionchange = () => {
        connection.close()
        opened = null
      }
      return connection
    })
    opening.catch(() => (opened = null))
    return (opened = opening)
  }
  const transaction = (connection: IDBDatabase, mode: IDBTransactionMode) =>
    connection.transaction(table, mode, { durability: 'strict' }).objectStore(table)

  return async (mode, use) => {
    const connection = await (opened ?? open())
    try {
      return await use(transaction(connection, mode))
    } catch (error) {
      if (!(error instanceof DOMException && error.name === 'InvalidStateError')) throw error
      return await use(transaction(await open(), mode))
    }
  }
}

function removeIn(store: UseStore, keys: readonly string[], isKept: (value: string) => boolean): Promise<void> {
  return store('readwrite', (items) => {
    for (const key of keys) {
      const reading = items.get(key)
      reading.onsuccess = () => {
        const value: unknown = reading.result
        if (typeof value === 'string' && !isKept(value)) items.delete(key)
      }
    }
    return promisifyRequest(items.transaction)
  })
}

function updateIn(store: UseStore, key: string, change: (old: string | null) => string | null): Promise<void> {
  return store('readwrite', (items) => {
    const reading = items.get(key)
    const changed = new Promise<void>((resolve, reject) => {
      reading.onsuccess = () => {
        try {
          const value = change((reading.result as string | undefined) ?? null)
          if (value === null) items.delete(key)
          else items.put(value, key)
          resolve()
        } catch (error) {
          items.transaction.abort()
          reject(error)
        }
      }
    })
    return Promise.all([promisifyRequest(items.transaction), changed]).then(() => undefined)
  })
}
