import { setTimeout as after } from 'node:timers/promises'
import { AwsClient } from 'aws4fetch'
import type { Config } from '../config.ts'
import type { Blob, OpenBlob } from '../ports.ts'

export interface BucketKeys {
  id: string
  secret: string
  /** Of keys that end with a session. */
  session?: string | undefined
}

/** The files of an S3-compatible bucket, by their names. */
export interface Bucket {
  put(name: string, blob: Blob): Promise<void>
  /** Null where there is none. */
  get(name: string): Promise<Blob | null>
  /** The same, whose bytes come as they are read, which may last; null also where its length is not told. */
  read(name: string): Promise<OpenBlob | null>
  /** The file of that name as it comes, byte for byte; null where there is none. */
  open(name: string): Promise<Opened | null>
  /** Which version of it is there; null where none is. */
  version(name: string): Promise<string | null>
  /** Also what is not there. */
  remove(name: string): Promise<void>
  /** A URL at which whoever has it may put a file of that type for so long (s). */
  presigned(name: string, type: string, seconds: number): Promise<string>
}

export interface Opened extends Pick<Response, 'body'> {
  /** What is put in its place has another one. */
  version: string
  /** Whoever put it there had it packed, and nobody knows how large it is. */
  isPacked: boolean
}

/** How often a request is said again that the bucket's server could not answer, as all of them may be, and how soon, in ms. */
const retries = 8
const firstRetryMs = 50

export interface BucketTimes {
  /** How long a request may take in all, in ms. Default: a minute. */
  longestMs?: number
}

export function openBucket(
  { endpoint, name: bucket, region }: NonNullable<Config['bucket']>,
  keys: BucketKeys,
  { longestMs = 60_000 }: BucketTimes = {},
): Bucket {
  const { id: accessKeyId, secret: secretAccessKey, session } = keys
  const credentials = { accessKeyId, secretAccessKey, ...(session && { sessionToken: session }) }
  const client = new AwsClient({ ...credentials, service: 's3', region })
  const urlOf = (name: string) => `${endpoint}/${bucket}/${name.split('/').map(encodeURIComponent).join('/')}`

  /** The client only signs: it sends a `Request`, and once nobody holds that one `fetch` forgets its signal. */
  async function send(method: string, name: string, { signal, ...init }: RequestInit = {}): Promise<Response> {
    const until = signal ?? AbortSignal.timeout(longestMs)
    for (let tries = 0; ; tries++) {
      const { url, headers } = await client.sign(urlOf(name), { ...init, method })
      // what is packed on its way could not be told from what was packed when it was put there; it is not signed, as proxies
      // may say it otherwise
      headers.set('Accept-Encoding', 'identity')
      const answer = await fetch(url, { ...init, method, headers, signal: until })
      if (tries === retries || (answer.status < 500 && answer.status !== 429)) return answer
      await answer.body?.cancel()
      await after(Math.random() * firstRetryMs * 2 ** tries, null, { signal: until })
    }
  }

  /** Null where there is no such file, which a 404 alone does not say: a bucket, or its server, may be away. */
  async function ask(method: string, name: string, init: RequestInit = {}): Promise<Response | null> {
    const answer = await send(method, name, init)
    if (answer.ok) return answer
    const [, code = ''] = /<Code>(\w+)<\/Code>/.exec(await answer.text()) ?? []
    if (code === 'NoSuchKey') return null
    throw new Error(`the bucket answered ${method} with ${answer.status} ${code}`.trimEnd())
  }

  /** Null also where there is none; what was cut could not be told from what names no length. */
  async function whole(name: string): Promise<Response | null> {
    const answer = await ask('GET', name)
    if (!answer || answer.headers.has('Content-Length') || answer.headers.has('Transfer-Encoding')) return answer
    await answer.body?.cancel()
    throw new Error('the bucket gave something without its end')
  }

  return {
    async put(name, { bytes, type }) {
      const answer = await ask('PUT', name, { body: bytes, headers: { 'Content-Type': type } })
      if (answer === null) throw new Error('the bucket has nothing under a name that was put there')
      await answer.body?.cancel()
    },
    async open(name) {
      const answer = await whole(name)
      if (answer === null) return null
      const { body, headers } = answer
      const version = headers.get('ETag')
      if (version) return { body, version, isPacked: headers.has('Content-Encoding') }
      await body?.cancel()
      throw new Error('the bucket gave something without its version')
    },
    async version(name) {
      const { ok, status, headers } = await send('HEAD', name)
      if (ok || status === 404) return headers.get('ETag')
      throw new Error(`the bucket answered HEAD with ${status}`)
    },
    async get(name) {
      const answer = await whole(name)
      return answer && { bytes: new Uint8Array(await answer.arrayBuffer()), type: typeOf(answer) }
    },
    async read(name) {
      const waiting = new AbortController()
      const timer = setTimeout(() => waiting.abort(), longestMs)
      const answer = await ask('GET', name, { signal: waiting.signal }).finally(() => clearTimeout(timer))
      const size = answer?.headers.get('Content-Length') ?? null
      if (answer?.body && size !== null) return { body: answer.body, size: Number(size), type: typeOf(answer) }
      await answer?.body?.cancel()
      return null
    },
    async remove(name) {
      await (await ask('DELETE', name))?.body?.cancel()
    },
    async presigned(name, type, seconds) {
      const url = `${urlOf(name)}?X-Amz-Expires=${seconds}`
      const headers = { 'Content-Type': type }
      // the type is a header that is signed, so no other one is taken
      const signed = await client.sign(url, { method: 'PUT', headers, aws: { signQuery: true, allHeaders: true } })
      return signed.url
    },
  }
}

const typeOf = ({ headers }: Response) => headers.get('Content-Type') ?? 'application/octet-stream'
