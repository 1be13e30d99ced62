import { readFile } from 'node:fs/promises'
import { isUrl } from './config.ts'
import { fetchPhoto } from './photo-fetcher.ts'
import { placeholderGarment } from './placeholder.ts'
import type { Job } from './ports.ts'

/** The picture of a product: its file, its address, or one that is drawn. */
export async function garmentOf({ image, title }: Job['product']): Promise<Uint8Array> {
  if (!image) return placeholderGarment(title)
  return isUrl(image) ? fetchPhoto(image) : readFile(image)
}
