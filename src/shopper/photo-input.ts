import { TryOnError } from '../rules/try-on-error.ts'
import type { ImageType } from '../contract/resources.ts'
import { httpUrl } from '../contract/resources.ts'
import { withinLimit } from '../platform/clock.ts'
import { ownBytes } from '../platform/own-bytes.ts'
import type { Clock, StoredPhoto } from '../ports.ts'
import type { PhotoProblem } from '../rules/problem.ts'

/**
 * What `start` and `retry` take as a photo: a File or Blob; its bytes, where there are no such files, as in React
 * Native; or the public http(s) URL that it already has. Its type is read from the bytes, not from `type` or a file's
 * name.
 */
export type PhotoInput = Blob | { bytes: ArrayBuffer | ArrayBufferView; type?: string } | { imageUrl: string }

/** How long reading a file may take, in ms: it may be in a cloud, or on a device that is gone. */
const readLimitMs = 30_000

/** The photo's bytes with the type that they really have, or its URL; throws `TryOnError` of kind `photo`. */
export async function readPhoto(input: PhotoInput, clock: Clock): Promise<StoredPhoto | { imageUrl: string }> {
  const bytes = await bytesOf(input, clock)
  if (bytes === null) {
    const { imageUrl } = Object(input)
    if (httpUrl.safeParse(imageUrl).success) return { imageUrl }
    return refusePhoto('url')
  }
  if (bytes.byteLength === 0) return refusePhoto('empty')
  const type = imageTypeOf(new Uint8Array(bytes, 0, Math.min(bytes.byteLength, 64)))
  if (type === null) return refusePhoto('type')
  return { bytes, type }
}

async function bytesOf(input: PhotoInput, clock: Clock): Promise<ArrayBuffer | null> {
  if (!isFile(input)) return ownBytes(Object(input).bytes)
  const read = async () => {
    const given: unknown = await input.arrayBuffer()
    const bytes = given instanceof ArrayBuffer ? given : ownBytes(given)
    if (bytes === null) throw new TypeError('a file without bytes')
    return bytes
  }
  return withinLimit(clock, readLimitMs, read()).catch((cause: unknown) => refusePhoto('unreadable', cause))
}

export function refusePhoto(reason: PhotoProblem['reason'], cause?: unknown): never {
  throw new TryOnError({ kind: 'photo', reason }, null, cause)
}

/** Some platforms have no such thing, and one of a frame is of a class of its own. */
const isFile = (input: unknown): input is Blob => typeof Object(input).arrayBuffer === 'function'

/** Nothing but what belongs to a photo, as it is now: more may be of a kind that cannot be passed on. */
export function plainPhoto(photo: PhotoInput): PhotoInput {
  if (isFile(photo)) return photo
  const { bytes, imageUrl } = Object(photo)
  // the application may go on with its buffer
  return bytes === undefined ? { imageUrl } : { bytes: ownBytes(bytes) ?? bytes }
}

/** The image type that the first bytes tell; files lie about theirs, and HEIC files often have none. */
function imageTypeOf(head: Uint8Array): ImageType | null {
  const ascii = (from: number, to: number) => String.fromCharCode(...head.subarray(from, to))
  if (head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff) return 'image/jpeg'
  if (head[0] === 0x89 && ascii(1, 8) === 'PNG\r\n\x1a\n') return 'image/png'
  if (ascii(0, 4) === 'RIFF' && ascii(8, 12) === 'WEBP') return 'image/webp'
  if (ascii(4, 8) !== 'ftyp') return null
  const brand = ascii(8, 12)
  // where the first brand is the container's, those that it is compatible with tell
  const all = /^(mif1|msf1)$/.test(brand) ? ascii(16, head[3] ?? 0) : brand
  if (/avi[fs]/.test(all)) return 'image/avif'
  if (/he(ic|ix|im|is|vc|vx)/.test(all)) return 'image/heic'
  return all === brand ? null : 'image/heif'
}
