const heifBrands = ['heic', 'heix', 'hevc', 'heim', 'heis', 'mif1', 'msf1', 'avif', 'avis']
const textOf = (bytes: Uint8Array, from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to))

/** Whether it is of the family of HEIC and AVIF. */
export const isHeif = (bytes: Uint8Array): boolean =>
  textOf(bytes, 4, 8) === 'ftyp' && heifBrands.includes(textOf(bytes, 8, 12))

/** Of which type the content says that it is, whatever its name says; null where it is none that the contract takes. */
export function imageTypeOf(bytes: Uint8Array): string | null {
  if (textOf(bytes, 0, 3) === '\xff\xd8\xff') return 'image/jpeg'
  if (textOf(bytes, 0, 8) === '\x89PNG\r\n\x1a\n') return 'image/png'
  if (textOf(bytes, 0, 4) === 'RIFF' && textOf(bytes, 8, 12) === 'WEBP') return 'image/webp'
  if (!isHeif(bytes)) return null
  return textOf(bytes, 8, 10) === 'av' ? 'image/avif' : 'image/heic'
}
