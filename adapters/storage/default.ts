import type { Clock, FlowStorage } from '../../src/ports.ts'
import { storageChain } from './chain.ts'
import { indexedDbStorage } from './indexed-db.ts'
import { webStorage } from './local-storage.ts'
import { memoryStorage } from './memory.ts'

/** Pages have IndexedDB; a runtime that has none keeps nothing unless it is given a storage. */
export function defaultStorage(clock: Clock): FlowStorage {
  if (typeof indexedDB === 'undefined') return memoryStorage()
  return storageChain([indexedDbStorage(), webStorage()], clock)
}
