import { expect, it } from 'vitest'
import { storageChain } from 'fitting-room/storage/chain'
import { indexedDbStorage } from 'fitting-room/storage/indexed-db'
import { webStorage } from 'fitting-room/storage/local-storage'
import { memoryStorage } from 'fitting-room/storage/memory'
import { isExclusive } from '../../src/platform/exclusive.ts'
import { storageConformance } from '../storage/conformance.ts'

storageConformance('memory', memoryStorage, { lasting: false })
storageConformance('localStorage', () => webStorage())
storageConformance('sessionStorage', () => webStorage(() => sessionStorage))
storageConformance('IndexedDB', () => indexedDbStorage('conformance'))
storageConformance('the default chain', () => storageChain([indexedDbStorage('chain'), webStorage()]))

it('of a localStorage, or a sessionStorage, as it is nothing is submitted by itself', () => {
  expect([localStorage, sessionStorage].map((each) => isExclusive(each))).toEqual([false, false])
})

it('IndexedDB: a database that another page deletes is given up, and opened again for the next write', async () => {
  const storage = indexedDbStorage('deleted')
  await storage.setItem('a', '{"n":1}')
  const deleting = indexedDB.deleteDatabase('deleted')
  await new Promise((resolve, reject) => {
    deleting.onsuccess = resolve
    deleting.onerror = reject
    deleting.onblocked = () => reject(new Error('the connection was not given up'))
  })
  expect(await storage.getItem('a')).toBeNull()
  await storage.setItem('a', '{"n":2}')
  expect(await storage.getItem('a')).toBe('{"n":2}')
})

it('IndexedDB: what the browser ends by itself, as on a page that it puts away, is done once more', async () => {
  const storage = indexedDbStorage('ended')
  await storage.setItem('a', '{"n":1}')
  const { transaction } = IDBDatabase.prototype
  const ending = (times: number) =>
    void (IDBDatabase.prototype.transaction = function begin(this: IDBDatabase, ...given) {
      const begun = transaction.apply(this, given)
      if (times-- > 0) queueMicrotask(() => begun.abort())
      return begun
    })
  try {
    ending(1)
    expect(await storage.getItem('a')).toBe('{"n":1}')
    ending(1)
    await storage.update('a', (old) => old && old.replace('1', '2'))
    ending(2)
    await expect(Promise.resolve(storage.getItem('a'))).rejects.toMatchObject({ name: 'AbortError' })
  } finally {
    IDBDatabase.prototype.transaction = transaction
  }
  expect(await storage.getItem('a')).toBe('{"n":2}')
})

it('IndexedDB: a connection that died is opened once more', async () => {
  const open = indexedDB.open.bind(indexedDB)
  const opened: IDBDatabase[] = []
  indexedDB.open = (...given) => {
    const request = open(...given)
    request.addEventListener('success', () => opened.push(request.result))
    return request
  }
  try {
    const storage = indexedDbStorage('dying')
    await storage.setItem('a', '{"n":1}')
    // what a connection is after the browser has lost it: transactions throw InvalidStateError
    opened.at(-1)?.close()
    await storage.setItem('a', '{"n":2}')
    expect([await storage.getItem('a'), opened.length]).toEqual(['{"n":2}', 2])
  } finally {
    indexedDB.open = open
  }
})
