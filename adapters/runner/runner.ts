import * as contract from '../../src/contract/resources.ts'
import {
  checkedOptions,
  checkedProduct,
  resolvedBaseUrl,
  type RoomOptions,
  type TryOnProduct,
} from '../../src/options.ts'
import { reporter } from '../../src/platform/guarded.ts'
import { newId } from '../../src/platform/new-id.ts'
import { systemClock } from '../../src/platform/system-clock.ts'
import { check } from '../../src/rules/check.ts'
import { TryOnError } from '../../src/rules/try-on-error.ts'
import { readPhoto, type PhotoInput } from '../../src/shopper/photo-input.ts'
import { createPreparation } from '../../src/shopper/preparation.ts'
import { postgresBudget } from '../storage/postgres-budget.ts'
import type { PostgresQueries } from '../storage/postgres-tables.ts'
import { postgresStorage } from '../storage/postgres.ts'
import { createCarryOut } from './carry-out.ts'
import { createEvents } from './events.ts'
import { hashOf } from './hash.ts'
import { createItems, limitedItems } from './items.ts'
import type { Consent, Item, Leaving, Order, RunnerEntry } from './items.types.ts'
import { patientBudget } from './patient-budget.ts'
import { openQueue } from './queue.ts'

export type { PostgresQueries, RunnerEntry }

export interface RunnerOptions extends Pick<
  RoomOptions,
  'baseUrl' | 'apiKey' | 'fetch' | 'putPhoto' | 'timing' | 'clock' | 'budget' | 'photos' | 'checkPhoto'
> {
  /** Where everything is kept: a `Pool` of `pg` that any number of processes share, or a PGlite of this process's own. */
  database: PostgresQueries
  /** What the names in the database begin with, one for each store: lower-case letters, digits and `_`. Default: `fitting_room`. */
  name?: string | undefined
  /** Sent with every submission, for stores that ask for an address; never kept. */
  customerEmail?: string | undefined
  /** Called with errors after which the runner continues by itself. Default: `console.error`. */
  onError?: ((error: unknown) => void) | undefined
}

/** One try-on of many. */
export interface RunnerOrder {
  /** Your own, of 1 to 200 characters; it names one try-on: adding the same order again gives that one. */
  id: string
  product: TryOnProduct
  photo: PhotoInput
  /** The visitor that it is for. Default: a new one for each try-on. */
  uniqueUserId?: string | undefined
  /** Takes the photo though it is advised against. Default: false. */
  despiteAdvice?: boolean | undefined
}

/** Carries out many try-ons, in any number of processes on one database. Wrong arguments reject with kind `input`. */
export interface Runner {
  /** The consent to ONE submission, once for each `id`. Rejects with `input`, `photo` or `photoAdvice`. */
  add(order: RunnerOrder): Promise<RunnerEntry>
  get(id: string): Promise<RunnerEntry | null>
  list(): Promise<RunnerEntry[]>
  /**
   * A NEW submission, which may be paid for, of a try-on that has ended; otherwise rejects with `notAllowed`. If the
   * outcome of the previous one is not known but its job is (its answer came late, or an answer about it was unusable),
   * that job is followed instead; for a new submission, `forget` it and `add` it again. Given an entry instead of its
   * `id`, it acts only on the state that the entry shows: a repeated or late call rejects.
   */
  retry(of: string | RunnerEntry): Promise<void>
  /** Removes a try-on that has ended, with what is kept of it; its `id` is free again. Otherwise as `retry`. */
  forget(of: string | RunnerEntry): Promise<void>
  /** Calls `listener` with changes from now on, by any process; it may miss states, and what is forgotten at once. */
  on(listener: (entry: RunnerEntry) => unknown): { unsubscribe(): void }
  /** Works on try-ons from now on, `atOnce` of them at a time, 1 to 100 (default: 20); resolves once it has begun. */
  run(options?: { atOnce?: number | undefined }): Promise<void>
  /** Resolves once every try-on has ended. */
  settled(): Promise<void>
  /** Waits for the answers to submissions that are out, and hands other work back. The database stays open. */
  close(): Promise<void>
}

/** Opens a runner and creates missing tables. Rejects with `input`, or with the database's own errors. */
export async function openRunner(options: RunnerOptions): Promise<Runner> {
  const { database, name, customerEmail } = checkedRunnerOptions(options)
  const { baseUrl, apiKey, fetch, putPhoto, timing, clock = systemClock } = options
  const onError = reporter(options.onError)
  const items = createItems(database, name)
  const workItems = limitedItems(items, clock)
  const queue = await openQueue(database, name, clock, onError)
  const { prepare } = createPreparation(options, clock)
  const ends = new AbortController()
  const events = createEvents(items, clock, onError)
  const budget = patientBudget(options.budget ?? postgresBudget(database, { name }), clock, onError)
  const { carryOut, hasJob, wipe, close } = createCarryOut({
    options: { baseUrl, apiKey, fetch, putPhoto, timing, clock, budget },
    storage: postgresStorage(database, { name }),
    items: workItems,
    customerEmail,
    clock,
    onError,
  })
  let isRunning = false

  function checkOpen(): void {
    if (ends.signal.aborted) throw new Error('the runner was closed')
  }

  async function enqueue(consent: Consent): Promise<void> {
    await queue.add(consent)
    await items.queued(consent)
  }

  async function work({ id, consent }: Consent): Promise<'ended' | 'again'> {
    const item = await workItems.read(id)
    return item?.consent === consent ? carryOut(item, ends.signal) : 'ended'
  }

  async function orderOf({ product, photo, uniqueUserId, despiteAdvice = false }: RunnerOrder) {
    const { productId, variantId, funnelIds } = checkedProduct(product)
    if (uniqueUserId !== undefined) checkText('uniqueUserId', uniqueUserId)
    const given = await readPhoto(photo, clock)
    const kept = 'imageUrl' in given ? null : await prepare(given, despiteAdvice)
    const named = 'imageUrl' in given ? given : { hash: await hashOf(given.bytes) }
    const order: Order = { productId, variantId, funnelIds, photo: named, uniqueUserId: uniqueUserId ?? null }
    return { order, photo: kept }
  }

  async function found(id: string): Promise<Item> {
    checkId(id)
    const item = await items.read(id)
    check(item, 'id', id, 'the id of a try-on that was added')
    return item
  }

  /** What has ended, as it was seen. */
  async function endedOf(asked: string | RunnerEntry, intent: Leaving): Promise<Item> {
    const seen = typeof asked === 'string' ? null : asked
    const item = await found(typeof asked === 'string' ? asked : asked?.id)
    const isSeen = seen === null || (seen.state === item.state && seen.attempt?.id === item.attempt?.id)
    if (!item.isEnded || !isSeen) throw notAllowed(intent, item)
    return item
  }

  /** Rejects where somebody else was first. */
  async function won(done: Promise<boolean>, { id }: Item, intent: Leaving): Promise<void> {
    if (!(await done)) throw notAllowed(intent, await found(id))
  }

  /** Removes what is kept of one that has ended, once nobody goes on with it. */
  async function leave(ended: Item, intent: Leaving): Promise<void> {
    await won(items.leave(ended, intent), ended, intent)
    await wipe(ended)
  }

  return {
    async add(asked) {
      checkOpen()
      const given = Object(asked) as RunnerOrder
      const { id } = given
      checkId(id)
      const { order, photo } = await orderOf(given)
      const put = () => items.add({ id, consent: crypto.randomUUID() }, order, order.uniqueUserId ?? newId(), photo)
      await put()
      let item = await items.read(id)
      if (item === null) {
        // what was there has been forgotten since
        await put()
        item = await found(id)
      }
      check(JSON.stringify(item.order) === JSON.stringify(order), 'id', id, 'an id that stands for nothing else')
      if (!item.isEnded) await enqueue(item)
      return entryOf(item)
    },
    async get(id) {
      checkId(id)
      const item = await items.read(id)
      return item && entryOf(item)
    },
    list: items.all,
    async retry(of) {
      checkOpen()
      const ended = await endedOf(of, 'retry')
      const next = { id: ended.id, consent: crypto.randomUUID() }
      // what is paid for is not paid for again
      if (ended.leftFor !== 'discard' && unclear.has(ended.state) && (await hasJob(ended))) {
        await won(items.goOn(ended, next), ended, 'retry')
      } else {
        // what rejects is not carried out all the same: the consent comes last
        await leave(ended, 'retry')
        await won(items.again(ended, next), ended, 'retry')
      }
      // it is consented to: who runs queues it else
      await enqueue(next).catch(onError)
    },
    async forget(of) {
      const ended = await endedOf(of, 'discard')
      await leave(ended, 'discard')
      await won(items.remove(ended), ended, 'discard')
      const { photo } = ended.order
      if ('hash' in photo) await items.sweep(photo.hash).catch(onError)
    },
    on: events.on,
    async run({ atOnce = 20 } = {}) {
      checkOpen()
      if (isRunning) throw new Error('the runner runs already')
      check(Number.isInteger(atOnce) && atOnce >= 1 && atOnce <= 100, 'atOnce', atOnce, 'an integer from 1 to 100')
      isRunning = true
      // what a process has left that ended before it had swept
      await items.sweep().catch(onError)
      // what was given, or learnt late, by a process that ended before it was queued
      events.repeat(async () => {
        await items.goOnLate()
        for (const consent of await items.unqueued()) await enqueue(consent)
      })
      await queue.run(atOnce, (consent) =>
        work(consent).catch((error: unknown) => {
          if (!ends.signal.aborted) onError(error)
          throw error
        }),
      )
    },
    settled: () => events.until(async () => !(await items.isAnyOpen())),
    async close() {
      ends.abort()
      await queue.close().catch(onError)
      await close()
      await events.close()
    },
  }
}

/** The options that are no room's, once all of them are checked. */
function checkedRunnerOptions(options: RunnerOptions) {
  const { baseUrl, database, name = 'fitting_room', customerEmail } = checkedOptions(options)
  if (typeof baseUrl !== 'function') resolvedBaseUrl(baseUrl)
  check(typeof Object(database).query === 'function', 'database', database, 'an object with query()')
  check(/^(?!pg_)[a-z_][a-z0-9_]{0,30}$/.test(name), 'name', name, 'lower-case letters, digits and _')
  // which is nobody else's business
  if (customerEmail !== undefined && !contract.email.safeParse(customerEmail).success)
    throw new TryOnError({ kind: 'input', at: 'customerEmail', valid: 'an e-mail address' })
  return { database, name, customerEmail }
}

/** Where the job of a submission may be made, and have a picture, all the same. */
const unclear = new Set<Item['state']>(['outcomeUnknown', 'protocolError', 'unauthorized', 'stalled'])

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

const notAllowed = (intent: Leaving, { state }: Item) => new TryOnError({ kind: 'notAllowed', intent, state })

/** How long names of the caller's may be, in characters: indexes have room for these. */
const longestName = { id: 200, uniqueUserId: 256 }

const checkId = (id: unknown) => checkText('id', id)

function checkText(at: keyof typeof longestName, value: unknown): void {
  const most = longestName[at]
  const isText = typeof value === 'string' && /^[^\0\p{Surrogate}]+$/u.test(value) && value.length <= most
  check(isText, at, value, `text of 1 to ${most} characters`)
}
