/** A random ID of 32 hex digits; `crypto.randomUUID` is missing on pages that came over plain HTTP. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
