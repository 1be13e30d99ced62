import type { StoredPhoto } from '../../src/ports.ts'

/** A photo that was drawn anew: upright, a JPEG of nothing but pixels. */
export interface Redrawn {
  bytes: ArrayBuffer
  /** In px. */
  width: number
  height: number
  /** Of all pixels, from 0, black, to 1. */
  brightness: number
}

/** Draws a photo anew, off the page's own thread where that is permitted; null where this browser cannot draw it. */
export async function redrawn(photo: StoredPhoto, maxSide: number): Promise<Redrawn | null> {
  if (typeof OffscreenCanvas === 'undefined' || typeof createImageBitmap === 'undefined') return null
  // what a worker could not do may have been the worker's fault
  return (await inWorker(photo, maxSide)) ?? draw(photo, maxSide).catch(() => null)
}

/** How long a worker may take, in ms: one that never begins says nothing. */
const workerLimitMs = 12_000

/** Null where there is no worker, a policy forbids it, or it could not draw. */
function inWorker(photo: StoredPhoto, maxSide: number): Promise<Redrawn | null> {
  const code = `onmessage = ({ data }) => (${draw.toString()})(...data).then(postMessage, () => postMessage(null))`
  const address = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }))
  return new Promise<Redrawn | null>((resolve) => {
    const worker = new Worker(address)
    const late = setTimeout(() => end(null), workerLimitMs)
    const end = (drawn: Redrawn | null) => {
      clearTimeout(late)
      worker.terminate()
      resolve(drawn)
    }
    worker.onmessage = ({ data }) => end(data)
    worker.onerror = (event) => {
      event.preventDefault()
      end(null)
    }
    worker.postMessage([photo, maxSide])
  })
    .catch(() => null)
    .finally(() => URL.revokeObjectURL(address))
}

/** A worker gets its text, so that no bundler has to know of it: nothing from outside of it is used in here. */
async function draw({ bytes, type }: StoredPhoto, maxSide: number): Promise<Redrawn | null> {
  const paint = (source: CanvasImageSource, width: number, height: number) => {
    const canvas = new OffscreenCanvas(width, height)
    const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D
    // a JPEG cannot be seen through
    context.fillStyle = '#fff'
    context.fillRect(0, 0, width, height)
    context.drawImage(source, 0, 0, width, height)
    return { canvas, pixels: () => context.getImageData(0, 0, width, height).data }
  }
  // a browser that keeps sites from telling it from others gives noise for what was drawn
  const blue = [0x33, 0x66, 0x99, 0xff]
  const patch = new OffscreenCanvas(4, 4)
  const brush = patch.getContext('2d') as OffscreenCanvasRenderingContext2D
  brush.fillStyle = '#369'
  brush.fillRect(0, 0, 4, 4)
  if (
    paint(patch, 4, 4)
      .pixels()
      .some((value, at) => value !== blue[at % 4])
  )
    return null
  const bitmap = await createImageBitmap(new Blob([bytes], { type }), { imageOrientation: 'from-image' })
  const scale = Math.min(1, maxSide / Math.max(bitmap.width, bitmap.height))
  const width = Math.max(1, Math.round(bitmap.width * scale))
  const height = Math.max(1, Math.round(bitmap.height * scale))
  let [left, top] = [bitmap.width, bitmap.height]
  let source: CanvasImageSource = bitmap
  let canvas: OffscreenCanvas
  // to halves at most, as each pixel is made of no more than four
  do {
    left = Math.max(width, Math.ceil(left / 2))
    top = Math.max(height, Math.ceil(top / 2))
    canvas = source = paint(source, left, top).canvas
  } while (left > width || top > height)
  bitmap.close()
  const sample = paint(canvas, 16, 16).pixels()
  const light = sample.reduce((sum, value, at) => sum + (at % 4 === 3 ? 0 : value), 0)
  const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.9 })
  if (blob.type !== 'image/jpeg') return null
  return { bytes: await blob.arrayBuffer(), width, height, brightness: light / (16 * 16 * 3 * 255) }
}
