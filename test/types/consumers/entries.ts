import {
  createClient,
  type Client,
  type DataOf,
  type Outcome,
  type Situation,
  type Unusable,
} from 'fitting-room/client'
import { polledJob, productId, type PolledJob } from 'fitting-room/contract'
import { storageChain } from 'fitting-room/storage/chain'
import { indexedDbStorage } from 'fitting-room/storage/indexed-db'
import { webStorage } from 'fitting-room/storage/local-storage'
import { memoryPhotos, memoryStorage } from 'fitting-room/storage/memory'
import { createFittingRoom, type FlowStorage } from 'fitting-room'

export const client: Client = createClient({
  baseUrl: () => '/api',
  apiKey: 'key',
  fetch: undefined,
  putPhoto: undefined,
  clock: undefined,
  timing: { submitTimeoutMs: undefined },
})

export async function jobOf(id: string, signal: AbortSignal | undefined): Promise<DataOf<'getGeneration'> | Situation> {
  const outcome: Outcome<PolledJob> = await client.getGeneration(id, { uniqueUserId: undefined }, { signal })
  if (outcome.kind === 'accepted') return outcome.data
  const refused: Unusable = outcome
  return refused.kind === 'throttled' && refused.retryAfterMs !== null ? 'ipLimit' : refused.situation
}

export const fits = (value: unknown): boolean =>
  polledJob.safeParse(value).success && productId.safeParse(value).success

/** The storages of the package, and any that is like theirs. */
export const storages: FlowStorage[] = [
  memoryStorage(),
  indexedDbStorage(),
  webStorage(),
  storageChain([indexedDbStorage(), memoryStorage()]),
  localStorage,
  { getItem: async () => null, setItem: async () => undefined, removeItem: async () => undefined },
]
export const rooms = storages.map((storage) =>
  createFittingRoom({ baseUrl: '/api', apiKey: 'key', storage, photoStore: memoryPhotos() }),
)
