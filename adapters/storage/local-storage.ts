import type { AtomicStorage } from '../../src/ports.ts'

/** What is used of a `Storage`. */
export type WebArea = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/**
 * Keeps records in `localStorage`; throws at the first use if the page may not use it. `update` is synchronous, so no
 * other code of the page comes between; but each browser process reads its own copy, up to a minute ahead of the
 * disk, and a duplicated tab gets a copy of `sessionStorage`. So with it nothing is submitted by itself after a reload.
 */
export function webStorage(area: () => WebArea = () => globalThis.localStorage): AtomicStorage {
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
