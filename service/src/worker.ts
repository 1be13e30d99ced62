import { readFile } from 'node:fs/promises'
import { isUrl, type Config, type ProductConfig } from './config.ts'
import { placeholderGarment } from './placeholder.ts'
import { fetchPhoto, PhotoNotAccessible } from './photo-fetcher.ts'
import type { BlobStore, Generator, Job, Store } from './ports.ts'
import { PhotoNotReadable } from './renderer.ts'

export interface WorkerParts {
  config: Config
  store: Store
  blobs: BlobStore
  generator: Generator
  publicUrl: () => string
}

/** Turns a queued job into its pictures, or into a failure that gives the credit back. */
export function createWorker({ config, store, blobs, generator, publicUrl }: WorkerParts) {
  const productOf = (job: Job) =>
    config.stores.find(({ id }) => id === job.storeId)?.products.find(({ id }) => id === job.productId)

  /** Own uploads are read where they lie; only foreign photos are fetched. */
  async function photoOf({ photoUrl }: Job): Promise<Uint8Array> {
    const { origin, pathname } = new URL(photoUrl)
    const [, name] = /^\/(?:photos|pictures)\/([^/]+)$/.exec(pathname) ?? []
    if (origin !== new URL(publicUrl()).origin || name === undefined) return fetchPhoto(photoUrl)
    const blob = await blobs.get(name)
    if (blob === null) throw new PhotoNotAccessible()
    return blob.bytes
  }

  async function render(job: Job): Promise<Job> {
    const product = productOf(job)
    if (!product || product.variants.some(({ id, test }) => id === job.variantId && test === 'jobError')) {
      throw new Error('the job was made to fail')
    }
    const { preview, final } = await generator(await photoOf(job), await garmentOf(product), job.funnelType)
    const names = { preview: `${job.id}-preview.jpeg`, final: `${job.id}.jpeg` }
    await blobs.put(names.preview, preview)
    await blobs.put(names.final, final)
    const urlOf = (name: string) => `${publicUrl()}/pictures/${name}`
    return { ...job, state: 'rendered', pictures: { preview: urlOf(names.preview), final: urlOf(names.final) } }
  }

  return async (jobId: string): Promise<void> => {
    const job = await store.transaction((ledger) => ledger.job(jobId))
    if (job?.state !== 'queued') return
    const done = await render(job).catch((error: unknown): Job => ({ ...job, state: 'failed', error: reasonOf(error) }))
    await store.transaction(async (ledger) => {
      await ledger.saveJob(done)
      if (done.state !== 'failed') return
      await ledger.saveCreditsUsed(job.storeId, Math.max(0, (await ledger.creditsUsed(job.storeId)) - 1))
    })
  }
}

async function garmentOf({ image, title }: ProductConfig): Promise<Uint8Array> {
  if (!image) return placeholderGarment(title)
  return isUrl(image) ? fetchPhoto(image) : readFile(image)
}

/** Only what the shopper can act on is told; the rest stays inside. */
function reasonOf(error: unknown): string {
  return error instanceof PhotoNotAccessible || error instanceof PhotoNotReadable ? error.message : 'Generation failed'
}
