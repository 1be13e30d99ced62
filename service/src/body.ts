/** How much of a body is read though it is not taken, in bytes. */
const mostDrained = 64 * 1024 * 1024
/** For how long the rest of a body is read that is not wanted, in ms. */
const longestDrainMs = 5_000

export interface BodyLimits {
  /** In bytes. */
  atMost: number
  /** How long it may take to arrive, in ms. */
  longestMs: number
}

/**
 * The whole body, or why it is not taken. A body that is too large is read on within bounds: a client whose body is refused
 * halfway sees a broken connection instead of the answer.
 */
export async function readBody(
  { body }: Request,
  { atMost, longestMs }: BodyLimits,
): Promise<Uint8Array<ArrayBuffer> | 'tooLarge' | 'tooSlow'> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  const isRead = await read(body, longestMs, (chunk) => {
    size += chunk.length
    if (size <= atMost) chunks.push(chunk)
    return size < Math.max(atMost, mostDrained)
  })
  if (size > atMost) return 'tooLarge'
  return isRead ? new Uint8Array(await new Blob(chunks).arrayBuffer()) : 'tooSlow'
}

/** Reads what a refused request still sends, within bounds, for the same reason. */
export async function drain({ body, bodyUsed }: Request): Promise<void> {
  if (bodyUsed) return
  let size = 0
  await read(body, longestDrainMs, ({ length }) => (size += length) < mostDrained).catch(() => false)
}

/** Reads until the end, or as long as `take` wants more and there is time; resolves with whether it came to the end. */
async function read(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  longestMs: number,
  take: (chunk: Uint8Array<ArrayBuffer>) => boolean,
): Promise<boolean> {
  if (body === null) return true
  const reader = body.getReader()
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<null>((resolve) => (timer = setTimeout(resolve, longestMs, null)))
  try {
    // not every browser iterates over a stream
    for (;;) {
      const part = await Promise.race([reader.read(), late])
      if (part === null) return false
      if (part.done) return true
      if (!take(part.value)) return false
    }
  } finally {
    clearTimeout(timer)
  }
}
