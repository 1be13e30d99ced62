/** A plain garment for products that have no picture of their own; the title picks the colour. */
export function placeholderGarment(title: string): Uint8Array {
  const hue = [...title].reduce((sum, char) => (sum * 31 + (char.codePointAt(0) ?? 0)) % 360, 7)
  const shape =
    'M143 22C160 62 240 62 257 22L306 40C350 58 374 104 396 196L334 220L318 164L326 460H74L82 164L66 220L4 196C26 104 50 58 94 40Z'
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 460" width="800" height="920"><path d="${shape}" fill="hsl(${hue} 45% 48%)"/></svg>`
  return new TextEncoder().encode(svg)
}
