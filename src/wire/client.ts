import { boundedBudget } from '../budget/bounded.ts'
import { systemClock } from '../platform/system-clock.ts'
import type { Client, ClientOptions } from './operations.ts'
import { createRoomClient } from './room-client.ts'

export {
  clientTiming,
  type Client,
  type ClientOptions,
  type ClientTiming,
  type RequestOptions,
  type SubmitOptions,
  type UploadOptions,
  type VisitorQuery,
} from './operations.ts'
export type { DataOf, Operation } from '../contract/endpoints.ts'
export type { Outcome, Refusal, Requested, Situation, Unusable } from '../rules/outcome.ts'
export type { Clock, Fetch, MaybePromise, PutOptions, PutPhoto, StoredPhoto, UploadProgress } from '../ports.ts'

/** The typed client alone: the seven operations and the photo's PUT. */
export function createClient({ budget, ...options }: ClientOptions): Client {
  const bounded = budget && boundedBudget(budget, options.clock ?? systemClock)
  return createRoomClient({ ...options, budget: bounded }).operations
}
