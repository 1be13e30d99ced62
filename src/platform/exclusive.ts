import type { FlowStorage } from '../ports.ts'

/** The locks of a runtime that is no page do not reach beyond its process. */
export const hasLocks = (): boolean =>
  globalThis.isSecureContext === true && typeof navigator.locks?.request === 'function'

/** Whether the pages of that storage can be kept out of each other's way. */
export const keepsOthersOut = (storage: FlowStorage): boolean =>
  storage.durable === false || hasLocks() || typeof storage.update === 'function'

/** A `localStorage` as it is: each process has a copy, and each tab of a `sessionStorage`. */
const isWebStorage = (storage: FlowStorage): boolean => Object.prototype.toString.call(storage) === '[object Storage]'

/** Whether no other page can have written what is read under that key. */
export const isExclusive = (storage: FlowStorage, key = ''): boolean =>
  keepsOthersOut(storage) &&
  !isWebStorage(storage) &&
  (typeof storage.isExclusive !== 'function' || storage.isExclusive(key) === true)
