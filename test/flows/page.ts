import { createFittingRoom } from 'fitting-room'

/** What a store's page has, on what was put into its storage before. */
const asked = new URLSearchParams(location.search)
const room = createFittingRoom({
  baseUrl: 'https://api.test',
  apiKey: 'key',
  namespace: 'one',
  // what was played in virtual time may be older than a day
  retentionMs: 3_650 * 86_400_000,
})

/** From the navigation to the view of a try-on that came to its picture, in ms. */
const resumed = () =>
  new Promise<number>((resolve) => {
    const tryOn = room.tryOn({ productId: '1001', variantId: asked.get('variant') ?? '', funnelIds: [12] })
    const look = () => tryOn.get().state === 'final' && resolve(performance.now())
    tryOn.subscribe(look)
    look()
  })

/** How long it takes, in ms, and what is listed then. */
async function reset() {
  const listed = (await room.list()).length
  const begunAt = performance.now()
  await room.reset()
  return { listed, ms: performance.now() - begunAt, left: (await room.list()).length }
}

/** Puts records where the default storage keeps them. */
async function fill(items: [string, string][]) {
  const opening = indexedDB.open('fitting-room')
  opening.onupgradeneeded = () => opening.result.createObjectStore('items')
  await new Promise((resolve) => (opening.onsuccess = resolve))
  const writing = opening.result.transaction('items', 'readwrite')
  for (const [key, value] of items) writing.objectStore('items').put(value, key)
  await new Promise((resolve) => (writing.oncomplete = resolve))
  opening.result.close()
}

Object.assign(globalThis, { resumed: asked.has('variant') ? resumed() : null, reset, fill })
