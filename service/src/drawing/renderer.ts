import type { FunnelType } from 'fitting-room/contract'
import sharp from 'sharp'
import { PhotoNotReadable } from '../photo-problems.ts'
import type { Blob, Pictures } from '../ports.ts'
import { card } from './card.ts'
import { faceIn } from './face.ts'
import { garmentAlone, type Garment } from './garment-picture.ts'
import { sandboxMark, watermark } from './lettering.ts'
import { asIs, pictureOf, pixelsOf } from './pixels.ts'
import { placeOf, visible, type Box, type Size } from './placement.ts'

const longestSide = 1280
/** Of a picture that others make something of. */
const longestSent = 1600
/** Smaller photos are enlarged, so that the garment has pixels to lie on. */
const shortestSide = 256
const previewWidth = 360

/**
 * Lays the garment over the photo where the face says that it is worn, shaded by the photo's own light; beside it where there
 * is no face, or not enough of whoever wears it. Marked as what it is.
 */
export async function render(photo: Uint8Array, garment: Uint8Array, funnelType: FunnelType): Promise<Pictures> {
  const base = await upright(photo)
  const cloth = await garmentAlone(garment).catch((cause: unknown) => {
    // whatever is wrong with it is not the shopper's
    throw new Error('the picture of a product cannot be drawn', { cause })
  })
  const face = await faceIn(base.data)
  const box = face && placeOf(funnelType, cloth, face, base)
  const drawn = box ? await dressed(base, cloth, box) : await card(base.data, cloth)
  const { width, height } = await sharp(drawn).metadata()
  const mark = Buffer.from(sandboxMark(width, height))
  return finished(
    await sharp(drawn)
      .composite([{ input: mark }])
      .png(asIs)
      .toBuffer(),
  )
}

/** A picture as it is shown: first small and marked, then whole. */
export async function finished(picture: Uint8Array): Promise<Pictures> {
  const read = await pixelsOf(picture)
  const final = await read.clone().jpeg({ quality: 88 }).toBuffer()
  const small = await read
    .resize({ width: previewWidth, height: longestSide, fit: 'inside' })
    .toBuffer({ resolveWithObject: true })
  const preview = await sharp(small.data)
    .composite([{ input: Buffer.from(watermark(small.info.width, small.info.height)) }])
    .jpeg({ quality: 62 })
    .toBuffer()
  return { preview: jpeg(preview), final: jpeg(final) }
}

/** A picture as others are sent it: an opaque JPEG, not larger than they have use for. */
export async function prepared(picture: Uint8Array): Promise<Uint8Array> {
  const read = await pictureOf(picture)
  return new Uint8Array(
    await read
      .resize({ width: longestSent, height: longestSent, fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#fff' })
      .jpeg({ quality: 90 })
      .toBuffer(),
  )
}

const jpeg = (bytes: Uint8Array): Blob => ({ bytes: new Uint8Array(bytes), type: 'image/jpeg' })

interface Photo extends Size {
  data: Buffer
}

/** The photo the right way up, opaque, and neither too large nor too small. */
async function upright(photo: Uint8Array): Promise<Photo> {
  try {
    const decoded = await pixelsOf(photo)
    const { width, height } = await decoded.metadata()
    const side = Math.min(longestSide, Math.max(width, height, shortestSide))
    const { data, info } = await decoded
      .resize({ width: side, height: side, fit: 'inside' })
      .flatten({ background: '#fff' })
      .removeAlpha()
      .toColourspace('srgb')
      .png(asIs)
      .toBuffer({ resolveWithObject: true })
    return { data, width: info.width, height: info.height }
  } catch {
    throw new PhotoNotReadable()
  }
}

async function dressed({ data: canvas, ...size }: Photo, garment: Garment, box: Box): Promise<Buffer> {
  const seen = visible(box, size)
  const worn = await sharp(garment.data)
    .resize({ width: box.width, height: box.height, fit: 'fill' })
    .png(asIs)
    .toBuffer()
  const cloth = await sharp(worn)
    .extract({ left: seen.left - box.left, top: seen.top - box.top, width: seen.width, height: seen.height })
    .png(asIs)
    .toBuffer()
  // folds of what is worn below show through, its prints and patches do not
  const softness = Math.max(1, size.width / 48)
  const light = await sharp(canvas).extract(seen).grayscale().blur(softness).linear(0.55, 62).png(asIs).toBuffer()
  const dimmed = await dimmedAs(canvas, cloth)
  const shaded = await sharp(dimmed)
    .composite([
      { input: light, blend: 'soft-light' },
      { input: cloth, blend: 'dest-in' },
    ])
    .png(asIs)
    .toBuffer()
  const shadow = await sharp(cloth)
    .linear([0, 0, 0, 0.45], [0, 0, 0, 0])
    .blur(Math.max(1, seen.width / 60))
    .png(asIs)
    .toBuffer()
  const drop = Math.round(seen.width / 60)
  const { top, left } = seen
  return sharp(canvas)
    .composite([
      { input: await shifted(shadow, seen, drop), left, top },
      { input: shaded, left, top },
    ])
    .png(asIs)
    .toBuffer()
}

/** How bright a photo is in which a garment keeps its colours, and the darkest that it becomes. */
const daylight = 90
const darkest = 0.35

/** The cloth as dark as the photo is. */
async function dimmedAs(photo: Buffer, cloth: Buffer): Promise<Buffer> {
  // one pixel is the mean of all
  const [red = 0, green = 0, blue = 0] = await sharp(photo).resize(1, 1, { fit: 'fill' }).raw().toBuffer()
  const brightness = (red + green + blue) / 3
  const dim = Math.min(1, Math.max(darkest, brightness / daylight))
  return sharp(cloth).linear([dim, dim, dim, 1], [0, 0, 0, 0]).png(asIs).toBuffer()
}

async function shifted(image: Buffer, { width, height }: Size, by: number): Promise<Buffer> {
  const moved = await sharp(image)
    .extend({ top: by, background: { r: 0, g: 0, b: 0, alpha: 0 } })
    .png(asIs)
    .toBuffer()
  return sharp(moved).extract({ left: 0, top: 0, width, height }).png(asIs).toBuffer()
}
