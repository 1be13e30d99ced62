import { readFile } from 'node:fs/promises'
import { isUrl, type ProductConfig } from './config.ts'
import { fetchPhoto } from './photo-fetcher.ts'
import { placeholderGarment } from './placeholder.ts'

/** The picture of a product: its file, its address, or one that is drawn. */
export async function garmentOf({ image, title }: ProductConfig): Promise<Uint8Array> {
  if (!image) return placeholderGarment(title)
  return isUrl(image) ? fetchPhoto(image) : readFile(image)
}
