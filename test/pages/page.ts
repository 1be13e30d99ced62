import { createFittingRoom, type FlowStorage, type TryOnState } from 'fitting-room'
import { everythingKept, printed } from '../support/everything-kept.ts'

/** Storage as many have it: no atomic update. */
const plainStorage: FlowStorage = {
  getItem: (key) => localStorage.getItem(key),
  setItem: (key, value) => localStorage.setItem(key, value),
  removeItem: (key) => localStorage.removeItem(key),
}

const inspected: string[] = []

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
