import {
  createClient,
  type Client,
  type DataOf,
  type Outcome,
  type Situation,
  type Unusable,
} from 'fitting-room/client'
import { polledJob, productId, type PolledJob } from 'fitting-room/contract'
import { createRoom } from 'fitting-room/core'
import { TryOnElement } from 'fitting-room/element'
import {
  createSession,
  deviceLimits,
  newShopperId,
  watchPage,
  type Session,
  type SessionView,
} from 'fitting-room/kiosk'
import { openCamera, preparePhoto, type Camera } from 'fitting-room/photos'
import { storageChain } from 'fitting-room/storage/chain'
import { indexedDbStorage } from 'fitting-room/storage/indexed-db'
import { webStorage } from 'fitting-room/storage/local-storage'
import { memoryPhotos, memoryStorage } from 'fitting-room/storage/memory'
import { manualClock, mockRoom, viewOf, views, type ManualClock, type MockRoom } from 'fitting-room/testing'
import { createWords, type Announcement, type Texts, type Words } from 'fitting-room/words'
import { de } from 'fitting-room/words/de'
import { en } from 'fitting-room/words/en'
import { es } from 'fitting-room/words/es'
import { fr } from 'fitting-room/words/fr'
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

/** The words of a shop, and a room for its tests. */
export const words: Words = createWords({ ...de, titles: { ...de.titles, final: 'Fertig' } })
export const spoken: Announcement | null = words.announcementOf(views.final, null)
export const stage: MockRoom = mockRoom({ '1001/2001': 'needsEmail', '1001/2002': viewOf('failed') })
export const clock: ManualClock = manualClock()
export const texts: Texts[] = [de, en, es, fr]

export const elements: (typeof TryOnElement)[] = [TryOnElement]
export const cores = [createRoom]
export const camera = (video: HTMLVideoElement): Promise<Camera> => openCamera(video)
export const ready = (photo: { bytes: ArrayBuffer; type: string }) =>
  preparePhoto(photo, { maxSide: 1_000, advice: true })

/** A kiosk, which no page's events tell of activity. */
const limits = deviceLimits({ perShopper: 5, perHour: undefined, storage: memoryStorage() })
const kiosk = createFittingRoom({ baseUrl: '/api', apiKey: 'key', uniqueUserId: newShopperId, limit: limits })
export const session: Session = createSession(kiosk, { idleMs: 30_000, limits, watch: watchPage, keepAwake: undefined })
export const leftOf = (view: SessionView): number | null => (view.state === 'warning' ? view.secondsLeft : null)
