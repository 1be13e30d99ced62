import { randomBytes } from 'node:crypto'
import { assemble, type Service } from './assemble.ts'
import type { Config } from './config.ts'
import { garmentOf } from './garments.ts'
import { memoryBlobs, memoryQueue, memoryStore } from './memory.ts'
import { fetchPhoto } from './photo-fetcher.ts'
import type { BlobStore, Clock, Generator, Queue, Store } from './ports.ts'
import { render } from './renderer.ts'
import { SignedUploads } from './signed-uploads.ts'

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

/** The service as it runs on Node: it draws its pictures and fetches photos that lie elsewhere. */
export function createService({ publicUrl, ...options }: ServiceOptions): Service {
  return assemble({
    store: memoryStore(),
    queue: memoryQueue(),
    blobs: memoryBlobs(),
    generator: render,
    clock: Date,
    report: (error) => console.error(error),
    ...options,
    publicUrl: typeof publicUrl === 'function' ? publicUrl : () => publicUrl,
    uploads: new SignedUploads(randomBytes(32)),
    fetchPhoto,
    garmentOf,
  })
}
