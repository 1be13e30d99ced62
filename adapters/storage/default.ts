import type { Clock, FlowStorage } from '../../src/ports.ts'
import { storageChain } from './chain.ts'
import { databaseName, hasDatabase } from './database.ts'
import { indexedDbStorage } from './indexed-db.ts'
import { webStorage } from './local-storage.ts'
import { memoryStorage } from './memory.ts'

/** Pages have IndexedDB; a runtime that has none, or has it denied, keeps nothing unless it is given a storage. */
export function defaultStorage(clock: Clock): FlowStorage {
  if (!hasDatabase() || isDenied()) return memoryStorage()
  return storageChain([indexedDbStorage(), webStorage()], clock)
}

/** As in a sandboxed frame, which has no origin: what it could keep nobody else would find. */
export function isDenied(): boolean {
  const isRefused = (use: () => unknown) => {
    try {
      use()
      return false
    } catch {
      return true
    }
  }
  return isRefused(() => globalThis.localStorage) && isRefused(() => indexedDB.deleteDatabase(`${databaseName}-none`))
}
