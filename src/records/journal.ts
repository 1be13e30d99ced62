import type * as is from '../contract/schema.ts'
import { removeFrom } from '../platform/apply.ts'
import { withinLimit } from '../platform/clock.ts'
import { jsonIn } from '../rules/json.ts'
import { succeeds } from '../platform/succeeds.ts'
import type { Clock, FlowStorage } from '../ports.ts'
import { createSlot, type Kept, type Slot } from './slot.ts'

export type { Kept } from './slot.ts'

/** How long it may take to wipe everything, in ms. */
const wipeLimitMs = 30_000

/** What is stored under a key: a value, null for nothing, or what this version cannot read and leaves alone. */
export type Found<T extends object> = T | null | 'unreadable'

/** What this version can read of it. */
export const readable = <T extends object>(found: Found<T>): T | null => (found === 'unreadable' ? null : found)

/** How a value is read from the stored JSON and written to it; what a reset() should have wiped is as good as nothing. */
export interface Codec<T extends object> {
  read(stored: unknown): Found<T> | 'wiped'
  write(value: T): object
}

/** Reads a value that fits the schema as it is, and any other as `other`. */
export const codecOf = <T extends object>(
  schema: is.Schema<T>,
  other: 'unreadable' | null = 'unreadable',
): Codec<T> => ({
  read: (stored) => schema.safeParse(stored).data ?? other,
  write: (value) => value,
})

/** What a stored value becomes: another one, null to remove it, undefined to leave it. */
type Change<T extends object> = (old: Found<T>) => T | null | undefined

/** One typed place in storage. */
export interface Cell<T extends object> {
  readonly key: string
  /** Rejects when storage fails: that is no absence. */
  read(): Promise<Found<T>>
  /** Whether storage can be read, whatever memory knows. */
  isReadable(): Promise<boolean>
  /**
   * Reads, changes and writes in one go: atomic where storage has `update`. Never rejects. `confirm` is asked once the
   * write has landed, however late; where it says no, the write is taken back.
   */
  update(change: Change<T>, confirm?: () => Promise<boolean>): Promise<Kept>
  /** Every readable value that storage holds, or may still come to hold, under the key; of one that fails, what is known. */
  copies(): Promise<T[]>
  /** What storage was last seen to hold. */
  onDisk(): Found<T>
  /** Memory lets go of what only it has, where that is meant. */
  forget(isMeant?: (value: Found<T>) => boolean): void
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
  /** What this page has last seen under each key that is meant, as it stands in storage. */
  seen(isMeant: (key: string, stored: unknown) => boolean): (readonly [key: string, text: string])[]
  /** Takes away what was seen, unless it has changed since; resolves with whether that could be done. */
  takeBack(seen: readonly (readonly [key: string, text: string])[]): Promise<boolean>
  /** Lets go of what only memory has, but under these keys. */
  forget(kept: readonly string[]): void
  /** Removes what is stored under these keys, but for what `isKept` says yes to; resolves with whether all of it went. */
  remove(keys: readonly string[], isKept?: (stored: unknown) => boolean): Promise<boolean>
}

export function createJournal(storage: FlowStorage, clock: Clock): Journal {
  const slots = new Map<string, Slot>()
  let hasWorked = false
  const onWorking = () => void (hasWorked = true)

  function slotAt(key: string): Slot {
    const slot = slots.get(key) ?? createSlot({ storage, clock, onWorking }, key)
    slots.set(key, slot)
    return slot
  }

  /** Removes under all of these keys at once, after everything earlier there and before everything later. */
  function removeQueued(keys: readonly string[], isKept: (value: string) => boolean): Promise<void> {
    const emptied = keys.map(slotAt)
    const turn = Promise.all(emptied.map((slot) => slot.tail())).then(async () => {
      await removeFrom(storage, keys, isKept)
      for (const slot of emptied) slot.noteEmptied()
    })
    const limited = withinLimit(clock, wipeLimitMs, turn)
    // a removal that cannot look at what it lands on is waited for
    const tail = (typeof storage.update === 'function' ? limited : turn).catch(() => undefined)
    for (const slot of emptied) slot.occupy(tail)
    void tail.then(() => keys.forEach(letGo))
    return limited
  }

  /** A page that lives for months asks for ever new keys: of what nothing is known, or awaited, nothing is kept. */
  function letGo(key: string): void {
    if (slots.get(key)?.isBlank()) slots.delete(key)
  }

  const using = <T>(key: string, use: (slot: Slot) => Promise<T>) => use(slotAt(key)).finally(() => letGo(key))

  return {
    durable: storage.durable !== false,
    hasWorked: () => hasWorked,
    seen: (isMeant) =>
      [...slots].flatMap(([key, slot]) => {
        const text = slot.onDisk()
        return text !== null && isMeant(key, jsonIn(text)) ? [[key, text] as const] : []
      }),
    takeBack: (seen) => succeeds(Promise.all(seen.map(([key, text]) => slotAt(key).takeBack(text)))),
    forget(kept) {
      for (const [key, slot] of slots) if (!kept.includes(key)) slot.forget()
    },
    async remove(keys, isKept = () => false) {
      const isKeptText = (text: string) => isKept(jsonIn(text))
      for (const slot of keys.map(slotAt)) if (!isKeptText(slot.inMemory() ?? '')) slot.forget()
      return succeeds(removeQueued(keys, isKeptText))
    },
    cell<T extends object>(key: string, { read, write }: Codec<T>): Cell<T> {
      const found = (text: string | null): Found<T> => {
        const value = text === null ? null : read(jsonIn(text))
        return value === 'wiped' ? null : value
      }
      const changed = (value: T | null | undefined) => (value ? JSON.stringify(write(value)) : value)
      return {
        key,
        read: () =>
          using(key, async (slot) => {
            const text = await slot.read()
            const isWiped = text !== null && read(jsonIn(text)) === 'wiped' && slot.inMemory() === undefined
            if (isWiped) await slotAt(key).takeBack(text)
            return found(text)
          }),
        isReadable: () => using(key, (slot) => slot.isReadable()),
        update: (change, confirm = async () => true) =>
          using(key, (slot) => slot.update((old) => changed(change(found(old))), confirm)),
        async copies() {
          const copies = await using(key, (slot) => slot.copies())
          return copies.map(found).filter((each) => each !== null && each !== 'unreadable')
        },
        onDisk: () => found(slotAt(key).onDisk()),
        forget(isMeant = () => true) {
          const slot = slotAt(key)
          const text = slot.inMemory()
          if (text !== undefined && isMeant(found(text))) slot.forget()
        },
      }
    },
  }
}
