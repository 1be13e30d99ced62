import { hasLocks, keepsOthersOut } from '../platform/exclusive.ts'
import { apply, textOf } from '../platform/apply.ts'
import { TimeLimit, withinLimit } from '../platform/clock.ts'
import { jsonIn } from '../rules/json.ts'
import { newId } from '../platform/new-id.ts'
import { quiet } from '../platform/quiet.ts'
import type { Clock, FlowStorage } from '../ports.ts'

/** One owner a try-on: only its page runs the flow, every other shows what the owner shows. */
export interface Ownership {
  /** Whether other pages are really kept out; without a lock or an atomic update nothing is submitted by itself. */
  readonly exclusive: boolean
  /** Whether what only memory holds is safe: no other page can take over while this one hangs. */
  readonly isFirm: boolean
  /** Where the pages wait for each other that share the try-on whose record has this key, as far as is known. */
  placeOf(key: string): string
  /** Asks for the try-on at that place. */
  request(place: string, turns: Turns): Hold
}

/** Whose a try-on is: this page's, or another's, which may have had it since; of storage that fails it is not known. */
type Standing = 'mine' | 'taken' | 'unknown'

/** This page's hold on a try-on, or its place in the line. */
export interface Hold {
  /** Looks once more whether this page holds it, and holds it for longer. */
  confirm(): Promise<boolean>
  /** Looks without holding it for longer. */
  look(): Promise<Standing>
  /** Whether it was this page's so short a time ago that no other one can have had it since. */
  isFresh(): boolean
  /** Whether it was ever seen to be this page's; where storage fails from the start, it is only believed to be. */
  isProven(): boolean
  /** Gives it up. A page that is being frozen finishes no transaction, and one left open would keep storage from every other page. */
  release(isFreezing: boolean): void
}

/** What a page hears of its request, until it releases it. */
export interface Turns {
  /** This page may run the try-on. */
  onOwn(): void
  /** Another page does; `onOwn` comes when that one is gone. */
  onWait(): void
  /** This page slept until another one took over: the request has ended. */
  onLose(): void
  /** Whether another page was just heard to run it, so that storage that fails is no reason to run it here, too. */
  isElsewhere(): boolean
}

interface OwnershipParts {
  storage: FlowStorage
  clock: Clock
  /** Where the lease on a record stands. */
  leaseOf: (key: string) => string
  /** Names that record, so that a lease goes with it whose page was killed; resolves with where it is listed. */
  list: (key: string) => Promise<'stored' | 'memory' | 'gone'>
  /** What tells this storage from others of the page's origin, which locks are common to. */
  storageId: () => string
}

/** How long a lease lasts without being renewed, in ms: what a killed page costs the next one. */
const leaseMs = 2_000
const renewEveryMs = 500

/** Web Locks where pages have them, else a lease in storage, else nothing. Storage that one page has alone needs none. */
export function createOwnership({ storage, clock, leaseOf, list, storageId }: OwnershipParts): Ownership {
  const exclusive = keepsOthersOut(storage)
  const isShared = storage.durable !== false
  const locks = isShared && hasLocks()
  return {
    exclusive,
    isFirm: !isShared || locks,
    placeOf: (key) => (locks ? `${key}:${storageId()}` : key),
    request(place, turns) {
      if (locks) return byLock(place, turns)
      if (!isShared || !exclusive) return uncontested(turns)
      return byLease({ storage, clock, key: leaseOf(place), list: () => list(place) }, turns)
    },
  }
}

function uncontested({ onOwn }: Turns): Hold {
  let isHeld = true
  onOwn()
  return { ...firm(() => isHeld), isProven: () => true, release: () => void (isHeld = false) }
}

function byLock(name: string, { onOwn, onWait, onLose }: Turns): Hold {
  const ended = new AbortController()
  let isHeld = false
  const hold = async () => {
    // a lock may be granted before it is heard that it is wanted no more
    if (ended.signal.aborted) return
    await new Promise<void>((release) => {
      ended.signal.addEventListener('abort', () => release())
      isHeld = true
      onOwn()
    })
  }
  let isAnswered = false
  /** Any script of the origin may steal it. */
  const lose = () => {
    if (!isHeld || ended.signal.aborted) return
    ended.abort()
    onLose()
  }
  const queue = () => navigator.locks.request(name, { signal: ended.signal }, hold).catch(lose)
  const tryFirst = async (lock: Lock | null) => {
    isAnswered = true
    if (lock || ended.signal.aborted) return hold()
    onWait()
    void queue()
  }
  // a page without an origin of its own has no locks, and no storage that another page could share
  navigator.locks.request(name, { ifAvailable: true }, tryFirst).catch(() => void (isAnswered ? lose() : hold()))
  const isMine = () => isHeld && !ended.signal.aborted
  return { ...firm(isMine), isProven: () => isHeld, release: () => ended.abort() }
}

/** What no other page takes while this one stands still. */
const firm = (isMine: () => boolean): Pick<Hold, 'confirm' | 'look' | 'isFresh'> => ({
  confirm: async () => isMine(),
  look: async () => (isMine() ? 'mine' : 'taken'),
  isFresh: () => true,
})

/** Who holds a lease, and until when by that page's clock (epoch ms). */
interface Lease {
  owner: string
  until: number
}

interface LeaseParts extends Pick<OwnershipParts, 'storage' | 'clock'> {
  key: string
  list: () => ReturnType<OwnershipParts['list']>
}

function byLease({ storage, clock, key, list }: LeaseParts, turns: Turns): Hold {
  const owner = newId()
  let state: 'asking' | 'waiting' | 'owning' | 'ended' = 'asking'
  let timer: unknown = null
  let hasRenewed = false
  /** When this page last set out to renew it, and could, by its own time. */
  let renewedAt = 0
  let isListed = false
  let naming: Promise<void> | null = null
  /** The lease of another page, and since when it stands unchanged on this page's own clock. */
  let foreign = { owner: '', until: 0, seenAt: 0 }

  /** By this page's own time: the other's clock may be any. */
  function isFree(lease: Lease): boolean {
    if (lease.owner === owner) return true
    const isNew = foreign.owner !== lease.owner || foreign.until !== lease.until
    if (isNew) foreign = { ...lease, seenAt: clock.monotonic() }
    return clock.monotonic() - foreign.seenAt >= leaseMs
  }

  // another page waits for as long until it takes it
  const isFresh = () => !hasRenewed || clock.monotonic() - renewedAt < leaseMs

  /** A page that stood still does not know what was done meanwhile, though whoever did it may be gone by now. */
  const mayBeLost = (lease: Lease | null) => state === 'owning' && !isFresh() && lease?.owner !== owner

  const isMineNow = (lease: Lease | null) => !mayBeLost(lease) && (lease === null || isFree(lease))

  /** Names the record, once at a time: a storage that hangs is not asked again. */
  function name(): Promise<void> {
    const end = (where?: string) => {
      isListed = where === 'stored'
      naming = null
    }
    return (naming ??= list().then(end, () => end()))
  }

  /** Whether the lease is this page's now; rejects when storage fails. */
  async function renew(): Promise<boolean> {
    let isMine = false
    let isGivenUp = false
    const at = clock.monotonic()
    const write = () =>
      apply(storage, key, (old) => {
        if (isGivenUp || state === 'ended') return old
        isMine = isMineNow(leaseIn(old))
        return isMine ? JSON.stringify({ owner, until: clock.now() + leaseMs }) : old
      })
    // one of several storages that fails may hold another page's lease
    const renewal = typeof storage.copies === 'function' ? read().then(write) : write()
    try {
      await withinLimit(clock, leaseMs, renewal)
    } catch (error) {
      isGivenUp = true
      throw error
    }
    hasRenewed ||= isMine
    if (isMine) renewedAt = at
    return isMine
  }

  const read = async () => textOf(await storage.getItem(key))

  /** Storage that fails keeps this page from nothing and takes no work from another one, whose lease may still be read. */
  async function mayGoOn(failure: unknown): Promise<boolean> {
    const standing = failure instanceof TimeLimit ? 'unknown' : await standingOfLease()
    return standing === 'unknown' ? state !== 'waiting' : standing === 'mine'
  }

  async function standingOfLease(): Promise<Standing> {
    const found = await withinLimit(clock, leaseMs, read()).catch(() => undefined)
    if (found === undefined) return 'unknown'
    return isMineNow(leaseIn(found)) ? 'mine' : 'taken'
  }

  async function confirm(): Promise<boolean> {
    if (state !== 'owning') return false
    // a lease that was not renewed in time is lost, in this page's eyes first; where none ever stood, nobody else has one
    const isMine = await renew().catch((error: unknown) => !hasRenewed && mayGoOn(error))
    if (!isMine || state !== 'owning') return false
    // a page that stood still before it heard of its own renewal looks once more
    return isFresh() || confirm()
  }

  function lose(): void {
    state = 'ended'
    clock.clearTimeout(timer)
    turns.onLose()
  }

  async function ask(): Promise<void> {
    // what a storage that failed has not listed it may list by now; who has a lease does not wait for that
    const named = isListed || name()
    if (state === 'asking') await withinLimit(clock, leaseMs, Promise.resolve(named)).catch(() => undefined)
    const isMine = await renew().catch((error: unknown) => !turns.isElsewhere() && mayGoOn(error))
    if (state === 'ended') return
    if (!isMine && state === 'owning') return lose()
    if (isMine && state !== 'owning') {
      state = 'owning'
      turns.onOwn()
    } else if (!isMine && state === 'asking') {
      state = 'waiting'
      turns.onWait()
    }
    timer = clock.setTimeout(() => void ask(), renewEveryMs)
  }

  /** A page that gives way lets the other one ask first. */
  function giveWay(): void {
    if (state === 'ended') return
    state = 'waiting'
    turns.onWait()
    timer = clock.setTimeout(() => void ask(), leaseMs)
  }

  if (turns.isElsewhere()) queueMicrotask(giveWay)
  else void ask()
  return {
    confirm,
    look: async () => (state === 'owning' ? standingOfLease() : 'taken'),
    isProven: () => hasRenewed,
    isFresh,
    release(isFreezing) {
      state = 'ended'
      clock.clearTimeout(timer)
      if (isFreezing) return
      void quiet(apply(storage, key, (old) => (leaseIn(old)?.owner === owner ? null : old)))
    },
  }
}

function leaseIn(stored: string | null): Lease | null {
  const { owner, until } = Object(jsonIn(stored)) as Partial<Lease>
  // of anything else each reading would be another lease, which never grows old
  return typeof owner === 'string' && typeof until === 'number' ? { owner, until } : null
}
