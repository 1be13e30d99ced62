import AsyncStorage from '@react-native-async-storage/async-storage'
import localforage from 'localforage'
import { expect, inject, it } from 'vitest'
import { createFittingRoom, type FlowStorage } from 'fitting-room'
import photoUrl from '../../examples/sample/person.png'

/** Stores as they come from npm, with nothing between them and the room. */
const stores: [string, FlowStorage][] = [
  ['localForage', localforage.createInstance({ name: 'plugged' })],
  // its types are those of CommonJS, its web build is not
  ["AsyncStorage's web build", AsyncStorage as unknown as FlowStorage],
]

it.each(stores)('%s plugs in unchanged: a new room goes on with the same job', async (_, storage) => {
  const options = { baseUrl: inject('baseUrl'), apiKey: 'sandbox-key', storage, timing: { pollIntervalMs: 400 } }
  const product = { productId: '1001', variantId: '2001', funnelIds: [11] }
  const first = createFittingRoom(options)
  const tryOn = first.tryOn(product)
  await tryOn.start(await (await fetch(photoUrl)).blob())
  await expect.poll(() => tryOn.get().attempt?.jobId).toBeTruthy()
  const jobId = tryOn.get().attempt?.jobId
  first.close()
  const room = createFittingRoom(options)
  await room.tryOn(product).result()
  expect(room.tryOn(product).get().attempt?.jobId).toBe(jobId)
  await room.reset()
  room.close()
})
