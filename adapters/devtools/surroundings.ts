import type { FittingRoom } from '../../src/room.types.ts'

/** What storage holds; null where it cannot be read. */
export type StoredNow = Awaited<ReturnType<FittingRoom['stored']>> | null

/** A try-on that pages take turns at, by Web Locks. */
export interface Turn {
  /** The name of its lock, without room and visitor: the key of its record, and the ID of its storage. */
  name: string
  owner: 'this page' | 'another page' | 'nobody'
  /** How many pages wait to follow. */
  waiting: number
}

/** A key names its room and its visitor first. */
export const withoutVisitor = (key: string): string => key.split(':').slice(4).join(':')

export const storedOf = (room: FittingRoom): Promise<StoredNow> => room.stored().catch(() => null)

/** Who runs what; null where the browser has no locks, and pages take turns by leases. */
export async function pagesOf(): Promise<readonly Turn[] | null> {
  if (!globalThis.navigator?.locks) return null
  const [{ held = [], pending = [] }, own] = await Promise.all([navigator.locks.query(), ownId()])
  const isOurs = ({ name = '' }: LockInfo) => /^fitting-room:.*:(try-on|attempt):/.test(name)
  const names = new Set([...held, ...pending].filter(isOurs).map(({ name = '' }) => name))
  return [...names].sort().map((name) => {
    const owner = held.find((lock) => lock.name === name)
    const waiting = pending.filter((lock) => lock.name === name).length
    return {
      name: withoutVisitor(name),
      owner: !owner ? 'nobody' : owner.clientId === own ? 'this page' : 'another page',
      waiting,
    }
  })
}

/** How the browser's list of locks calls this page: nothing but a lock of its own tells. */
async function ownId(): Promise<string | undefined> {
  const name = `fitting-room-devtools:${Math.random()}`
  return navigator.locks.request(name, async () => {
    const { held = [] } = await navigator.locks.query()
    return held.find((lock) => lock.name === name)?.clientId
  })
}
