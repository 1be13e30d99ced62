import type { VisitorStatus } from '../contract/resources.ts'
import * as is from '../contract/schema.ts'
import { createValue } from '../platform/value.ts'
import type { Clock, Readable } from '../ports.ts'
import type { Catalog } from '../records/catalog.ts'
import type { Codec, Journal } from '../records/journal.ts'
import type { Keys } from '../records/keys.ts'
import type { Outcome } from '../rules/outcome.ts'
import type { Client } from '../wire/operations.ts'

/** What is known of the room's visitor; null where the service has not said it yet (contract §2, VisitorStatus). */
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
  catalog: Catalog
  keys: () => Keys
  clock: Clock
  retentionMs: number
  /** The ID that the application has for its visitor. */
  ownId: string | undefined
}

const savedVisitor = is.object({
  savedAt: is.number,
  uniqueUserId: is.nullable(is.text),
  requestsLeft: is.nullable(is.integer),
  totalRequests: is.nullable(is.integer),
})

const codec: Codec<is.TypeOf<typeof savedVisitor>> = {
  read: (stored) => savedVisitor.safeParse(stored).data ?? 'unreadable',
  write: (value) => value,
}

export function createVisitor({ journal, catalog, keys, clock, retentionMs, ownId }: VisitorParts): VisitorStore {
  const unknown: Visitor = { uniqueUserId: ownId ?? null, requestsLeft: null, totalRequests: null }
  const visitor = createValue(unknown)
  const cell = () => journal.cell(keys().visitor, catalog.dated(codec))
  let asking: Promise<Outcome<VisitorStatus>> | null = null

  function learner(): (said: Partial<Visitor>) => void {
    const shopper = catalog.shopper()
    return (said) => {
      if (shopper.aborted) return
      const old = visitor.get()
      const next = {
        uniqueUserId: ownId ?? said.uniqueUserId ?? old.uniqueUserId,
        requestsLeft: said.requestsLeft ?? old.requestsLeft,
        totalRequests: said.totalRequests ?? old.totalRequests,
      }
      if (visitor.set(next)) void save(next)
    }

    async function save(known: Visitor): Promise<void> {
      if ((await catalog.list(keys().visitor, shopper)) === 'gone') return
      await cell().update(
        () => ({ ...known, savedAt: clock.now() }),
        () => catalog.isPresent(shopper),
      )
    }
  }

  async function ask(client: Client): Promise<Outcome<VisitorStatus>> {
    const learn = learner()
    const { uniqueUserId } = visitor.get()
    const outcome = await client.getRequestsLeft(uniqueUserId === null ? {} : { uniqueUserId }, {
      signal: catalog.shopper(),
    })
    if (outcome.kind === 'accepted') learn(outcome.data)
    return outcome
  }

  return {
    learner,
    get: visitor.get,
    subscribe: visitor.subscribe,
    async restore() {
      const shopper = catalog.shopper()
      const found = await cell()
        .read()
        .catch(() => null)
      if (found === null || found === 'unreadable' || shopper.aborted) return
      const { savedAt, ...saved } = found
      if (clock.now() - savedAt <= retentionMs) visitor.set({ ...saved, uniqueUserId: ownId ?? saved.uniqueUserId })
      else await cell().update(() => null)
    },
    ask(client) {
      asking ??= ask(client).finally(() => (asking = null))
      return asking
    },
    forget() {
      asking = null
      visitor.set(unknown)
    },
  }
}
