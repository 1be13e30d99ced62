import { withinLimit } from '../platform/clock.ts'
import type { Clock, FlowStorage } from '../ports.ts'

/** How long one storage call may take, in ms, before memory stands in for it. */
const storageLimitMs = 5_000
/** How long it may take to wipe everything, in ms. */
const wipeLimitMs = 30_000

/** Where a change stands: in storage, only in memory because storage failed, or nowhere as nothing was to change. */
export type Kept = 'stored' | 'memory' | 'unchanged'

/** What is stored under a key: a value, null for nothing, or what this version can not read and leaves alone. */
export type Found<T extends object> = T | null | 'unreadable'

/** How a value is read from the stored JSON and written to it; what a reset() should have wiped is as good as nothing. */
export interface Codec<T extends object> {
  read(stored: unknown): Found<T> | 'wiped'
  write(value: T): object
}

/** What a stored value becomes: another one, null to remove it, undefined to leave it. */
type Change<T extends object> = (old: Found<T>) => T | null | undefined

/** One typed place in storage. */
export interface Cell<T extends object> {
  /** Rejects when storage fails: that is no absence. */
  read(): Promise<Found<T>>
  /**
   * Reads, changes and writes in one go: atomic where storage has `update`. Never rejects. `confirm` is asked once the
   * write has landed, however late; where it says no, the write is taken back.
   */
  update(change: Change<T>, confirm?: () => Promise<boolean>): Promise<Kept>
  /** Every readable value that storage holds, or may still come to hold, under the key; of one that fails, what is known. */
  copies(): Promise<T[]>
  /** What storage was last seen to hold. */
  onDisk(): Found<T>
}

/**
 * Storage as the room uses it: typed cells of JSON, one change at a time for each key, every call within a time limit.
 * Where storage fails, memory holds the truth of this page, and says so.
 */
export interface Journal {
  /** False for storage that a reload empties. */
  readonly durable: boolean
  /** Whether storage has taken a write of this page. */
  hasWorked(): boolean
  cell<T extends object>(key: string, codec: Codec<T>): Cell<T>
  /** Removes what is stored under these keys, but for what `isKept` says yes to; resolves with whether all of it went. */
  remove(keys: readonly string[], isKept?: (stored: unknown) => boolean): Promise<boolean>
}

export function createJournal(storage: FlowStorage, clock: Clock): Journal {
  const tails = new Map<string, Promise<unknown>>()
  /** What storage was last seen to hold. */
  const disk = new Map<string, string | null>()
  /** Values that only memory has, because storage did not take them; null where it was to remove one. */
  const ahead = new Map<string, string | null>()
  let hasWorked = false
  /** What writes that have not ended may still leave under a key. */
  const landing = new Map<string, Set<string>>()

  /** Writes that can not look at what they land on. */
  const isBlind = typeof storage.update !== 'function'
  /** How many writes of a key have begun, and which of them was the last to land. */
  const begun = new Map<string, number>()
  const landed = new Map<string, number>()

  /**
   * Starts after everything earlier on those keys has ended. What was given up may end later: a write that is blind is
   * waited for all the same, so that nothing older overwrites newer.
   */
  function queued<T>(keys: readonly string[], limitMs: number, work: () => Promise<T>, isWrite = true): Promise<T> {
    const turn = Promise.all(keys.flatMap((key) => tails.get(key) ?? [])).then(work)
    const limited = withinLimit(clock, limitMs, turn)
    const tail = (isWrite && isBlind ? turn : limited).catch(() => undefined)
    for (const key of keys) tails.set(key, tail)
    void tail.then(() => keys.forEach((key) => tails.get(key) === tail && tails.delete(key)))
    return limited
  }

  async function apply(key: string, change: (old: string | null) => string | null): Promise<void> {
    // a shop's own item of that name is no method
    if (typeof storage.update === 'function') {
      await storage.update(key, (old: unknown) => change(textOf(old)))
      return
    }
    const old = textOf(await storage.getItem(key))
    const value = change(old)
    if (value === old) return
    await (value === null ? storage.removeItem(key) : storage.setItem(key, value))
  }

  function landingAt(key: string): Set<string> {
    const known = landing.get(key) ?? new Set()
    landing.set(key, known)
    return known
  }

  const lastSeen = (key: string) => disk.get(key) ?? null
  /** Memory's value counts while storage holds what that was based on. */
  const current = (key: string, old: string | null) => {
    const only = ahead.get(key)
    return only !== undefined && old === lastSeen(key) ? only : old
  }

  async function takeBack(key: string, written: string | null): Promise<void> {
    await apply(key, (old) => {
      const left = old === written ? null : old
      disk.set(key, left)
      return left
    })
  }

  async function update(
    key: string,
    change: (old: string | null) => string | null | undefined,
    confirm: () => Promise<boolean>,
  ): Promise<Kept> {
    let decision: string | null | undefined
    let isGivenUp = false
    const number = (begun.get(key) ?? 0) + 1
    begun.set(key, number)
    const land = async () => {
      let written: string | null = null
      let isChanged = false
      let isOvertaken = false
      const decide = (old: string | null) => {
        // what comes late writes what memory knows by now, and only over what that was based on
        if (isGivenUp) {
          isOvertaken = old !== lastSeen(key)
          return current(key, old)
        }
        const base = current(key, old)
        decision = change(base)
        return decision === undefined ? base : decision
      }
      const noted = landingAt(key)
      const note = (old: string | null) => {
        written = decide(old)
        isChanged = written !== old
        if (written !== null) noted.add(written)
        return written
      }
      await apply(key, note).finally(() => noted.delete(written ?? ''))
      hasWorked = true
      if (isOvertaken) return
      // a storage that is not as atomic as it says has put it over what was written since
      if ((landed.get(key) ?? 0) > number) return apply(key, (old) => (old === written ? lastSeen(key) : old))
      landed.set(key, number)
      disk.set(key, written)
      if (!isGivenUp || ahead.get(key) === written) ahead.delete(key)
      if (!isChanged || (await confirm())) return
      decision = undefined
      await takeBack(key, written)
    }
    try {
      await queued([key], storageLimitMs, land)
      return decision === undefined ? 'unchanged' : 'stored'
    } catch {
      isGivenUp = true
      const remembered = change(current(key, lastSeen(key)))
      if (remembered === undefined || !(await confirm())) return 'unchanged'
      // what only memory had is gone from it; what storage holds, if anything, is as unknown as before
      if (remembered === null && lastSeen(key) === null) ahead.delete(key)
      else ahead.set(key, remembered)
      return 'memory'
    }
  }

  async function removeFromStorage(keys: readonly string[], isKept: (value: string) => boolean): Promise<void> {
    const removeOne = (key: string) => apply(key, (old) => (old !== null && isKept(old) ? old : null))
    if (typeof storage.removeItems === 'function') await storage.removeItems(keys, isKept)
    else await Promise.all(keys.map(removeOne))
    for (const key of keys) disk.delete(key)
  }

  return {
    durable: storage.durable !== false,
    hasWorked: () => hasWorked,
    async remove(keys, isKept = () => false) {
      const isKeptText = (text: string) => isKept(parsed(text))
      for (const key of keys) if (!isKeptText(ahead.get(key) ?? '')) ahead.delete(key)
      return queued(keys, wipeLimitMs, () => removeFromStorage(keys, isKeptText)).then(
        () => true,
        () => false,
      )
    },
    cell<T extends object>(key: string, { read, write }: Codec<T>): Cell<T> {
      const found = (text: string | null): Found<T> => {
        const value = text === null ? null : read(parsed(text))
        return value === 'wiped' ? null : value
      }
      return {
        async read() {
          const only = ahead.get(key)
          if (only !== undefined) return found(only)
          const text = await queued([key], storageLimitMs, async () => textOf(await storage.getItem(key)), false)
          disk.set(key, text)
          if (text !== null && found(text) === null) await queued([key], storageLimitMs, () => takeBack(key, text))
          return found(text)
        },
        update: (change, confirm = async () => true) =>
          update(
            key,
            (old) => {
              const value = change(found(old))
              return value ? JSON.stringify(write(value)) : value
            },
            confirm,
          ),
        async copies() {
          const asked = async () =>
            typeof storage.copies === 'function' ? storage.copies(key) : [textOf(await storage.getItem(key))]
          const texts = await withinLimit(clock, storageLimitMs, asked()).catch(() => [lastSeen(key)])
          return [...texts, ...landingAt(key)].map(found).filter((each) => each !== null && each !== 'unreadable')
        },
        onDisk: () => found(lastSeen(key)),
      }
    },
  }
}

/** A stored value as text: stores may hand back the parsed object, and nothing in more than one way. */
const textOf = (value: unknown): string | null =>
  value === null || value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value)

/** The JSON that a text is; the text itself where it is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
