import { createAtom } from '@xstate/store'
import * as z from 'zod/mini'
import type { Journal } from './journal.ts'
import type { Clock, Readable } from './ports.ts'

/** What is known of the room's visitor; null where the service has not said it yet (spec §2, VisitorStatus). */
export interface Visitor {
  uniqueUserId: string | null
  /** Try-ons left before an e-mail is asked for, −1 for no limit; may be old: the submission decides. */
  requestsLeft: number | null
  totalRequests: number | null
}

export interface VisitorStore extends Readable<Visitor> {
  /** Reads what an earlier page has saved. */
  restore(): Promise<void>
  /** Takes what an answer said; an ID that is null never erases a saved one. */
  learn(said: Partial<Visitor>): void
  forget(): void
}

const saved = z.object({
  uniqueUserId: z.nullable(z.string()),
  requestsLeft: z.nullable(z.int()),
  totalRequests: z.nullable(z.int()),
})

export function createVisitor(journal: Journal, key: string, clock: Clock, given: string | undefined): VisitorStore {
  const unknown: Visitor = { uniqueUserId: given ?? null, requestsLeft: null, totalRequests: null }
  const atom = createAtom(unknown)

  return {
    get: () => atom.get(),
    subscribe: (onChange) => atom.subscribe(onChange),
    async restore() {
      const read = saved.safeParse(await journal.read(key).catch(() => undefined))
      if (read.success) atom.set({ ...read.data, uniqueUserId: given ?? read.data.uniqueUserId })
    },
    learn(said) {
      const old = atom.get()
      const next = {
        uniqueUserId: given ?? said.uniqueUserId ?? old.uniqueUserId,
        requestsLeft: said.requestsLeft ?? old.requestsLeft,
        totalRequests: said.totalRequests ?? old.totalRequests,
      }
      if (JSON.stringify(next) === JSON.stringify(old)) return
      atom.set(next)
      void journal.update(key, () => ({ ...next, savedAt: clock.now() }))
    },
    forget: () => atom.set(unknown),
  }
}
