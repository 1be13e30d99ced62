/** Letters as strokes in a 10 × 16 box each: a machine without fonts draws them too. */
const strokes: Readonly<Record<string, string>> = {
  A: 'M0 16L5 0L10 16M2 10H8',
  B: 'M0 0V16H6Q10 16 10 12T6 8H0M0 0H5Q9 0 9 4T5 8',
  D: 'M0 0V16H4Q10 16 10 8T4 0H0',
  E: 'M10 0H0V16H10M0 8H8',
  I: 'M5 0V16',
  N: 'M0 16V0L10 16V0',
  O: 'M5 0Q0 0 0 8T5 16Q10 16 10 8T5 0',
  P: 'M0 16V0H6Q10 0 10 4T6 8H0',
  R: 'M0 16V0H6Q10 0 10 4T6 8H0M5 8L10 16',
  S: 'M10 2Q8 0 5 0Q0 0 0 4T5 8Q10 8 10 12T5 16Q2 16 0 14',
  V: 'M0 0L5 16L10 0',
  W: 'M0 0L2.5 16L5 6L7.5 16L10 0',
  X: 'M0 0L10 16M10 0L0 16',
}
/** From one letter to the next. */
const advance = 15

const lettersOf = (word: string) =>
  [...word].map((letter, at) => `<path d="${strokes[letter]}" transform="translate(${at * advance} 0)"/>`).join('')
const svg = (width: number, height: number, content: string) =>
  new TextEncoder().encode(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" stroke-linecap="round" stroke-linejoin="round">${content}</svg>`,
  )

/** Diagonal rows of PREVIEW, as large as the picture. */
export function watermark(width: number, height: number): Uint8Array {
  return svg(
    width,
    height,
    `<defs><pattern id="w" width="150" height="70" patternUnits="userSpaceOnUse" patternTransform="rotate(-24)">
    <g fill="none" stroke="#fff" stroke-opacity=".55" stroke-width="2.4">${lettersOf('PREVIEW')}</g>
  </pattern></defs><rect width="${width}" height="${height}" fill="url(#w)"/>`,
  )
}

/** SANDBOX in the lower right corner of a picture of that size. */
export function sandboxMark(width: number, height: number): Uint8Array {
  const scale = Math.max(width, height) / 1400
  const [wide, high] = [130 * scale, 36 * scale]
  const margin = 14 * scale
  return svg(
    width,
    height,
    `<g transform="translate(${width - wide - margin} ${height - high - margin})">
    <rect width="${wide}" height="${high}" rx="${high / 2}" fill="#17140f" fill-opacity=".55"/>
    <g transform="translate(${16 * scale} ${10 * scale}) scale(${scale})" fill="none" stroke="#fff" stroke-opacity=".9" stroke-width="2">${lettersOf('SANDBOX')}</g>
  </g>`,
  )
}
