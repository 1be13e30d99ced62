import type { Config } from './config.ts'
import { PhotoNotAccessible, PhotoNotReadable } from './photo-problems.ts'
import type { BlobStore, Clock, Generator, Job, Observer, Store } from './ports.ts'

export interface WorkerParts {
  config: Pick<Config, 'giveUpAfterMinutes'>
  store: Store
  blobs: BlobStore
  generator: Generator
  /** A photo that lies elsewhere, without the metadata that it came with. */
  fetchPhoto: (url: string) => Promise<Uint8Array>
  garmentOf: (product: Job['product']) => Promise<Uint8Array>
  /** Hears of failures that are nobody's input. */
  report: (error: unknown) => void
  clock: Clock
  observer?: Observer | undefined
}

/** Turns a queued job into its pictures, or into a failure that gives the credit back. */
export function createWorker(parts: WorkerParts) {
  const { config, store, blobs, generator, fetchPhoto, garmentOf, report, clock, observer } = parts

  /** Own uploads are read where they lie; only foreign photos are fetched. */
  async function photoOf({ photo }: Job): Promise<Uint8Array> {
    if ('url' in photo) return fetchPhoto(photo.url)
    const blob = await blobs.get(photo.name)
    if (blob === null) throw new PhotoNotAccessible()
    return blob.bytes
  }

  /** Whatever is wrong with it is not the shopper's. */
  const pictureOf = (product: Job['product']) =>
    garmentOf(product).catch((cause: unknown) => {
      throw new Error(`the picture of product ${product.id} could not be had`, { cause })
    })

  async function render(job: Job): Promise<Job> {
    // whoever wanted it has gone, or it ends every process that does it
    if (clock.now() >= job.acceptedAt + config.giveUpAfterMinutes * 60_000)
      throw new Error('a job was too old to be done')
    if (job.test === 'jobError') throw new Error('the job was made to fail')
    if (job.test === 'photoGone') throw new PhotoNotAccessible()
    const { preview, final } = await generator(await photoOf(job), await pictureOf(job.product), job.funnelType)
    const pictures = { preview: `${job.id}-preview.jpeg`, final: `${job.id}.jpeg` }
    await blobs.put(pictures.preview, preview)
    await blobs.put(pictures.final, final)
    return { ...job, state: 'rendered', pictures }
  }

  function failed(job: Job, error: unknown): Job {
    if (job.test === null && !isOfPhoto(error)) report(error)
    return { ...job, state: 'failed', error: isOfPhoto(error) ? error.message : 'Generation failed' }
  }

  async function end(jobId: string, ended: Job): Promise<void> {
    const isOurs = await store.transaction(async (ledger) => {
      // another process may have done it meanwhile
      if ((await ledger.job(jobId))?.state !== 'queued') return false
      await ledger.saveJob(ended)
      if (ended.state === 'failed' && ended.credit !== null) await ledger.giveCreditBack(ended.storeId, ended.credit)
      return true
    })
    if (isOurs) observer?.ended(ended, (clock.now() - ended.acceptedAt) / 1000)
  }

  return {
    async work(jobId: string): Promise<void> {
      const job = await store.job(jobId)
      if (job?.state !== 'queued') return
      await end(jobId, await render(job).catch((error: unknown) => failed(job, error)))
    },
    async giveUp(jobId: string): Promise<void> {
      const job = await store.job(jobId)
      if (job?.state === 'queued')
        await end(jobId, failed(job, new Error('a job ended too many processes that did it')))
    },
  }
}

/** Only what the shopper can act on is told; the rest stays inside. */
const isOfPhoto = (error: unknown): error is Error =>
  error instanceof PhotoNotAccessible || error instanceof PhotoNotReadable
