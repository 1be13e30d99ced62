import sharp, { type Region } from 'sharp'
import { asIs, pictureOf } from './pixels.ts'
import type { Size } from './placement.ts'

export interface Garment extends Size {
  /** PNG, with nothing around it. */
  data: Buffer
}

/** No larger than pictures are drawn, in pixels. */
const longestSide = 1280
/** Whoever is whiter than that, in each colour, is background. */
const nearWhite = 240
/** What is no more opaque than that, of 255, is nothing. */
const barelySeen = 10

/** The garment alone: a picture without transparency loses its near-white background, and each one what is around it. */
export async function garmentAlone(picture: Uint8Array): Promise<Garment> {
  const read = await pictureOf(picture)
  const { data, info } = await read
    .resize({ width: longestSide, height: longestSide, fit: 'inside' })
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  const { width, height } = info
  if (isOpaque(data)) eraseWhite(data)
  const box = boxOf(data, width)
  const alone = sharp(data, { raw: { width, height, channels: 4 } })
  if (box) alone.extract(box)
  return { data: await alone.png(asIs).toBuffer(), width: box?.width ?? width, height: box?.height ?? height }
}

function isOpaque(pixels: Buffer): boolean {
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] !== 255) return false
  return true
}

function eraseWhite(pixels: Buffer): void {
  for (let at = 0; at < pixels.length; at += 4) {
    if (Math.min(pixels[at] ?? 0, pixels[at + 1] ?? 0, pixels[at + 2] ?? 0) > nearWhite) pixels[at + 3] = 0
  }
}

/** What of a picture can be seen; null where nothing can. */
function boxOf(pixels: Buffer, width: number): Region | null {
  let [left, right, top, bottom] = [width, -1, -1, -1]
  for (let at = 3; at < pixels.length; at += 4) {
    if ((pixels[at] ?? 0) <= barelySeen) continue
    const [x, y] = [((at - 3) / 4) % width, Math.floor((at - 3) / 4 / width)]
    left = Math.min(left, x)
    right = Math.max(right, x)
    if (top < 0) top = y
    bottom = y
  }
  return right < 0 ? null : { left, top, width: right - left + 1, height: bottom - top + 1 }
}
