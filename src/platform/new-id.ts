/** Gives that many random bytes, of cryptographic quality. */
export type RandomBytes = (count: number) => Uint8Array

let randomBytes: RandomBytes = (count) => crypto.getRandomValues(new Uint8Array(count))

/** What a platform without `crypto` has in its place. */
export function provideRandomBytes(given: RandomBytes | undefined): void {
  if (given) randomBytes = given
}

/** A random ID of 32 hex digits; `crypto.randomUUID` is missing on pages that came over plain HTTP. */
export function newId(): string {
  return Array.from(randomBytes(16), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
