/**
 * The whole body, or 'tooLarge'. It is always read to its end: a client whose body is refused halfway sees a broken
 * connection instead of the answer.
 */
export async function readBody(request: Request, largest: number): Promise<Uint8Array<ArrayBuffer> | 'tooLarge'> {
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body) {
    size += chunk.length
    if (size <= largest) chunks.push(chunk)
  }
  return size > largest ? 'tooLarge' : new Uint8Array(Buffer.concat(chunks))
}
