import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { FunnelType } from 'fitting-room/contract'
import sharp from 'sharp'
import { render } from '../src/drawing/renderer.ts'
import { samplePhotos } from './sample-photos.ts'

/** Every kind of garment on every kind of photo, in one picture to be looked at. */
const garments: readonly (readonly [FunnelType, string])[] = [
  ['upper_body', 'breton-tee'],
  ['upper_body', 'denim-jacket'],
  ['lower_body', 'linen-trousers'],
  ['lower_body', 'pleated-skirt'],
  ['dress', 'wrap-dress'],
  ['accessory', 'round-sunglasses'],
  ['custom', 'star-rosette'],
]
const cell = 360
const gap = 8
const step = cell + gap

const photos = await samplePhotos()
const cells = await Promise.all(
  photos.flatMap((photo, row) =>
    garments.map(async ([funnelType, name], column) => {
      const garment = readFileSync(fileURLToPath(new URL(`../garments/${name}.svg`, import.meta.url)))
      const { final } = await render(photo, garment, funnelType)
      const input = await sharp(final.bytes)
        .resize({ width: cell, height: cell, fit: 'contain', background: '#fff' })
        .toBuffer()
      return { input, left: column * step, top: row * step }
    }),
  ),
)
const file = process.argv[2] ?? 'contact-sheet.jpeg'
const width = garments.length * step - gap
const sheet = sharp({ create: { width, height: photos.length * step - gap, channels: 3, background: '#999' } })
writeFileSync(file, await sheet.composite(cells).jpeg({ quality: 85 }).toBuffer())
console.log(`${photos.length} photos, ${garments.length} garments: ${file}`)
