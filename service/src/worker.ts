import type { Config } from './config.ts'
import { DrawingEnded } from './drawing/not-drawn.ts'
import { PhotoNotAccessible, PhotoNotReadable, PhotoNotUsable } from './photo-problems.ts'
import { picturesOf, type BlobStore, type Clock, type Generator, type Job, type Observer, type Store } from './ports.ts'
import { untilWritten } from './until-written.ts'
import type { Provided } from './provider/provided.ts'

export interface WorkerParts {
  config: Pick<Config, 'giveUpAfterMinutes'>
  store: Store
  blobs: BlobStore
  generator: Generator
  /** Who makes the pictures in place of the generator. */
  provided?: Provided | undefined
  /** A photo that lies elsewhere, without the metadata that it came with. */
  fetchPhoto: (url: string) => Promise<Uint8Array>
  garmentOf: (product: Job['product']) => Promise<Uint8Array>
  /** Hears of failures that are nobody's input. */
  report: (error: unknown) => void
  clock: Clock
  observer?: Observer | undefined
}

/** How long pictures are tried to be put, and how often, in ms: they are paid for. */
const putTries = { forMs: 60_000, everyMs: 2_000 }

/** Turns a queued job into its pictures, or into a failure that gives the credit back. */
export function createWorker(parts: WorkerParts) {
  const { config, store, blobs, generator, provided, fetchPhoto, garmentOf, report, clock, observer } = parts

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

  async function render(job: Job): Promise<End> {
    // whoever wanted it has gone, or it ends every process that does it
    if (!job.asked && clock.now() >= job.acceptedAt + config.giveUpAfterMinutes * 60_000)
      throw new Error('a job was too old to be done')
    if (job.test === 'jobError') throw new Error('the job was made to fail')
    if (job.test === 'photoGone') throw new PhotoNotAccessible()
    const { funnelType, generationModel } = job
    const orderOf = async () => ({
      funnelType,
      generationModel,
      photo: await photoOf(job),
      garment: await pictureOf(job.product),
    })
    const { preview, final } = provided
      ? await provided.picturesOf(job, orderOf)
      : await orderOf().then(({ photo, garment }) => generator(photo, garment, funnelType))
    const pictures = picturesOf(job)
    const terms = { clock, report, ...putTries }
    await untilWritten(() => blobs.put(pictures.preview, preview), terms)
    await untilWritten(() => blobs.put(pictures.final, final), terms)
    return { state: 'rendered', pictures }
  }

  function failed(job: Job, error: unknown): End {
    if (job.test === null && !isOfPhoto(error)) report(error)
    return { state: 'failed', error: isOfPhoto(error) ? error.message : 'Generation failed' }
  }

  async function end(jobId: string, how: End): Promise<void> {
    const ended = await store.transaction(async (ledger) => {
      const job = await ledger.job(jobId)
      // another process may have done it meanwhile
      if (job?.state !== 'queued') return null
      await ledger.saveJob({ ...job, ...how })
      if (how.state === 'failed' && job.credit !== null) await ledger.giveCreditBack(job.storeId, job.credit)
      return { ...job, ...how }
    })
    // one of two may have been written; those of a job that another process has done meanwhile are its own
    if (ended?.state === 'failed') await Promise.all(Object.values(picturesOf(ended)).map(blobs.remove)).catch(report)
    if (ended) observer?.ended(ended, (clock.now() - ended.acceptedAt) / 1000)
  }

  return {
    async work(jobId: string): Promise<void> {
      const job = await store.job(jobId)
      if (job?.state !== 'queued') return
      const how = await render(job).catch((error: unknown) => {
        // the queue hands it to another process, or to the next one
        if (error instanceof DrawingEnded) throw error
        return failed(job, error)
      })
      await end(jobId, how)
    },
    async giveUp(jobId: string): Promise<void> {
      const job = await store.job(jobId)
      if (job?.state === 'queued')
        await end(jobId, failed(job, new Error('a job ended too many processes that did it')))
    },
  }
}

/** What a job comes to. */
type End = Pick<Job, 'state'> & Partial<Pick<Job, 'error' | 'pictures'>>

/** Only what the shopper can act on is told; the rest stays inside. */
const isOfPhoto = (error: unknown): error is Error =>
  error instanceof PhotoNotAccessible || error instanceof PhotoNotReadable || error instanceof PhotoNotUsable
