import type { FunnelType } from 'fitting-room/contract'
import sharp from 'sharp'
import { PhotoNotReadable } from '../photo-problems.ts'
import type { Blob, Pictures } from '../ports.ts'
import { mostPixels, pixelsOf } from './pixels.ts'
import { watermark } from './watermark.ts'

const longestSide = 1280
/** Of a picture that others make something of. */
const longestSent = 1600
/** Smaller photos are enlarged, so that the garment has pixels to lie on. */
const shortestSide = 256
const previewWidth = 360

/** Where a garment lies on a portrait, in parts of the photo's width and height. */
interface Placement {
  left: number
  top: number
  width: number
  height: number
  /** How much is added below a photo that ends at the waist, in parts of its height. */
  below: number
}

const placements: Record<FunnelType, Placement> = {
  upper_body: { left: -0.02, top: 0.34, width: 0.82, height: 0.94, below: 0 },
  lower_body: { left: 0.08, top: 0.83, width: 0.64, height: 1, below: 0.9 },
  dress: { left: -0.02, top: 0.34, width: 0.84, height: 1.5, below: 0.88 },
  accessory: { left: 0.345, top: 0.15, width: 0.205, height: 0.085, below: 0 },
  custom: { left: 0.42, top: 0.6, width: 0.16, height: 0.22, below: 0 },
}

/** Lays the garment over the photo, shaded by the photo's own light. */
export async function render(photo: Uint8Array, garment: Uint8Array, funnelType: FunnelType): Promise<Pictures> {
  const base = await upright(photo)
  const { width, height } = base
  const placement = placements[funnelType]
  const below = height / width < 1.35 ? Math.round(height * placement.below) : 0
  const canvas = below === 0 ? base.data : await lengthened(base.data, width, height, below)
  const box = {
    left: Math.round(width * placement.left),
    top: Math.round(height * placement.top),
    width: Math.round(width * placement.width),
    height: Math.round(height * placement.height),
  }
  const worn = await dressed(canvas, { width, height: height + below }, garment, box)
  return finished(worn)
}

/** A picture as it is shown: first small and marked, then whole. */
export async function finished(picture: Uint8Array): Promise<Pictures> {
  const final = await sharp(picture).jpeg({ quality: 88 }).toBuffer()
  const small = await sharp(picture)
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
  return new Uint8Array(
    await sharp(picture, { limitInputPixels: mostPixels })
      .autoOrient()
      .resize({ width: longestSent, height: longestSent, fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#fff' })
      .jpeg({ quality: 90 })
      .toBuffer(),
  )
}

const jpeg = (bytes: Uint8Array): Blob => ({ bytes: new Uint8Array(bytes), type: 'image/jpeg' })

/** The photo the right way up, opaque, and neither too large nor too small. */
async function upright(photo: Uint8Array): Promise<{ data: Buffer; width: number; height: number }> {
  try {
    const decoded = await pixelsOf(photo)
    const { width, height } = await decoded.metadata()
    const side = Math.min(longestSide, Math.max(width, height, shortestSide))
    const { data, info } = await decoded
      .resize({ width: side, height: side, fit: 'inside' })
      .flatten({ background: '#fff' })
      .removeAlpha()
      .toColourspace('srgb')
      .png()
      .toBuffer({ resolveWithObject: true })
    return { data, width: info.width, height: info.height }
  } catch {
    throw new PhotoNotReadable()
  }
}

/** A portrait has no legs: its lower edge, softened, goes on as the background. */
async function lengthened(photo: Buffer, width: number, height: number, below: number): Promise<Buffer> {
  const strip = Math.max(2, Math.round(height * 0.04))
  const edge = await sharp(photo)
    .extract({ left: 0, top: height - strip, width, height: strip })
    .resize({ width, height: below, fit: 'fill' })
    .blur(Math.max(4, width / 12))
    .modulate({ saturation: 0.3 })
    .composite([
      { input: { create: { width, height: below, channels: 4, background: { r: 150, g: 146, b: 142, alpha: 0.72 } } } },
    ])
    .toBuffer()
  return sharp(photo)
    .extend({ bottom: below })
    .composite([{ input: edge, left: 0, top: height }])
    .png()
    .toBuffer()
}

interface Size {
  width: number
  height: number
}

interface Box extends Size {
  left: number
  top: number
}

async function dressed(canvas: Buffer, size: Size, garment: Uint8Array, box: Box): Promise<Buffer> {
  const seen = visible(box, size)
  const cloth = await sharp(await cutOut(garment, box))
    .extract({ left: seen.left - box.left, top: seen.top - box.top, width: seen.width, height: seen.height })
    .png()
    .toBuffer()
  // folds of what is worn below show through, its prints and patches do not
  const softness = Math.max(1, size.width / 48)
  const light = await sharp(canvas).extract(seen).grayscale().blur(softness).linear(0.55, 62).png().toBuffer()
  const shaded = await sharp(cloth)
    .composite([
      { input: light, blend: 'soft-light' },
      { input: cloth, blend: 'dest-in' },
    ])
    .png()
    .toBuffer()
  const shadow = await sharp(cloth)
    .linear([0, 0, 0, 0.45], [0, 0, 0, 0])
    .blur(Math.max(1, seen.width / 60))
    .png()
    .toBuffer()
  const drop = Math.round(seen.width / 60)
  const { top, left } = seen
  return sharp(canvas)
    .composite([
      { input: await shifted(shadow, seen, drop), left, top },
      { input: shaded, left, top },
    ])
    .png()
    .toBuffer()
}

/** The part of the box that lies on the canvas. */
function visible(box: Box, { width, height }: Size): Box {
  const left = Math.max(0, box.left)
  const top = Math.max(0, box.top)
  return {
    left,
    top,
    width: Math.min(width, box.left + box.width) - left,
    height: Math.min(height, box.top + box.height) - top,
  }
}

async function shifted(image: Buffer, { width, height }: Size, by: number): Promise<Buffer> {
  const moved = await sharp(image)
    .extend({ top: by, background: { r: 0, g: 0, b: 0, alpha: 0 } })
    .png()
    .toBuffer()
  return sharp(moved).extract({ left: 0, top: 0, width, height }).toBuffer()
}

/** The garment alone: a picture without transparency loses its near-white background. */
async function cutOut(garment: Uint8Array, { width, height }: Size): Promise<Buffer> {
  const picture = sharp(garment, { limitInputPixels: mostPixels }).resize({ width, height, fit: 'fill' })
  const { isOpaque } = await sharp(garment, { limitInputPixels: mostPixels }).stats()
  if (!isOpaque) return picture.ensureAlpha().png().toBuffer()
  const { data, info } = await picture.ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  for (let at = 0; at < data.length; at += 4) {
    if (Math.min(data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0) > 240) data[at + 3] = 0
  }
  return sharp(data, { raw: { width: info.width, height: info.height, channels: 4 } })
    .png()
    .toBuffer()
}
