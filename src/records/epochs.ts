import * as is from '../contract/schema.ts'
import { newId } from '../platform/new-id.ts'
import type { Clock } from '../ports.ts'
import { isFormer, type Counts } from '../rules/counts.ts'
import type { Codec } from './journal.ts'

/** Stands for everything of one shopper: aborted from the moment on in which this page knows of a reset(). */
export type Shopper = AbortSignal

/** What storage says of its resets: how many there were, and when the last one was, in epoch ms. */
interface Found {
  epochs: Counts
  resetAt?: number | undefined
  /** When this was begun, in epoch ms. */
  begunAt?: number | undefined
}

/** What this page knows of how often its storage was reset, and so of whose everything in it is. */
export interface Epochs {
  counts(): Counts
  /** What this storage is called: of several IDs that it has come to have, the oldest, which every page knows. */
  storageId(): string
  /** The shopper of now, as far as this page knows. */
  shopper(): Shopper
  /** Whether the stored counts were ever read, so that it is known which storage this is. */
  isSeen(): boolean
  /** Notes when this page was opened: what was begun later may have been reset meanwhile. */
  opens(): void
  /** Whatever could be read has been read. */
  noteOpened(): void
  /** Something is about to be written under what this page knows, be it only an ID that it has made up. */
  noteUse(): void
  /** What storage holds: only a higher count is a reset, and what is missing or was begun anew is a loss. */
  learn(found: Found): void
  /** Another page has reset its room. Returns whether only storage can say if that is this one's. */
  hear(found: Counts): boolean
  /** Learns what another page counts; returns whether what it says is of this storage and of its present shopper. */
  takeIn(found: Counts): boolean
  /** Storage has taken a reset of this page, with these counts. */
  noteReset(taken: Counts): void
  nextShopper(): void
  /** The shopper gives a word now: what was reset before was another one's. */
  speaks(): void
  /** Values that carry when they were written, and are no more once a reset() came after. */
  dated<T extends object>(codec: Codec<T>): Codec<T>
  /** Whether a stored value carries that it was written since the last reset(). */
  isOfNow(stored: unknown): boolean
  /** Whether it carries that it is from before the last reset(), be it under an ID that storage has lost, or never had. */
  isNobodys(stored: unknown): boolean
  /** When storage was last reset, in epoch ms, or was heard to have been; 0 where nobody knows of it. */
  resetAt(): number
  /** Whether storage was reset at that time, in epoch ms, or later, as far as clocks tell. */
  wasResetSince(at: number): boolean
}

interface EpochsParts {
  clock: Clock
  /** Whether storage was seen to have a catalog: what only memory has tells nothing of it. */
  isOnDisk: () => boolean
  /** There is a new shopper. */
  onNext: () => void
  /** This page has made up another ID: what memory has under the one before counts no more. */
  onRenewed: () => void
  /** Another page has reset the room. */
  onReset: () => void
}

const date = is.object({ era: is.object({ 0: is.text, 1: is.number }) })

/**
 * A reset that another page tells of is of this storage if the two share an ID. If they share none, it is kept as `stranger`
 * until storage turns out to have that ID. Before the first read it waits in `heard`; `told` keeps it from being counted as
 * missed then. `doubtful` are the counts of the first read, whose message may still be on its way.
 */
export function createEpochs({ clock, isOnDisk, onNext, onRenewed, onReset }: EpochsParts): Epochs {
  let counts: Counts = { [storageIdAt(clock.now())]: 0 }
  /** Whether this page has read the stored counts: what it sees first tells it of no reset. */
  let isSeen = false
  /** What it saw then, until it hears of the last of those resets: its shopper may be from before that. */
  let doubtful: Counts = {}
  /** The last reset that was heard of a storage which this page does not know by any name. */
  let stranger: Counts = {}
  /** Resets that were heard before what could be read was. */
  const heard: Counts[] = []
  /** What was heard of resets while nobody knew which storage this is: none of those is missed. */
  let told: Counts = {}
  let isOpened = false
  let openedAt = Infinity
  /** When the present shopper was last known to be the present one. */
  let shopperSince = Infinity
  /** Whether something was written under the ID that this page has made up. */
  let isOwnUsed = false
  let shopper = new AbortController()
  /** When storage was last reset, as far as is known, and when this page last heard of that; and when storage was begun. */
  let resetAt = -Infinity
  let heardAt = -Infinity
  let begunAt = -Infinity

  const storageId = () => Object.keys(counts).sort()[0] ?? ''
  const sharesId = (found: Counts) => Object.keys(found).some((id) => counts[id] !== undefined)

  function learn({ epochs, resetAt: at = -Infinity, begunAt: begun = -Infinity }: Found): void {
    resetAt = Math.max(resetAt, at)
    begunAt = begun
    learnCounts(epochs)
  }

  function learnCounts(found: Counts): void {
    // what this page has made up itself, and nobody has reset, is memory of its own
    const isOwn = Object.entries(found).every(([id, count]) => count === counts[id])
    if (!isSeen) return isOnDisk() || !isOwn ? seeFirst(found) : undefined
    const isStrange = !sharesId(found)
    // what was begun while this page was open, or in place of what it knows, and reset, was reset meanwhile
    const tells = (id: string) =>
      counts[id] !== undefined || (isStrange && bornAt(id) >= bornAt(storageId())) || bornAt(id) > openedAt
    // the page that has reset it says so, whatever the clock did since
    const isTold = isStrange && Object.keys(found).some((id) => stranger[id] !== undefined)
    const wasReset = isTold || Object.entries(found).some(([id, count]) => tells(id) && count > (counts[id] ?? 0))
    // what this page called its storage before was lost there, and its shopper with it
    if (wasReset && isStrange) counts = {}
    for (const [id, count] of Object.entries(found)) counts = { ...counts, [id]: Math.max(count, counts[id] ?? 0) }
    if (wasReset) changeShopper()
  }

  function seeFirst(found: Counts): void {
    isSeen = true
    doubtful = found
    const isNew = Object.entries(found).some(([id, count]) => count > 0 && bornAt(id) > openedAt)
    const isTold = Object.entries(found).every(([id, count]) => count <= (told[id] ?? 0))
    const isMissed = !isTold && (isNew || resetAt > shopperSince)
    // what was written under an ID from before a reset is nobody's; the next shopper's may be under it, too
    counts = isOwnUsed && !wasResetSince(shopperSince) ? { ...counts, ...found } : { ...found }
    if (heard.splice(0).some(sharesId) || isMissed) changeShopper()
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
    shopperSince = clock.now()
    onNext()
  }

  /** What this page has made up another one can know from storage only. */
  const meet = (found: Counts) => void (isSeen ||= sharesId(found))

  /** Whose storage was reset is known once it is read; where it cannot be, it may be this one. */
  function doubt(found: Counts): void {
    told = { ...told, ...found }
    if (isOpened) renew()
    else heard.push(found)
  }

  /** What was written under the ID that this page has made up is the former shopper's, and that ID is of a lost storage. */
  function renew(): void {
    // what is written from now on is not from before it
    resetAt = Math.max(resetAt, clock.now() - 1, bornAt(storageId()))
    counts = { [storageIdAt(clock.now())]: 0 }
    isOwnUsed = false
    onRenewed()
    changeShopper()
  }

  const eraOf = (stored: unknown) => date.safeParse(stored).data?.era

  /** Whether a list that was lost, or could not be read, has dated it, and there was a reset since: nobody's any more. */
  const isOfLost = (id: string) => counts[id] === undefined && bornAt(id) <= resetAt

  // a time ahead of this page's clock says nothing of when that was
  const wasResetSince = (at: number) => resetAt >= at && resetAt <= clock.now()

  /** The count of the last reset() went with the storage that had it, and this was begun since by a page that did not know of it. */
  function isSince(stored: unknown): boolean {
    const last = Math.max(resetAt, heardAt)
    return begunAt > last && Number(Object(stored).startedAt) > last
  }

  const isWiped = (era: { 0: string; 1: number }, stored: unknown) => era[1] < (counts[era[0]] ?? 0) && !isSince(stored)

  const noteUse = () => void (isOwnUsed ||= !isSeen)

  return {
    counts: () => counts,
    storageId,
    shopper: () => shopper.signal,
    isSeen: () => isSeen,
    opens() {
      openedAt = Math.min(openedAt, clock.now())
      shopperSince = Math.min(shopperSince, clock.now())
    },
    noteOpened() {
      isOpened = true
      if (!isSeen && heard.splice(0).length > 0) renew()
    },
    noteUse,
    learn,
    hear(found) {
      meet(found)
      heardAt = clock.now()
      if (isSeen && !sharesId(found)) {
        stranger = found
        return true
      }
      if (!isSeen) doubt(found)
      else if (Object.entries(found).some(([id, count]) => doubtful[id] !== count)) learnCounts(found)
      else changeShopper()
      return false
    },
    takeIn(found) {
      meet(found)
      const shared = isSeen ? Object.entries(found).filter(([id]) => counts[id] !== undefined) : []
      const isPresent = shared.length > 0 && shared.every(([id, count]) => count === counts[id])
      if (isSeen && isFormer(counts, found)) {
        heardAt = clock.now()
        learnCounts(found)
      }
      // by which other names a page knows the same storage
      else if (isPresent) counts = { ...found, ...counts }
      return isPresent
    },
    noteReset(taken) {
      counts = taken
      resetAt = Math.max(resetAt, clock.now())
    },
    resetAt: () => Math.max(0, resetAt, heardAt),
    nextShopper,
    speaks: () => void (shopperSince = clock.now()),
    dated: ({ read, write }) => ({
      read(stored) {
        const era = eraOf(stored)
        if (era && isWiped(era, stored)) return 'wiped'
        // another page may know better, and write there by now: it is not taken away
        return era && isOfLost(era[0]) ? null : read(stored)
      },
      write(value) {
        const id = storageId()
        noteUse()
        return { ...write(value), era: [id, counts[id]] }
      },
    }),
    isOfNow(stored) {
      const era = eraOf(stored)
      return era !== undefined && (era[1] >= (counts[era[0]] ?? Infinity) || isSince(stored))
    },
    isNobodys(stored) {
      const era = eraOf(stored)
      return era !== undefined && (isOfLost(era[0]) || isWiped(era, stored))
    },
    wasResetSince,
  }
}

const storageIdAt = (now: number) => `${now.toString(36).padStart(9, '0')}-${newId()}`

const bornAt = (id: string) => Number.parseInt(id, 36)
