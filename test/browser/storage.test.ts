import { storageChain } from 'fitting-room/storage/chain'
import { indexedDbStorage } from 'fitting-room/storage/indexed-db'
import { webStorage } from 'fitting-room/storage/local-storage'
import { memoryStorage } from 'fitting-room/storage/memory'
import { storageConformance } from '../storage/conformance.ts'

storageConformance('memory', memoryStorage, { lasting: false })
storageConformance('localStorage', () => webStorage())
storageConformance('sessionStorage', () => webStorage(() => sessionStorage))
storageConformance('IndexedDB', () => indexedDbStorage('conformance'))
storageConformance('the default chain', () => storageChain([indexedDbStorage('chain'), webStorage()]))
