import type { Funnel, FunnelType } from 'fitting-room/contract'
import type { BodyLimits, BodyProblem } from './body.ts'
import { isUrl, type Config, type ProductConfig, type StoreConfig, type TestOutcome } from './config.ts'

/** Time in epoch ms. */
export interface Clock {
  now(): number
}

/** A shopper as one store knows them. Times are epoch ms. */
export interface Visitor {
  storeId: string
  id: string
  email: string | null
  name: string | null
  /** Try-ons counted in the e-mail collection period. */
  counted: number
  /** When try-ons were accepted, for the rolling cap; oldest first. */
  acceptedAt: number[]
}

/** One whom the store does not know yet. */
export const newVisitor = (storeId: string, id: string): Visitor => ({
  storeId,
  id,
  email: null,
  name: null,
  counted: 0,
  acceptedAt: [],
})

/**
 * One paid try-on, with a copy of what it needs of the configuration: what was accepted stays as it was accepted. Times
 * are epoch ms.
 */
export interface Job {
  id: string
  storeId: string
  visitorId: string
  product: Pick<ProductConfig, 'id' | 'title' | 'image'>
  variantId: string
  test: TestOutcome | null
  funnelType: FunnelType
  generationModel: Funnel['generationModel']
  /**
   * The shopper's photo: one that was uploaded, or `fetched` for this job alone, by its name; or one that lies elsewhere, by
   * its address.
   */
  photo: { name: string; fetched?: true } | { url: string }
  /** The name of the product's picture, where it lay elsewhere and was fetched for this job. */
  garment?: string
  acceptedAt: number
  /** Whether a provider makes its pictures, and not the generator. */
  provided: boolean
  /** When the preview and the final picture may be shown. */
  previewAt: number
  readyAt: number
  /** `queued` until it has come to its end. */
  state: 'queued' | 'rendered' | 'failed'
  /**
   * Since when a provider is asked for its pictures, which is written before it is: nobody asks a second time. With the
   * provider's ID of them once that is known; null where none was asked.
   */
  asked: { since: number; id: string | null } | null
  /** What the shopper is told of a failed job. */
  error: string | null
  /** The names of the rendered pictures. */
  pictures: { preview: string; final: string } | null
  /** From where a credit was taken for it; null where none was. */
  credit: number | null
}

/** What its pictures are called, whether or not there are any. */
export const picturesOf = ({ id }: Pick<Job, 'id'>) => ({ preview: `${id}-preview.jpeg`, final: `${id}.jpeg` })

/**
 * What one transaction reads and writes; all of it stands, or none. Nobody else changes a visitor or a job that it has
 * read until it ends. Whatever may have to be waited for (a visitor, a job, a credit) comes before anything is saved,
 * so that the transaction can be started again.
 */
export interface Ledger {
  /** The shopper of that ID, made where there is none. */
  visitor(storeId: string, id: string): Promise<Visitor>
  saveVisitor(visitor: Visitor): Promise<void>
  /** Takes one of a store's credits, of which it has so many; null where all are used. */
  takeCredit(storeId: string, credits: number): Promise<number | null>
  giveCreditBack(storeId: string): Promise<void>
  /** Notes that an uploaded photo was used. */
  usePhoto(name: string, at: number): Promise<void>
  job(id: string): Promise<Job | null>
  /** Adds a job, and queues it. */
  addJob(job: Job): Promise<void>
  saveJob(job: Job): Promise<void>
  /** Saves a job, and queues it for its next stage. */
  passOn(job: Job): Promise<void>
}

export interface Polled {
  /** Without what only its making needs. */
  job: Omit<Job, OfMaking>
  /** Null as long as there are no pictures: nobody is told of a shopper before. */
  visitor: Counted | null
}
/** What is told of a shopper; of the e-mail address no more than that there is one. */
export type Counted = Pick<Visitor, 'id' | 'email' | 'counted'>
/** What nobody asks for who polls. */
export const ofMaking = [
  'product',
  'photo',
  'garment',
  'variantId',
  'test',
  'funnelType',
  'generationModel',
  'provided',
  'asked',
  'credit',
] as const
type OfMaking = (typeof ofMaking)[number]

/** What commands have said of stores, in the light of one key. */
export interface Told {
  /** The store that a command has issued the key to; null where it has to none. */
  issuedTo: string | null
  /** Whether a command has said which key a store has, or that it has none: its configured one is void. */
  isIssued(storeId: string): boolean
  /** The stores that were imported, by their IDs: in place of the configured ones. */
  imported: ReadonlyMap<string, StoreConfig>
}

/** What the service must remember, and the jobs on their way to the renderer. */
export interface Store {
  transaction<T>(work: (ledger: Ledger) => Promise<T>): Promise<T>
  /** The shopper of that ID as they stand, or a new one. */
  visitor(storeId: string, id: string): Promise<Visitor>
  /** The ID of an address's own anonymous visitor in a store; `fresh` from now on where it has none. */
  anonymousId(storeId: string, ip: string, fresh: string): Promise<string>
  /** As it stands. */
  job(id: string): Promise<Job | null>
  /** A job, and whom it is asked for, as they stand: the shopper of that ID, or else its own. Null where there is no job. */
  poll(jobId: string, visitorId: string | undefined): Promise<Polled | null>
  /** What commands have said of stores, as it stands. */
  told(key: string): Promise<Told>
  /** Remembers an uploaded photo, as of then. */
  keepPhoto(name: string, at: number): Promise<void>
  /** The time where it is, in epoch ms; of one that is on this machine there is none. */
  now?(): Promise<number>
  /**
   * Forgets some of the jobs accepted no later than `until.jobs`; then, of their pictures and of photos last used
   * before `until.photos`, those that `remove` says it has removed; the others are left for another time. Resolves with
   * how many it has looked at; times in epoch ms.
   */
  expire(until: { photos: number; jobs: number }, remove: (names: string[]) => Promise<string[]>): Promise<number>
  /** Gives the room of what was deleted to what comes, where the database does not do so by itself. */
  tidy?(): Promise<void>
  /**
   * Hands queued jobs to `work`, a few of each stage at a time, each until it resolves: a job whose process ended is handed
   * out again, and to `giveUp` where every process has ended with it. A store that has many keeps no other one waiting.
   * Rejects where it cannot begin.
   */
  run(work: (jobId: string, stage: Stage) => Promise<void>, giveUp: (jobId: string) => Promise<void>): Promise<void>
  /** How many jobs wait for each stage, of all processes; what several share is counted every ten seconds. */
  waiting(): Promise<Readonly<Record<Stage, number>>>
  /** Waits for the jobs in work, and lets go of everything. */
  close(): Promise<void>
}

/** Whether the product's picture is yet to be fetched from elsewhere. */
export const isGarmentElsewhere = ({ product, garment }: Pick<Job, 'product' | 'garment'>) =>
  garment === undefined && isUrl(product.image ?? '')

/** What comes next for a queued job: what lies elsewhere is fetched, or its pictures are made. */
export const stageOf = (job: Pick<Job, 'photo' | 'product' | 'garment'>) =>
  'url' in job.photo || isGarmentElsewhere(job) ? 'fetch' : 'render'
export type Stage = ReturnType<typeof stageOf>
export const stages = ['fetch', 'render'] as const satisfies Stage[]

/** How long jobs in work are waited for at the end, in ms: longer than a provider has to answer. */
export const longestCloseMs = 40_000

/** How many jobs of one store are worked on at once, and how many of all stores. */
export interface Places {
  ofOneStore: number
  ofAll: number
}

/** Other people's servers are what a fetch waits for; two processors are what is drawn with, and memory what it takes. */
export const usualPlaces: Readonly<Record<Stage, Places>> = {
  fetch: { ofOneStore: 12, ofAll: 36 },
  render: { ofOneStore: 4, ofAll: 16 },
}

/** A provider is waited for, too. */
export const placesFor = ({ generator }: Pick<Config, 'generator'>): typeof usualPlaces =>
  generator === null ? usualPlaces : { ...usualPlaces, render: { ofOneStore: 16, ofAll: 64 } }

/** Hears what the service does, for whoever runs it. */
export interface Observer {
  /** A request was answered; what is none of the contract's operations has the name of its path's first part. */
  answered(operation: string, status: number, seconds: number): void
  /** A job has come to its end, so long after it was accepted. */
  ended(job: Job, seconds: number): void
}

export interface Blob {
  bytes: Uint8Array<ArrayBuffer>
  type: string
}

/** One that is read bit by bit, by whoever reads slowly. */
export interface OpenBlob extends Pick<Blob, 'type'> {
  body: ReadableStream<Uint8Array<ArrayBuffer>>
  /** In bytes. */
  size: number
}

/** Photos and pictures by name. */
export interface BlobStore {
  put(name: string, blob: Blob): Promise<void>
  /** One that is yet to be looked at is so in that line, or in one of its own. */
  get(name: string, line?: Line): Promise<Blob | null>
  /** As `get`, where it can without its bytes in memory; a store that has them there has none. */
  open?(name: string, line?: Line): Promise<OpenBlob | Blob | null>
  /** Also of what is not there. */
  remove(name: string): Promise<void>
}

export const openIn = (blobs: BlobStore, name: string, line?: Line) =>
  blobs.open ? blobs.open(name, line) : blobs.get(name, line)

/** Who waits for whom where pictures are drawn: one of a line comes before the next line's second, and uploads leave a place to jobs. */
export interface Line {
  kind: 'job' | 'upload'
  /** Whose it is. */
  of: string
}

/** What is drawn for a store's jobs. */
export const ofJobs = (storeId: string): Line => ({ kind: 'job', of: storeId })

/**
 * Takes a photo as it arrives, of the type that its content says, without the metadata that it came with. Rejects with
 * `PhotoNotReadable`, or `LineFull` where too many uploads of that line wait.
 */
export interface PhotoIntake {
  (request: Pick<Request, 'body'>, limits: BodyLimits, line: Line): Promise<Blob | BodyProblem>
}

/** The pictures of a try-on. */
export interface Pictures {
  preview: Blob
  final: Blob
}

/** Draws the pictures of a store's try-on from the shopper's photo and the garment's picture. */
export interface Generator {
  (photo: Uint8Array, garment: Uint8Array, funnelType: FunnelType, storeId: string): Promise<Pictures>
}

/** What a provider is asked for. */
export interface Order extends Pick<Job, 'funnelType' | 'generationModel'> {
  photo: Uint8Array
  garment: Uint8Array
  /** Where it may tell that it is done; null where it cannot reach the service. */
  webhook: string | null
}

/** How far a provider is. */
export type Progress = { state: 'going' } | { state: 'done'; pictures: Pictures } | { state: 'failed'; error: Error }

/** Makes the pictures of a try-on elsewhere, and is paid for each; it has no idempotency key either. */
export interface Provider {
  /**
   * Makes ready what is sent. What that resolves with has pictures begun, and resolves with the provider's ID: it asks
   * once, rejects with `NotBegun` where surely none were begun, and with anything else where nobody knows.
   */
  prepare(order: Order): Promise<() => Promise<string>>
  /** Rejects where it cannot be known now. */
  look(id: string): Promise<Progress>
}
