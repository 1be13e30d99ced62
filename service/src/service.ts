import { randomBytes } from 'node:crypto'
import { assemble, type Service, type ServiceParts } from './assemble.ts'
import type { Config } from './config.ts'
import { openDrawing } from './drawing/drawing-pool.ts'
import { garmentOf } from './garments.ts'
import { IpLimiter, type RequestCount } from './ip-limiter.ts'
import { memoryBlobs, memoryStore } from './memory.ts'
import { fetchPhoto } from './photo-fetcher.ts'
import { intakeByFile } from './file-intake.ts'
import type { BlobStore, Clock, Generator, Observer, PhotoIntake, Store } from './ports.ts'
import { keepDeleting } from './retention.ts'
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
  takePhoto?: PhotoIntake
  /** The count of each client's requests. Default: this process's own. */
  limiter?: RequestCount
  /** Whether this process works on the jobs, too. Default: true. */
  works?: boolean
  clock?: Clock
  report?: (error: unknown) => void
  observer?: Observer
}

/** The service as it runs on Node: it draws its pictures and fetches photos that lie elsewhere. */
export function createService({ publicUrl, uploadSecret = randomBytes(32), ...options }: ServiceOptions): Service {
  const { report = (error) => console.error(error) } = options
  const drawing = openDrawing({ report })
  const parts: ServiceParts = {
    store: memoryStore(),
    blobs: memoryBlobs(),
    generator: drawing.render,
    takePhoto: intakeByFile(drawing.cleaned),
    limiter: new IpLimiter(options.clock ?? Date),
    works: true,
    clock: Date,
    ...options,
    report,
    publicUrl: typeof publicUrl === 'function' ? publicUrl : () => publicUrl,
    uploads: new SignedUploads(uploadSecret),
    fetchPhoto: async (url) => (await drawing.cleaned(await fetchPhoto(url))).bytes,
    garmentOf,
  }
  const service = assemble(parts)
  const stopDeleting = parts.works ? keepDeleting(parts, report) : async () => {}
  return {
    ...service,
    async close() {
      await stopDeleting()
      await service.close().finally(drawing.close)
    },
  }
}
