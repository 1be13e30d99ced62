import { createFittingRoom, type Fetch, type FittingRoom, type FlowStorage, type TryOn } from 'fitting-room'
import type { ManualClock } from '../support/manual-clock.ts'

/** Storage as the disk of one machine: it outlives every page, and an update of it is atomic. */
export class Disk {
  readonly values = new Map<string, string>()

  /** The disk as one page sees it; a page that was killed neither reads nor writes. */
  seenBy(page: { killed: boolean }): FlowStorage {
    const unlessKilled = <T>(work: () => T): Promise<T> =>
      page.killed ? new Promise(() => {}) : Promise.resolve(work())
    return {
      getItem: (key) => unlessKilled(() => this.values.get(key) ?? null),
      setItem: (key, value) => unlessKilled(() => this.values.set(key, value)),
      removeItem: (key) => unlessKilled(() => this.values.delete(key)),
      update: (key, change) =>
        unlessKilled(() => {
          const next = change(this.values.get(key) ?? null)
          if (next === null) this.values.delete(key)
          else this.values.set(key, next)
        }),
    }
  }
}

/** One page with one try-on. */
export interface Page {
  killed: boolean
  room: FittingRoom
  tryOn: TryOn
  kill(): void
}

const product = { productId: '1001', variantId: '2001', funnelIds: [12] }
export const baseUrl = 'https://api.test'

/** A page as a load makes it; `send` is its network. */
export function openPage(disk: Disk, clock: ManualClock, now: () => number, send: Fetch): Page {
  const page: Page = {
    killed: false,
    room: undefined as never,
    tryOn: undefined as never,
    kill() {
      page.killed = true
      page.room.close()
    },
  }
  const fetch: Fetch = async (input, init) => {
    const answer = await send(input, init)
    return page.killed ? new Promise(() => {}) : answer
  }
  page.room = createFittingRoom({
    baseUrl,
    apiKey: 'main-key',
    storage: disk.seenBy(page),
    clock: { ...clock, now },
    fetch,
    putPhoto: async (url, { bytes, type }) =>
      (await fetch(url, { method: 'PUT', body: bytes, headers: { 'Content-Type': type } })).status,
  })
  page.tryOn = page.room.tryOn(product)
  return page
}
