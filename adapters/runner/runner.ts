import { postgresBudget } from '../storage/postgres-budget.ts'
import { postgresStorage } from '../storage/postgres.ts'
import type { PostgresQueries } from '../storage/postgres-tables.ts'
import { checkedProduct, type RoomOptions, type TryOnProduct } from '../../src/options.ts'
import { newId } from '../../src/platform/new-id.ts'
import { systemClock } from '../../src/platform/system-clock.ts'
import { TryOnError } from '../../src/rules/try-on-error.ts'
import { readPhoto, type PhotoInput } from '../../src/shopper/photo-input.ts'
import { createPreparation } from '../../src/shopper/preparation.ts'
import { createCarryOut } from './carry-out.ts'
import { createEvents } from './events.ts'
import { createItems, type Item, type Order, type RunnerEntry } from './items.ts'
import { hashOf, openQueue } from './queue.ts'

export type { PostgresQueries, RunnerEntry }

export interface RunnerOptions extends Pick<
  RoomOptions,
  'baseUrl' | 'apiKey' | 'fetch' | 'putPhoto' | 'timing' | 'clock' | 'budget' | 'photos' | 'checkPhoto'
> {
  /** Where everything is kept: a `Pool` of `pg` that any number of processes share, or a PGlite of this process's own. */
  database: PostgresQueries
  /** What the names in the database begin with: lower-case letters, digits and `_`. Default: `fitting_room`. */
  name?: string | undefined
  /** Sent with every submission, for stores that ask for an address; never kept. */
  customerEmail?: string | undefined
  /** Hears of what goes on later by itself. Default: `console.error`. */
  onError?: ((error: unknown) => void) | undefined
}

/** One try-on of many. */
export interface RunnerOrder {
  /** The caller's own, of 1 to 200 characters: whatever is added under it again is the same try-on. */
  id: string
  product: TryOnProduct
  photo: PhotoInput
  /** The service's visitor that it is for. Default: one of its own. */
  uniqueUserId?: string | undefined
}

/** Many try-ons, carried out by any number of processes on one database. */
export interface Runner {
  /** The consent for ONE submission; the same `id` again is no other one. Throws `TryOnError` of kind `input` or `photo`. */
  add(order: RunnerOrder): Promise<RunnerEntry>
  get(id: string): Promise<RunnerEntry | null>
  list(): Promise<RunnerEntry[]>
  /** A NEW submission, which may be paid for, of one that has ended; rejects with `notAllowed` else. */
  retry(id: string): Promise<void>
  /** Removes one that has ended, with what is kept of it; under its `id` another one may be added. Rejects with `notAllowed` else. */
  forget(id: string): Promise<void>
  /** Hears of every state that a try-on comes to from now on, in whichever process; some may be passed over. */
  on(listener: (entry: RunnerEntry) => void): { unsubscribe(): void }
  /** Works on what is there and what comes, so many at once. Default: 20. */
  run(options?: { atOnce?: number | undefined }): Promise<void>
  /** Resolves once every try-on has ended. */
  settled(): Promise<void>
  /** Hands back what is in work, but for submissions that are out, whose answers it waits for. The database stays open. */
  close(): Promise<void>
}

/** Opens a runner on its database, and makes there what is missing. Rejects with the database's own errors. */
export async function openRunner(options: RunnerOptions): Promise<Runner> {
  const { database, name = 'fitting_room', customerEmail, onError = console.error } = options
  const { baseUrl, apiKey, fetch, putPhoto, timing, clock = systemClock, budget } = options
  const items = createItems(database, name)
  const queue = await openQueue(database, name, onError)
  const prepare = createPreparation(options, clock)
  const ends = new AbortController()
  const events = createEvents(items, clock, onError)
  const room = { baseUrl, apiKey, fetch, putPhoto, timing, clock, budget: budget ?? postgresBudget(database, { name }) }
  const { carryOut, forget } = createCarryOut({
    options: room,
    storage: postgresStorage(database, { name }),
    items,
    customerEmail,
  })

  async function orderOf({ product, photo, uniqueUserId }: RunnerOrder) {
    const { productId, variantId, funnelIds } = checkedProduct(product)
    const given = await readPhoto(photo, clock)
    const kept = 'imageUrl' in given ? null : await prepare(given, true)
    const named = 'imageUrl' in given ? given : { hash: await hashOf(given.bytes) }
    const order: Order = { productId, variantId, funnelIds, photo: named, uniqueUserId: uniqueUserId ?? null }
    return { order, photo: kept }
  }

  async function found(id: string): Promise<Item> {
    const item = await items.read(id)
    return item ?? refuse('id', id, 'the id of a try-on that was added')
  }

  return {
    async add(asked) {
      const { id } = asked
      if (typeof id !== 'string' || !/^[^\0\p{Surrogate}]{1,200}$/u.test(id))
        refuse('id', id, 'text of 1 to 200 characters')
      const { order, photo } = await orderOf(asked)
      await items.add(id, order, order.uniqueUserId ?? newId(), photo)
      const item = await found(id)
      if (JSON.stringify(item.order) !== JSON.stringify(order)) refuse('id', id, 'an id that stands for nothing else')
      if (!item.isEnded) await queue.add(item)
      return entryOf(item)
    },
    async get(id) {
      const item = await items.read(id)
      return item && entryOf(item)
    },
    list: items.all,
    async retry(id) {
      const { state } = await found(id)
      const round = await items.again(id)
      if (round === null) throw new TryOnError({ kind: 'notAllowed', intent: 'retry', state })
      await queue.add({ id, round })
    },
    async forget(id) {
      const item = await found(id)
      if (!item.isEnded) throw new TryOnError({ kind: 'notAllowed', intent: 'discard', state: item.state })
      await forget(item)
      await items.remove(id)
    },
    on: events.on,
    async run({ atOnce = 20 } = {}) {
      // what was added by a process that ended before it was queued
      for (const open of await items.open()) await queue.add(open)
      await queue.run(atOnce, async ({ id, round }) => {
        const item = await items.read(id)
        if (item && !item.isEnded && item.round === round) await carryOut(item, ends.signal)
      })
    },
    settled: () => events.until(async () => (await items.open()).length === 0),
    async close() {
      ends.abort()
      await queue.close()
      await events.close()
    },
  }
}

/** What is told of an item. */
const entryOf = ({ id, state, isEnded, attempt, result, problem, message }: Item): RunnerEntry => ({
  id,
  state,
  isEnded,
  attempt,
  result,
  problem,
  message,
})

function refuse(at: string, given: unknown, valid: string): never {
  throw new TryOnError({
    kind: 'input',
    at,
    given: typeof given === 'string' ? JSON.stringify(given.slice(0, 80)) : typeof given,
    valid,
  })
}
