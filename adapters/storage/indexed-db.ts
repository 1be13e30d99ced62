import type { AtomicStorage, StoredPhoto } from '../../src/ports.ts'
import { databaseName, tableName } from './database.ts'

/**
 * Keeps records and photos in IndexedDB, in the databases `name` and `${name}-photos`. A write resolves once it is on
 * disk (`durability: 'strict'`); a read-modify-write is one transaction, which no other tab can come between.
 */
export function indexedDbStorage(name = databaseName): AtomicStorage {
  const names = { values: name, photos: `${name}-photos` }
  const records = strictStore(names.values)
  const photos = strictStore(names.photos)
  return {
    getItem: (key) => valueIn<string>(records, key).then((value) => value ?? null),
    setItem: (key, value) => updateIn(records, [key], () => value),
    removeItem: (key) => updateIn(records, [key], () => null),
    removeItems: (keys, isKept) => updateIn<string>(records, keys, (old) => (old !== null && isKept(old) ? old : null)),
    update: (key, change) => updateIn(records, [key], change),
    isBegun: async (what) => (await indexedDB.databases()).some((each) => each.name === names[what]),
    photos: {
      get: (key) => valueIn<StoredPhoto>(photos, key),
      set: (key, photo) => updateIn(photos, [key], () => photo),
      remove: (key) => updateIn(photos, [key], () => null),
      keys: () => photos('readonly', (items) => answered(items.getAllKeys())) as Promise<string[]>,
    },
  }
}

/** Does something in a transaction of its own. */
type Store = <T>(mode: IDBTransactionMode, use: (items: IDBObjectStore) => Promise<T>) => Promise<T>

/** One object store in a database of its own; where the browser has ended what was under way it is asked once more. */
function strictStore(database: string): Store {
  let opened: Promise<IDBDatabase> | null = null
  const open = () => {
    const request = indexedDB.open(database)
    request.onupgradeneeded = () => request.result.createObjectStore(tableName)
    const opening = answered(request).then((connection) => {
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
    connection.transaction(tableName, mode, { durability: 'strict' }).objectStore(tableName)

  return async (mode, use) => {
    const connection = await (opened ?? open())
    try {
      return await use(transaction(connection, mode))
    } catch (error) {
      const name = error instanceof DOMException && error.name
      if (name === 'InvalidStateError') opened = null
      // a browser ends what is under way on a page that it puts away, and nothing of it is done
      else if (name !== 'AbortError') throw error
      return await use(transaction(await (opened ?? open()), mode))
    }
  }
}

const answered = <T>(request: IDBRequest<T>) =>
  new Promise<T>((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

const valueIn = <T>(store: Store, key: string) => store('readonly', (items) => answered<T | undefined>(items.get(key)))

/** Changes all of them in one transaction; ends with what a change has thrown, or once all of it is on disk. */
function updateIn<T>(store: Store, keys: readonly string[], change: (old: T | null) => T | null): Promise<void> {
  return store(
    'readwrite',
    (items) =>
      new Promise((resolve, reject) => {
        const { transaction } = items
        transaction.oncomplete = () => resolve()
        // a browser that ends it by itself gives no error
        transaction.onabort = () => reject(transaction.error ?? new DOMException('ended', 'AbortError'))
        for (const key of keys) {
          const reading: IDBRequest<T | undefined> = items.get(key)
          reading.onsuccess = () => {
            try {
              const value = change(reading.result ?? null)
              if (value === null) items.delete(key)
              else items.put(value, key)
            } catch (error) {
              reject(error)
              transaction.abort()
            }
          }
        }
      }),
  )
}
