import { hasLocks } from '../../src/platform/exclusive.ts'
import type { AtomicStorage } from '../../src/ports.ts'

/**
 * Keeps records in `localStorage`; throws at the first use where the page may not have one. `update` is one synchronous
 * turn, so no other code of the page comes between, but the pages of another process may: each process reads a copy. So
 * where there are no Web Locks (plain http), and in a `sessionStorage`, of which a duplicated tab has a copy, it is not
 * `exclusive`, and nothing is submitted by itself.
 */
export function webStorage(area: () => Storage = () => globalThis.localStorage): AtomicStorage {
  return {
    get exclusive() {
      return hasLocks() && !isOfOneTab(area)
    },
    getItem: (key) => area().getItem(key),
    setItem: (key, value) => area().setItem(key, value),
    removeItem: (key) => area().removeItem(key),
    update(key, change) {
      const value = change(area().getItem(key))
      if (value === null) area().removeItem(key)
      else area().setItem(key, value)
    },
  }
}

function isOfOneTab(area: () => Storage): boolean {
  try {
    return area() === globalThis.sessionStorage
  } catch {
    // a page that may have none finds that out at the first use
    return false
  }
}
