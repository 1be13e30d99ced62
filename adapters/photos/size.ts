import type { FileParts, Size } from './file-parts.ts'

/** What a WebP file's header tells, without decoding it: its size, and whether its end is there. */
export const readWebp = (view: DataView): Pick<FileParts, 'size' | 'isWhole'> => ({
  size: sizeOfWebp(view),
  isWhole: view.getUint32(4, true) + 8 <= view.byteLength,
})

function sizeOfWebp(view: DataView): Size | null {
  const form = view.getUint32(12)
  if (form === fourCc('VP8X')) return { width: 1 + uint24(view, 24), height: 1 + uint24(view, 27) }
  if (form === fourCc('VP8 ')) {
    return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
  }
  if (form !== fourCc('VP8L')) return null
  const bits = view.getUint32(21, true)
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >> 14) & 0x3fff) }
}

const uint24 = (view: DataView, at: number) => view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000

/**
 * The size of an HEIC, HEIF or AVIF file: of its items, thumbnails and tiles among them, the largest. Which way up it is
 * to be looked at is told elsewhere.
 */
export function sizeOfHeif(view: DataView): Size | null {
  const sizes: Size[] = []
  const end = Math.min(view.byteLength - 16, headerBytes)
  for (let at = 0; at < end; at += 1) {
    if (view.getUint32(at) === ispe) sizes.push({ width: view.getUint32(at + 8), height: view.getUint32(at + 12) })
  }
  return sizes.sort((one, other) => other.width * other.height - one.width * one.height)[0] ?? null
}

const headerBytes = 65_536
const fourCc = (name: string) => [...name].reduce((code, letter) => code * 256 + letter.charCodeAt(0), 0)
const ispe = fourCc('ispe')
