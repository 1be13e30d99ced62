import type { TryOnState } from 'fitting-room'

/** How a page is loaded. */
export interface Load {
  /** Its tiers of storage, the first one first. */
  folders: readonly string[]
  /** The first tier fails in this load. */
  failing: boolean
  /** The point at which it is killed; none where it is left alone. */
  killAt: string | null
  baseUrl: string
  shopper: string
  /** The shopper's own, so that the IP limit is theirs, too. */
  address: string
}

/** What a page has shown by its end. */
export interface Report {
  killedAt: string | null
  /** Every state so far, in order. */
  states: TryOnState[]
  state: TryOnState
  jobId: string | null
  problem: string | null
  durable: boolean
  /** The points that it has passed. */
  points: readonly string[]
}

/** A photo that is no load for anybody. */
export const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
