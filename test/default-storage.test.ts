import { afterEach, expect, it, vi } from 'vitest'
import { defaultStorage } from '../adapters/storage/default.ts'
import { systemClock } from '../src/platform/system-clock.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  Reflect.deleteProperty(globalThis, 'localStorage')
})

const denied = () => {
  throw new DOMException('access is denied', 'SecurityError')
}
const localStorageIs = (get: () => unknown) =>
  Object.defineProperty(globalThis, 'localStorage', { configurable: true, get })

it('of a page that the browser gives no storage keeps nothing, and says so', () => {
  vi.stubGlobal('indexedDB', { deleteDatabase: denied })
  localStorageIs(denied)
  expect(defaultStorage(systemClock).durable).toBe(false)
})

it('is the one that a browser has of the two, which may fail', () => {
  vi.stubGlobal('indexedDB', { deleteDatabase: denied })
  localStorageIs(() => ({}))
  expect(defaultStorage(systemClock).durable).not.toBe(false)
  vi.stubGlobal('indexedDB', { deleteDatabase: () => {} })
  localStorageIs(denied)
  expect(defaultStorage(systemClock).durable).not.toBe(false)
})
