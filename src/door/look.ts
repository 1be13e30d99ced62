import { databaseName, hasDatabase, tableName } from '../../adapters/storage/database.ts'
import type { Clock, FlowStorage } from '../ports.ts'
import type { Counts } from '../rules/counts.ts'
import { catalogOf, catalogVersion, formerIndexOf, type Names } from '../records/names.ts'

/** What storage tells of a room, without being changed. */
export interface Seen {
  /** Whether something may be kept under that key, or further ones of it. */
  mayHold(key: string): boolean
  /** Whether something has expired, which the core removes. */
  isDue?: boolean
  /** How often this storage was reset, by its IDs; undefined where nobody can tell. */
  epochs?: Counts | undefined
}

/** How long the look may take, in ms, before it is left to the core. */
const lookLimitMs = 2_000

/** Nobody knows what is there: the core looks. */
export const unclear: Seen = { mayHold: () => true }

/** One look into what a room has listed in its storage; what cannot be read here may be there, and the core looks. */
export function lookInto(storage: FlowStorage | undefined, names: Names, clock: Clock): Promise<Seen> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(() => resolve(unclear), lookLimitMs)
    const look = async () =>
      seenIn(await (storage ? storage.getItem(catalogOf(names.room)) : defaultCatalog(names)), clock)
    void look()
      .catch(() => unclear)
      .then((seen) => {
        clock.clearTimeout(timer)
        resolve(seen)
      })
  })
}

/** Throws for what is of another version, or broken: the core knows what to do with it. */
function seenIn(found: unknown, clock: Clock): Seen {
  // nothing was ever listed
  if (found === undefined || found === null) return { mayHold: () => false, epochs: {} }
  const catalog = typeof found === 'string' ? JSON.parse(found) : Object(found)
  const { version, entries, epochs } = catalog
  const tables = [entries, epochs, catalog.left, catalog.discarded]
  if (version !== catalogVersion || !tables.every(isTable)) throw catalog
  return {
    mayHold: (key) => Object.keys(entries).some((each) => each === key || each.startsWith(`${key}:`)),
    isDue: Object.values(entries).some((until) => Number(until) <= clock.now()),
    epochs,
  }
}

const isTable = (value: unknown) =>
  Object(value) === value && !Array.isArray(value) && Object.values(value as object).every(Number.isFinite)

/** Of the default storage, without what it takes to write there: the catalog stands in each of its tiers that works. */
async function defaultCatalog({ room, prefix }: Names): Promise<unknown> {
  if (!hasDatabase()) return null
  const near = localStorage.getItem(catalogOf(room))
  const [found, former] = await valuesOf([catalogOf(room), formerIndexOf(prefix)])
  // of two that are not alike the core finds out which is right
  return former === undefined && (found === undefined || near === null || found === near) ? (found ?? near) : {}
}

/** What the default storage's database has under these keys; where it is not there it is not created. */
const valuesOf = (keys: readonly string[]) =>
  new Promise<unknown[]>((resolve, reject) => {
    const opening = indexedDB.open(databaseName)
    opening.onupgradeneeded = () => {
      resolve([])
      opening.transaction?.abort()
    }
    opening.onerror = (event) => {
      // browsers report it as uncaught
      event.preventDefault()
      reject(opening.error)
    }
    opening.onsuccess = () => {
      const items = opening.result.transaction(tableName).objectStore(tableName)
      const requests = keys.map((key) => items.get(key))
      items.transaction.oncomplete = () => resolve(requests.map(({ result }) => result))
      items.transaction.onabort = reject
      // ends with its transaction
      opening.result.close()
    }
  })
