import { createFittingRoom } from 'fitting-room'
import { preparePhoto } from 'fitting-room/photos'
import { cards } from './cards.ts'

const asked = new URLSearchParams(location.search)
/** When the last card was `idle`, in ms since the navigation. */
function begin(): Promise<number> {
  const room = createFittingRoom({ baseUrl: asked.get('api') ?? '', apiKey: 'sandbox-key' })
  const tryOns = cards.map((_, index) =>
    room.tryOn({ productId: '1001', variantId: String(3_000 + index), funnelIds: [11] }),
  )
  Object.assign(globalThis, { tryOn: tryOns[0] })
  return new Promise((resolve) => {
    let idle = 0
    tryOns.forEach((tryOn, index) => {
      tryOn.subscribe(({ state }) => {
        cards[index]!.textContent = state
        if (state === 'idle' && ++idle === cards.length) resolve(performance.now())
      })
    })
  })
}

/** A photo of twelve megapixels, with as much detail as one has. */
async function photo(): Promise<Blob> {
  const canvas = new OffscreenCanvas(4_000, 3_000)
  const context = canvas.getContext('2d')!
  const grain = new OffscreenCanvas(500, 500)
  const noise = new ImageData(500, 500)
  for (let at = 0; at < noise.data.length; at++) noise.data[at] = at % 4 === 3 ? 255 : Math.random() * 255
  grain.getContext('2d')!.putImageData(noise, 0, 0)
  context.drawImage(grain, 0, 0, 4_000, 3_000)
  context.globalAlpha = 0.15
  for (let x = 0; x < 4_000; x += 500) for (let y = 0; y < 3_000; y += 500) context.drawImage(grain, x, y)
  return canvas.convertToBlob({ type: 'image/jpeg', quality: 0.95 })
}

/** Its bytes as it is and made ready, and how long that took, in ms. */
async function ready() {
  const bytes = await (await photo()).arrayBuffer()
  const begunAt = performance.now()
  const made = await preparePhoto({ bytes, type: 'image/jpeg' }, { maxSide: 2_048, advice: true })
  if ('advice' in made) throw new Error(made.advice)
  return { before: bytes.byteLength, after: made.bytes.byteLength, ms: performance.now() - begunAt }
}

/** From the click to what the shopper sees of it, in ms. */
async function click() {
  const { tryOn } = globalThis as unknown as { tryOn: ReturnType<ReturnType<typeof createFittingRoom>['tryOn']> }
  const begunAt = performance.now()
  const seen = new Promise<number>((resolve) =>
    tryOn.subscribe(({ state }) => state === 'preparing' && resolve(performance.now() - begunAt)),
  )
  tryOn.start({ imageUrl: 'https://pictures.invalid/a.jpeg' }).catch(() => undefined)
  return seen
}

Object.assign(globalThis, { idle: begin(), ready, click })
