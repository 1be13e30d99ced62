import { systemClock, withinLimit } from '../../src/platform/clock.ts'
import type { Clock, FlowStorage } from '../../src/ports.ts'

type Tier = FlowStorage & Required<Pick<FlowStorage, 'update'>>

/** How long one tier may take before the next is asked, in ms. */
const tierLimitMs = 2_000

/**
 * Several storages as one. Every tier is read, and the newest value (by its `savedAt`) wins; writes go to the first
 * tier that takes one, and that choice sticks. Rejects when no tier works.
 */
export function storageChain(tiers: readonly Tier[], clock: Clock = systemClock): FlowStorage {
  let chosen: Tier | null = null
  const ask = <T>(work: () => T) => withinLimit(clock, tierLimitMs, Promise.resolve().then(work))

  /** Tiers that failed when they were last read. */
  let failing = new Set<Tier>()

  /** A tier that fails once may hold the newest, so nothing is said; one that fails again is done without. */
  async function newest(key: string): Promise<string | null> {
    const read = await Promise.allSettled(tiers.map((tier) => ask(() => tier.getItem(key))))
    const failed = tiers.filter((_, at) => read[at]?.status === 'rejected')
    const surprising = failed.some((tier) => !failing.has(tier))
    failing = new Set(failed)
    if (surprising || failed.length === tiers.length) throw read.find((result) => result.status === 'rejected')?.reason
    const texts = read.map((result) => (result.status === 'fulfilled' ? (result.value as string | null) : null))
    return texts.reduce(newer, null)
  }

  async function firstThatTakes(work: (tier: Tier) => unknown): Promise<void> {
    let failure: unknown
    for (const tier of chosen ? [chosen] : tiers) {
      try {
        await ask(() => work(tier))
        chosen = tier
        return
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }

  async function update(key: string, change: (old: string | null) => string | null): Promise<void> {
    const known = await newest(key)
    let removed = false
    await firstThatTakes((tier) =>
      tier.update(key, (old) => {
        const value = change(newer(old, known))
        removed = value === null
        return value
      }),
    )
    if (!removed) return
    const rest = tiers.filter((tier) => tier !== chosen)
    await Promise.allSettled(rest.map((tier) => ask(() => tier.removeItem(key))))
  }

  return {
    getItem: newest,
    setItem: (key, value) => update(key, () => value),
    removeItem: (key) => update(key, () => null),
    update,
    photos: {
      async get(key) {
        for (const tier of tiers) {
          const photo = await ask(() => tier.photos?.get(key)).catch(() => undefined)
          if (photo) return photo
        }
        return undefined
      },
      set: (key, photo) =>
        firstThatTakes((tier) => {
          if (!tier.photos) throw new Error('this storage keeps no photos')
          return tier.photos.set(key, photo)
        }),
      remove: (key) => Promise.allSettled(tiers.map((tier) => ask(() => tier.photos?.remove(key)))),
    },
  }
}

function newer(a: string | null, b: string | null): string | null {
  return b === null || (a !== null && savedAt(a) >= savedAt(b)) ? a : b
}

function savedAt(text: string): number {
  try {
    return Number((JSON.parse(text) as { savedAt?: unknown }).savedAt) || 0
  } catch {
    return 0
  }
}
