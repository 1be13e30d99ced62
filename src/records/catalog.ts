import * as z from 'zod/mini'
import type { Journal } from './journal.ts'
import type { Keys } from './keys.ts'
import type { BoundedPhotoStore } from './photo-store.ts'
import type { Clock } from '../ports.ts'
import { mayBeRunning, readable, readRecord, type AttemptRecord, type Phase } from '../rules/record.ts'

/** One attempt that storage holds. Times are epoch ms. */
export interface Listed<Opened> {
  attemptId: string
  productId: string
  variantId: string
  phase: Phase
  jobId: string | null
  startedAt: number
  savedAt: number
  /** False for the attempt that its try-on shows. */
  archived: boolean
  /** What follows this attempt: `resume()` there goes on with the same job where one is known. */
  open(): Opened
}

interface StoredAttempt {
  key: string
  record: AttemptRecord
  archived: boolean
}

/** A number in storage that grows when something is wiped: writes of an older epoch are not made. */
interface Epoch {
  read(): Promise<number>
  raise(): Promise<void>
}

/** What a room has in storage, which can not be enumerated: an entry is written before what it names. */
export interface Catalog {
  list(key: string): Promise<unknown>
  /** What is listed; nothing where that can not be read. */
  keys(): Promise<string[]>
  epoch: Epoch
  attempts<Opened>(open: (stored: StoredAttempt) => Opened): Promise<Listed<Opened>[]>
  /** Removes everything of the room and raises the epoch; resolves with whether all of it went. */
  wipe(): Promise<boolean>
}

export interface CatalogParts {
  journal: Journal
  keys: Keys
  store: BoundedPhotoStore
  clock: Clock
  retentionMs: number
}

const indexed = z.object({ keys: z.array(z.string()) })
const epochs = z.object({ epoch: z.int() })

export function createCatalog({ journal, keys, store, clock, retentionMs }: CatalogParts): Catalog {
  const keysIn = (stored: unknown) => indexed.safeParse(stored).data?.keys ?? []
  /** Looks each time: another page may have wiped the index. */
  const list = (key: string) =>
    journal.update(keys.index, (stored) => {
      const old = keysIn(stored)
      return old.includes(key) ? undefined : { version: 1, savedAt: clock.now(), keys: [...old, key] }
    })

  const numberIn = (stored: unknown) => epochs.safeParse(stored).data?.epoch ?? 0
  const epoch: Epoch = {
    read: async () => numberIn(await journal.read(keys.epoch).catch(() => undefined)),
    raise: async () => {
      await journal.update(keys.epoch, (old) => ({ epoch: numberIn(old) + 1, savedAt: clock.now() }))
    },
  }

  const listed = async () => keysIn(await journal.read(keys.index).catch(() => undefined))

  async function stored(): Promise<StoredAttempt[]> {
    const read = await Promise.all(
      (await listed()).map(async (key) => {
        const record = readable(readRecord(await journal.read(key).catch(() => undefined), clock.now()))
        return record && { key, record, archived: key === keys.attempt(record.attemptId) }
      }),
    )
    const found = read.filter((each) => each !== null)
    return found.map((each) => ({ ...each, archived: each.archived || found.some((other) => isBefore(other, each)) }))
  }

  /** A try-on shows the first of its records that can be read; one past it was begun while that could not be. */
  const isBefore = (one: StoredAttempt, other: StoredAttempt) =>
    !one.archived &&
    one.record.productId === other.record.productId &&
    one.record.variantId === other.record.variantId &&
    one.key < other.key

  return {
    list,
    keys: listed,
    epoch,
    async attempts(open) {
      const all = (await stored()).sort((a, b) => b.record.startedAt - a.record.startedAt)
      const expired = all.filter(({ record }) => clock.now() - record.savedAt > retentionMs && !mayBeRunning(record))
      await Promise.all(
        expired.map(({ key, record }) =>
          journal.update(key, (old) => {
            const found = readable(readRecord(old, clock.now()))
            return found?.attemptId === record.attemptId && found.savedAt === record.savedAt ? null : undefined
          }),
        ),
      )
      return all.filter((each) => !expired.includes(each)).map((each) => listing(each, () => open(each)))
    },
    async wipe() {
      await epoch.raise()
      const index = await journal.read(keys.index).catch(() => null)
      // without its index it is not known what has to go
      if (index === null) return false
      const gone = await Promise.all([...keysIn(index), keys.visitor, keys.photo].map(removed))
      return gone.every(Boolean) && (await journal.update(keys.index, () => null)) !== 'memory'
    },
  }

  async function removed(key: string): Promise<boolean> {
    const photoGone = await Promise.resolve(store.remove(key)).then(
      () => true,
      () => false,
    )
    return (await journal.update(key, () => null)) !== 'memory' && photoGone
  }
}

function listing<Opened>({ record, archived }: StoredAttempt, open: () => Opened): Listed<Opened> {
  const { attemptId, productId, variantId, phase, startedAt, savedAt, job } = record
  return { attemptId, productId, variantId, phase, startedAt, savedAt, archived, jobId: job?.jobId ?? null, open }
}
