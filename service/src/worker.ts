import type { Config, ProductConfig } from './config.ts'
import { PhotoNotAccessible, PhotoNotReadable } from './photo-problems.ts'
import type { BlobStore, Generator, Job, Store } from './ports.ts'

export interface WorkerParts {
  config: Config
  store: Store
  blobs: BlobStore
  generator: Generator
  publicUrl: () => string
  /** A photo that lies elsewhere. */
  fetchPhoto: (url: string) => Promise<Uint8Array>
  garmentOf: (product: ProductConfig) => Promise<Uint8Array>
}

/** Turns a queued job into its pictures, or into a failure that gives the credit back. */
export function createWorker(parts: WorkerParts) {
  const { config, store, blobs, generator, publicUrl, fetchPhoto, garmentOf } = parts

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
    const test = product?.variants.find(({ id }) => id === job.variantId)?.test
    if (!product || test === 'jobError') throw new Error('the job was made to fail')
    if (test === 'photoGone') throw new PhotoNotAccessible()
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

/** Only what the shopper can act on is told; the rest stays inside. */
function reasonOf(error: unknown): string {
  return error instanceof PhotoNotAccessible || error instanceof PhotoNotReadable ? error.message : 'Generation failed'
}
