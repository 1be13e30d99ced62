import type { Sharp } from 'sharp'
import { imageTypeOf } from '../photo-formats.ts'
import { PhotoNotReadable } from '../photo-problems.ts'
import type { Blob } from '../ports.ts'
import { isBare } from './bare.ts'
import { pixelsOf } from './pixels.ts'

/**
 * The photo without what tells where, when and by whom it was taken: as it is where it holds nothing of that, else drawn
 * anew, the right way up. What no browser shows, or takes long to write, becomes a JPEG. Rejects with `PhotoNotReadable`.
 */
export async function cleaned(photo: Uint8Array<ArrayBuffer>): Promise<Blob> {
  try {
    const pixels = await pixelsOf(photo)
    const type = imageTypeOf(photo) ?? ''
    if (isBare(photo)) {
      // what is kept as it is must be a picture to its end
      await pixels.stats()
      return { bytes: photo, type }
    }
    const [write, written] = (type in writers && [writers[type]!, type]) || [asJpeg, 'image/jpeg']
    return { bytes: new Uint8Array(await write(pixels).toBuffer()), type: written }
  } catch {
    throw new PhotoNotReadable()
  }
}

const quality = 92
const asJpeg = (pixels: Sharp) => pixels.flatten({ background: '#fff' }).jpeg({ quality })
const writers: Record<string, (pixels: Sharp) => Sharp> = {
  'image/png': (pixels) => pixels.png(),
  'image/webp': (pixels) => pixels.webp({ quality }),
}
