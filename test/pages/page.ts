import { createFittingRoom, type FlowStorage, type TryOnState } from 'fitting-room'

/** Storage as many have it: no atomic update. */
const plainStorage: FlowStorage = {
  getItem: (key) => localStorage.getItem(key),
  setItem: (key, value) => localStorage.setItem(key, value),
  removeItem: (key) => localStorage.removeItem(key),
}

/** Every value that can be reached from one, as text. */
function printed(value: unknown, seen = new Set<unknown>()): string {
  if (typeof value !== 'object' || value === null) return String(value)
  if (seen.has(value)) return ''
  seen.add(value)
  if (value instanceof ArrayBuffer) return new TextDecoder('latin1').decode(value)
  return Object.entries(value)
    .map(([name, each]) => `"${name}": ${printed(each, seen)}`)
    .join('\n')
}
const inspected: string[] = []

/** All that this origin keeps. */
async function everythingKept(): Promise<string> {
  const settled = <T>(request: IDBRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
  const kept: unknown[] = [{ ...localStorage }, { ...sessionStorage }, document.cookie]
  for (const { name } of await indexedDB.databases()) {
    const database = await settled(indexedDB.open(name ?? ''))
    for (const table of database.objectStoreNames) {
      const items = () => database.transaction(table).objectStore(table)
      kept.push(await settled(items().getAllKeys()), await settled(items().getAll()))
    }
    database.close()
  }
  return kept.map((each) => printed(each)).join('\n')
}

const asked = new URLSearchParams(location.search)
const room = createFittingRoom({
  baseUrl: asked.get('api') ?? '',
  apiKey: 'sandbox-key',
  timing: { pollIntervalMs: Number(asked.get('poll') ?? 200) },
  ...(asked.has('plain') && { storage: plainStorage }),
  inspect: (event) => inspected.push(printed(event)),
})
const tryOn = room.tryOn({
  productId: asked.get('product') ?? '1001',
  variantId: asked.get('variant') ?? '2001',
  funnelIds: [11],
})
const states: TryOnState[] = []
tryOn.subscribe(({ state }) => states.push(state))

/** A PNG of one colour with something behind the picture. */
const photo = async (behind = '') => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 300, height: 400 })
  const context = canvas.getContext('2d')!
  context.fillStyle = 'teal'
  context.fillRect(0, 0, 300, 400)
  const png = await new Promise<Blob>((resolve) => canvas.toBlob((blob) => resolve(blob!), 'image/png'))
  return new Blob([png, behind])
}

Object.assign(globalThis, { room, tryOn, states, photo, inspected, everythingKept })
