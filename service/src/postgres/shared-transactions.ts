import type { Ledger, Store } from '../ports.ts'
import type { Database, Queries } from './database.ts'
import { gathered } from './gathered.ts'
import { limited, oneByOne } from './limited.ts'

type Work = (ledger: Ledger) => Promise<unknown>

/** How many works are one transaction at the most: it holds what they have read. */
const mostWorks = 100

/** How many are done alone at once, and how many of those that have waited for nothing before: connections stay free for all others. */
const mostAlone = 3
const mostAgain = 2

/** How many works of one shopper share a transaction: one goes after the other, and all others wait for its end. */
const mostOfOne = 4

/** For how long a work waits before others have its place, at first and then; whoever waits in a process that stands still waits no longer. */
const waitsFor = (isAgain: boolean) => `set local lock_timeout = '${isAgain ? 1_000 : 100}ms'`

/** The code of what did not come in that time, and how often it is waited for. */
const notCome = '55P03'
const mostWaits = 60

/** Another transaction has what a work reads, which has written nothing yet: it is done again alone, and waits for that. */
export class HeldElsewhere extends Error {
  /** By what name those go one after the other that wait for the same. */
  readonly held: string

  constructor(...name: string[]) {
    super()
    this.held = JSON.stringify(name)
  }
}

/** How a statement takes rows for its transaction: in one that is shared it goes by those that another one has. */
export const rowsFor = (isShared: boolean): string => (isShared ? 'for update skip locked' : 'for update')

/**
 * Works that come while a transaction is under way share the next one, so that they wait for the disk once. Where one of
 * them is refused, each is done again in a transaction of its own, and stands or falls alone.
 */
export function sharedTransactions(
  database: Database,
  ledgerOn: (queries: Queries, isShared: boolean) => Ledger,
): Store['transaction'] {
  const alone = (work: Work, isAgain: boolean) =>
    database.transaction((queries) => {
      void queries.query(waitsFor(isAgain))
      return carriedOut(work, ledgerOn(queries, false))
    })

  /** What each has come to; those that are to be done alone have written nothing. */
  async function asOne(works: Work[]): Promise<(PromiseSettledResult<unknown> | Unsettled)[]> {
    let isRefused = false
    const outcome = database.transaction(async (queries) => {
      isRefused = false
      const turns: Turns = new Map()
      const ledger = ledgerOn(queries, true)
      // none goes on after the transaction's end
      const ends = await Promise.allSettled(works.map((work) => inTurn(work, ledger, turns)))
      const outcomes = ends.map((end) => heldIn(end) ?? end)
      const refused = outcomes.find((end) => end.status === 'rejected')
      isRefused = refused !== undefined
      if (refused) throw refused.reason
      return outcomes
    })
    return outcome.catch((reason: unknown) => {
      // one that had it for itself need not be done again
      if (works.length === 1) return [{ status: 'rejected', reason }]
      // its end was never asked for, or the database refused a statement: it is known that nothing stands
      if (isRefused || isRefusal(reason)) return works.map(() => ({ status: 'alone' }))
      throw reason
    })
  }

  const settle = gathered(asOne, mostWorks)
  const aloneInTurn = limited(mostAlone)
  const againInTurn = limited(mostAgain)
  const inLineFor = oneByOne()

  return async <T>(work: (ledger: Ledger) => Promise<T>) => {
    const end = await settle(work)
    if (end.status === 'rejected') throw end.reason
    if (end.status === 'fulfilled') return end.value as T
    // not in the round, as whoever waits for a shopper would hold all others up
    const done = () =>
      untilCome((isAgain) => (isAgain ? againInTurn : aloneInTurn)(() => alone(work, isAgain) as Promise<T>))
    return end.held === undefined ? done() : inLineFor(end.held, done)
  }
}

/** Once more, behind all who have waited as well, where what it waits for has not come. */
async function untilCome<T>(wait: (isAgain: boolean) => Promise<T>): Promise<T> {
  for (let waits = 1; ; waits += 1) {
    try {
      return await wait(waits > 1)
    } catch (error) {
      if (Object(error).code !== notCome || waits === mostWaits) throw error
    }
  }
}

/** It is to be done alone, and where another transaction has what it reads, after all that wait for the same. */
interface Unsettled {
  status: 'alone'
  held?: string
}

const heldIn = (end: PromiseSettledResult<unknown>): Unsettled | null =>
  end.status === 'rejected' && end.reason instanceof HeldElsewhere ? { status: 'alone', held: end.reason.held } : null

/** What the database says of a statement, and not of itself or a connection (SQLSTATE classes 08, 53, 57P and 40P). */
const isRefusal = (error: unknown) =>
  'severity' in Object(error) && !/^(08|53|57P|40P)/.test(String(Object(error).code))

/** How many works read a thing, and when the last of them has ended. */
type Turns = Map<string, { of: number; ended: Promise<unknown> | null }>

/** Nothing in the database keeps two works of one transaction apart: whoever reads what another one has waits for its end. */
async function inTurn(work: Work, ledger: Ledger, turns: Turns): Promise<unknown> {
  let end = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  let held: string | null = null
  const turn = async (...name: string[]) => {
    const wanted = JSON.stringify(name)
    if (held === wanted) return
    // two that wait for each other would wait for ever
    if (held !== null) throw new Error('whoever reads two things has a transaction alone')
    held = wanted
    const before = turns.get(wanted) ?? { of: 0, ended: null }
    if (before.of === mostOfOne) throw new HeldElsewhere(...name)
    turns.set(wanted, { of: before.of + 1, ended })
    await before.ended
  }
  const shared: Ledger = {
    ...ledger,
    visitor: (storeId, id) => turn(storeId, id).then(() => ledger.visitor(storeId, id)),
    job: (id) => turn(id).then(() => ledger.job(id)),
  }
  return carriedOut(work, shared).finally(end)
}

/** What a work has written without waiting is sent by its end, too. */
async function carriedOut(work: Work, ledger: Ledger): Promise<unknown> {
  try {
    return await work(ledger)
  } finally {
    await new Promise<void>((sent) => process.nextTick(sent))
  }
}
