import type { FileParts } from './file-parts.ts'

/** A JPEG file tells how it is to be turned, too: 1 to 8, as Exif counts. */
export interface Jpeg extends FileParts {
  orientation: number
}

const startOfScan = 0xda
const endOfImage = 0xd9
/** Any number of it may stand before a marker. */
const fill = 0xff
const app = (number: number) => 0xe0 + number

/** Reads a JPEG file part by part, as far as it goes; between parts there may be bytes that mean nothing. */
export function readJpeg(bytes: ArrayBuffer): Jpeg {
  const view = new DataView(bytes)
  const jpeg: Jpeg = { size: null, orientation: 1, isWhole: false, parts: [[0, 2]] }
  let hasExif = false
  let isScanned = false
  for (let at = 2; at + 2 <= view.byteLength;) {
    const marker = view.getUint8(at + 1)
    if (marker === endOfImage && view.getUint8(at) === 0xff) {
      jpeg.isWhole = isScanned
      jpeg.parts.push([at, at + 2])
      break
    }
    if (view.getUint8(at) !== 0xff || marker < 0xc0 || isRestart(marker) || marker === fill) {
      at += 1
      continue
    }
    if (at + 4 > view.byteLength) break
    const end = at + 2 + view.getUint16(at + 2)
    if (end > view.byteLength) break
    if (isFrame(marker)) jpeg.size = { width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    // of several the first one counts, and none after the picture
    if (marker === app(1) && !hasExif && !isScanned && textAt(view, at + 4, 4) === 'Exif') {
      hasExif = true
      jpeg.orientation = orientationIn(view, at + 10, end)
    }
    isScanned ||= marker === startOfScan
    const next = marker === startOfScan ? endOfScan(new Uint8Array(bytes), end) : end
    if (isPicture(view, at, marker)) jpeg.parts.push([at, next])
    at = next
  }
  // without a scan there is no picture in it
  if (!isScanned) jpeg.parts = []
  const { size, orientation } = jpeg
  if (size !== null && orientation > 4) jpeg.size = { width: size.height, height: size.width }
  return jpeg
}

/** Start of frame, of any kind; three of its numbers are other things. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

const isRestart = (marker: number) => marker >= 0xd0 && marker <= 0xd8

/** JFIF without a small picture, Adobe's note on colours and the colour profile belong to it; all other notes are metadata. */
function isPicture(view: DataView, at: number, marker: number): boolean {
  if (marker >= 0xc0 && marker <= 0xdf) return true
  const length = view.getUint16(at + 2)
  if (marker === app(0)) return length === 16 && textAt(view, at + 4, 4) === 'JFIF'
  if (marker === app(14)) return length === 14 && textAt(view, at + 4, 5) === 'Adobe'
  return marker === app(2) && textAt(view, at + 4, 11) === 'ICC_PROFILE'
}

const textAt = (view: DataView, at: number, length: number) =>
  String.fromCharCode(...new Uint8Array(view.buffer, at, length))

/** Where the next part begins: in what is scanned 0xff stands before 0 or a restart only. */
function endOfScan(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at
  }
  return bytes.length
}

const orientationTag = 0x0112

/** What a TIFF table within a file says of it; 1 where it says nothing that can be meant. */
function orientationIn(view: DataView, tiff: number, to: number): number {
  if (tiff + 8 > to) return 1
  const isLittle = view.getUint16(tiff) === 0x4949
  const table = tiff + view.getUint32(tiff + 4, isLittle)
  if (table + 2 > to) return 1
  const count = view.getUint16(table, isLittle)
  for (let at = table + 2; at < Math.min(table + 2 + count * 12, to - 11); at += 12) {
    if (view.getUint16(at, isLittle) !== orientationTag) continue
    const isLong = view.getUint16(at + 2, isLittle) === 4
    const orientation = isLong ? view.getUint32(at + 8, isLittle) : view.getUint16(at + 8, isLittle)
    return orientation >= 1 && orientation <= 8 ? orientation : 1
  }
  return 1
}

/** An Exif part that says nothing but that. */
export function exifOf(orientation: number): Uint8Array<ArrayBuffer> {
  const part = new Uint8Array(36)
  const view = new DataView(part.buffer)
  part.set([0xff, app(1), 0, 34, ...Array.from('Exif\0\0MM\0*', (char) => char.charCodeAt(0)), 0, 0, 0, 8, 0, 1])
  view.setUint16(20, orientationTag)
  view.setUint16(22, 3)
  view.setUint32(24, 1)
  view.setUint16(28, orientation)
  return part
}
