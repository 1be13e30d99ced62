import { deferred } from '../platform/deferred.ts'
import { quiet } from '../platform/quiet.ts'
import { onceMore, type Counts } from '../rules/counts.ts'
import type { Core } from '../room.types.ts'
import type { Entry } from './entry.ts'
import type { Seen } from './look.ts'
import type { Watch } from './watch.ts'

/** How far storage, and what was heard of others, had come when a reset() of this room was counted. */
export interface Wiped {
  /** As it was before where it was not counted. */
  epochs: Seen['epochs']
  /** How many resets of others were heard of before; null where it was not counted. */
  others: number | null
}

/** The resets of a room: its own, and those that other pages tell of. */
export interface Resets {
  /** What this room's own reset() wipes; null where none is under way. */
  wiping(): Promise<void> | null
  /** Resolves once that counts, or has failed. */
  wiped(): Promise<Wiped> | null
  /** How many resets of others were heard of. */
  others(): number
  /** Takes note of a reset that a page tells of; false where it is this room's own. */
  note(epochs: unknown): boolean
  reset(): Promise<void>
}

interface ResetsParts {
  entry: Entry
  watch: Pick<Watch, 'look' | 'isLooking' | 'listen' | 'ear'>
  /** The shopper has gone. */
  forget: () => void
}

export function createResets({ entry, watch, forget }: ResetsParts): Resets {
  const { life } = entry
  let wiping: Promise<void> | null = null
  /** How far storage had come with it. */
  let wiped: Promise<Wiped> | null = null
  let others = 0
  /** What this room's own core says of its own when each is counted. */
  const ownCounts = new Set<string>()

  /** What is to be wiped is wiped though the room is left, and left again. */
  async function wipe(begun: Promise<never>, onCounted: Parameters<Core['reset']>[0]): Promise<void> {
    const opened = entry.opened()
    if (opened) return opened.reset(onCounted)
    if (begun === life()) void entry.open()
    const made = await entry.make()
    try {
      await made.reset(onCounted)
    } finally {
      if (begun !== life() && !entry.isWanted() && !watch.isLooking()) made.close()
    }
  }

  /** How often storage was reset, as far as this page knows before it has counted one more. */
  async function knownCounts(): Promise<Seen['epochs']> {
    return wiping ? (await wiped)?.epochs : (entry.opened()?.counts() ?? (await watch.look()).epochs)
  }

  return {
    wiping: () => wiping,
    wiped: () => wiping && wiped,
    others: () => others,
    note(epochs) {
      const isOther = !ownCounts.delete(JSON.stringify(epochs))
      if (isOther) others++
      return isOther
    },
    async reset() {
      // an address that is none is told before anything is wiped
      watch.listen()
      let before: Seen['epochs']
      const remembered = entry.core()?.counts() ?? {}
      const known = quiet(knownCounts().then((counts) => (before = counts)))
      const counted = deferred<Wiped>()
      const begun = life()
      // another page's may have been counted before it
      const begin = () =>
        wipe(begun, (counts) => {
          if (watch.ear()) ownCounts.add(JSON.stringify(counts))
          counted.resolve({ epochs: afterOne(counts, before, remembered), others })
        })
      // what this one wipes the one before does not wipe once more, and what is known must be of before
      const earlier = wiping ? wiped : entry.opened() ? null : known
      const done = earlier ? earlier.then(begin, begin) : begin()
      wiping = done
      wiped = quiet(counted.promise)
      forget()
      try {
        await done
      } finally {
        if (wiping === done) wiping = null
        // where it did not count, only another one can have been counted since
        known.then((epochs) => counted.resolve({ epochs, others: null }), counted.reject)
      }
    },
  }
}

/** What storages count after one reset more than was seen `before`; undefined where nobody could tell. */
function afterOne(counts: Counts, before: Counts | undefined, remembered: Counts): Counts {
  if (before === undefined) return counts
  const isEmpty = Object.keys(before).length === 0
  // what had nothing yet has begun at none, or where the core has left it
  const none = Object.fromEntries(Object.keys(counts).map((id) => [id, 0]))
  return { ...counts, ...onceMore(isEmpty ? { ...none, ...remembered } : before) }
}
