import { withinLimit } from '../platform/clock.ts'
import type { Clock, FlowStorage } from '../ports.ts'

/** How long one storage call may take, in ms, before memory stands in for it. */
const storageLimitMs = 5_000

/** Where a change stands: in storage, only in memory because storage failed, or nowhere as nothing was to change. */
export type Kept = 'stored' | 'memory' | 'unchanged'

/** What a stored value becomes: an object to write, null to remove it, undefined to leave it. */
type Change = (old: unknown) => object | null | undefined

/**
 * Storage as the room uses it: JSON objects, one change at a time for each key, every call within a time limit. Where
 * storage fails, memory holds the truth of this page, and says so.
 */
export interface Journal {
  /** False for storage that a reload empties. */
  readonly lasting: boolean
  /** The stored object, undefined where there is none, or the text where it is no JSON; rejects when storage fails. */
  read(key: string): Promise<unknown>
  /** Reads, changes and writes in one go: atomic where storage has `update`. Never rejects. */
  update(key: string, change: Change): Promise<Kept>
  /** What storage was last seen to hold; undefined where nothing, or where that is not known. */
  onDisk(key: string): unknown
}

export function createJournal(storage: FlowStorage, clock: Clock): Journal {
  const tails = new Map<string, Promise<unknown>>()
  /** What storage was last seen to hold. */
  const disk = new Map<string, string | null>()
  /** Values that only memory has, because storage did not take them. */
  const ahead = new Map<string, string | null>()

  /** Starts after everything earlier on that key has really ended, so that nothing older overwrites newer. */
  function queued<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turn = (tails.get(key) ?? Promise.resolve()).then(work)
    tails.set(
      key,
      turn.catch(() => undefined),
    )
    return withinLimit(clock, storageLimitMs, turn)
  }

  async function stored(key: string): Promise<string | null> {
    const value = await storage.getItem(key)
    return value === null || value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value)
  }

  async function apply(key: string, change: (old: string | null) => string | null): Promise<void> {
    if (storage.update) {
      await storage.update(key, change)
      return
    }
    const old = await stored(key)
    const value = change(old)
    if (value === old) return
    await (value === null ? storage.removeItem(key) : storage.setItem(key, value))
  }

  return {
    lasting: storage.durable !== false,
    async read(key) {
      const only = ahead.get(key)
      if (only !== undefined) return parsed(only)
      const text = await queued(key, () => stored(key))
      disk.set(key, text)
      return parsed(text)
    },
    onDisk: (key) => parsed(disk.get(key) ?? null),
    async update(key, change) {
      // null is a value here: removed, as far as memory knows
      let base = (ahead.has(key) ? ahead.get(key) : disk.get(key)) ?? null
      let next: string | null = base
      let unchanged = false
      let gaveUp = false
      let wrote: string | null | undefined
      const decide = (old: string | null) => {
        const value = change(parsed(old))
        base = old
        unchanged = value === undefined
        next = value === undefined ? old : value === null ? null : JSON.stringify(value)
      }
      try {
        await queued(key, () =>
          apply(key, (old) => {
            const only = ahead.get(key)
            // a write that was given up stands at the head of the queue: by now memory knows better
            if (gaveUp) return (wrote = only === undefined ? old : only)
            if (only !== undefined && old !== (disk.get(key) ?? null)) throw new UnseenValue()
            decide(only === undefined ? old : only)
            return (wrote = next)
          }).then(() => wrote !== undefined && disk.set(key, wrote)),
        )
        disk.set(key, next)
        ahead.delete(key)
        return unchanged ? 'unchanged' : 'stored'
      } catch {
        gaveUp = true
        decide(base)
        if (!unchanged) ahead.set(key, next)
        return unchanged ? 'unchanged' : 'memory'
      }
    },
  }
}

/** Storage came back with a value that this page has never seen: it is left as it is. */
class UnseenValue extends Error {}

function parsed(text: string | null): unknown {
  if (text === null) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
