import {
  createFittingRoom,
  type Clock,
  type Fetch,
  type FittingRoom,
  type FlowStorage,
  type PageLife,
  type TryOn,
  type TryOnResult,
} from 'fitting-room'
import { createRoom } from 'fitting-room/core'
import { preparePhoto } from 'fitting-room/photos'
import { storageChain } from 'fitting-room/storage/chain'
import { memoryStorage } from 'fitting-room/storage/memory'
import { storageOn, type Disk, type Reach } from './disk.ts'
import type { Front, Mode, Step } from './operations.ts'
import { onHost, type Bus, type Host, type Locks } from './platform.ts'
import type { RoomLedger } from './words.ts'

export const baseUrl = 'https://api.test'
const products = [
  { productId: '1001', variantId: '2001', funnelIds: [12] },
  { productId: '1002', variantId: '2101', funnelIds: [12] },
] as const

export const productAt = (index: number) => products[index] ?? products[0]

/** What a page's machine gives it. */
export interface Machine {
  clock: Clock
  /** How far the wall clock is off, in ms. */
  readonly skewMs: number
  /** How long the machine has slept, in ms: the wall clock has gone on, and the monotonic one has not. */
  readonly sleptMs: number
  locks: Locks
  bus: Bus
  hasLocks: boolean
  /** How long a storage call takes, in ms. */
  slowMs: number
}

export interface PageParts {
  slot: number
  machine: Machine
  ledger: RoomLedger
  disks: readonly Disk[]
  storage: 'chain' | 'single' | 'plain' | 'memory'
  namespace?: string
  front?: Front | undefined
  modes: readonly Mode[]
  /** What the page's requests meet. */
  send(page: Page, request: Request): Promise<Response>
}

interface Call {
  step: Step
  go: () => void
}

/** How long a page may take to notice that its storage answers again, in ms. */
export const noticeMs = 6_000

const never = () => new Promise<never>(() => {})

/** One page as a load makes it: a room whose every port can be stalled, held, failed or cut off. */
export class Page implements Host {
  readonly slot: number
  readonly room: FittingRoom
  readonly ledger: RoomLedger
  readonly disks: readonly Disk[]
  readonly loadedAt: number
  readonly loadedWall: number
  private readonly sleptAtLoad: number
  readonly tryOns = new Map<number, TryOn>()
  private readonly watched = new Map<TryOn, ReturnType<TryOn['subscribe']>>()
  readonly window = new EventTarget()
  readonly atomic: boolean
  killed = false
  closed = false
  stalled = false
  stalledMs = 0
  /** Since when it runs without a pause. */
  runsSince: number
  /** Stalls when it comes to this step. */
  stallAt: Step | null = null
  readonly held = new Set<Step>()
  modes: Mode[]
  /** Which storages have answered a call since the load. */
  readonly answered = new Set<number>()
  /** All storages have worked since the load. */
  sound: boolean
  /** No storage has kept a call since the load. */
  prompt: boolean
  /** Writes until the page is killed, at one or beside it. */
  death: { writes: number; applied: boolean } | null = null
  /** Writes until the page stands still, at one or right after it. */
  stalling: { writes: number; applied: boolean } | null = null
  /** How often the core is still refused, where there is a door before it. */
  coreRefusals = 0
  /** Kept without running: as a tab is that is left for another page, or frozen. */
  private kept: 'hidden' | 'frozen' | null = null
  /** It runs though it was put away, and nobody has used it since. */
  private isUnused = false
  private life: PageLife | null = null
  private readonly machine: Machine
  private readonly parts: PageParts
  private readonly calls: Call[] = []
  private readonly parked: (() => void)[] = []
  private readonly timers = new Map<number, unknown>()
  private stalledAt = 0
  private troubledAt = Number.NEGATIVE_INFINITY
  private failures: number[]
  private lastTimer = 0

  constructor(parts: PageParts) {
    this.parts = parts
    this.slot = parts.slot
    this.machine = parts.machine
    this.ledger = parts.ledger
    this.disks = parts.disks
    this.loadedAt = this.runsSince = parts.machine.clock.monotonic()
    this.loadedWall = this.wallNow()
    this.sleptAtLoad = parts.machine.sleptMs
    this.modes = [...parts.modes]
    this.failures = parts.modes.map((mode) => (mode === 'failThenOk' ? 2 + (parts.ledger.leavings % 5) : 0))
    this.sound = this.works
    this.prompt = !this.modes.includes('hang') && !this.modes.includes('hangThenLand')
    this.atomic = parts.storage !== 'plain'
    this.room = onHost(this, () => this.createRoom())
  }

  get hasLocks(): boolean {
    return this.machine.hasLocks
  }
  get locks(): Locks {
    return this.machine.locks
  }
  get bus(): Bus {
    return this.machine.bus
  }
  get isAway(): boolean {
    return this.stalled || this.closed || this.isUnused
  }
  get runs(): boolean {
    return !this.killed && !this.isAway
  }
  /** Whether it has what its other pages wait for, as far as that can be seen. */
  get isOwner(): boolean {
    return this.machine.hasLocks && this.machine.locks.isHeldBy(this)
  }
  /** Whether every storage works at this moment. */
  get works(): boolean {
    return this.reads && this.modes.every((mode) => mode === 'ok')
  }
  /** Whether every storage can be read, be it that it takes nothing. */
  get reads(): boolean {
    return (
      this.modes.every((mode) => mode === 'ok' || mode === 'full') && !this.held.has('near') && !this.held.has('far')
    )
  }
  /** Whether every storage has worked for as long as a page takes to notice. */
  get hasWorked(): boolean {
    return this.works && this.machine.clock.monotonic() - this.troubledAt > noticeMs
  }
  /** Whether it was never away, or has been back for as long as two looks into a storage that hangs may take. */
  get hasCaughtUp(): boolean {
    return this.runsSince === this.loadedAt || this.machine.clock.monotonic() - this.runsSince > 2 * noticeMs
  }
  /** What its clock would say of the wall if the wall clock had never been set back since the load. */
  get anchoredWall(): number {
    const sleptMs = this.machine.sleptMs - this.sleptAtLoad
    return this.loadedWall + this.machine.clock.monotonic() - this.loadedAt + sleptMs
  }

  tryOn(product: number): TryOn {
    const known = this.tryOns.get(product)
    if (known) return known
    const tryOn = onHost(this, () => {
      const made = this.room.tryOn(productAt(product))
      this.watch(made)
      return made
    })
    this.tryOns.set(product, tryOn)
    return tryOn
  }

  turn(run: () => void): void {
    if (this.killed) return
    if (this.stalled || this.parked.length > 0) this.parked.push(run)
    else onHost(this, run)
  }

  /** What was due while the page stalled comes one by one, as tasks do. */
  private catchUp(): void {
    if (this.killed || this.stalled) return
    const run = this.parked[0]
    if (!run) return
    onHost(this, run)
    this.bus.onWay++
    setImmediate(() => {
      this.bus.onWay--
      this.parked.shift()
      this.catchUp()
    })
  }

  stall(): void {
    if (this.stalled) return
    this.stalled = true
    this.stalledAt = this.machine.clock.monotonic()
  }

  wake(): void {
    this.stallAt = null
    this.stalling = null
    this.use()
    if (!this.stalled) return this.show()
    this.stalled = false
    this.runsSince = this.troubledAt = this.machine.clock.monotonic()
    this.stalledMs += this.troubledAt - this.stalledAt
    this.show()
    this.catchUp()
  }

  /** The browser keeps the page, which stands still from its next task on. */
  keep(as: 'hidden' | 'frozen'): void {
    if (!this.goes(as)) return
    this.bus.onWay++
    setImmediate(() => {
      this.bus.onWay--
      if (this.kept) this.stall()
    })
  }

  /** It runs on in the background, as an app may. */
  putAway(): void {
    if (this.goes('hidden')) this.isUnused = true
  }

  private goes(as: 'hidden' | 'frozen'): boolean {
    if (!this.runs || this.kept) return false
    this.kept = as
    onHost(this, () => {
      if (as === 'hidden') this.window.dispatchEvent(new Event('pagehide'))
      this.life?.onHide(as === 'frozen')
    })
    return true
  }

  private show(): void {
    const was = this.kept
    this.kept = null
    if (!was) return
    this.turn(() => {
      if (was === 'hidden') this.window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))
      this.life?.onShow()
    })
  }

  hold(step: Step): void {
    this.held.add(step)
    this.sound &&= this.works
    this.prompt &&= step !== 'near' && step !== 'far'
  }

  /** What was held goes on, late. */
  land(): void {
    this.held.clear()
    this.troubledAt = this.machine.clock.monotonic()
    for (const { go } of this.calls.splice(0)) this.turn(go)
  }

  setMode(tier: number, mode: Mode): void {
    if (tier >= this.modes.length) return
    this.troubledAt = this.machine.clock.monotonic()
    this.modes[tier] = mode
    this.failures[tier] = mode === 'failThenOk' ? 3 : 0
    this.sound &&= this.works
    this.prompt &&= mode !== 'hang' && mode !== 'hangThenLand'
  }

  /** The application lets go of the room, which shows what it has shown last. */
  close(): void {
    this.closed = true
    onHost(this, () => this.room.close())
  }

  /** It uses the same room again. */
  use(): void {
    if (!this.isBack()) return
    for (const tryOn of this.tryOns.values()) onHost(this, () => this.watch(tryOn))
  }

  /** It does so by what is said next. */
  comeBack(): void {
    this.isBack()
  }

  /** It does so by asking for the result first, which may never come. */
  ask(): Promise<TryOnResult> | null {
    const [tryOn] = this.tryOns.values()
    if (!this.isBack() || !tryOn) return null
    const result = onHost(this, () => tryOn.result())
    for (const each of this.tryOns.values()) onHost(this, () => this.watch(each))
    return result
  }

  private isBack(): boolean {
    const wasAway = this.closed || this.isUnused
    if (this.stalled || this.killed || !wasAway) return false
    this.closed = this.isUnused = false
    this.runsSince = this.machine.clock.monotonic()
    return true
  }

  private watch(tryOn: TryOn): void {
    this.watched.get(tryOn)?.unsubscribe()
    this.watched.set(
      tryOn,
      tryOn.subscribe(() => {}),
    )
  }

  kill(): void {
    this.killed = true
    this.parked.length = 0
    this.calls.length = 0
    for (const timer of this.timers.values()) this.machine.clock.clearTimeout(timer)
    this.timers.clear()
    this.locks.leave(this)
    this.mute()
  }

  /** Hears nothing of other pages, and is heard by none, as in a browser that has no channel for them. */
  mute(): void {
    for (const channel of this.bus.channels) if (channel.isOf(this)) channel.close()
  }

  /** The wall clock as the page reads it. */
  wallNow(): number {
    return this.machine.clock.now() + this.machine.skewMs
  }

  /** Settles at the page's next turn, and never if it was killed. */
  private next(): Promise<void> {
    if (this.killed) return never()
    return this.stalled ? new Promise((go) => this.turn(go)) : Promise.resolve()
  }

  /** Comes to a step, which may be held or be where the page stalls. */
  async reach(step: Step): Promise<void> {
    if (this.stallAt === step) {
      this.stallAt = null
      this.stall()
    }
    if (this.held.has(step)) await new Promise<void>((go) => this.calls.push({ step, go }))
    await this.next()
  }

  private readonly clock: Clock = {
    now: () => this.wallNow(),
    monotonic: () => this.machine.clock.monotonic() - this.loadedAt,
    setTimeout: (run, ms) => {
      const id = ++this.lastTimer
      const due = () => this.timers.delete(id) && run()
      this.timers.set(
        id,
        // a timer that was due while the page stalled can still be cleared before its turn
        this.killed ? null : this.machine.clock.setTimeout(() => this.turn(due), ms),
      )
      return id
    },
    clearTimeout: (timer) => {
      const id = Number(timer)
      this.machine.clock.clearTimeout(this.timers.get(id))
      this.timers.delete(id)
    },
  }

  /** Whether every storage has answered since the load: only then can it know whom it shares them with. */
  get hasRead(): boolean {
    return this.answered.size === this.disks.length
  }

  private reachOf(tier: number): Reach {
    const step: Step = tier === 0 ? 'near' : 'far'
    return async (kind, work, decide) => {
      if (this.killed) return never()
      const { slowMs, clock } = this.machine
      if (slowMs > 0) await new Promise<void>((go) => clock.setTimeout(go, slowMs))
      await this.reach(step)
      await this.meet(tier, kind, decide)
      if (kind === 'write' && this.death && this.death.writes-- <= 0) {
        if (this.death.applied) work()
        this.kill()
      }
      if (this.killed) return never()
      const isStanding = kind === 'write' && this.stalling !== null && this.stalling.writes-- <= 0
      const { applied = false } = (isStanding && this.stalling) || {}
      if (isStanding) this.stalling = null
      if (isStanding && !applied) {
        this.stall()
        await this.next()
      }
      const value = work()
      this.answered.add(tier)
      if (isStanding && applied) this.stall()
      await this.next()
      return value
    }
  }

  /** The storage fails or never answers, as its mode says. */
  private async meet(tier: number, kind: 'read' | 'write', decide?: () => unknown): Promise<void> {
    const mode = this.modes[tier]
    if (mode === 'hang') return never()
    if (mode === 'full' && kind === 'write') decide?.()
    if (mode === 'fail' || (mode === 'full' && kind === 'write')) throw new Error('this storage fails')
    if (mode !== 'failThenOk') return
    this.failures[tier] = (this.failures[tier] ?? 0) - 1
    if (this.failures[tier] >= 0) throw new Error('this storage fails')
    this.modes[tier] = 'ok'
    this.troubledAt = this.machine.clock.monotonic()
  }

  private storage(): FlowStorage {
    const { storage, disks } = this.parts
    const tiers = disks.map((disk, at) => storageOn(disk, this.reachOf(at), this.atomic))
    const [near, far] = tiers
    if (storage === 'memory' || !near) return memoryStorage()
    return storage === 'chain' && far ? storageChain([near, far], this.clock) : near
  }

  private createRoom(): FittingRoom {
    const fetch: Fetch = (input, init) => this.parts.send(this, new Request(input, init))
    const { namespace } = this.parts
    const create = this.parts.front === 'door' ? createFittingRoom : createRoom
    return create({
      baseUrl,
      apiKey: async () => {
        await this.reach('apiKey')
        return 'main-key'
      },
      storage: this.storage(),
      clock: this.clock,
      pageLife: (life) => {
        this.life = life
        return () => void (this.life = null)
      },
      fetch,
      putPhoto: async (url, { bytes, type }) =>
        (await fetch(url, { method: 'PUT', body: bytes, headers: { 'Content-Type': type } })).status,
      ...(namespace !== undefined && { namespace }),
      // what is loaded takes a turn, and no time of the machine's that runs the model
      core: async () => {
        if (this.coreRefusals-- > 0) throw new TypeError('the core is refused')
        return { createRoom }
      },
      photos: { load: async () => ({ preparePhoto }) },
    })
  }
}
