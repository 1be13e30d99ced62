import { createAtom } from '@xstate/store'
import * as z from 'zod/mini'
import type { Client } from '../wire/client.ts'
import type { VisitorStatus } from '../contract/resources.ts'
import { guarded } from '../platform/guarded.ts'
import type { Journal } from '../records/journal.ts'
import type { Keys } from '../records/keys.ts'
import type { Outcome } from '../rules/outcome.ts'
import type { Clock, Readable } from '../ports.ts'

/** What is known of the room's visitor; null where the service has not said it yet (spec §2, VisitorStatus). */
export interface Visitor {
  uniqueUserId: string | null
  /** Try-ons left before an e-mail is asked for, −1 for no limit; may be old: the submission decides. */
  requestsLeft: number | null
  totalRequests: number | null
}

export interface VisitorStore extends Readable<Visitor> {
  /** Reads what an earlier page has saved, unless that has expired. */
  restore(): Promise<void>
  /** Takes what answers say, until the visitor is forgotten; an ID that is null never erases a saved one. */
  learner(): (said: Partial<Visitor>) => void
  /** GET /requests-left, one at a time: without an ID it may create a visitor. */
  ask(client: Client): Promise<Outcome<VisitorStatus>>
  forget(): void
}

export interface VisitorParts {
  journal: Journal
  keys: Keys
  clock: Clock
  retentionMs: number
  /** The ID that the application has given. */
  given: string | undefined
}

const saved = z.object({
  savedAt: z.int(),
  uniqueUserId: z.nullable(z.string()),
  requestsLeft: z.nullable(z.int()),
  totalRequests: z.nullable(z.int()),
})

export function createVisitor({ journal, keys, clock, retentionMs, given }: VisitorParts): VisitorStore {
  const unknown: Visitor = { uniqueUserId: given ?? null, requestsLeft: null, totalRequests: null }
  const atom = createAtom(unknown)
  let shopper = 0
  let asking: Promise<Outcome<VisitorStatus>> | null = null

  function learner(): (said: Partial<Visitor>) => void {
    const ofShopper = shopper
    return (said) => {
      if (ofShopper !== shopper) return
      const old = atom.get()
      const next = {
        uniqueUserId: given ?? said.uniqueUserId ?? old.uniqueUserId,
        requestsLeft: said.requestsLeft ?? old.requestsLeft,
        totalRequests: said.totalRequests ?? old.totalRequests,
      }
      if (JSON.stringify(next) === JSON.stringify(old)) return
      void journal.update(keys.visitor, () => ({ ...next, savedAt: clock.now() }))
      atom.set(next)
    }
  }

  async function ask(client: Client): Promise<Outcome<VisitorStatus>> {
    const learn = learner()
    const { uniqueUserId } = atom.get()
    const outcome = await client.getRequestsLeft(uniqueUserId === null ? {} : { uniqueUserId })
    if (outcome.kind === 'accepted') learn(outcome.data)
    return outcome
  }

  return {
    learner,
    get: () => atom.get(),
    subscribe: (onChange) => atom.subscribe(guarded(onChange)),
    async restore() {
      const stored = await journal.read(keys.visitor).catch(() => undefined)
      const read = saved.safeParse(stored)
      if (!read.success) return
      const { savedAt, ...visitor } = read.data
      if (clock.now() - savedAt <= retentionMs) atom.set({ ...visitor, uniqueUserId: given ?? visitor.uniqueUserId })
      else await journal.update(keys.visitor, () => null)
    },
    ask(client) {
      asking ??= ask(client).finally(() => (asking = null))
      return asking
    },
    forget() {
      shopper++
      atom.set(unknown)
    },
  }
}
