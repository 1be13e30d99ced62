/** How much of a body is read though it is not taken, in bytes. */
const mostDrained = 64 * 1024 * 1024
/** For how long the rest of a body is read that is not wanted, in ms. */
const longestDrainMs = 5_000

export interface BodyLimits {
  /** In bytes. */
  atMost: number
  /** How long it may take to arrive, in ms. */
  longestMs: number
  /** How slowly it may arrive, once that many ms have passed. */
  slowest?: { bytesPerMs: number; afterMs: number }
  /** Once it is aborted somebody waits for this one to end: then each part of it may take `hurriedMs`. */
  hurry?: AbortSignal
}

const hurriedMs = 2_000

/** Why a body is not taken. */
export type BodyProblem = 'tooLarge' | 'tooSlow'

type Sent = Pick<Request, 'body'> & Partial<Pick<Request, 'arrayBuffer'>>

/** As a stream, which Firefox has none of for a request that is made in a page. */
async function streamOf(request: Sent): Promise<Sent['body']> {
  const body = request.body as Sent['body'] | undefined
  return body === undefined ? new Response(await request.arrayBuffer?.()).body : body
}

/** The whole body, or why it is not taken. */
export async function readBody(request: Sent, limits: BodyLimits): Promise<Uint8Array<ArrayBuffer> | BodyProblem> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  const problem = await takeBody(request, limits, (chunk) => void chunks.push(chunk))
  return problem ?? new Uint8Array(await new Blob(chunks).arrayBuffer())
}

/**
 * Gives the body to `write`, a part after the other, or says why it is not taken. One that is too large is read on within
 * bounds: a client whose body is refused halfway sees a broken connection instead of the answer.
 */
export async function takeBody(
  request: Sent,
  { atMost, longestMs, slowest, hurry }: BodyLimits,
  write: (chunk: Uint8Array<ArrayBuffer>) => unknown,
): Promise<BodyProblem | null> {
  let size = 0
  const enoughMs = () => (slowest ? Math.min(longestMs, slowest.afterMs + size / slowest.bytesPerMs) : longestMs)
  const take = async (chunk: Uint8Array<ArrayBuffer>) => {
    size += chunk.length
    if (size <= atMost) await write(chunk)
    return size < Math.max(atMost, mostDrained)
  }
  const isRead = await read(request, enoughMs, take, hurry)
  if (size > atMost) return 'tooLarge'
  return isRead ? null : 'tooSlow'
}

/** Reads what a refused request still sends, within bounds, for the same reason. */
export async function drain(request: Request): Promise<void> {
  if (request.bodyUsed) return
  let size = 0
  await read(
    request,
    () => longestDrainMs,
    async ({ length }) => (size += length) < mostDrained,
  ).catch(() => false)
}

/** How many parts of bodies are asked for in a turn: however many arrive at once, what else is asked is answered between them. */
const partsAtOnce = 8
/** Of this turn, with those that wait for the next one. */
let parts = 0
const waiting: (() => void)[] = []

/** Resolves when a part may be asked for; when it comes does not matter. */
async function turnToRead(): Promise<void> {
  parts += 1
  if (parts === 1) setTimeout(beginTurn)
  if (parts > partsAtOnce) await new Promise<void>((resolve) => waiting.push(resolve))
}

function beginTurn(): void {
  parts = waiting.length
  if (parts > 0) setTimeout(beginTurn)
  waiting.splice(0, partsAtOnce).forEach((begin) => begin())
}

/**
 * Reads until the end, or as long as `take` wants more and there is time, of which `enoughMs` says how much there is for
 * what has come; resolves with whether it came to the end.
 */
async function read(
  request: Sent,
  enoughMs: () => number,
  take: (chunk: Uint8Array<ArrayBuffer>) => Promise<boolean>,
  hurry?: AbortSignal,
): Promise<boolean> {
  const body = await streamOf(request)
  if (body === null) return true
  const reader = body.getReader()
  let waitedMs = 0
  // a promise of its own for each part: one for all of them would keep all of them
  const next = () =>
    new Promise<Awaited<ReturnType<typeof reader.read>> | null>((resolve, reject) => {
      const begunAt = performance.now()
      const giveUp = () => resolve(null)
      const timer = setTimeout(giveUp, enoughMs() - waitedMs)
      let hurried: ReturnType<typeof setTimeout> | undefined
      const beQuick = () => (hurried = setTimeout(giveUp, hurriedMs))
      hurry?.addEventListener('abort', beQuick)
      if (hurry?.aborted) beQuick()
      const end = () => {
        // how long `take` is at it is not the sender's
        waitedMs += performance.now() - begunAt
        clearTimeout(timer)
        clearTimeout(hurried)
        hurry?.removeEventListener('abort', beQuick)
      }
      reader.read().finally(end).then(resolve, reject)
    })
  // not every browser iterates over a stream
  for (;;) {
    await turnToRead()
    const part = await next()
    if (part === null) return false
    if (part.done) return true
    if (!(await take(part.value))) return false
  }
}
