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
export type { Outcome, Situation, Unusable } from '../rules/outcome.ts'

/** The typed client alone: the seven operations and the photo's PUT. */
export const createClient = (options: ClientOptions): Client => createRoomClient(options).operations
