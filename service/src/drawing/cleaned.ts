import type { Sharp } from 'sharp'
import { imageTypeOf } from '../photo-formats.ts'
import { PhotoNotReadable } from '../photo-problems.ts'
import type { Blob } from '../ports.ts'
import { photoLimits } from '../photo-limits.ts'
import { pixelsOf } from './pixels.ts'

/**
 * The photo's pixels, drawn anew the right way up: nothing else that a file can hold, as where, when and by whom it was
 * taken, outlives that. What no browser shows, takes long to write or gets too large becomes a JPEG. Rejects with
 * `PhotoNotReadable`.
 */
export async function cleaned(photo: Uint8Array<ArrayBuffer>): Promise<Blob> {
  try {
    const pixels = await pixelsOf(photo)
    const type = imageTypeOf(photo) ?? ''
    const { width, height } = await pixels.metadata()
    for (const { type: written, mostPixels, write } of writers) {
      if (written !== type && written !== 'image/jpeg') continue
      const bytes = width * height <= mostPixels ? await write(pixels.clone()).toBuffer() : null
      if (bytes && bytes.length <= photoLimits.atMost) return { bytes: new Uint8Array(bytes), type: written }
    }
    throw new PhotoNotReadable()
  } catch {
    throw new PhotoNotReadable()
  }
}

const quality = 92
/** How each type is written that is kept, up to so many pixels; else, and where it gets too large, it is a JPEG. */
const writers: { type: string; mostPixels: number; write: (pixels: Sharp) => Sharp }[] = [
  { type: 'image/png', mostPixels: Infinity, write: (pixels) => pixels.png() },
  // a large one takes half a minute
  { type: 'image/webp', mostPixels: 4_000_000, write: (pixels) => pixels.webp({ quality }) },
  {
    type: 'image/jpeg',
    mostPixels: Infinity,
    write: (pixels) => pixels.flatten({ background: '#fff' }).jpeg({ quality }),
  },
]
