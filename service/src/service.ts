import { randomBytes } from 'node:crypto'
import { assemble, type Service, type ServiceParts } from './assemble.ts'
import { bucketBlobs, bucketUploads } from './bucket/bucket-blobs.ts'
import { openBucket, type Bucket } from './bucket/bucket.ts'
import { openDrawing, type Drawing } from './drawing/drawing-pool.ts'
import { keepComparingClocks } from './compare-clocks.ts'
import { connectPatiently } from './connecting.ts'
import { checkKeys, type KeyOptions } from './keys.ts'
import { garmentOf } from './garments.ts'
import { IpLimiter, type RequestCount } from './ip-limiter.ts'
import { memoryBlobs, memoryStore } from './memory.ts'
import { movedBlobs } from './moved-blobs.ts'
import { fetchedLimits, fetchPhoto, openPhoto } from './photo-fetcher.ts'
import { PhotoNotAccessible } from './photo-problems.ts'
import { intakeByFile } from './file-intake.ts'
import {
  ofJobs,
  placesFor,
  type BlobStore,
  type Clock,
  type Generator,
  type Observer,
  type PhotoIntake,
  type Provider,
  type Store,
} from './ports.ts'
import { fashn } from './provider/fashn.ts'
import { createProvided } from './provider/provided.ts'
import { signedWebhooks } from './provider/webhooks.ts'
import { keepDeleting } from './retention.ts'
import { SignedUploads } from './signed-uploads.ts'

export interface ServiceOptions extends KeyOptions {
  /** The address under which clients reach the service; read for every upload target and picture. */
  publicUrl: string | (() => string)
  store?: Store
  blobs?: BlobStore
  /** What upload targets are signed with. Default: random bytes, so that they end with the process. */
  uploadSecret?: Uint8Array
  generator?: Generator
  /** What decodes and draws; closed with the service. Default: processes that begin at the first need. */
  drawing?: Drawing
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
 * Throws `ConfigError` where the key of its provider or bucket is missing.
 */
export function createService({ publicUrl, uploadSecret = randomBytes(32), ...options }: ServiceOptions): Service {
  checkKeys(options)
  connectPatiently()
  const {
    report = (error) => console.error(error),
    store = memoryStore(placesFor(options.config)),
    clock = Date,
    drawing = openDrawing({ report }),
  } = options
  const urlNow = typeof publicUrl === 'function' ? publicUrl : () => publicUrl
  const webhooks = signedWebhooks(uploadSecret)
  const ending = new AbortController()
  const provider = options.provider ?? providerOf(options, drawing)
  // as the provider, until the next start
  const hasWebhook = options.config.generator?.webhook === true
  const webhookOf = (jobId: string) => (hasWebhook ? urlNow() + webhooks.pathOf(jobId) : null)
  const bucket = bucketOf(options)
  const { takePhoto = intakeByFile(drawing.cleanedFile) } = options
  const inBucket = bucket && bucketBlobs(bucket, takePhoto, (name) => store.keepPhoto(name, clock.now()))
  const ownUploads = new SignedUploads(uploadSecret)
  const parts: ServiceParts = {
    blobs: memoryBlobs(),
    generator: drawing.render,
    takePhoto,
    limiter: new IpLimiter(clock),
    works: true,
    ...options,
    ...(inBucket && { blobs: options.blobs ? movedBlobs(inBucket, options.blobs) : inBucket }),
    store,
    clock,
    report,
    publicUrl: urlNow,
    uploads: bucket ? bucketUploads(bucket, ownUploads) : ownUploads,
    webhooks,
    provided: provider && createProvided({ provider, store, clock, webhookOf, report, ending: ending.signal }),
    async fetchPhoto(url, storeId) {
      const photo = await takePhoto(await openPhoto(url), fetchedLimits, ofJobs(storeId))
      if (typeof photo === 'string') throw new PhotoNotAccessible()
      return photo
    },
    garmentOf: (product) => garmentOf(product),
  }
  const service = assemble(parts)
  // one that is given tells any time
  const stopComparing = options.clock ? () => {} : keepComparingClocks(store, report)
  const stopDeleting = parts.works ? keepDeleting(parts) : async () => {}
  return {
    ...service,
    async close() {
      ending.abort()
      stopComparing()
      await stopDeleting()
      await service.close().finally(drawing.close)
    },
  }
}

/** The bucket that the configuration names; undefined where it names none. */
function bucketOf({ config, bucketKeys: { id = '', secret = '', session } = {} }: KeyOptions): Bucket | undefined {
  return config.bucket === null ? undefined : openBucket(config.bucket, { id, secret, session })
}

/** The provider that the configuration names; undefined where it names none. */
function providerOf({ config, providerKey = '' }: KeyOptions, drawing: Drawing): Provider | undefined {
  if (config.generator === null) return undefined
  const { prepared, finished } = drawing
  return fashn({ url: config.generator.url, key: providerKey, prepared, finished, fetchPicture: fetchPhoto })
}
