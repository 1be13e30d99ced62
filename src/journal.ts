import { withinLimit } from './clock.ts'
import type { Clock, FlowStorage } from './ports.ts'

/** How long one storage call may take, in ms, before memory stands in for it. */
const storageLimitMs = 5_000

/** Where a change stands: on disk (a removal: gone from there), only in memory, or nowhere as nothing was to change. */
export type Kept = 'durable' | 'memory' | 'unchanged'

/** What a stored value becomes: an object to write, null to remove it, undefined to leave it. */
type Change = (old: unknown) => object | null | undefined

/**
 * Storage as the room uses it: JSON objects, one change at a time for each key, every call within a time limit. Where
 * storage fails, memory holds the truth of this page, and says so.
 */
export interface Journal {
  /** The stored object, undefined where there is none, or the text where it is no JSON; rejects when storage fails. */
  read(key: string): Promise<unknown>
  /** Reads, changes and writes in one go: atomic where storage has `update`. Never rejects. */
  update(key: string, change: Change): Promise<Kept>
}

export function createJournal(storage: FlowStorage, clock: Clock): Journal {
  const tails = new Map<string, Promise<unknown>>()
  /** What this page last knew of each key. */
  const known = new Map<string, string | null>()
  /** Keys whose newest value only memory has. */
  const ahead = new Set<string>()

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
    async read(key) {
      if (ahead.has(key)) return parsed(known.get(key) ?? null)
      const text = await queued(key, () => stored(key))
      known.set(key, text)
      return parsed(text)
    },
    async update(key, change) {
      let unchanged = false
      const next = (old: string | null) => {
        const value = change(parsed(old))
        unchanged = value === undefined
        return value === undefined ? old : value === null ? null : JSON.stringify(value)
      }
      try {
        await queued(key, () =>
          apply(key, (old) => {
            const value = next(ahead.has(key) ? (known.get(key) ?? null) : old)
            known.set(key, value)
            return value
          }),
        )
        ahead.delete(key)
        if (unchanged) return 'unchanged'
        return storage.durable === false && known.get(key) !== null ? 'memory' : 'durable'
      } catch {
        known.set(key, next(known.get(key) ?? null))
        if (!unchanged) ahead.add(key)
        return unchanged ? 'unchanged' : 'memory'
      }
    },
  }
}

function parsed(text: string | null): unknown {
  if (text === null) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
