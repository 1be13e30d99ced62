import * as is from '../../src/contract/schema.ts'
import { apply } from '../../src/platform/apply.ts'
import { withinLimit } from '../../src/platform/clock.ts'
import { isExclusive } from '../../src/platform/exclusive.ts'
import { jsonIn } from '../../src/rules/json.ts'
import type { AtomicStorage, Clock, FlowStorage } from '../../src/ports.ts'
import { part } from '../../src/records/names.ts'
import { storageChain } from '../storage/chain.ts'
import { indexedDbStorage } from '../storage/indexed-db.ts'
import { webStorage, type WebArea } from '../storage/local-storage.ts'

/** Where a device keeps its own data. */
export interface DeviceOptions {
  /** Where that is; no room's `reset()` wipes it. Default: IndexedDB, else localStorage. */
  storage?: FlowStorage | undefined
  /** Keeps two kiosks on one page origin apart. Default: `default`. */
  name?: string | undefined
  /** Times and timers. Default: the platform's. */
  clock?: Clock | undefined
}

/** One value of the device's. */
export interface Kept<T> {
  /** One change after the other; null removes. Rejects where storage fails or takes over 5 s. */
  update(change: (old: T | null) => T | null): Promise<void>
  /** Whether what was written last is there though the browser was killed: localStorage is up to a minute ahead of the disk. */
  isOnDisk(): boolean
}

/** How long storage may take, in ms. */
const limitMs = 5_000

/** Apart from the rooms' own: what is kept here is no shopper's, and what one cannot read the other may. */
const ownName = 'fitting-room-kiosk'

function ownArea(): WebArea {
  const area = globalThis.localStorage
  const own = (key: string) => `${ownName}:${key}`
  return {
    getItem: (key) => area.getItem(own(key)),
    setItem: (key, value) => area.setItem(own(key), value),
    removeItem: (key) => area.removeItem(own(key)),
  }
}

function deviceStorage(clock: Clock): AtomicStorage {
  const chain = storageChain([indexedDbStorage(ownName), webStorage(ownArea)], clock)
  return {
    ...chain,
    async update(key, change) {
      // of what cannot be read nothing is known, be it that a change could be written beside it
      await chain.getItem(key)
      await chain.update(key, change)
    },
  }
}

export function keptValue<T extends object>(
  { storage: given, name = 'default' }: DeviceOptions,
  clock: Clock,
  what: string,
  schema: is.Schema<T>,
): Kept<T> {
  const storage = given ?? deviceStorage(clock)
  const key = ['fitting-room', 'kiosk', part(name), what].join(':')
  let tail: Promise<unknown> = Promise.resolve()

  /** What was given up may end later: a write that cannot look at what it lands on is waited for all the same. */
  function queued<R>(work: () => Promise<R>, isWriting = () => false): Promise<R> {
    const before = tail
    let hasBegun = false
    const turn = before.then(() => {
      hasBegun = true
      return work()
    })
    const limited = withinLimit(clock, limitMs, turn)
    tail = limited.catch(() => (hasBegun ? isWriting() && turn : before)).catch(() => undefined)
    return limited
  }

  /** What nobody can read is nothing: it is the device's own, and no shopper's. */
  const valueIn = (text: unknown): T | null =>
    schema.safeParse(typeof text === 'string' ? jsonIn(text) : text).data ?? null

  return {
    update(change) {
      let isOver = false
      let isBlind = false
      const work = () =>
        apply(storage, key, (old) => {
          isBlind = typeof storage.update !== 'function'
          // others have come after it
          if (isBlind && isOver) return old
          const value = change(valueIn(old))
          // of two copies the later one holds
          return value === null ? null : JSON.stringify({ ...value, savedAt: clock.now() })
        })
      return queued(work, () => isBlind).finally(() => (isOver = true))
    },
    isOnDisk: () => isExclusive(storage, key),
  }
}
