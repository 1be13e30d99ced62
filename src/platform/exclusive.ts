import type { FlowStorage } from '../ports.ts'

/** The locks of a runtime that is no page do not reach beyond its process. */
export const hasLocks = (): boolean => globalThis.isSecureContext === true && 'locks' in navigator

/** Whether the pages of that storage can really be kept out of each other's way. */
export const isExclusive = (storage: FlowStorage): boolean =>
  storage.durable === false || (storage.exclusive ?? (hasLocks() || typeof storage.update === 'function'))
