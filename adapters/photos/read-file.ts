import type { StoredPhoto } from '../../src/ports.ts'
import { joined, type FileParts, type Size } from './file-parts.ts'
import { exifOf, readJpeg } from './jpeg.ts'
import { readPng } from './png.ts'
import { readWebp, sizeOfHeif } from './size.ts'

/** What a photo's file tells before anything is decoded. */
export interface PhotoFile {
  /** Null where it tells none. */
  size: Size | null
  /** False of a file that is known to end too soon; what there is of it can still be cleaned. */
  isWhole: boolean
  /** The same file with nothing but the picture, and how it is to be turned; null where that cannot be had. */
  clean(): ArrayBuffer | null
}

export function readFile({ bytes, type }: StoredPhoto): PhotoFile {
  try {
    if (type === 'image/jpeg') {
      const { orientation, ...file } = readJpeg(bytes)
      return fileOf(bytes, file, orientation === 1 ? [] : [exifOf(orientation)])
    }
    if (type === 'image/png') return fileOf(bytes, readPng(bytes), [])
    const view = new DataView(bytes)
    const told = type === 'image/webp' ? readWebp(view) : { size: sizeOfHeif(view), isWhole: true }
    return { ...told, clean: () => null }
  } catch {
    // it ends in the midst of what it tells
    return { size: null, isWhole: false, clean: () => null }
  }
}

const fileOf = (bytes: ArrayBuffer, { size, isWhole, parts }: FileParts, added: readonly Uint8Array[]): PhotoFile => ({
  size,
  isWhole,
  // a file that ends too soon is cleaned as far as it goes
  clean: () => (size && parts.length > 0 ? joined(bytes, parts, added) : null),
})
