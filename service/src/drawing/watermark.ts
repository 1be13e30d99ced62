/** The letters of PREVIEW as strokes in a 10 × 16 box each: a machine without fonts draws them too. */
const letters = [
  'M0 16V0H6Q10 0 10 4T6 8H0',
  'M0 16V0H6Q10 0 10 4T6 8H0M5 8L10 16',
  'M10 0H0V16H10M0 8H8',
  'M0 0L5 16L10 0',
  'M5 0V16',
  'M10 0H0V16H10M0 8H8',
  'M0 0L2.5 16L5 6L7.5 16L10 0',
]

/** Diagonal rows of the word, as large as the picture. */
export function watermark(width: number, height: number): Uint8Array {
  const word = letters.map((path, at) => `<path d="${path}" transform="translate(${at * 15} 0)"/>`).join('')
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
  <defs><pattern id="w" width="150" height="70" patternUnits="userSpaceOnUse" patternTransform="rotate(-24)">
    <g fill="none" stroke="#fff" stroke-opacity=".55" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round">${word}</g>
  </pattern></defs><rect width="${width}" height="${height}" fill="url(#w)"/></svg>`
  return new TextEncoder().encode(svg)
}
