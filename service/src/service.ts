import { randomBytes } from 'node:crypto'
import { assemble, type Service } from './assemble.ts'
import type { Config } from './config.ts'
import { garmentOf } from './garments.ts'
import { IpLimiter, type RequestCount } from './ip-limiter.ts'
import { limited } from './limited.ts'
import { memoryBlobs, memoryStore } from './memory.ts'
import { fetchPhoto } from './photo-fetcher.ts'
import type { BlobStore, Clock, Generator, Store } from './ports.ts'
import { render } from './renderer.ts'
import { SignedUploads } from './signed-uploads.ts'

export interface ServiceOptions {
  config: Config
  /** The address under which clients reach the service; read for every upload target and picture. */
  publicUrl: string | (() => string)
  store?: Store
  blobs?: BlobStore
  /** What upload targets are signed with. Default: random bytes, so that they end with the process. */
  uploadSecret?: Uint8Array
  generator?: Generator
  /** The count of each client's requests. Default: this process's own. */
  limiter?: RequestCount
  /** Whether this process works on the jobs, too. Default: true. */
  works?: boolean
  clock?: Clock
  report?: (error: unknown) => void
}

/** The service as it runs on Node: it draws its pictures and fetches photos that lie elsewhere. */
export function createService({ publicUrl, uploadSecret = randomBytes(32), ...options }: ServiceOptions): Service {
  return assemble({
    store: memoryStore(),
    blobs: memoryBlobs(),
    generator: limited(rendersAtOnce, render),
    limiter: new IpLimiter(options.clock ?? Date),
    works: true,
    clock: Date,
    report: (error) => console.error(error),
    ...options,
    publicUrl: typeof publicUrl === 'function' ? publicUrl : () => publicUrl,
    uploads: new SignedUploads(uploadSecret),
    fetchPhoto,
    garmentOf,
  })
}

/** How many pictures are drawn at once: it is the processor that they wait for, not the host of a photo. */
const rendersAtOnce = 2
