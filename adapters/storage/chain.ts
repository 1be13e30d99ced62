import { removeFrom } from '../../src/platform/apply.ts'
import { systemClock } from '../../src/platform/system-clock.ts'
import type { AtomicStorage, Clock, MaybePromise, StoredPhoto } from '../../src/ports.ts'
import { isEverywhere, leftOf, prevailing } from '../../src/rules/copies.ts'
import { createTier, type Change, type Kind, type Tier } from './tier.ts'

/**
 * Several storages (tiers) as one. A value is changed where it is; a new one goes to the first tier that takes it, and
 * so do later ones until that tier fails. Copies in other tiers are brought up to date, and every tier that works has
 * the catalog. If a tier fails that was ever written to, reads reject, as it is not known what it holds; one that was
 * never written to counts as empty. Rejects if no tier works. Beside others, memory is left out: the room itself keeps
 * in memory what no storage takes, and says that it is not durable.
 */
export function storageChain(storages: readonly AtomicStorage[], clock: Clock = systemClock): AtomicStorage {
  const lasting = storages.filter(({ durable }) => durable !== false)
  const durable = lasting.length > 0
  const tiers = (durable ? lasting : storages).map((storage, index) =>
    createTier(storage, `fitting-room:tier:${index}`, clock),
  )
  let chosen: Tier | null = null
  /** What has answered when it was last asked. */
  let working: readonly Tier[] = tiers
  const others = (tier: Tier) => tiers.filter((each) => each !== tier)

  /** Whether a tier was ever written to, as far as it and the others know; nobody knows where none answers. */
  async function mayHold(tier: Tier, answering: readonly Tier[], kind: Kind): Promise<boolean> {
    if (answering.length === 0 || (kind === 'values' && tier.isUsed())) return true
    if (await tier.isBegun(kind)) return true
    const marker = tier.markerOf(kind)
    const markers = await Promise.allSettled(answering.map((each) => each.use((of) => of.getItem(marker))))
    // a marker that cannot be read may be there
    return markers.some((each) => each.status === 'rejected' || (each.value ?? null) !== null)
  }

  /** Asks every tier; resolves with those that answer, and whether others may hold something, as all may where none does. */
  async function ask(
    call: (tier: Tier) => Promise<unknown>,
    kind: Kind = 'values',
  ): Promise<{ answering: Tier[]; isUnread: boolean; why: unknown }> {
    const asked = await Promise.allSettled(tiers.map(call))
    const answering = tiers.filter((_, index) => asked[index]?.status === 'fulfilled')
    const why: unknown = asked.find((each) => each.status === 'rejected')?.reason
    const failed = tiers.filter((tier) => !answering.includes(tier))
    const held = await Promise.all(failed.map((tier) => mayHold(tier, answering, kind)))
    return { answering, isUnread: held.includes(true), why }
  }

  /** Marks each of `marked` in the others that answer: anybody may clear a storage at any time. */
  const markAmong = (marked: readonly Tier[], answering: readonly Tier[], kind: Kind) =>
    Promise.allSettled(
      answering.flatMap((tier) => marked.filter((each) => each !== tier).map((each) => tier.mark(each.markerOf(kind)))),
    )

  /** The first of `order` that takes it; every answering tier is marked in the others, for a later page may have any one. */
  async function firstThatTakes<T>(
    kind: Kind,
    order: readonly Tier[],
    answering: readonly Tier[],
    work: (tier: Tier) => Promise<T>,
  ): Promise<{ taker: Tier; done: T }> {
    let failure: unknown = new Error('no storage takes this')
    for (const taker of order) {
      try {
        await markAmong([...new Set([...answering, taker])], answering, kind)
        return { taker, done: await work(taker) }
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }

  /** What tiers hold of a key, or may hold. */
  const heldAt = (key: string, of: readonly Tier[] = tiers) => of.flatMap((tier) => tier.heldAt(key))

  /** Reads what every tier holds of a key. */
  async function look(key: string) {
    const asked = await ask((tier) => tier.look(key))
    working = asked.answering
    return asked
  }

  /**
   * A value is changed where it stands, so that of two pages that began in different tiers only one changes it, unless it
   * stands in a tier that is behind on disk, and one answers that is not; a new one goes where the last one went.
   */
  function orderFor(key: string, answering: readonly Tier[]): Tier[] {
    const standing = prevailing(heldAt(key, answering))
    const rank = (tier: Tier) => {
      if (!answering.includes(tier)) return 8
      const held = tier.heldAt(key)
      const behind = tier.isExclusive(key) ? 0 : 4
      if (held.length > 0) return behind + (standing !== null && held.includes(standing) ? 0 : 1)
      return behind + (tier === chosen ? 2 : 3)
    }
    return [...tiers].sort((a, b) => rank(a) - rank(b))
  }

  async function update(key: string, change: Change): Promise<void> {
    const { answering } = await look(key)
    const isNew = heldAt(key).length === 0
    let base: string | null = null
    let isChanged = false
    let passedOver: readonly Tier[] = []
    // what a tier refuses of this very change is no copy
    const before = new Map(tiers.map((tier) => [tier, tier.heldAt(key)]))
    const { taker, done: written } = await firstThatTakes('values', orderFor(key, answering), answering, (tier) =>
      tier.write(
        key,
        (old) => {
          base = prevailing([old, ...others(tier).flatMap((each) => before.get(each) ?? [])])
          const next = change(base)
          isChanged = next !== base
          // it stays where it is: by now that may be gone from a tier that does not answer
          if (!isChanged) return old
          // another attempt that may have been paid is not written over unseen
          if (old !== base && old !== null && leftOf(old, next, base) === old)
            throw new Error('another attempt is here')
          return next
        },
        // what lands in a tier that was passed over is older than what was written elsewhere
        (late) =>
          passedOver.includes(tier) &&
          void tier.write(key, (old) => (old === late ? null : old)).catch(() => undefined),
      ),
    )
    passedOver = others(taker)
    if (isNew) chosen = taker
    if (!isChanged) return
    // no older copy may come back; what cannot be reached now is told by `copies`
    const current = written ?? base
    const isCopied = isEverywhere(current)
    const settle = async (tier: Tier) => {
      const seen = tier.heldAt(key)
      if (isCopied ? !answering.includes(tier) : seen.length === 0) return
      // what another page has written there meanwhile is no older copy
      const copy = (old: string | null) => (seen.includes(old ?? '') ? current : prevailing([old, current]))
      // until that is on disk, where a tier is behind, the older one may be all that a loss of power leaves
      const isAhead = tier.isExclusive(key) && !taker.isExclusive(key)
      await tier.write(key, isCopied ? copy : (old) => old && leftOf(old, current, base, isAhead))
    }
    await Promise.all(passedOver.map((tier) => settle(tier).catch(() => undefined)))
  }

  /** Does it in every tier; rejects where one that may hold something fails. */
  async function everywhere(call: (storage: AtomicStorage) => MaybePromise<unknown>, kind: Kind): Promise<void> {
    const { isUnread, why } = await ask((tier) => tier.use(call), kind)
    if (isUnread) throw why
  }

  async function removeItems(keys: readonly string[], isKept: (value: string) => boolean): Promise<void> {
    await everywhere((of) => removeFrom(of, keys, isKept), 'values')
    for (const tier of tiers) tier.forget(keys)
  }

  return {
    durable,
    isExclusive(key) {
      const standing = prevailing(heldAt(key))
      const holding = standing === null ? working : tiers.filter((tier) => tier.heldAt(key).includes(standing))
      return holding.some((tier) => tier.isExclusive(key))
    },
    async getItem(key) {
      const { answering, isUnread, why } = await look(key)
      if (isUnread) throw why
      // another page may write here, or have written, while it can mark that nowhere
      await markAmong(answering, answering, 'values')
      return prevailing(heldAt(key, answering))
    },
    setItem: (key, value) => update(key, () => value),
    removeItem: (key) => removeItems([key], () => false),
    removeItems,
    update,
    async copies(key) {
      await look(key)
      return heldAt(key)
    },
    photos: {
      async get(key) {
        let found: StoredPhoto | undefined
        const keep = (photo?: StoredPhoto) => (found ??= photo)
        const { isUnread, why } = await ask((tier) => tier.use(({ photos }) => photos?.get(key)).then(keep), 'photos')
        if (found === undefined && isUnread) throw why
        return found
      },
      async set(key, photo) {
        const { answering } = await ask((tier) => tier.use(({ photos }) => photos?.get(key)), 'photos')
        const order = answering.filter((tier) => tier.keepsPhotos)
        await firstThatTakes('photos', order, answering, (tier) => tier.use(({ photos }) => photos?.set(key, photo)))
      },
      remove: (key) => everywhere(({ photos }) => photos?.remove(key), 'photos'),
      async keys() {
        const found: string[] = []
        const keep = (keys: readonly string[] = []) => found.push(...keys)
        await everywhere(({ photos }) => Promise.resolve(photos?.keys?.()).then(keep), 'photos')
        return found
      },
    },
  }
}
