import { part } from '../../src/records/names.ts'

/** What a reload finds though all that the device keeps has failed: that the session was locked. */
export interface LockedMark {
  isSet(): boolean
  set(isLocked: boolean): void
}

export function lockedMark(name: string): LockedMark {
  const key = ['fitting-room', 'kiosk', part(name), 'locked'].join(':')
  /** Null where the page has none, or may not use it. */
  function on<T>(work: (storage: Storage) => T): T | null {
    try {
      return work(sessionStorage)
    } catch {
      return null
    }
  }
  return {
    isSet: () => on((storage) => storage.getItem(key)) !== null,
    set: (isLocked) => void on((storage) => (isLocked ? storage.setItem(key, 'yes') : storage.removeItem(key))),
  }
}
