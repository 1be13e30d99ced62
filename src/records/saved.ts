import * as is from '../contract/schema.ts'
import type { Clock } from '../ports.ts'
import type { Catalog } from './catalog.ts'
import type { Shopper } from './epochs.ts'
import { readable, type Codec, type Journal } from './journal.ts'

/** One value of the room's shopper, which a reload finds until it expires. */
interface Saved<T extends object> {
  /** What an earlier page has saved; null where there is nothing that still holds. Rejects where storage fails. */
  restore(): Promise<T | null>
  /** Saves what is made of the value that stands, if anything, unless that shopper was wiped meanwhile; whether a reload finds it. */
  save(change: (found: T | null) => T | null, shopper: Shopper): Promise<boolean>
  /** Whether what was restored or saved last has expired since. */
  hasExpired(): boolean
}

export interface SavedParts {
  journal: Journal
  catalog: Catalog
  clock: Clock
  retentionMs: number
}

const saved = is.object({ savedAt: is.number })

export function savedValue<T extends object>(
  { journal, catalog, clock, retentionMs }: SavedParts,
  key: () => string,
  schema: is.Schema<T>,
): Saved<T> {
  const codec: Codec<{ savedAt: number; value: T }> = {
    read(stored) {
      const { savedAt } = saved.safeParse(stored).data ?? {}
      const value = schema.safeParse(stored).data
      return savedAt === undefined || value === undefined ? 'unreadable' : { savedAt, value }
    },
    write: ({ savedAt, value }) => ({ ...value, savedAt }),
  }
  const cell = () => journal.cell(key(), catalog.dated(codec))
  let begun = 0
  let underWay = 0
  let savedAt = Infinity

  async function write(change: (found: T | null) => T | null, shopper: Shopper): Promise<boolean> {
    const listed = await catalog.list(key(), shopper)
    if (listed === 'gone') return false
    const kept = await cell().update(
      // a value is dated as it is written: what was wiped by then must not count as new
      (found) => {
        const value = shopper.aborted ? null : change(readable(found)?.value ?? null)
        return value ? { value, savedAt: clock.now() } : undefined
      },
      () => catalog.isPresent(shopper),
    )
    return listed === 'stored' && kept === 'stored'
  }

  const hasExpired = () => clock.now() - savedAt > retentionMs

  return {
    hasExpired,
    async restore() {
      const shopper = catalog.shopper()
      const before = begun
      const found = readable(await cell().read())
      // what this page saves meanwhile is newer, and without a catalog nobody knows whose it is
      const isOutdated = shopper.aborted || underWay > 0 || begun !== before || !catalog.isSeen()
      if (found === null || isOutdated) return null
      savedAt = found.savedAt
      if (!hasExpired()) return found.value
      await cell().update(() => null)
      return null
    },
    async save(change, shopper) {
      begun++
      underWay++
      savedAt = clock.now()
      return write(change, shopper).finally(() => underWay--)
    },
  }
}
