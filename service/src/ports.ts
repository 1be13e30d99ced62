import type { FunnelType } from 'fitting-room/contract'

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

/** One paid try-on. Times are epoch ms. */
export interface Job {
  id: string
  storeId: string
  visitorId: string
  productId: string
  variantId: string
  funnelType: FunnelType
  photoUrl: string
  acceptedAt: number
  /** When the preview and the final picture may be shown. */
  previewAt: number
  readyAt: number
  state: 'queued' | 'rendered' | 'failed'
  /** What the shopper is told of a failed job. */
  error: string | null
  /** URLs of the rendered pictures. */
  pictures: { preview: string; final: string } | null
}

/** What one transaction reads and writes; all of it stands, or none. */
export interface Ledger {
  visitor(storeId: string, id: string): Promise<Visitor | null>
  saveVisitor(visitor: Visitor): Promise<void>
  /** The anonymous visitor that an address has in a store; null before its first need. */
  anonymousId(storeId: string, ip: string): Promise<string | null>
  saveAnonymousId(storeId: string, ip: string, id: string): Promise<void>
  job(id: string): Promise<Job | null>
  saveJob(job: Job): Promise<void>
  /** Credits used of a store's. */
  creditsUsed(storeId: string): Promise<number>
  saveCreditsUsed(storeId: string, used: number): Promise<void>
}

/** What the service must remember. */
export interface Store {
  transaction<T>(work: (ledger: Ledger) => Promise<T>): Promise<T>
}

/** Jobs on their way to the renderer; each is handed out until it is done. */
export interface Queue {
  push(jobId: string): Promise<void>
  /** Starts handing jobs to `work`, a few at a time. */
  run(work: (jobId: string) => Promise<void>): void
  close(): Promise<void>
}

export interface Blob {
  bytes: Uint8Array<ArrayBuffer>
  type: string
}

/** Photos and pictures by name. */
export interface BlobStore {
  put(name: string, blob: Blob): Promise<void>
  get(name: string): Promise<Blob | null>
}

/** Makes the pictures of a try-on from the shopper's photo and the garment's picture. */
export interface Generator {
  (photo: Uint8Array, garment: Uint8Array, funnelType: FunnelType): Promise<{ preview: Blob; final: Blob }>
}
