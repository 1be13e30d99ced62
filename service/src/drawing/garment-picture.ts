import sharp, { type Sharp } from 'sharp'
import { pictureOf } from './pixels.ts'
import type { Size } from './placement.ts'

export interface Garment extends Size {
  /** PNG, with nothing around it. */
  data: Buffer
}

/** No larger than pictures are drawn, in pixels. */
const longestSide = 1280
/** Whoever is whiter than that, in each colour, is background. */
const nearWhite = 240
const nothing = { r: 0, g: 0, b: 0, alpha: 0 }

/** The garment alone: a picture without transparency loses its near-white background, and each one what is around it. */
export async function garmentAlone(picture: Uint8Array): Promise<Garment> {
  const read = await pictureOf(picture)
  const { isOpaque } = await read.clone().stats()
  const sized = read.resize({ width: longestSide, height: longestSide, fit: 'inside' }).ensureAlpha()
  const alone = isOpaque ? await withoutWhite(sized) : await sized.png().toBuffer()
  const { data, info } = await sharp(alone).trim({ background: nothing }).png().toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height }
}

async function withoutWhite(picture: Sharp): Promise<Buffer> {
  const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true })
  for (let at = 0; at < data.length; at += 4) {
    if (Math.min(data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0) > nearWhite) data[at + 3] = 0
  }
  return sharp(data, { raw: { width: info.width, height: info.height, channels: 4 } })
    .png()
    .toBuffer()
}
