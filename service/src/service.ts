import { randomBytes } from 'node:crypto'
import { assemble, type Service, type ServiceParts } from './assemble.ts'
import { ConfigError, type Config } from './config.ts'
import { openDrawing, type Drawing } from './drawing/drawing-pool.ts'
import { garmentOf } from './garments.ts'
import { IpLimiter, type RequestCount } from './ip-limiter.ts'
import { memoryBlobs, memoryStore } from './memory.ts'
import { fetchPhoto } from './photo-fetcher.ts'
import { intakeByFile } from './file-intake.ts'
import type { BlobStore, Clock, Generator, Observer, PhotoIntake, Provider, Store } from './ports.ts'
import { fashn } from './provider/fashn.ts'
import { createProvided } from './provider/provided.ts'
import { signedWebhooks } from './provider/webhooks.ts'
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
  /** The key of the configuration's provider. */
  providerKey?: string | undefined
  /** Who makes the pictures, in place of the configuration's. */
  provider?: Provider | undefined
  takePhoto?: PhotoIntake
  /** The count of each client's requests. Default: this process's own. */
  limiter?: RequestCount
  /** Whether this process works on the jobs, too. Default: true. */
  works?: boolean
  clock?: Clock
  report?: (error: unknown) => void
  observer?: Observer
}

/**
 * The service as it runs on Node: it draws its pictures, or has a provider make them, and fetches photos that lie elsewhere.
 * Throws `ConfigError` where the provider's key is missing.
 */
export function createService({ publicUrl, uploadSecret = randomBytes(32), ...options }: ServiceOptions): Service {
  const { report = (error) => console.error(error), store = memoryStore(), clock = Date } = options
  const drawing = openDrawing({ report })
  const urlNow = typeof publicUrl === 'function' ? publicUrl : () => publicUrl
  const webhooks = signedWebhooks(uploadSecret)
  const provider = options.provider ?? providerOf(options, drawing)
  const webhookOf = (jobId: string) =>
    options.config.generator?.webhook === true ? urlNow() + webhooks.pathOf(jobId) : null
  const parts: ServiceParts = {
    blobs: memoryBlobs(),
    generator: drawing.render,
    takePhoto: intakeByFile(drawing.cleaned),
    limiter: new IpLimiter(clock),
    works: true,
    ...options,
    store,
    clock,
    report,
    publicUrl: urlNow,
    uploads: new SignedUploads(uploadSecret),
    webhooks,
    provided: provider && createProvided({ provider, store, clock, webhookOf, report }),
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

/** The provider that the configuration names; undefined where it names none. */
function providerOf(
  { config, providerKey }: Omit<ServiceOptions, 'publicUrl'>,
  drawing: Drawing,
): Provider | undefined {
  if (config.generator === null) return undefined
  if (!providerKey) throw new ConfigError('generator: its key is missing; FASHN_API_KEY in the environment gives it')
  const { prepared, finished } = drawing
  return fashn({ url: config.generator.url, key: providerKey, prepared, finished, fetchPicture: fetchPhoto })
}
