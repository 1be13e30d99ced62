/** How files begin of the types that the contract takes: JPEG, PNG, WebP, and the family of HEIC and AVIF. */
const heads =
  /^(?:ffd8ff|89504e470d0a1a0a|52494646.{8}57454250|.{8}66747970(?:68656963|68656978|68657663|6d696631|6d736631|61766966|61766973|6865696d|68656973))/

/** Whether the content says that it is a photo of a type that the contract takes, whatever its name says. */
export function isPhoto(bytes: Uint8Array): boolean {
  const head = Array.from(bytes.subarray(0, 12), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return heads.test(head)
}
