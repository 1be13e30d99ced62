import type { Config } from './config.ts'
import { EndsProcesses } from './drawing/not-drawn.ts'
import { PhotoNotAccessible, PhotoNotReadable, PhotoNotUsable } from './photo-problems.ts'
import {
  isGarmentElsewhere,
  picturesOf,
  ofJobs,
  stageOf,
  type Blob,
  type BlobStore,
  type Clock,
  type Generator,
  type Job,
  type Ledger,
  type Observer,
  type Order,
  type Pictures,
  type Stage,
  type Store,
} from './ports.ts'
import { imageTypeOf } from './photo-formats.ts'
import { PutOff, putOff } from './put-off.ts'
import { randomId } from './random.ts'
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
  fetchPhoto: (url: string, storeId: string) => Promise<Blob>
  garmentOf: (product: Job['product']) => Promise<Uint8Array>
  /** Hears of failures that are nobody's input. */
  report: (error: unknown) => void
  clock: Clock
  observer?: Observer | undefined
}

/** How long pictures are tried to be put, and how often, in ms: they are paid for. */
const putTries = { forMs: 60_000, everyMs: 2_000 }

/**
 * Takes a queued job through its stages: a photo that lies elsewhere is fetched first; then come its pictures, or a failure
 * that gives the credit back.
 */
export function createWorker(parts: WorkerParts) {
  const { config, store, blobs, generator, provided, fetchPhoto, garmentOf, report, clock, observer } = parts

  async function photoOf(name: string, storeId: string): Promise<Uint8Array> {
    const blob = await blobs.get(name, ofJobs(storeId)).catch((error: unknown) => {
      // one that ends processes would end as many again
      if (isOfPhoto(error) || error instanceof EndsProcesses) throw error
      return putOff(error)
    })
    if (blob === null) throw new PhotoNotAccessible()
    return blob.bytes
  }

  /** Whatever is wrong with it is not the shopper's. */
  async function pictureOf({ product, garment, storeId }: Job): Promise<Uint8Array> {
    try {
      return garment ? await photoOf(garment, storeId) : await garmentOf(product)
    } catch (cause) {
      if (cause instanceof PutOff) throw cause
      throw new Error(`the picture of product ${product.id} could not be had`, { cause })
    }
  }

  /** Whoever wanted it has gone, or it ends every process that does it. */
  const isTooOld = (since: number) => clock.now() >= since + config.giveUpAfterMinutes * 60_000

  function checkWanted(job: Job): void {
    if (!job.asked && isTooOld(job.acceptedAt)) throw new Error('a job was too old to be done')
    if (job.test === 'jobError') throw new Error('the job was made to fail')
    if (job.test === 'photoGone') throw new PhotoNotAccessible()
  }

  /** What was fetched is this service's from then on, for as long as the job takes. */
  async function kept(blob: Blob): Promise<string> {
    const name = randomId()
    // known first: what was begun is deleted, too
    await store.keepPhoto(name, clock.now()).catch(putOff)
    await blobs.put(name, blob).catch(putOff)
    return name
  }

  /** All that other people's servers have of it. */
  async function bring(job: Job): Promise<null> {
    const [photo, bytes] = await Promise.all([
      'url' in job.photo && fetchPhoto(job.photo.url, job.storeId),
      isGarmentElsewhere(job) && pictureOf(job),
    ])
    const photoName = photo && (await kept(photo))
    const garment = bytes && (await kept({ bytes: Uint8Array.from(bytes), type: typeOf(bytes) }))
    const passOn = async (ledger: Ledger) => {
      const known = await ledger.job(job.id)
      // another process may have brought it meanwhile
      const isWanted = known?.state === 'queued' && stageOf(known) === 'fetch'
      if (isWanted)
        await ledger.passOn({
          ...known,
          ...(photoName && { photo: { name: photoName, fetched: true } }),
          ...(garment && { garment }),
        })
      return isWanted
    }
    // whether it stands is not known where that fails
    if (await store.transaction(passOn).catch(putOff)) return null
    for (const name of [photoName, garment]) if (name) await blobs.remove(name)
    return null
  }

  /** Null where another stage is to come. */
  async function advance(job: Job): Promise<End | null> {
    checkWanted(job)
    return 'url' in job.photo || isGarmentElsewhere(job) ? bring(job) : render(job, job.photo.name)
  }

  async function made(job: Job, orderOf: () => Promise<Omit<Order, 'webhook'>>): Promise<Pictures> {
    if (!job.provided) {
      const { photo, garment } = await orderOf()
      return generator(photo, garment, job.funnelType, job.storeId)
    }
    if (provided) return provided.picturesOf(job, orderOf)
    const noProvider = new Error('a job is a provider’s, and this process has none')
    // a process may have one that began after this one, or before
    return isTooOld(job.asked?.since ?? job.acceptedAt) ? Promise.reject(noProvider) : putOff(noProvider)
  }

  async function render(job: Job, photoName: string): Promise<End> {
    const { funnelType, generationModel } = job
    const orderOf = async () => ({
      funnelType,
      generationModel,
      photo: await photoOf(photoName, job.storeId),
      garment: await pictureOf(job),
    })
    const { preview, final } = await made(job, orderOf)
    const pictures = picturesOf(job)
    const put = (name: string, blob: Blob) =>
      untilWritten(() => blobs.put(name, blob), { clock, report, ...putTries }).catch(putOff)
    await put(pictures.preview, preview)
    await put(pictures.final, final)
    return { state: 'rendered', pictures }
  }

  function failed(job: Job, error: unknown): End {
    if (job.test === null && !isOfPhoto(error)) report(error)
    return { state: 'failed', error: isOfPhoto(error) ? error.message : 'Generation failed' }
  }

  async function end(begun: Job, how: End): Promise<void> {
    const ended = await store.transaction(async (ledger) => {
      const job = await ledger.job(begun.id)
      // another process may have done it meanwhile, or be at its next stage
      if (job?.state !== 'queued' || (how.state === 'failed' && stageOf(job) !== stageOf(begun))) return null
      if (how.state === 'failed' && job.credit !== null) await ledger.giveCreditBack(job.storeId)
      await ledger.saveJob({ ...job, ...how })
      return { ...job, ...how }
    })
    // one of two may have been written; those of a job that another process has done meanwhile are its own
    if (ended?.state === 'failed') await Promise.all(Object.values(picturesOf(ended)).map(blobs.remove)).catch(report)
    // nobody else has a use for what was fetched
    if (ended && 'fetched' in ended.photo) await blobs.remove(ended.photo.name).catch(report)
    if (ended?.garment) await blobs.remove(ended.garment).catch(report)
    if (ended) observer?.ended(ended, (clock.now() - ended.acceptedAt) / 1000)
  }

  return {
    async work(jobId: string, stage: Stage): Promise<void> {
      const job = await store.job(jobId)
      if (job?.state !== 'queued') return
      // it was passed on, though the process that did so was not told; an earlier version fetched some as it rendered
      if (stage === 'fetch' && stageOf(job) !== 'fetch') return
      const how = await advance(job).catch((error: unknown) => {
        if (!(error instanceof PutOff)) return failed(job, error)
        if (error.cause !== undefined) report(error.cause)
        throw error
      })
      if (how) await end(job, how)
    },
    async giveUp(jobId: string): Promise<void> {
      const job = await store.job(jobId)
      if (job?.state === 'queued') await end(job, failed(job, new Error('a job ended too many processes that did it')))
    },
  }
}

const typeOf = (bytes: Uint8Array) => imageTypeOf(bytes) ?? 'application/octet-stream'

/** What a job comes to. */
type End = Pick<Job, 'state'> & Partial<Pick<Job, 'error' | 'pictures'>>

/** Only what the shopper can act on is told; the rest stays inside. */
const isOfPhoto = (error: unknown): error is Error =>
  error instanceof PhotoNotAccessible || error instanceof PhotoNotReadable || error instanceof PhotoNotUsable
