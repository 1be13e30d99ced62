import 'fake-indexeddb/auto'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { storageChain } from 'fitting-room/storage/chain'
import { indexedDbStorage } from 'fitting-room/storage/indexed-db'
import { webStorage } from 'fitting-room/storage/local-storage'
import { memoryStorage } from 'fitting-room/storage/memory'
import { isExclusive } from '../../src/platform/exclusive.ts'
import { any, refused, testStorage } from '../support/storage.ts'
import { storageConformance } from './conformance.ts'
import { mapArea } from './map-area.ts'

const area = mapArea()
storageConformance('memory', memoryStorage, { lasting: false })
storageConformance('localStorage', () => webStorage(() => area))
storageConformance('IndexedDB', () => indexedDbStorage('conformance'))
storageConformance('the default chain', () => storageChain([indexedDbStorage('chain'), webStorage(() => area)]))

const at = (savedAt: number) => JSON.stringify({ savedAt })

describe('what may be older than what was written', () => {
  const withLocks = () => {
    vi.stubGlobal('isSecureContext', true)
    vi.stubGlobal('navigator', { locks: {} })
    onTestFinished(() => void vi.unstubAllGlobals())
  }

  it('is a localStorage: each process has a copy, and the disk has it later', () => {
    expect(isExclusive(webStorage(() => area))).toBe(false)
    withLocks()
    expect(isExclusive(webStorage(() => area))).toBe(false)
    expect(isExclusive(area)).toBe(false)
  })

  it('is what only that one of a chain has, though the other one answers', async () => {
    const first = testStorage()
    const chain = storageChain([first, webStorage(() => area)])
    await chain.getItem('key')
    expect(isExclusive(chain, 'key')).toBe(true)
    await chain.setItem('key', at(1))
    expect(isExclusive(chain, 'key')).toBe(true)
    first.meet(({ type }) => type !== 'get', refused)
    await chain.setItem('other', at(1))
    expect([isExclusive(chain, 'key'), isExclusive(chain, 'other')]).toEqual([true, false])
    first.recover()
    const later = storageChain([first.another(), webStorage(() => area)])
    await Promise.all(['key', 'other'].map((key) => later.getItem(key)))
    expect([isExclusive(later, 'key'), isExclusive(later, 'other')]).toEqual([true, false])
    withLocks()
    expect(isExclusive(later, 'other')).toBe(false)
  })
})

describe('the chain', () => {
  const failing = () => {
    const storage = testStorage()
    storage.meet(any, refused)
    return storage
  }

  it('counts a tier that fails and was never written to as empty', async () => {
    const second = testStorage()
    const chain = storageChain([failing(), second])
    expect(await chain.getItem('key')).toBeNull()
    await chain.setItem('key', at(1))
    expect(await second.getItem('key')).toBe(at(1))
    expect(await chain.getItem('key')).toBe(at(1))
  })

  it('misses an IndexedDB that was begun and does not open, with nothing noted anywhere', async () => {
    await indexedDbStorage('begun').getItem('key')
    await indexedDbStorage('begun').photos?.get('key')
    vi.spyOn(indexedDB, 'open').mockImplementation(() => {
      throw new DOMException('broken', 'UnknownError')
    })
    const chain = storageChain([indexedDbStorage('begun'), testStorage()])
    await expect(chain.getItem('key')).rejects.toThrow('broken')
    await expect(chain.photos?.remove('key')).rejects.toThrow('broken')
    await expect(chain.photos?.keys?.()).rejects.toThrow('broken')
    const other = storageChain([indexedDbStorage('never begun'), testStorage()])
    expect(await other.getItem('key')).toBeNull()
    expect(await other.photos?.keys?.()).toEqual([])
    vi.restoreAllMocks()
  })

  it('reads every tier, believes the newest, and changes it where it stands', async () => {
    const [first, second] = [testStorage(), testStorage()]
    await first.setItem('key', at(1))
    await second.setItem('key', at(2))
    const chain = storageChain([first, second])
    expect(await chain.getItem('key')).toBe(at(2))
    let seen: string | null = null
    await chain.update?.('key', (old) => ((seen = old), at(3)))
    expect(seen).toBe(at(2))
    expect([await first.getItem('key'), await second.getItem('key')]).toEqual([null, at(3)])
  })

  it('removes from every tier', async () => {
    const [first, second] = [testStorage(), testStorage()]
    await second.setItem('key', at(2))
    await storageChain([first, second]).removeItem('key')
    expect(await second.getItem('key')).toBeNull()
  })

  it('is as lasting as its tiers: what they do not take is not said to stand because memory has it', async () => {
    const chain = storageChain([failing(), memoryStorage()])
    expect(chain.durable).toBe(true)
    await expect(async () => chain.setItem('key', at(1))).rejects.toThrow('full')
    const fleeting = storageChain([memoryStorage(), memoryStorage()])
    expect(fleeting.durable).toBe(false)
    await fleeting.setItem('key', at(1))
    expect(await fleeting.getItem('key')).toBe(at(1))
  })

  it('rejects when no tier works', async () => {
    await expect(storageChain([failing()]).getItem('key')).rejects.toThrow('full')
    await expect(async () => storageChain([failing()]).setItem('key', at(1))).rejects.toThrow('full')
  })
})
