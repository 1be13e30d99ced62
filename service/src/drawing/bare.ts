import { imageTypeOf } from '../photo-formats.ts'

/** Whether a file holds pixels and their colours and nothing else: no place, no time, no text, nothing behind its end. */
export function isBare(bytes: Uint8Array): boolean {
  const walk = walks[imageTypeOf(bytes) ?? '']
  return walk !== undefined && walk(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength))
}

const textAt = (view: DataView, at: number, length: number) =>
  String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + at, Math.min(length, view.byteLength - at)))

const walks: Partial<Record<string, (view: DataView) => boolean>> = {
  'image/jpeg': isBareJpeg,
  'image/png': isBarePng,
  'image/webp': isBareWebp,
}

/** Tables, frames, scans and restarts. */
const jpegMarkers = new Set([0xc0, 0xc1, 0xc2, 0xc4, 0xda, 0xdb, 0xdd])
/** What may stand in an application's segment, and how long it is then: density without a thumbnail, how colours are kept. */
const jpegSegments: Partial<Record<number, { head: string; length: number }>> = {
  0xe0: { head: 'JFIF\0', length: 16 },
  0xee: { head: 'Adobe', length: 14 },
}
const [startOfScan, endOfImage] = [0xda, 0xd9]

function isBareJpeg(view: DataView): boolean {
  let at = 2
  while (at + 4 <= view.byteLength && view.getUint8(at) === 0xff) {
    const marker = view.getUint8(at + 1)
    const length = view.getUint16(at + 2)
    const segment = jpegSegments[marker]
    const isKnown = segment
      ? segment.length === length && textAt(view, at + 4, segment.head.length) === segment.head
      : jpegMarkers.has(marker)
    if (!isKnown) return false
    at += 2 + length
    if (marker === startOfScan) at = endOfScan(view, at)
    if (at + 2 === view.byteLength) return view.getUint16(at) === 0xff00 + endOfImage
  }
  return false
}

/** Where the next marker is that is none of the scan's own. */
function endOfScan(view: DataView, from: number): number {
  for (let at = from; at + 1 < view.byteLength; at++) {
    if (view.getUint8(at) !== 0xff) continue
    const next = view.getUint8(at + 1)
    const isOfScan = next === 0 || next === 0xff || (next >= 0xd0 && next <= 0xd7)
    if (!isOfScan) return at
  }
  return view.byteLength
}

/** What a PNG may consist of, each with the most bytes that it can need. */
const pngChunks: Partial<Record<string, number>> = {
  IHDR: 13,
  PLTE: 768,
  IDAT: Infinity,
  IEND: 0,
  tRNS: 256,
  gAMA: 4,
  cHRM: 32,
  sRGB: 1,
  sBIT: 4,
  bKGD: 6,
  pHYs: 9,
  cICP: 4,
  mDCV: 24,
  cLLI: 8,
}

function isBarePng(view: DataView): boolean {
  for (let at = 8; at + 12 <= view.byteLength;) {
    const name = textAt(view, at + 4, 4)
    const length = view.getUint32(at)
    if (length > (pngChunks[name] ?? -1)) return false
    at += 12 + length
    if (name === 'IEND') return at === view.byteLength
  }
  return false
}

const webpChunks = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH'])

function isBareWebp(view: DataView): boolean {
  let at = 12
  while (at + 8 <= view.byteLength && webpChunks.has(textAt(view, at, 4))) {
    const length = view.getUint32(at + 4, true)
    at += 8 + length + (length % 2)
  }
  return at === view.byteLength && view.getUint32(4, true) + 8 === at
}
