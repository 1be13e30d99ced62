import { part } from '../../src/records/names.ts'

/** What the next load finds though all that the device keeps has failed: that a session's end was begun, and not done. */
export interface LockedMark {
  isSet(): boolean
  set(isLocked: boolean): void
}

/** A page may have none of these, or not be permitted to use them; only the second one outlasts the browser. */
const places = [() => sessionStorage, () => localStorage]

export function lockedMark(name: string): LockedMark {
  const key = ['fitting-room', 'kiosk', part(name), 'locked'].join(':')
  const inEach = <T>(work: (storage: Storage) => T) =>
    places.map((place) => {
      try {
        return work(place())
      } catch {
        return null
      }
    })
  return {
    isSet: () => inEach((storage) => storage.getItem(key)).some((found) => found !== null),
    set: (isLocked) => void inEach((storage) => (isLocked ? storage.setItem(key, 'yes') : storage.removeItem(key))),
  }
}
