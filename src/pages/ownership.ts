import { withinLimit } from '../platform/clock.ts'
import { newId } from '../platform/new-id.ts'
import type { Clock, FlowStorage } from '../ports.ts'

/** One owner a try-on: only its page runs the flow, every other shows what the owner shows. */
export interface Ownership {
  /** Whether other pages are really kept out; without a lock or an atomic update nothing is submitted by itself. */
  readonly exclusive: boolean
  claim(name: string, turns: Turns): Claim
}

export interface Claim {
  /** Gives it up. A page that is being frozen finishes no transaction, and one left open would keep storage from every other page. */
  end(isFreezing: boolean): void
}

/** What a page hears about its claim, until it ends it. */
interface Turns {
  /** This page may run the try-on. */
  own(): void
  /** Another page does; `own` comes when that one is gone. */
  wait(): void
  /** This page slept until another one took over: the claim has ended. */
  lose(): void
}

/** How long a lease lasts without being renewed, in ms: what a killed page costs the next one. */
const leaseMs = 2_000
const renewEveryMs = 500

/** Web Locks where pages have them, else a lease in storage, else nothing. Storage that one page has alone needs none. */
export function createOwnership(storage: FlowStorage, clock: Clock): Ownership {
  if (storage.durable === false) return { exclusive: true, claim: alone }
  // the locks of a runtime that is no page do not reach beyond its process
  if (globalThis.isSecureContext && 'locks' in navigator) return { exclusive: true, claim: byLock }
  const { update } = storage
  if (!update) return { exclusive: false, claim: alone }
  return { exclusive: true, claim: byLease({ update: (...given) => update.apply(storage, given) }, clock) }
}

const alone: Ownership['claim'] = (_name, { own }) => {
  own()
  return { end: () => {} }
}

const byLock: Ownership['claim'] = (name, { own, wait }) => {
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

function byLease(storage: Required<Pick<FlowStorage, 'update'>>, clock: Clock): Ownership['claim'] {
  return (name, { own, wait, lose }) => {
    const key = `${name}:lease`
    const owner = newId()
    let state: 'asking' | 'waiting' | 'owning' | 'ended' = 'asking'
    let timer: unknown = null

    /** A lease that nobody has renewed since this page first saw it; its end may be by a clock that ran ahead. */
    let seen: Lease & { at: number } = { owner, until: 0, at: 0 }

    function isFree({ owner: holder, until }: Lease): boolean {
      if (holder === owner || until <= clock.now()) return true
      const isNew = seen.owner !== holder || seen.until !== until
      if (isNew) seen = { owner: holder, until, at: clock.monotonic() }
      return clock.monotonic() - seen.at >= leaseMs
    }

    /** Whether the lease is this page's now; rejects when storage fails. */
    async function renew(): Promise<boolean> {
      let mine = false
      const update = storage.update(key, (old) => {
        const held = leaseIn(old)
        mine = held === null || isFree(held)
        return mine ? JSON.stringify({ owner, until: clock.now() + leaseMs }) : old
      })
      await withinLimit(clock, leaseMs, Promise.resolve(update))
      return mine
    }

    async function ask(): Promise<void> {
      // storage that fails does not keep this page from its work, and takes no work from another one
      const mine = await renew().catch(() => state !== 'waiting')
      if (state === 'ended') return
      if (!mine && state === 'owning') {
        state = 'ended'
        return lose()
      }
      if (mine && state !== 'owning') {
        state = 'owning'
        own()
      } else if (!mine && state === 'asking') {
        state = 'waiting'
        wait()
      }
      timer = clock.setTimeout(() => void ask(), renewEveryMs)
    }

    void ask()
    return {
      end(isFreezing) {
        state = 'ended'
        clock.clearTimeout(timer)
        if (isFreezing) return
        const free = async () => storage.update(key, (old) => (leaseIn(old)?.owner === owner ? null : old))
        free().catch(() => undefined)
      },
    }
  }
}

function leaseIn(stored: string | null): Lease | null {
  try {
    const { owner, until } = JSON.parse(stored ?? '') as Lease
    return { owner, until }
  } catch {
    return null
  }
}
