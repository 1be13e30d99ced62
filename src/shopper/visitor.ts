import type { VisitorStatus } from '../contract/resources.ts'
import * as is from '../contract/schema.ts'
import { createValue } from '../platform/value.ts'
import type { Readable } from '../ports.ts'
import type { Keys } from '../records/keys.ts'
import { unknownVisitor, type Visitor } from './unknown-visitor.ts'
import { savedValue, type SavedParts } from '../records/saved.ts'
import type { Outcome } from '../rules/outcome.ts'
import type { Client } from '../wire/operations.ts'
import type { Errands } from './errands.ts'

export interface VisitorStore extends Readable<Visitor> {
  /** Reads what an earlier page has saved, unless that has expired. */
  restore(): Promise<void>
  /** The ID for a request; where this page knows none, another one may have been told of it. */
  known(): Promise<string | undefined>
  /** As `known`; where nobody knows one the application makes it, and it is saved before anything is sent with it. */
  identify(): Promise<string | undefined>
  /** Takes what answers say, until the visitor is forgotten; an ID that is null never erases a saved one. */
  learner(): (said: Partial<Visitor>) => void
  /** GET /requests-left, one at a time: without an ID it may create a visitor. */
  ask(client: Client): Promise<Outcome<VisitorStatus>>
  forget(): void
}

interface VisitorParts extends SavedParts {
  keys: () => Keys
  errands: Errands
  /** The ID that the application has for its visitor, or what makes one for each. */
  ownId: string | (() => string) | undefined
}

const savedVisitor = is.object({
  uniqueUserId: is.nullable(is.text),
  requestsLeft: is.nullable(is.integer),
  totalRequests: is.nullable(is.integer),
})

export function createVisitor(parts: VisitorParts): VisitorStore {
  const { catalog, keys, errands } = parts
  const [ownId, makeId] = typeof parts.ownId === 'function' ? [undefined, parts.ownId] : [parts.ownId]
  const unknown = unknownVisitor(ownId)
  const visitor = createValue(unknown)
  const saved = savedValue(parts, () => keys().visitor, savedVisitor)

  function learner(): (said: Partial<Visitor>) => void {
    const shopper = catalog.shopper()
    return (said) => {
      if (shopper.aborted) return
      const old = visitor.get()
      const next = {
        // an empty ID is none, and could not be sent
        uniqueUserId: ownId ?? (said.uniqueUserId || old.uniqueUserId),
        requestsLeft: said.requestsLeft ?? old.requestsLeft,
        totalRequests: said.totalRequests ?? old.totalRequests,
      }
      // another page may have saved one that this one could not read
      const kept = (found: Visitor | null) => ({
        ...next,
        uniqueUserId: next.uniqueUserId ?? found?.uniqueUserId ?? null,
      })
      if (visitor.set(next)) void saved.save(kept, shopper)
    }
  }

  async function restore(): Promise<void> {
    const known = await saved.restore().catch(() => null)
    if (known) visitor.set({ ...known, uniqueUserId: ownId ?? (known.uniqueUserId || null) })
  }

  async function known(): Promise<string | undefined> {
    if (visitor.get().uniqueUserId === null) await restore()
    return visitor.get().uniqueUserId ?? undefined
  }

  async function identify(): Promise<string | undefined> {
    const shopper = catalog.shopper()
    const id = await known()
    if (id !== undefined || !makeId || shopper.aborted) return id
    const made = { ...visitor.get(), uniqueUserId: makeId() }
    if (!made.uniqueUserId) throw new TypeError('uniqueUserId() made none')
    visitor.set(made)
    await saved.save(() => made, shopper)
    return made.uniqueUserId
  }

  async function ask(client: Client, signal: AbortSignal): Promise<Outcome<VisitorStatus>> {
    const learn = learner()
    const uniqueUserId = await identify()
    const outcome = await client.getRequestsLeft({ uniqueUserId }, { signal })
    if (outcome.kind === 'accepted') learn(outcome.data)
    return outcome
  }

  return {
    ...visitor,
    learner,
    restore,
    known,
    identify,
    ask: (client) => errands.run('visitor', (signal) => ask(client, signal)),
    forget: () => void visitor.set(unknown),
  }
}
