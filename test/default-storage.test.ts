import { afterEach, expect, it, vi } from 'vitest'
import { createFittingRoom } from 'fitting-room'
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

it('is that of a page whose IndexedDB may not even be looked for', async () => {
  vi.stubGlobal('indexedDB', undefined)
  Object.defineProperty(globalThis, 'indexedDB', { configurable: true, get: denied })
  const items = new Map<string, string>()
  localStorageIs(() => ({
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  }))
  const storage = defaultStorage(systemClock)
  await storage.setItem('key', 'value')
  expect([storage.durable, await storage.getItem('key'), items.get('key')]).toEqual([true, 'value', 'value'])
  const room = createFittingRoom({ baseUrl: 'https://api.test', apiKey: 'key' })
  const tryOn = room.tryOn({ productId: '1', variantId: '2', funnelIds: [3] })
  tryOn.subscribe(() => {})
  await expect.poll(() => tryOn.get(), { timeout: 15_000 }).toMatchObject({ state: 'idle', durable: true })
  room.close()
})

it('is the one that a browser has of the two, which may fail', () => {
  vi.stubGlobal('indexedDB', { deleteDatabase: denied })
  localStorageIs(() => ({}))
  expect(defaultStorage(systemClock).durable).not.toBe(false)
  vi.stubGlobal('indexedDB', { deleteDatabase: () => {} })
  localStorageIs(denied)
  expect(defaultStorage(systemClock).durable).not.toBe(false)
})
