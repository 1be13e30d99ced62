import * as is from '../contract/schema.ts'
import { newId } from '../platform/new-id.ts'
import type { Clock } from '../ports.ts'
import type { Cell, Codec, Journal, Kept } from './journal.ts'
import type { Keys } from './keys.ts'

/** Stands for everything of one shopper: aborted from the moment on in which this page knows of a reset(). */
export type Shopper = AbortSignal

/** Where a key is listed: in storage, only in memory, or nowhere as its shopper was wiped meanwhile. */
type ListedIn = 'stored' | 'memory' | 'gone'

/** An attempt that was left is not submitted any more; one that was discarded writes nothing, whatever comes late. */
type Fate = 'left' | 'discarded'

/**
 * What a room has in storage, which can not be enumerated, and how often it was reset. An entry is written before what
 * it names, and whoever writes looks here afterwards whether the shopper is still the same: so a reset(), which counts
 * first and removes then, leaves nothing behind, whichever of the two is overtaken by the other.
 */
export interface Catalog {
  /** Reads it, or begins it where there is none. */
  open(): Promise<void>
  /** The shopper of now, as far as this page knows. */
  shopper(): Shopper
  /** Whether that shopper was wiped by no page meanwhile; where storage fails, as far as this page knows. */
  isPresent(shopper: Shopper): Promise<boolean>
  /**
   * What tells this storage from every other, each with how often it was reset as far as this page knows: rooms that
   * have no ID in common do not share it.
   */
  epochs(): Readonly<Record<string, number>>
  /** Whether what another page says is of this storage and of its present shopper; learns of a reset from it. */
  isOfPresent(epochs: Readonly<Record<string, number>>): boolean
  /** Whether the stored catalog was ever read, so that it is known which storage this is. */
  isRead(): boolean
  /** Another page has reset its room, which may be this one's. */
  hear(epochs: Readonly<Record<string, number>>): void
  /** Values that carry when they were written, and are no more once a reset() came after. */
  dated<T extends object>(codec: Codec<T>): Codec<T>
  /** Whether a stored value carries that it was written since the last reset(). */
  isOfNow(stored: unknown): boolean
  /** Names what is about to be written. */
  list(key: string, shopper: Shopper): Promise<ListedIn>
  /** When each key that is listed expires, in epoch ms; rejects where storage fails. */
  entries(): Promise<Record<string, number>>
  /** Sets when keys expire that stand as they were seen; null strikes them out. */
  reschedule(entries: Record<string, { seen: number; next: number | null }>): Promise<void>
  /**
   * Says in every page what has become of an attempt: it was left before anything was sent, or forgotten for good.
   * Resolves with whether that stands in storage.
   */
  mark(attemptId: string, fate: Fate): Promise<boolean>
  fateOf(attemptId: string): Promise<Fate | null>
  /**
   * Counts a reset: from now on every key that is listed is due, whatever it holds. Resolves with those keys, and
   * whether the count stands in storage.
   */
  reset(): Promise<{ listed: string[]; isCounted: boolean }>
  /** Whether it is left alone, as it is of a newer version or broken. */
  isUnreadable(): boolean
}

interface CatalogValue {
  savedAt: number
  entries: Record<string, number>
  /** Attempts that were left before anything was sent, and discarded ones, each with when that may be forgotten. */
  left: Record<string, number>
  discarded: Record<string, number>
  /** The IDs of this storage, each with how often it was reset. */
  epochs: Record<string, number>
}

const numbers = is.tableOf(is.number)
const catalogValue = is.object({
  version: is.oneOf(2),
  savedAt: is.number,
  entries: numbers,
  left: numbers,
  discarded: numbers,
  epochs: is.tableOf(is.integer),
})
const former = is.object({ keys: is.listOf(is.text) })
const date = is.object({ era: is.object({ 0: is.text, 1: is.number }) })

/** When something expires that goes the next time anybody looks. */
export const dueNow = 0

const formerCodec: Codec<is.TypeOf<typeof former>> = {
  read: (stored) => former.safeParse(stored).data ?? 'unreadable',
  write: (value) => value,
}

const codec: Codec<CatalogValue> = {
  read: (stored) => catalogValue.safeParse(stored).data ?? 'unreadable',
  write: (value) => ({ version: 2, ...value }),
}

export interface CatalogParts {
  journal: Journal
  keys: () => Keys
  clock: Clock
  retentionMs: number
  /** Another page has reset the room. */
  onReset: () => void
}

export function createCatalog({ journal, keys, clock, retentionMs, onReset }: CatalogParts): Catalog {
  let candidate = 0
  const cellAt = (index: number): Cell<CatalogValue> => journal.cell(keys().catalog[index] ?? '', codec)
  let isUnreadable = false
  /** Whether this page has read the catalog: what it sees first tells it of no reset. */
  let isSeen = false
  /** What it saw then, until it hears of the last of those resets: its shopper may be from before that. */
  let doubtful: Readonly<Record<string, number>> = {}
  /** Resets that were heard before it was known which storage this is. */
  const heard: Readonly<Record<string, number>>[] = []
  let epochs: Record<string, number> = { [storageIdAt(clock.now())]: 0 }
  let isOpened = false
  let isTakenOver = false
  let openedAt = Infinity
  /** Whether something was written under the ID that this page has made up. */
  let isOwnUsed = false
  let shopper = new AbortController()
  const fates = new Map<string, Fate>()

  const empty = (): CatalogValue => ({ savedAt: clock.now(), entries: {}, left: {}, discarded: {}, epochs })

  const sharesId = (found: Readonly<Record<string, number>>) =>
    Object.keys(found).some((id) => epochs[id] !== undefined)

  /** Only a higher count is a reset. A catalog that is missing, or that another page has begun anew, is a loss. */
  function learn(found: Readonly<Record<string, number>>): void {
    if (!isSeen) return isOnDisk() ? seeFirst(found) : undefined
    const isStrange = !sharesId(found)
    // what was begun while this page was open, and reset, was reset meanwhile
    const counts = (id: string) => epochs[id] !== undefined || isStrange || bornAt(id) > openedAt
    const wasReset = Object.entries(found).some(([id, count]) => counts(id) && count > (epochs[id] ?? 0))
    for (const [id, count] of Object.entries(found)) epochs = { ...epochs, [id]: Math.max(count, epochs[id] ?? 0) }
    if (wasReset) changeShopper()
  }

  /** Whether storage was seen to have a catalog: what only memory has tells nothing of it. */
  const isOnDisk = () => cellAt(candidate).onDisk() !== null

  function seeFirst(found: Readonly<Record<string, number>>): void {
    isSeen = true
    doubtful = found
    epochs = isOwnUsed ? { ...epochs, ...found } : { ...found }
    if (heard.splice(0).some(sharesId)) changeShopper()
  }

  function changeShopper(): void {
    doubtful = {}
    nextShopper()
    // whoever looks here may be in the middle of a transaction
    queueMicrotask(onReset)
  }

  function nextShopper(): void {
    shopper.abort()
    shopper = new AbortController()
    fates.clear()
  }

  /** Whose storage was reset is known once the catalog is read; where it can not be, it may be this one. */
  function doubt(found: Readonly<Record<string, number>>): void {
    heard.push(found)
    if (isOpened) changeShopper()
  }

  async function look(): Promise<CatalogValue | null> {
    const found = await cellAt(candidate)
      .read()
      .catch(() => null)
    if (found === null || found === 'unreadable') return null
    learn(found.epochs)
    // what was begun anew is told by which names other pages know it
    if (Object.keys(epochs).some((id) => found.epochs[id] === undefined)) await change(() => ({}))
    return found
  }

  /** A change of what is there, or of an empty catalog where it was lost. */
  async function change(next: (old: CatalogValue) => Partial<CatalogValue> | undefined): Promise<Kept> {
    const tried = candidate
    const kept = await cellAt(candidate).update((found) => {
      isUnreadable ||= found === 'unreadable'
      if (found === 'unreadable') return undefined
      if (found !== null) learn(found.epochs)
      const old = found ?? empty()
      const changed = next(old)
      isOwnUsed ||= !isSeen && changed !== undefined
      return (
        changed && {
          ...old,
          epochs: { ...old.epochs, ...epochs },
          ...changed,
          savedAt: Math.max(old.savedAt, clock.now()),
        }
      )
    })
    if (kept !== 'unchanged' || cellAt(tried).onDisk() !== 'unreadable') return kept
    // another version has been here since it was found
    await find().catch(() => undefined)
    return candidate === tried ? kept : change(next)
  }

  const isSince = (stored: unknown, fits: (count: number, epoch: number) => boolean, unknown = 0) => {
    const era = date.safeParse(stored).data?.era
    return era !== undefined && fits(era[1], epochs[era[0]] ?? unknown)
  }

  /** The first that can be read, or that is free. */
  async function find(): Promise<void> {
    for (const index of keys().catalog.keys()) {
      const found = await cellAt(index).read()
      isUnreadable ||= found === 'unreadable'
      if (found === 'unreadable') continue
      candidate = index
      return found === null ? undefined : learn(found.epochs)
    }
  }

  /** What version 0.1.0 has listed is listed here from now on. */
  async function takeOver(): Promise<void> {
    const [index] = keys().former
    const listed = await journal
      .cell(index, formerCodec)
      .read()
      .catch(() => undefined)
    isTakenOver = listed === null || listed === 'unreadable'
    if (listed === undefined || listed === null || listed === 'unreadable') return
    const until = clock.now() + retentionMs
    const added = Object.fromEntries(listed.keys.map((key) => [key, until]))
    const kept = await change((old) => ({ entries: { ...added, ...old.entries } }))
    isTakenOver = kept === 'stored' && (await journal.remove(keys().former))
  }

  return {
    async open() {
      openedAt = Math.min(openedAt, clock.now())
      const isRead = await find().then(
        () => true,
        () => false,
      )
      // another page may begin it at the same moment: what stands then is everybody's
      if (isRead && !isSeen) {
        await cellAt(candidate).update((found) => (found === null ? empty() : undefined))
        await find().catch(() => undefined)
      }
      isOpened = true
      if (!isSeen && heard.length > 0) changeShopper()
      await takeOver()
    },
    shopper: () => shopper.signal,
    async isPresent(of) {
      if (!of.aborted) await look()
      return !of.aborted
    },
    epochs: () => epochs,
    isRead: () => isSeen,
    isOfPresent(found) {
      const shared = isSeen ? Object.entries(found).filter(([id]) => epochs[id] !== undefined) : []
      const isPresent = shared.length > 0 && shared.every(([id, count]) => count === epochs[id])
      if (shared.some(([id, count]) => count > Number(epochs[id]))) learn(found)
      // by which other names a page knows the same storage
      else if (isPresent) epochs = { ...found, ...epochs }
      return isPresent
    },
    hear(found) {
      if (!isSeen) doubt(found)
      else if (!sharesId(found)) void look()
      else if (Object.entries(found).some(([id, count]) => doubtful[id] !== count)) learn(found)
      else changeShopper()
    },
    isUnreadable: () => isUnreadable,
    dated: ({ read, write }) => ({
      read(stored) {
        return isSince(stored, (count, epoch) => count < epoch) ? 'wiped' : read(stored)
      },
      write(value) {
        const [first = ''] = Object.keys(epochs).sort()
        isOwnUsed ||= !isSeen
        return { ...write(value), era: [first, epochs[first]] }
      },
    }),
    isOfNow: (stored) => isSince(stored, (count, epoch) => count >= epoch, Infinity),
    async list(key, of) {
      const kept = await change(({ entries }) => {
        if (of.aborted || Number(entries[key]) > clock.now()) return undefined
        return { entries: { ...entries, [key]: clock.now() + retentionMs } }
      })
      if (of.aborted) return 'gone'
      const onDisk = cellAt(candidate).onDisk()
      // nothing to change is no proof that storage has it: memory may have
      const isOnDisk = onDisk !== null && onDisk !== 'unreadable' && onDisk.entries[key] !== undefined
      return kept === 'stored' || isOnDisk ? 'stored' : 'memory'
    },
    async entries() {
      const found = await cellAt(candidate).read()
      if (found === null || found === 'unreadable') return {}
      learn(found.epochs)
      return found.entries
    },
    async reschedule(changes) {
      const now = clock.now()
      const lasting = (table: Record<string, number>) =>
        Object.fromEntries(Object.entries(table).filter(([, until]) => until > now))
      await change(({ entries, left, discarded }) => ({
        entries: Object.fromEntries(
          Object.entries(entries).flatMap(([key, until]) => {
            const change = changes[key]?.seen === until ? changes[key] : { next: until }
            return change.next === null ? [] : [[key, change.next]]
          }),
        ),
        left: lasting(left),
        discarded: lasting(discarded),
      }))
    },
    async mark(attemptId, fate) {
      fates.set(attemptId, fate)
      const kept = await change((old) => ({ [fate]: { ...old[fate], [attemptId]: clock.now() + retentionMs } }))
      return kept === 'stored'
    },
    async fateOf(attemptId) {
      const found = fates.get(attemptId) === 'discarded' ? null : await look()
      if (found?.discarded[attemptId] !== undefined) return 'discarded'
      return found?.left[attemptId] === undefined ? (fates.get(attemptId) ?? null) : 'left'
    },
    async reset() {
      if (!isTakenOver) await takeOver()
      nextShopper()
      let listed: string[] = []
      const kept = await change((old) => {
        listed = Object.keys(old.entries)
        epochs = Object.fromEntries(Object.entries({ ...old.epochs, ...epochs }).map(([id, count]) => [id, count + 1]))
        return { epochs, left: {}, discarded: {}, entries: Object.fromEntries(listed.map((key) => [key, dueNow])) }
      })
      // what was read until the count stood may be the former shopper's
      nextShopper()
      return { listed, isCounted: isTakenOver && kept === 'stored' }
    },
  }
}

/** Of several IDs that one storage has come to have, the oldest comes first: every page knows that one. */
const storageIdAt = (now: number) => `${now.toString(36).padStart(9, '0')}-${newId()}`

const bornAt = (id: string) => Number.parseInt(id, 36)
