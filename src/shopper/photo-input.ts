import { TryOnError } from '../rules/try-on-error.ts'
import type { ImageType } from '../contract/resources.ts'
import { httpUrl } from '../contract/resources.ts'
import { withinLimit } from '../platform/clock.ts'
import type { Clock, StoredPhoto } from '../ports.ts'

/** What `start` and `retry` take for a photo: a File or Blob, or a photo that already has a public http(s) URL. */
export type PhotoInput = Blob | { imageUrl: string }

/** How long reading a file may take, in ms: it may be in a cloud, or on a device that is gone. */
const readLimitMs = 30_000

/** The photo's bytes with the type that they really have, or its URL; throws `TryOnError` of kind `photo`. */
export async function readPhoto(input: PhotoInput, clock: Clock): Promise<StoredPhoto | { imageUrl: string }> {
  if (!(input instanceof Blob)) {
    if (httpUrl.safeParse(input?.imageUrl).success) return { imageUrl: input.imageUrl }
    throw new TryOnError({ kind: 'photo', reason: 'url' })
  }
  const bytes = await withinLimit(clock, readLimitMs, input.arrayBuffer()).catch(() => {
    throw new TryOnError({ kind: 'photo', reason: 'unreadable' })
  })
  if (bytes.byteLength === 0) throw new TryOnError({ kind: 'photo', reason: 'empty' })
  const type = imageTypeOf(new Uint8Array(bytes, 0, Math.min(bytes.byteLength, 32)))
  if (type === null) throw new TryOnError({ kind: 'photo', reason: 'type' })
  return { bytes, type }
}

/** The image type that the first bytes tell; files lie about theirs, and HEIC files often have none. */
function imageTypeOf(head: Uint8Array): ImageType | null {
  const ascii = (from: number, to: number) => String.fromCharCode(...head.subarray(from, to))
  if (head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff) return 'image/jpeg'
  if (head[0] === 0x89 && ascii(1, 8) === 'PNG\r\n\x1a\n') return 'image/png'
  if (ascii(0, 4) === 'RIFF' && ascii(8, 12) === 'WEBP') return 'image/webp'
  if (ascii(4, 8) !== 'ftyp') return null
  const brand = ascii(8, 12)
  if (brand === 'avif' || brand === 'avis') return 'image/avif'
  if (/^(heic|heix|heim|heis|hevc|hevx)$/.test(brand)) return 'image/heic'
  return /^(mif1|msf1)$/.test(brand) ? 'image/heif' : null
}
