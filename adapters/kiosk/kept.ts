import * as is from '../../src/contract/schema.ts'
import { apply } from '../../src/platform/apply.ts'
import { withinLimit } from '../../src/platform/clock.ts'
import { jsonIn } from '../../src/rules/json.ts'
import type { Clock, FlowStorage } from '../../src/ports.ts'
import { part } from '../../src/records/names.ts'

/** Where a device keeps its own data. */
export interface DeviceOptions {
  /** Where that is; no room's `reset()` wipes it. Default: localStorage. */
  storage?: FlowStorage | undefined
  /** Keeps two kiosks on one page origin apart. Default: `default`. */
  name?: string | undefined
  /** Times and timers. Default: the platform's. */
  clock?: Clock | undefined
}

/** One value of the device's. */
export interface Kept<T> {
  /** Null where there is none that can be read; rejects where storage fails. */
  read(): Promise<T | null>
  /** One change after the other; null removes. Rejects where storage fails or takes over 5 s. */
  update(change: (old: T | null) => T | null): Promise<void>
}

/** How long storage may take, in ms. */
const limitMs = 5_000

export function keptValue<T>(
  storage: FlowStorage,
  clock: Clock,
  [name, what]: readonly [name: string, what: string],
  schema: is.Schema<T>,
): Kept<T> {
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
    read: () => queued(async () => valueIn(await storage.getItem(key))),
    update(change) {
      let isOver = false
      let isBlind = false
      const work = () =>
        apply(storage, key, (old) => {
          isBlind = typeof storage.update !== 'function'
          // others have come after it
          if (isBlind && isOver) return old
          const value = change(valueIn(old))
          return value === null ? null : JSON.stringify(value)
        })
      return queued(work, () => isBlind).finally(() => (isOver = true))
    },
  }
}
