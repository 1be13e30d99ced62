import type { FlowStorage, PhotoStore, StoredPhoto } from 'fitting-room'

/** A storage that a chain takes: its update is atomic. */
export type Tier = FlowStorage & Required<Pick<FlowStorage, 'update'>>

/** One storage as it is on the machine: it outlives every page. */
export class Disk {
  readonly values = new Map<string, string>()
  readonly photos = new Map<string, StoredPhoto>()

  clear(): void {
    this.values.clear()
    this.photos.clear()
  }

  /** The catalogs go, and all that they name stays. */
  loseList(): void {
    for (const key of this.values.keys()) if (/:catalog(:\d+)?$/.test(key)) this.values.delete(key)
  }

  get texts(): string[] {
    return [...this.values.values()]
  }

  /** Whether an attempt is kept here, whatever the form of its record. */
  get holdsAttempts(): boolean {
    return this.texts.some((text) => text.includes('"attemptId"') && text.includes('"phase"'))
  }
}

/**
 * How a page's calls of one storage reach it: `work` is done at its time, or fails, or never comes back. A full storage
 * has a change decided before it refuses what comes of it.
 */
export type Reach = <T>(kind: 'read' | 'write', work: () => T, decide?: () => unknown) => Promise<T>

/** A storage as one page sees it. */
export function storageOn(disk: Disk, reach: Reach, atomic: boolean): Tier {
  const { values } = disk
  const put = (key: string, value: string | null) => {
    if (value === null) values.delete(key)
    else values.set(key, value)
  }
  const plain: FlowStorage = {
    getItem: (key) => reach('read', () => values.get(key) ?? null),
    setItem: (key, value) => reach('write', () => put(key, value)),
    removeItem: (key) => reach('write', () => put(key, null)),
  }
  const update: Tier['update'] = (key, change) => {
    const decide = () => change(values.get(key) ?? null)
    return reach('write', () => put(key, decide()), decide)
  }
  return (atomic ? { ...plain, update, photos: photosOn(disk, reach) } : plain) as Tier
}

function photosOn({ photos }: Disk, reach: Reach): PhotoStore {
  return {
    get: (key) => reach('read', () => photos.get(key)),
    set: (key, photo) => reach('write', () => void photos.set(key, photo)),
    remove: (key) => reach('write', () => void photos.delete(key)),
    keys: () => reach('read', () => [...photos.keys()]),
  }
}
