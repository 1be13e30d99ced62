/** 32 random hex digits. */
export const randomText = () => [...crypto.getRandomValues(new Uint8Array(16))].map(hex).join('')

/** A random UUID, version 4; `crypto.randomUUID` is missing on pages that came over plain HTTP. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const digits = [...bytes].map(hex).join('')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

const hex = (byte: number) => byte.toString(16).padStart(2, '0')
