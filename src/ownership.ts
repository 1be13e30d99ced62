import type { Journal } from './journal.ts'
import { newId } from './new-id.ts'
import type { Clock, FlowStorage } from './ports.ts'

/** One owner a try-on: only its page runs the flow, every other shows what the owner shows. */
export interface Ownership {
  /** Whether other pages are really kept out; without a lock or an atomic update nothing is submitted by itself. */
  readonly exclusive: boolean
  /** Calls `own` once this page may run `name`, and `wait` first where another page does; `end` gives it up. */
  claim(name: string, own: () => void, wait: () => void): { end(): void }
}

/** How long a lease lasts without being renewed, in ms: what a killed page costs the next one. */
const leaseMs = 2_000
const renewEveryMs = 500

/** Web Locks where pages have them, else a lease in storage, else nothing. Storage that one page has alone needs none. */
export function createOwnership(storage: FlowStorage, journal: Journal, clock: Clock): Ownership {
  if (storage.durable === false) return { exclusive: true, claim: alone }
  // the locks of a runtime that is no page do not reach beyond its process
  if (globalThis.isSecureContext && 'locks' in navigator) return { exclusive: true, claim: byLock }
  return storage.update ? { exclusive: true, claim: byLease(journal, clock) } : { exclusive: false, claim: alone }
}

const alone: Ownership['claim'] = (_name, own) => {
  own()
  return { end: () => {} }
}

const byLock: Ownership['claim'] = (name, own, wait) => {
  const ended = new AbortController()
  const held = () =>
    new Promise<void>((release) => {
      ended.signal.addEventListener('abort', () => release())
      own()
    })
  const queue = () => navigator.locks.request(name, { signal: ended.signal }, held).catch(() => undefined)
  const tryFirst = async (lock: Lock | null) => {
    if (ended.signal.aborted) return
    if (lock) return held()
    wait()
    void queue()
  }
  // a page without an origin of its own has no locks, and no storage that another page could share
  navigator.locks.request(name, { ifAvailable: true }, tryFirst).catch(() => ended.signal.aborted || own())
  return { end: () => ended.abort() }
}

/** Who holds a lease, and until when (epoch ms). */
interface Lease {
  owner: string
  until: number
}

function byLease(journal: Journal, clock: Clock): Ownership['claim'] {
  return (name, own, wait) => {
    const key = `${name}:lease`
    const owner = newId()
    let state: 'asking' | 'waiting' | 'owning' | 'ended' = 'asking'
    let timer: unknown = null

    /** A lease from a clock that ran ahead lasts no longer than any other. */
    const isFree = ({ owner: holder, until }: Lease, now: number) =>
      holder === owner || until <= now || until > now + leaseMs

    async function ask(): Promise<void> {
      const kept = await journal.update(key, (old) => {
        const now = clock.now()
        return isLease(old) && !isFree(old, now) ? undefined : { owner, until: now + leaseMs, savedAt: now }
      })
      if (state === 'ended') return
      if (kept === 'unchanged' && state === 'asking') {
        state = 'waiting'
        wait()
      } else if (kept !== 'unchanged' && state !== 'owning') {
        state = 'owning'
        own()
      }
      timer = clock.setTimeout(() => void ask(), renewEveryMs)
    }

    void ask()
    return {
      end() {
        state = 'ended'
        clock.clearTimeout(timer)
        void journal.update(key, (old) => (isLease(old) && old.owner === owner ? null : undefined))
      },
    }
  }
}

function isLease(stored: unknown): stored is Lease {
  const { owner, until } = (stored ?? {}) as Partial<Lease>
  return typeof owner === 'string' && typeof until === 'number'
}
