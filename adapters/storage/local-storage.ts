import type { AtomicStorage } from '../../src/ports.ts'

/**
 * Keeps records in `localStorage`; throws at the first use where the page may not have one. `update` is one synchronous
 * turn, so no other code of the page comes between; but each process reads a copy, which is seconds ahead of the disk, and
 * a duplicated tab has a copy of a `sessionStorage`. So nothing is submitted by itself with it.
 */
export function webStorage(area: () => Storage = () => globalThis.localStorage): AtomicStorage {
  return {
    isExclusive: () => false,
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
