import { TimeLimit, withinLimit } from '../../src/platform/clock.ts'
import type { AtomicStorage, Clock, MaybePromise } from '../../src/ports.ts'

/** What a tier may hold. */
export type Kind = 'values' | 'photos'

export type Change = (old: string | null) => string | null

/** One storage of a chain, and what this page knows of it. */
export interface Tier {
  /** The key that stands in the other tiers from before this one's first write of that kind: it may hold something. */
  markerOf(kind: Kind): string
  readonly keepsPhotos: boolean
  isExclusive(key: string): boolean
  /** One call within the time limit; fails at once for a while where an earlier one has not ended. */
  use<T>(call: (storage: AtomicStorage) => MaybePromise<T>): Promise<T>
  /** Reads what it holds of a key. */
  look(key: string): Promise<void>
  /**
   * One read-modify-write. One that was given up changes nothing when it comes to it after all; where it had decided
   * already, `onLate` is told what has landed.
   */
  write(key: string, change: Change, onLate?: (written: string) => void): Promise<string | null>
  /** Has the marker of another tier stand in this one. */
  mark(marker: string): Promise<unknown>
  forget(keys: readonly string[]): void
  /** The texts that it holds of a key, or may hold where it has failed since. */
  heldAt(key: string): string[]
  /** Whether this page has written to it. */
  isUsed(): boolean
  /** Whether anybody has, as it says itself, though it hangs else; where that is silent, too, it may never have worked. */
  isBegun(kind: Kind): Promise<boolean>
}

/** How long one tier may take before the next is asked, in ms. */
const tierLimitMs = 2_000

/** How long a tier that hangs is done without before it is asked again, in ms. */
const restMs = 10_000

export function createTier(storage: AtomicStorage, name: string, clock: Clock): Tier {
  const held = new Map<string, Set<string>>()
  /** Calls that have not ended, and until when no other one is made for it. */
  let hanging = 0
  let restsUntil = 0
  let isUsed = false
  let isSilent = false

  async function use<T>(call: (of: AtomicStorage) => MaybePromise<T>): Promise<T> {
    if (hanging > 0 && clock.monotonic() < restsUntil) throw new Error('an earlier call has not ended')
    const work = Promise.resolve().then(() => call(storage))
    return withinLimit(clock, tierLimitMs, work).catch((error: unknown) => {
      if (error instanceof TimeLimit) {
        hanging++
        restsUntil = clock.monotonic() + restMs
        const end = () => void hanging--
        work.then(end, end)
      }
      throw error
    })
  }

  /** Exactly this is held. */
  const hold = (key: string, text: string | null) => {
    if (text === null) held.delete(key)
    else held.set(key, new Set([text]))
  }

  return {
    markerOf: (kind) => `${name}:${kind}`,
    keepsPhotos: storage.photos !== undefined,
    isExclusive: (key) => storage.isExclusive?.(key) ?? true,
    use,
    async look(key) {
      hold(key, ((await use((of) => of.getItem(key))) as string | null | undefined) ?? null)
    },
    async write(key, change, onLate = () => {}) {
      let written: string | null = null
      let isGivenUp = false
      const decide: Change = (old) => {
        if (isGivenUp) return old
        written = change(old)
        // until it is known to have been written, either may be held
        if (written !== null) held.set(key, new Set([...(held.get(key) ?? []), written]))
        isUsed ||= written !== null
        return written
      }
      const update = async (of: AtomicStorage) => {
        await of.update(key, decide)
        if (isGivenUp && written !== null) onLate(written)
      }
      await use(update).catch((error: unknown) => {
        isGivenUp = true
        throw error
      })
      hold(key, written)
      return written
    },
    mark: (marker) => use(async (of) => (await of.getItem(marker)) ?? of.setItem(marker, '{"used":true}')),
    heldAt: (key) => [...(held.get(key) ?? [])],
    forget: (keys) => keys.forEach((key) => held.delete(key)),
    isUsed: () => isUsed,
    async isBegun(kind) {
      if (isSilent) return false
      const asked = (async () => (await storage.isBegun?.(kind)) === true)().catch(() => false)
      void asked.then(() => (isSilent = false))
      return withinLimit(clock, tierLimitMs, asked).catch(() => {
        isSilent = true
        return false
      })
    },
  }
}
