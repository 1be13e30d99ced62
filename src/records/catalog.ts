import * as is from '../contract/schema.ts'
import { succeeds } from '../platform/succeeds.ts'
import type { Clock } from '../ports.ts'
import { allDue, dueNow } from '../rules/copies.ts'
import { isFormer, onceMore, type Counts } from '../rules/counts.ts'
import { createEpochs, type Epochs, type Shopper } from './epochs.ts'
import { codecOf, readable, type Cell, type Found, type Journal, type Kept } from './journal.ts'
import type { Keys } from './keys.ts'
import { catalogVersion } from './names.ts'

/** Where a key is listed: in storage, only in memory, or nowhere as its shopper was wiped meanwhile. */
type ListedIn = 'stored' | 'memory' | 'gone'

/** An attempt that was left is not submitted any more; one that was discarded writes nothing, whatever comes late. */
type Fate = 'left' | 'discarded'

/**
 * What a room has in storage, which cannot be enumerated, and how often it was reset. An entry is written before what
 * it names, and whoever writes looks here afterwards whether the shopper is still the same: so a reset(), which counts
 * first and removes then, leaves nothing behind, whichever of the two is overtaken by the other.
 */
export interface Catalog extends Pick<
  Epochs,
  | 'counts'
  | 'storageId'
  | 'shopper'
  | 'isSeen'
  | 'takeIn'
  | 'dated'
  | 'isNobodys'
  | 'isOfNow'
  | 'speaks'
  | 'wasResetSince'
> {
  /** Reads it, or begins it where there is none. */
  open(): Promise<void>
  /** Whether that shopper was wiped by no page meanwhile; where storage fails, as far as this page knows. */
  isPresent(shopper: Shopper): Promise<boolean>
  /** Another page has reset its room, which may be this one's. */
  hear(epochs: Counts): void
  /** Names what is about to be written. */
  list(key: string, shopper: Shopper): Promise<ListedIn>
  /** When each key that is listed expires, in epoch ms; rejects where storage fails. */
  entries(): Promise<Record<string, number>>
  /** Sets when keys expire that stand as they were seen, undefined where they are not listed; null strikes them out. */
  reschedule(entries: Record<string, { seen: number | undefined; next: number | null }>): Promise<Kept>
  /** Whether any copy of it, as one of several storages may hold, still lists one of these for a shopper who has gone. */
  listsFormer(keys: readonly string[]): Promise<boolean>
  /**
   * Says in every page what has become of an attempt: it was left before anything was sent, or forgotten for good.
   * Resolves with whether that stands in storage; of a shopper who has gone it need not.
   */
  mark(attemptId: string, fate: Fate, shopper: Shopper | undefined): Promise<boolean>
  /** Takes back what this page has marked; another page's mark stays. */
  unmark(attemptId: string): Promise<void>
  fateOf(attemptId: string): Promise<Fate | null>
  /** Whether that shopper is there, and has not discarded the attempt. */
  isWanted(attemptId: string, shopper: Shopper): Promise<boolean>
  /**
   * Counts a reset: from now on every key that is listed is due, whatever it holds. Resolves with those keys, whether the
   * count stands in storage, without which there was no reset, and whether what version 0.1.0 has listed is among them.
   */
  reset(): Promise<{ listed: string[]; isCounted: boolean; isTakenOver: boolean }>
  /** Whether it is left alone, as it is of a newer version or broken. */
  isUnreadable(): boolean
  /** Whether storage can be read now. */
  isReadable(): Promise<boolean>
}

const numbers = is.tableOf(is.number)
const catalogValue = is.object({
  version: is.oneOf(catalogVersion),
  savedAt: is.number,
  entries: numbers,
  /** Attempts that were left before anything was sent, and discarded ones, each with when that may be forgotten. */
  left: numbers,
  discarded: numbers,
  /** The IDs of this storage, each with how often it was reset. */
  epochs: is.tableOf(is.integer),
  /** When the last of those resets was; absent where there was none. */
  resetAt: is.optional(is.number),
  /** When it was begun; absent once it was reset. */
  begunAt: is.optional(is.number),
})
type CatalogValue = is.TypeOf<typeof catalogValue>
const codec = codecOf(catalogValue)

const formerCodec = codecOf(is.object({ keys: is.listOf(is.text) }))

interface CatalogParts {
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
  const cell = () => cellAt(candidate)
  let isUnreadable = false
  let isTakenOver = false
  const fates = new Map<string, { fate: Fate; until: number }>()
  const isOnDisk = () => cell().onDisk() !== null
  const onRenewed = () => cell().forget()
  const epochs = createEpochs({ clock, isOnDisk, onNext: () => fates.clear(), onRenewed, onReset })

  const empty = (): CatalogValue => ({
    version: catalogVersion,
    savedAt: clock.now(),
    entries: {},
    left: {},
    discarded: {},
    epochs: epochs.counts(),
    begunAt: clock.now(),
  })

  async function look(): Promise<CatalogValue | null> {
    const found = await cell()
      .read()
      .then(readable, () => null)
    if (found === null) return null
    epochs.learn(found)
    // what was begun anew is told by which names other pages know it
    if (Object.keys(epochs.counts()).some((id) => found.epochs[id] === undefined)) await change(() => ({}))
    return found
  }

  /** What can be read of it, which teaches this page; what cannot is noted. */
  function learnt(found: Found<CatalogValue>): CatalogValue | null {
    isUnreadable ||= found === 'unreadable'
    const known = readable(found)
    if (known !== null) epochs.learn(known)
    return known
  }

  /** A change of what is there, or of an empty catalog where it was lost. */
  async function change(next: (old: CatalogValue) => Partial<CatalogValue> | undefined): Promise<Kept> {
    const tried = candidate
    const kept = await cell().update((found) => {
      const known = learnt(found)
      if (found === 'unreadable') return undefined
      const old = known ?? empty()
      const changed = next(old)
      if (changed !== undefined) epochs.noteUse()
      return (
        changed && {
          ...old,
          epochs: { ...old.epochs, ...epochs.counts() },
          // where that was lost with the storage that had it
          resetAt: Math.max(old.resetAt ?? 0, epochs.resetAt()) || undefined,
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

  /** The first that can be read, or that is free. */
  async function find(): Promise<void> {
    for (const index of keys().catalog.keys()) {
      const found = await cellAt(index).read()
      const isUsable = found !== 'unreadable'
      if (isUsable) candidate = index
      learnt(found)
      if (isUsable) return
    }
  }

  /** What version 0.1.0 has listed is listed here from now on. */
  async function takeOver(): Promise<void> {
    const [index] = keys().former
    const listed = await journal
      .cell(index, formerCodec)
      .read()
      .then(readable, () => undefined)
    isTakenOver = listed === null
    if (!listed) return
    const until = clock.now() + retentionMs
    const added = Object.fromEntries(listed.keys.map((key) => [key, until]))
    const kept = await change((old) => ({ entries: { ...added, ...old.entries } }))
    isTakenOver = kept === 'stored' && (await journal.remove(keys().former))
  }

  async function isPresent(of: Shopper): Promise<boolean> {
    if (!of.aborted) await look()
    return !of.aborted
  }

  async function fateOf(attemptId: string): Promise<Fate | null> {
    const own = () => fates.get(attemptId)?.fate ?? null
    const found = own() === 'discarded' ? null : await look()
    if (found?.discarded[attemptId] !== undefined) return 'discarded'
    return found?.left[attemptId] === undefined ? own() : 'left'
  }

  /** A page that stood still takes for failed what has landed, and may have been read there since. */
  async function isMarkedOnDisk(attemptId: string, fate: Fate): Promise<boolean> {
    await look()
    return readable(cell().onDisk())?.[fate][attemptId] !== undefined
  }

  function lasting(table: Record<string, number>): Record<string, number> {
    const now = clock.now()
    return Object.fromEntries(Object.entries(table).filter(([, until]) => until > now))
  }

  return {
    ...epochs,
    async open() {
      epochs.opens()
      const isRead = await succeeds(find())
      // another page may begin it at the same moment: what stands then is everybody's
      if (isRead && !epochs.isSeen()) {
        await cell().update((found) => (found === null ? empty() : undefined))
        await find().catch(() => undefined)
      }
      epochs.noteOpened()
      await takeOver()
    },
    isPresent,
    hear(found) {
      if (epochs.hear(found)) void look()
    },
    isUnreadable: () => isUnreadable,
    isReadable: () => cell().isReadable(),
    async list(key, of) {
      const kept = await change(({ entries }) => {
        if (of.aborted || Number(entries[key]) > clock.now()) return undefined
        return { entries: { ...entries, [key]: clock.now() + retentionMs } }
      })
      if (of.aborted) return 'gone'
      // nothing to change is no proof that storage has it: memory may have, or it was seen there before a reset
      const seen = readable(cell().onDisk())
      const isOnDisk = seen?.entries[key] !== undefined && !isFormer(seen.epochs, epochs.counts())
      return kept === 'stored' || isOnDisk ? 'stored' : 'memory'
    },
    async entries() {
      return learnt(await cell().read())?.entries ?? {}
    },
    reschedule(changes) {
      return change(({ entries: { ...entries }, left, discarded }) => {
        for (const [key, { seen, next }] of Object.entries(changes)) {
          if (entries[key] !== seen) continue
          if (next === null) delete entries[key]
          else entries[key] = next
        }
        return { entries, left: lasting(left), discarded: lasting(discarded) }
      })
    },
    async listsFormer(keys) {
      const copies = await cell().copies()
      return copies.some(({ entries, epochs: counts }) =>
        keys.some(
          (key) => entries[key] === dueNow || (entries[key] !== undefined && isFormer(counts, epochs.counts())),
        ),
      )
    },
    async mark(attemptId, fate, of) {
      if (of?.aborted !== false) return true
      const until = clock.now() + retentionMs
      fates.set(attemptId, { fate, until })
      const kept = await change((old) =>
        of.aborted ? undefined : { [fate]: { ...lasting(old[fate]), [attemptId]: until } },
      )
      return kept === 'stored' || of.aborted || (await isMarkedOnDisk(attemptId, fate))
    },
    async unmark(attemptId) {
      const own = fates.get(attemptId)
      if (!own) return
      fates.delete(attemptId)
      const isOther = ([id, until]: readonly [string, number]) => id !== attemptId || until !== own.until
      await change((old) => ({ [own.fate]: Object.fromEntries(Object.entries(old[own.fate]).filter(isOther)) }))
    },
    fateOf,
    isWanted: async (attemptId, of) => (await isPresent(of)) && (await fateOf(attemptId)) !== 'discarded',
    async reset() {
      if (!isTakenOver) await takeOver()
      epochs.nextShopper()
      let listed: string[] = []
      let counted: Counts = {}
      const kept = await change((old) => {
        listed = Object.keys(old.entries)
        counted = onceMore({ ...old.epochs, ...epochs.counts() })
        const nothing = { left: {}, discarded: {}, begunAt: undefined }
        return { ...nothing, epochs: counted, resetAt: clock.now(), entries: allDue(old.entries) }
      })
      // a number that storage did not take is nobody's: another page may count the next reset by it
      if (kept === 'stored') epochs.noteReset(counted)
      else cell().forget()
      // what was read until the count stood may be the former shopper's
      epochs.nextShopper()
      return { listed, isCounted: kept === 'stored', isTakenOver }
    },
  }
}
