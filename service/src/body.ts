/**
 * The whole body, or 'tooLarge'. It is always read to its end: a client whose body is refused halfway sees a broken
 * connection instead of the answer.
 */
export async function readBody(request: Request, largest: number): Promise<Uint8Array<ArrayBuffer> | 'tooLarge'> {
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  const reader = request.body.getReader()
  // not every browser iterates over a stream
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.length
    if (size <= largest) chunks.push(part.value)
  }
  return size > largest ? 'tooLarge' : new Uint8Array(await new Blob(chunks).arrayBuffer())
}

const longestDrainMs = 5_000
const mostDrained = 64 * 1024 * 1024

/** Reads what a refused request still sends, within bounds, for the same reason. */
export async function drain(request: Request): Promise<void> {
  if (request.body === null || request.bodyUsed) return
  const reader = request.body.getReader()
  let size = 0
  const read = async () => {
    for (let part = await reader.read(); !part.done && size < mostDrained; part = await reader.read())
      size += part.value.length
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  const limit = new Promise<void>((resolve) => (timer = setTimeout(resolve, longestDrainMs)))
  await Promise.race([read().catch(() => undefined), limit])
  clearTimeout(timer)
}
