import type { AtomicStorage } from '../../src/ports.ts'

/**
 * Keeps records in `localStorage` (or `sessionStorage`); throws at the first use where the page may not have one.
 * `update` is one synchronous turn, so no other code of the page comes between.
 */
export function webStorage(area: () => Storage = () => globalThis.localStorage): AtomicStorage {
  return {
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
