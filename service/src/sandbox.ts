import { assemble } from './assemble.ts'
import { parseConfig, type Config, type ConfigInput } from './config.ts'
import { IpLimiter } from './ip-limiter.ts'
import { intakeInMemory } from './memory-intake.ts'
import { memoryBlobs, memoryStore } from './memory.ts'
import { PhotoNotAccessible } from './photo-problems.ts'
import type { Blob, Clock, Generator } from './ports.ts'
import { mayBePublic } from './public-address.ts'
import stores from './sandbox.json' with { type: 'json' }
import { rememberedUploads } from './uploads.ts'
import { watchedStore } from './watched-store.ts'

export type { ConfigInput } from './config.ts'

export interface SandboxOptions {
  /** Stores, products and times. Default: the sandbox's store, whose key is `sandbox-key`. */
  config?: ConfigInput | undefined
  /**
   * Addresses of the pictures that every try-on ends with, http(s). Default: drawings of this package, where the page's
   * bundler serves a package's files, as Vite does; elsewhere addresses that nothing can load.
   */
  pictures?: Pictures | undefined
  /** Time, in epoch ms. Default: the platform's. */
  clock?: Clock | undefined
}

interface Pictures {
  preview: string
  final: string
}

/** What the service has taken so far. */
export interface SandboxLedger {
  /** Accepted submissions: what a merchant would have paid for. */
  readonly accepted: number
  /** Every request, as `POST /generations`, in order. */
  readonly requests: readonly string[]
}

/** The service in memory, without a port: for pages, stories and tests. */
export interface Sandbox {
  /** The address to give the room as `baseUrl`; nothing is sent to it. */
  readonly baseUrl: string
  /** For the room's option `fetch`; requests for other addresses, such as pictures, go to the platform's `fetch`. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>
  /** For the room's option `putPhoto`; resolves with the HTTP status. */
  putPhoto(uploadUrl: string, photo: { bytes: ArrayBuffer; type: string }): Promise<number>
  readonly ledger: SandboxLedger
  /** Resolves once every job is rendered or has failed. */
  settle(): Promise<void>
  close(): Promise<void>
}

const baseUrl = 'https://sandbox.fitting-room.test'

/** A picture that stands for what the service would draw: three by four pixels of teal. */
const teal =
  '/9j/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKBTmCNl4x9lnN+gXz/2wBDARUXFx4aHj' +
  'shITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHz/wAARCAAEAAMDASIAAhEBAxEB/8QAFQAB' +
  'AQAAAAAAAAAAAAAAAAAAAAT/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAABAX/xAAUEQEAAAAAAAAAAAAAAAAAAA' +
  'AA/9oADAMBAAIRAxEAPwCAAhHf/9k='
const drawn: Blob = { type: 'image/jpeg', bytes: Uint8Array.from(atob(teal), (char) => char.charCodeAt(0)) }

const generator: Generator = async () => ({ preview: drawn, final: drawn })

/** Bundlers find them by these very words, and the query keeps them from becoming part of the script. */
function ownPictures(): Pictures | null {
  const preview = new URL('../pictures/preview.svg?no-inline', import.meta.url).href
  const final = new URL('../pictures/final.svg?no-inline', import.meta.url).href
  return preview.startsWith('http') ? { preview, final } : null
}

async function fetchPhoto(url: string): Promise<Blob> {
  if (!mayBePublic(new URL(url).hostname)) throw new PhotoNotAccessible()
  // nothing is fetched, and nothing looked at
  return drawn
}

/** The service's own core, with nothing of Node in it; what it knows is gone with the page. */
export function createSandbox({ config, pictures: given, clock = Date }: SandboxOptions = {}): Sandbox {
  const pictures = given ?? ownPictures()
  const read: Config = parseConfig(config ?? stores)
  const ledger = { accepted: 0, requests: [] as string[] }
  const jobs = new Map<string, () => void>()
  let settled: Promise<unknown> = Promise.resolve()
  const store = watchedStore(memoryStore(), {
    saved(job, isNew) {
      if (!isNew) return
      ledger.accepted++
      settled = Promise.all([settled, new Promise<void>((resolve) => jobs.set(job.id, resolve))])
    },
    worked: (jobId) => jobs.get(jobId)?.(),
  })
  const service = assemble({
    config: read,
    store,
    blobs: memoryBlobs(),
    generator,
    takePhoto: intakeInMemory,
    limiter: new IpLimiter(clock),
    works: true,
    uploads: rememberedUploads(),
    clock,
    publicUrl: () => baseUrl,
    report: (error) => console.error(error),
    fetchPhoto,
    garmentOf: async () => new Uint8Array(),
  })

  async function send(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init)
    // its pictures lie where the page has them
    if (!request.url.startsWith(`${baseUrl}/`)) return globalThis.fetch(request)
    const name = `${request.method} ${new URL(request.url).pathname}`
    ledger.requests.push(name)
    request.signal.throwIfAborted()
    const answer = await service.fetch(request)
    request.signal.throwIfAborted()
    return name.startsWith('GET /generations/') && answer.ok ? withPictures(answer) : answer
  }

  /** The page cannot load what lies in here. */
  async function withPictures(answer: Response): Promise<Response> {
    const body = (await answer.json()) as { data: Record<string, unknown> }
    const { storageStatus } = body.data
    if (pictures && storageStatus !== undefined) {
      const url = storageStatus === 'READY' ? pictures.final : pictures.preview
      Object.assign(body.data, { imageUrl: url, displayUrl: url, permanentUrl: storageStatus === 'READY' ? url : null })
    }
    return Response.json(body)
  }

  return {
    baseUrl,
    ledger,
    fetch: send,
    async putPhoto(uploadUrl, { bytes, type }) {
      const { status } = await send(uploadUrl, { method: 'PUT', body: bytes, headers: { 'Content-Type': type } })
      return status
    },
    settle: () => settled.then(() => undefined),
    close: service.close,
  }
}
