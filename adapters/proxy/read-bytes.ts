/** All of a body, of which no more is read than may be; null where there is more. */
export async function readBytes(body: ReadableStream<Uint8Array> | null, atMost: number): Promise<Uint8Array | null> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body ?? []) {
    length += part.length
    if (length > atMost) return null
    parts.push(part)
  }
  const bytes = new Uint8Array(length)
  parts.reduce((at, part) => (bytes.set(part, at), at + part.length), 0)
  return bytes
}
