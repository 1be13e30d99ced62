import { randomBytes } from 'node:crypto'
import { AnswerLost, createApp, type Connection } from './app.ts'
import type { Config } from './config.ts'
import { createCore } from './core.ts'
import { IpLimiter } from './ip-limiter.ts'
import { memoryBlobs, memoryQueue, memoryStore } from './memory.ts'
import type { BlobStore, Clock, Generator, Queue, Store } from './ports.ts'
import { render } from './renderer.ts'
import { SignedUploads } from './signed-uploads.ts'
import { createWorker } from './worker.ts'

export interface ServiceOptions {
  config: Config
  /** The address under which clients reach the service; read for every upload target and picture. */
  publicUrl: string | (() => string)
  store?: Store
  queue?: Queue
  blobs?: BlobStore
  generator?: Generator
  clock?: Clock
  report?: (error: unknown) => void
}

/** The service without a port: a fetch-style handler and its worker. */
export interface Service {
  /** Rejects with a `TypeError`, as fetch does, where an answer is to be lost. */
  fetch(request: Request, connection?: Connection): Promise<Response>
  close(): Promise<void>
}

export function createService(options: ServiceOptions): Service {
  const { config, clock = Date, report = (error) => console.error(error) } = options
  const { store = memoryStore(), queue = memoryQueue(), blobs = memoryBlobs(), generator = render } = options
  const publicUrl = () => (typeof options.publicUrl === 'function' ? options.publicUrl() : options.publicUrl)
  const uploads = new SignedUploads(randomBytes(32))
  const core = createCore({ config, store, queue, uploads, clock, publicUrl, report })
  const limiter = new IpLimiter(clock)
  const { trustedProxies } = config
  const app = createApp({ core, limiter, blobs, uploads, clock, trustedProxies, report })
  const work = createWorker({ config, store, blobs, generator, publicUrl })
  queue.run((jobId) => work(jobId).catch(report))

  return {
    async fetch(request, connection = {}) {
      let lost: AnswerLost | null = null
      const drop = connection.drop ?? (() => (lost = new AnswerLost()))
      const answer = await app.fetch(request, { ...connection, drop })
      if (lost) throw lost
      return answer
    },
    close: () => queue.close(),
  }
}
