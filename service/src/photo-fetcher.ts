import * as http from 'node:http'
import * as https from 'node:https'
import { isIP } from 'node:net'
import { pipeline, Readable, Transform } from 'node:stream'
import { readBody, type BodyLimits } from './body.ts'
import { PhotoNotAccessible } from './photo-problems.ts'
import { PutOff } from './put-off.ts'
import { isPublic } from './public-address.ts'
import { openResolver, publicLookup } from './public-lookup.ts'
import { photoLimits } from './photo-limits.ts'
import { stoodStillSince } from './still.ts'
import { isOfThisMachine } from './this-machine.ts'

const lookup = publicLookup(openResolver)

/** For the answer's head and all of its body. */
const longestMs = 15_000
const mostRedirects = 3
/** How many parts a photo may come in, and above that of how many bytes each: reading crumbs would take all of this process's time. */
const mostParts = 1_000
const leastPart = 64
/** How often a host may say that there is an answer to come. */
const mostAnnounced = 10

/** How a body is read that is fetched: for as long as the fetch itself lasts, also of a process that stood still. */
export const fetchedLimits: BodyLimits = { atMost: photoLimits.atMost, longestMs: 2 ** 31 - 1 }

export interface FetchOptions {
  /** Of an address that is written out. */
  isAllowed?: typeof isPublic
  timeLimitMs?: number
}

/** The whole of what `openPhoto` gives. */
export async function fetchPhoto(url: string, options?: FetchOptions): Promise<Uint8Array> {
  const bytes = await readBody(await openPhoto(url, options), fetchedLimits)
  if (typeof bytes === 'string') throw new PhotoNotAccessible()
  return bytes
}

/**
 * Asks for a photo at a public address, whose bytes come as the body is read. Names are checked as they are resolved, so
 * neither a redirect nor a changing DNS answer leads to a private, loopback or link-local address. Rejects with
 * `PhotoNotAccessible`, as the body does; with `PutOff` where this machine can ask nobody now.
 */
export async function openPhoto(url: string, options: FetchOptions = {}): Promise<Body> {
  const { isAllowed = isPublic, timeLimitMs = longestMs } = options
  const limit = limitOf(timeLimitMs)
  let at = url
  for (let hop = 0; hop <= mostRedirects; hop++) {
    const answer = await get(new URL(at), limit, isAllowed)
    if (typeof answer !== 'string') return answer
    if (!URL.canParse(answer, at)) break
    at = new URL(answer, at).href
  }
  throw new PhotoNotAccessible()
}

type Body = Pick<Request, 'body'>

interface Limit {
  signal: AbortSignal
  /** What a fetch that broke ends with: the photo's own fault, unless this process stood still and ended what would have come. */
  broken(): Error
}

function limitOf(ms: number): Limit {
  const begunAt = performance.now()
  return {
    signal: AbortSignal.timeout(ms),
    broken: () =>
      stoodStillSince(begunAt)
        ? new PutOff('a photo was not fetched in time, as this process stood still')
        : new PhotoNotAccessible(),
  }
}

/** What arrives, or the address of a redirect. */
function get(url: URL, { signal, broken }: Limit, isAllowed: typeof isPublic): Promise<Body | string> {
  return new Promise((resolve, reject) => {
    const refuse = () => reject(broken())
    const host = url.hostname.replace(/^\[|\]$/g, '')
    if (!/^https?:$/.test(url.protocol) || (isIP(host) !== 0 && !isAllowed(host))) return refuse()
    const { get: send } = url.protocol === 'https:' ? https : http
    const options = { lookup, signal, agent: false }
    let announced = 0
    const request = send(url, options, (answer) => {
      const { statusCode = 0, headers } = answer
      if (statusCode >= 300 && statusCode < 400 && headers.location) {
        answer.destroy()
        return resolve(headers.location)
      }
      if (statusCode !== 200 || announced > mostAnnounced) {
        answer.destroy()
        return refuse()
      }
      resolve({ body: Readable.toWeb(Readable.from(partsOf(answer, broken))) as Body['body'] })
    })
    request.on('information', () => void (++announced > mostAnnounced && request.destroy()))
    request.on('error', (cause: NodeJS.ErrnoException) => {
      if (cause instanceof PutOff) reject(cause)
      // whose photo it was would be told by its address
      else if (isOfThisMachine(cause)) reject(new PutOff(`nobody can be asked for a photo now: ${cause.code}`))
      else refuse()
    })
    // a connection that became something else ends without an answer, and without an error
    request.on('close', refuse)
  })
}

/** What breaks, takes too long or is too large ends it, and the connection; as what comes in crumbs does. */
async function* partsOf(answer: Readable, broken: Limit['broken']) {
  const bounded = new Transform({ transform: withinBounds() })
  pipeline(answer, bounded, () => {})
  try {
    yield* bounded as AsyncIterable<Uint8Array<ArrayBuffer>>
  } catch (error) {
    throw error instanceof PhotoNotAccessible ? error : broken()
  }
}

function withinBounds(): Transform['_transform'] {
  let size = 0
  let parts = 0
  return (part: Uint8Array, _, done) => {
    size += part.length
    parts += 1
    const isTooMuch = size > photoLimits.atMost || parts > mostParts + size / leastPart
    done(isTooMuch ? new PhotoNotAccessible() : null, part)
  }
}
