import type { FileParts } from './file-parts.ts'

/** What makes up the picture: what every reader has to know, its colours, and the frames of one that moves. */
const picture = /^([A-Z]|tRNS|gAMA|cHRM|sRGB|iCCP|cICP|sBIT|acTL|fcTL|fdAT)/

/** Reads a PNG file chunk by chunk, as far as it goes; throws a RangeError where not even its header is there. */
export function readPng(bytes: ArrayBuffer): FileParts {
  const view = new DataView(bytes)
  const png: FileParts = {
    size: { width: view.getUint32(16), height: view.getUint32(20) },
    isWhole: false,
    parts: [[0, 8]],
  }
  for (let at = 8; !png.isWhole && at + 12 <= bytes.byteLength;) {
    const name = String.fromCharCode(...new Uint8Array(bytes, at + 4, 4))
    const end = at + 12 + view.getUint32(at)
    if (end > bytes.byteLength) break
    if (picture.test(name)) png.parts.push([at, end])
    png.isWhole = name === 'IEND'
    at = end
  }
  return png
}
