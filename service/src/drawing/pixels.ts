import sharp, { type Sharp } from 'sharp'
import { imageTypeOf, isHeif } from '../photo-formats.ts'
import { PhotoNotReadable } from '../photo-problems.ts'

/** What a picture may have at the most, decoded. */
const mostPixels = 60_000_000

/** Of a picture between two steps, as PNG: to pack it would take longer than to draw it. */
export const asIs = { compressionLevel: 0 }

/** What the decoder may find in a photo, as it names it: its own look goes further than the first bytes. */
const decodable: readonly (string | undefined)[] = ['jpeg', 'png', 'webp', 'heif']

/** A photo that came from outside, the right way up; rejects with `PhotoNotReadable` where it cannot be decoded. */
export async function pixelsOf(photo: Uint8Array): Promise<Sharp> {
  if (imageTypeOf(photo) === null) throw new PhotoNotReadable()
  const decoded = (isHeif(photo) && (await heicOf(photo))) || (await commonOf(photo))
  return decoded.autoOrient()
}

/** A product's picture: what comes from outside is of the formats that photos have, what is not may be a drawing. */
export async function pictureOf(picture: Uint8Array): Promise<Sharp> {
  return imageTypeOf(picture) === null ? sharp(picture, { limitInputPixels: mostPixels }) : pixelsOf(picture)
}

async function commonOf(photo: Uint8Array): Promise<Sharp> {
  const read = sharp(photo, { limitInputPixels: mostPixels })
  const { format } = await read.metadata().catch(() => ({ format: undefined }))
  if (!decodable.includes(format)) throw new PhotoNotReadable()
  return read
}

/** The first image of a HEIC file, whose size is looked at before it is decoded; null where it is another format. */
async function heicOf(photo: Uint8Array): Promise<Sharp | null> {
  // most photos are none
  const { default: heic } = await import('heic-decode')
  const images = await heic.all({ buffer: photo }).catch(() => null)
  const first = images?.[0]
  if (!first) return null
  try {
    const { width, height } = first
    if (width * height > mostPixels) throw new PhotoNotReadable()
    const decoded = await first.decode().catch(() => null)
    return decoded && sharp(decoded.data, { raw: { width, height, channels: 4 } })
  } finally {
    images.dispose()
  }
}
