import sharp from 'sharp'
import type { Garment } from './garment-picture.ts'
import { asIs } from './pixels.ts'

const height = 960
const margin = 48
const inner = height - 2 * margin
const mostPhotoWidth = 900
const garmentWidth = 620
const corner = 28
const paper = '#f3efe9'

/** The photo beside the garment: where the one cannot be worn in the other. */
export async function card(photo: Buffer, garment: Garment): Promise<Buffer> {
  const left = await sharp(photo)
    .resize({ width: mostPhotoWidth, height: inner, fit: 'inside' })
    .png(asIs)
    .toBuffer({ resolveWithObject: true })
  const { width: photoWidth, height: photoHeight } = left.info
  const right = await sharp(garment.data)
    .resize({ width: garmentWidth - 2 * margin, height: inner - 2 * margin, fit: 'inside' })
    .png(asIs)
    .toBuffer({ resolveWithObject: true })
  const panel = margin + photoWidth + margin
  return sharp({ create: { width: panel + garmentWidth + margin, height, channels: 3, background: paper } })
    .composite([
      {
        input: await rounded(left.data, photoWidth, photoHeight),
        left: margin,
        top: Math.round((height - photoHeight) / 2),
      },
      { input: await rounded(blank(garmentWidth, inner), garmentWidth, inner), left: panel, top: margin },
      {
        input: right.data,
        left: panel + Math.round((garmentWidth - right.info.width) / 2),
        top: Math.round((height - right.info.height) / 2),
      },
    ])
    .png(asIs)
    .toBuffer()
}

const blank = (width: number, high: number) => svg(width, high, '#fff', 0)
const svg = (width: number, high: number, fill: string, radius: number) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${high}"><rect width="${width}" height="${high}" rx="${radius}" fill="${fill}"/></svg>`,
  )

/** With round corners. */
const rounded = (picture: Buffer, width: number, high: number) =>
  sharp(picture)
    .ensureAlpha()
    .composite([{ input: svg(width, high, '#000', corner), blend: 'dest-in' }])
    .png(asIs)
    .toBuffer()
