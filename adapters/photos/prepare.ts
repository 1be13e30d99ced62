import type { PhotoAdvice, PreparePhoto } from '../../src/ports.ts'
import type { Size } from './file-parts.ts'
import { readFile } from './read-file.ts'
import { redrawn } from './redraw.ts'

/** Fewer px on the short side than this show too little of a person. */
const smallSide = 200

/** A long side of more short sides than this is no photo of a person. */
const longestAspect = 4

/** Of a photo that is darker than this, from 0 to 1, next to nothing is to be seen. */
const leastBrightness = 0.05

/** More px than this, four bytes each, are not decoded: it could be more than the device has. */
const mostPixels = 80_000_000
/** Nor what is longer, in px: no canvas of Chromium is, and what does not go onto one is white there. */
const longestSide = 65_535

/**
 * Makes a photo ready to leave the device: upright, without metadata, its long side `maxSide` px at most, as a JPEG.
 * One that cannot be drawn here stays as it is: a JPEG or PNG without its metadata, others with it (`metadataKept`).
 */
export const preparePhoto: PreparePhoto = async (photo, { maxSide, advice }) => {
  const { size, isWhole, clean } = readFile(photo)
  const wrong = advice && size ? adviceOn(size) : null
  if (wrong !== null) return { advice: wrong }
  // of a file that ends too soon some browsers draw what is missing as white
  const isDrawable = isWhole && !(size && isTooLarge(size))
  const drawn = isDrawable ? await redrawn(photo, maxSide) : null
  if (drawn === null) {
    const bytes = clean()
    const { width, height } = size ?? { width: null, height: null }
    const metadataKept = bytes === null
    return { bytes: bytes ?? photo.bytes, type: photo.type, width, height, brightness: null, metadataKept }
  }
  if (advice && drawn.brightness < leastBrightness) return { advice: 'dark' }
  return { ...drawn, type: 'image/jpeg', metadataKept: false }
}

const isTooLarge = ({ width, height }: Size) => width * height > mostPixels || Math.max(width, height) > longestSide

function adviceOn({ width, height }: Size): PhotoAdvice | null {
  const [short, long] = [Math.min(width, height), Math.max(width, height)]
  if (short < smallSide) return 'small'
  return long > short * longestAspect ? 'narrow' : null
}
