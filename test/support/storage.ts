import type { FlowStorage, StoredPhoto } from 'fitting-room'

/** One call of a storage, not carried out yet. */
export interface StorageCall {
  type: 'get' | 'set' | 'remove' | 'update'
  key: string
  /** What an update would write, by what stands there now; nothing is written. */
  change?: () => string | null
  /** Carries it out. */
  land: () => unknown
}

type Which = (call: StorageCall) => boolean

/** A disk as one page sees it. */
export interface TestStorage extends FlowStorage {
  items: Map<string, string>
  /** Every call so far, in order. */
  calls: StorageCall[]
  /** Meets each call that `which` is true for, in place of what was to meet them before. */
  meet(which: Which, how: (call: StorageCall) => unknown): void
  /** Meets nothing any more. */
  recover(): void
  /**
   * The next call that `which` is true for waits until it is released: before it begins, or midway, when what it reads
   * is of now and what it writes lands later.
   */
  hold(which: Which, where?: 'before' | 'midway'): { reached: Promise<void>; release(): void }
  /** The same disk as another page sees it, with nothing in its way. */
  another(): this
}

interface Disk {
  items: Map<string, string>
  photos: Map<string, StoredPhoto>
}

interface TestStorageOptions {
  /** False for one without `update`. */
  atomic?: boolean
  /** False for one that a reload empties: a page has it alone. */
  durable?: boolean
}

/** A storage whose every call may be refused, held or watched. */
export function testStorage(
  options?: TestStorageOptions & { atomic?: true },
): TestStorage & Required<Pick<FlowStorage, 'update'>>
export function testStorage(options: TestStorageOptions): TestStorage
export function testStorage(options: TestStorageOptions = {}): TestStorage {
  return onDisk({ items: new Map(), photos: new Map() }, options)
}

function onDisk(disk: Disk, options: TestStorageOptions): TestStorage {
  const { items, photos } = disk
  const { atomic = true, durable = true } = options
  const calls: StorageCall[] = []
  const holds: { which: Which; met: (call: StorageCall) => unknown }[] = []
  let meeting: { which: Which; how: (call: StorageCall) => unknown } | null = null

  function through(call: StorageCall): unknown {
    calls.push(call)
    const at = holds.findIndex(({ which }) => which(call))
    const [hold] = at < 0 ? [] : holds.splice(at, 1)
    if (hold) return hold.met(call)
    return meeting?.which(call) ? meeting.how(call) : call.land()
  }
  const write = (key: string, value: string | null) => void (value === null ? items.delete(key) : items.set(key, value))

  return {
    items,
    calls,
    getItem: (key) => through({ type: 'get', key, land: () => items.get(key) ?? null }),
    setItem: (key, value) => through({ type: 'set', key, land: () => write(key, value) }),
    removeItem: (key) => through({ type: 'remove', key, land: () => write(key, null) }),
    ...(atomic && {
      update(key: string, decide: (old: string | null) => string | null) {
        const change = () => decide(items.get(key) ?? null)
        return through({ type: 'update', key, change, land: () => write(key, change()) })
      },
    }),
    durable,
    photos: {
      get: (key) => photos.get(key),
      set: (key, photo) => void photos.set(key, photo),
      remove: (key) => void photos.delete(key),
      keys: () => [...photos.keys()],
    },
    meet: (which, how) => void (meeting = { which, how }),
    recover: () => void (meeting = null),
    hold(which, where = 'before') {
      let release = () => {}
      let arrive = () => {}
      const reached = new Promise<void>((resolve) => (arrive = resolve))
      const released = new Promise<void>((resolve) => (release = resolve))
      const met = async (call: StorageCall) => {
        const landing = where === 'before' ? call.land : midway(call)
        arrive()
        await released
        return landing()
      }
      holds.push({ which, met })
      return { reached, release: () => release() }
    },
    another: () => onDisk(disk, options),
  }

  /** What is left to do of a call that has read. */
  function midway({ type, key, change, land }: StorageCall): () => unknown {
    if (change) {
      const value = change()
      return () => write(key, value)
    }
    if (type !== 'get') return land
    const value = land()
    return () => value
  }
}

/** What stays of a room that was reset, and is nobody's: how often that was, and what was learnt of the service. */
export const isNobodys = (key: string) => /:(?:catalog|pace|times)$/.test(key)

/** What a page keeps of its try-ons, leases left out. */
export const isRecord = ({ key }: { key: string }) => key.includes(':try-on:') && !key.endsWith(':lease')
export const isRead = ({ type }: StorageCall) => type === 'get'
export const isWrite = (call: StorageCall) => !isRead(call)
export const any = () => true

/** Fails before anything is done. */
export const refused = () => Promise.reject(new DOMException('full', 'QuotaExceededError'))
/** Fails as a full disk does: a change has been run by then. */
export function full({ change }: StorageCall): never {
  change?.()
  throw new DOMException('full', 'QuotaExceededError')
}
/** Never ends. */
export const hung = () => new Promise<never>(() => {})

/** The key of the record of the world's product. */
export const recordKey = 'fitting-room:https_3A_2F_2Fapi.test:default:anyone:try-on:1001:2001'
