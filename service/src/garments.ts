import { readFile } from 'node:fs/promises'
import { isUrl } from './config.ts'
import { fetchPhoto } from './photo-fetcher.ts'
import { imageTypeOf } from './photo-formats.ts'
import { placeholderGarment } from './placeholder.ts'
import type { Job } from './ports.ts'
import { PutOff } from './put-off.ts'
import { isOfThisMachine } from './this-machine.ts'

/** The picture of a product: its file, its address, or one that is drawn. */
export async function garmentOf({ image, title }: Job['product'], fetch = fetchPhoto): Promise<Uint8Array> {
  if (!image) return placeholderGarment(title)
  if (!isUrl(image)) return readFile(image).catch(unread)
  const bytes = await fetch(image)
  if (imageTypeOf(bytes) === null) throw new Error('the picture of the product is no JPEG, PNG, WebP, HEIC or AVIF')
  return bytes
}

function unread(cause: unknown): never {
  throw isOfThisMachine(cause) ? new PutOff('no file can be read now', { cause }) : cause
}
