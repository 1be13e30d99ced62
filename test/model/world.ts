import { Disk } from './disk.ts'
import { Judge } from './judge.ts'
import { messagesOf } from './messages.ts'
import { Network } from './network.ts'
import type { Mode, Op, Setup } from './operations.ts'
import { Page, type Machine } from './page.ts'
import { Bus, Locks, onHost } from './platform.ts'
import { Shopper } from './shopper.ts'
import { Time } from './time.ts'
import type { RoomLedger } from './words.ts'

const ledgerOf = (name: string): RoomLedger => ({
  name,
  shopper: 0,
  floor: 0,
  isHalfReset: false,
  isMute: false,
  leavings: 0,
  leaving: new Set(),
  discarded: new Map(),
})

/** By how much the wall clock may go forward at once, in ms, before that is what a sleep of the machine looks like. */
const driftMs = 60_000

/** What a call of a slow storage takes, in ms. */
const callMs = 20

/** How many turns of the event loop may pass in which something is still under way that needs no time. */
const mostTurns = 20_000

/** One turn of the event loop. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Two or three pages of one shopper and another shopper's room in one process, on storages that misbehave, before the real service. */
export class World {
  readonly trace: string[] = []
  readonly clock = new Time()
  readonly setup: Setup
  readonly judge: Judge
  readonly network: Network
  private readonly machine: Machine & { skewMs: number; sleptMs: number }
  private readonly ledgers = { a: ledgerOf('a'), b: ledgerOf('b') }
  private readonly disks = { a: [new Disk(), new Disk()], b: [new Disk()] }
  private readonly pages: (Page | undefined)[] = []
  private readonly shopper: Shopper

  constructor(setup: Setup) {
    this.setup = setup
    if (setup.storage !== 'chain') this.disks.a.pop()
    if (setup.second === 'same') this.disks.b = this.disks.a
    if (setup.second === 'memory') this.disks.b = []
    const { locks: hasLocks, slowMs } = setup
    this.machine = { clock: this.clock, skewMs: 0, sleptMs: 0, locks: new Locks(), bus: new Bus(), hasLocks, slowMs }
    this.judge = new Judge({
      clock: this.clock,
      sleptMs: () => this.machine.sleptMs,
      disks: [...new Set([...this.disks.a, ...this.disks.b])],
      pages: () => this.pages.filter((page) => page !== undefined),
      note: (line) => void this.trace.push(line),
      setup,
      jobs: () => this.network.jobs,
    })
    this.network = new Network(this.clock, this.judge)
    this.shopper = new Shopper(this.judge, this.clock, (line) => void this.trace.push(line))
  }

  load(slot: number, modes: readonly Mode[]): Page {
    const before = this.pages[slot]
    if (before) this.judge.ending(before)
    before?.kill()
    const isSecond = slot === 2
    const disks = isSecond ? this.disks.b : this.disks.a
    const { second, storage } = this.setup
    const kind = isSecond && second !== 'same' ? (second === 'memory' ? 'memory' : 'single') : storage
    const page = new Page({
      slot,
      machine: this.machine,
      ledger: isSecond ? this.ledgers.b : this.ledgers.a,
      disks,
      storage: kind,
      front: this.setup.front,
      ...(isSecond && second === 'same' && { namespace: 'second' }),
      modes: disks.map((_, at) => modes[at] ?? 'ok'),
      send: this.network.send,
    })
    this.pages[slot] = page
    this.judge.loaded(page)
    page.tryOn(0)
    return page
  }

  /** Everything that needs no time to pass, then the judge. */
  async settle(): Promise<void> {
    let turns = 0
    for (let quiet = 0; quiet < 3; quiet = this.network.busy + this.machine.bus.onWay > 0 ? 0 : quiet + 1) {
      await turn()
      if (++turns > mostTurns) return this.judge.deny(11, 'pages tell each other something without end')
    }
    this.judge.settled()
    for (const error of this.machine.bus.uncaught.splice(0)) this.judge.uncaught(error)
  }

  /** Lets time pass as it does for pages that run. */
  async wait(ms: number): Promise<void> {
    const end = this.clock.monotonic() + ms
    while (this.clock.monotonic() < end) {
      const until = Math.min(this.clock.monotonic() + 500, end)
      while (this.clock.step(until)) await turn()
      await this.settle()
    }
  }

  /** Lets time jump past whatever was due. */
  private async jump(ms: number): Promise<void> {
    const until = this.clock.monotonic() + ms
    while (this.clock.step(until)) await turn()
  }

  async run(op: Op): Promise<void> {
    this.trace.push(JSON.stringify(op))
    await this.begin(op)
    await this.settle()
  }

  private pageOf(slot: number): Page {
    const place = this.placeOf(slot)
    return this.pages[place] ?? this.load(place, [])
  }

  /** Two pages on a storage without `update` cannot be kept apart, and nobody says that they are. */
  private placeOf(slot: number): number {
    return this.setup.storage === 'plain' && slot !== 2 ? 0 : slot
  }

  /** Nobody can say anything to a page that is stalled, or does not use its room. */
  private async begin(op: Op): Promise<void> {
    switch (op.do) {
      case 'load':
        this.load(this.placeOf(op.page), op.modes)
        return
      case 'start':
      case 'retry':
        if (this.pageOf(op.page).isAway) return
        return this.shopper.give(op.do, this.pageOf(op.page), op.photo, op.fails, op.product)
      case 'resume':
      case 'submitEmail':
      case 'startOver':
      case 'discard':
        if (this.pageOf(op.page).isAway) return
        return this.shopper.say(op.do, this.pageOf(op.page))
      case 'reset':
      case 'list':
        if (this.pageOf(op.page).isAway) return
        return this.shopper[op.do](this.pageOf(op.page))
      case 'beside':
        await this.begin(op.first)
        if (op.ms !== undefined) await this.settle()
        // what a storage call leads to comes before the next one ends
        for (let past = 0; past < (op.ms ?? 0); past += callMs) await this.wait(callMs)
        for (let turn = 0; turn < op.gap; turn++) await Promise.resolve()
        return this.begin(op.second)
      case 'wait':
        return this.wait(op.ms)
      default:
        return this.meddle(op)
    }
  }

  /** What happens to pages, storages and clocks without the shopper. */
  private async meddle(op: Op): Promise<void> {
    const page = 'page' in op ? this.pageOf(op.page) : null
    switch (op.do) {
      case 'kill':
        return this.reopen(op.page)
      case 'close':
        this.judge.closing(this.pageOf(op.page))
        this.pageOf(op.page).close()
        await this.settle()
        return this.reopen(op.page)
      case 'hide':
      case 'freeze':
        return page?.keep(op.do === 'hide' ? 'hidden' : 'frozen')
      case 'leave':
        if (!page?.runs) return
        this.judge.closing(page, true)
        return page.close()
      case 'wake':
      case 'land':
      case 'putAway':
      case 'use':
      case 'comeBack':
        page?.[op.do]()
        return
      case 'mute':
        if (page) page.ledger.isMute = true
        return page?.mute()
      case 'ask':
        if (page) this.shopper.ask(page)
        return
      case 'refuseCore':
        if (page) page.coreRefusals = op.times
        return
      case 'stall':
        if (op.at === 'now') page?.stall()
        else if (page) page.stallAt = op.at
        return
      case 'hold':
        return page?.hold(op.at)
      case 'mode':
        return page?.setMode(op.tier, op.mode)
      case 'killMidWrite':
        if (page) page.death = { writes: op.writes, applied: op.applied }
        return
      case 'stallMidWrite':
        if (page) page.stalling = { writes: op.writes, applied: op.applied }
        return
      case 'clear':
        return this.clear(op.tier)
      case 'fault':
        this.network.plans.push(op)
        return
      case 'inject':
        for (const message of messagesOf(op.message, this.machine.bus.said)) this.machine.bus.post(message)
        return
      default:
        return this.pass(op)
    }
  }

  private async pass(op: Op): Promise<void> {
    if (op.do === 'wall') {
      this.machine.skewMs += op.ms
      if (op.ms > driftMs) this.machine.sleptMs += op.ms
      this.judge.wallMoved()
      await this.wait(2_500)
    }
    if (op.do === 'sleep') {
      const slept = this.pages.filter((page) => page?.runs)
      for (const page of slept) page?.stall()
      await this.jump(op.ms)
      for (const page of slept) page?.wake()
      await this.wait(500)
    }
    if (op.do === 'age') {
      for (const page of this.pages) page?.kill()
      await this.jump(op.ms)
      this.pages.length = 0
    }
  }

  private reopen(slot: number): void {
    this.load(this.pageOf(slot).slot, [])
  }

  private clear(tier: (Op & { do: 'clear' })['tier']): void {
    const [near, far] = this.disks.a
    if (tier === 'list') {
      for (const disk of this.disks.a) disk.loseList()
      return this.judge.listLost()
    }
    if (tier !== 'far') near?.clear()
    if (tier !== 'near') far?.clear()
    if (tier === 'all') for (const disk of this.disks.b) disk.clear()
    this.judge.cleared()
  }

  /** With storages and a network that behave again: intents settle, jobs are reached, nothing stays that should not. */
  async end(): Promise<void> {
    this.trace.push('the end')
    this.network.plans.length = 0
    for (const page of this.pages) {
      page?.land()
      page?.wake()
    }
    await this.wait(12_000)
    // what was passed on to a page that is heard no more waits for as long as its consent lives
    const pending = () => [...this.shopper.pending].filter(({ page }) => page.runs && page.works && !page.ledger.isMute)
    // another page may take half a minute to answer, and the service may ask to wait for longer
    for (let waited = 0; waited < 120_000 && pending().length > 0; waited += 5_000) await this.wait(5_000)
    for (const { page, what } of pending()) {
      this.judge.deny(11, `${what} on page ${page.slot} never settles`)
    }
    for (let waited = 0; waited < 120_000 && this.judge.unsettled().length > 0; waited += 5_000) await this.wait(5_000)
    for (const [rule, why] of this.judge.unsettled()) this.judge.deny(rule, why)
    await this.reach(0)
    if (this.setup.second !== 'memory') await this.reach(2)
    if (this.setup.end === 'reset') await this.endWithReset()
    if (this.setup.end === 'month') await this.endWithMonth()
  }

  /** What comes of it while time goes on. */
  private async through<T>(page: Page, work: () => Promise<T>): Promise<T | null> {
    let came: { value: T } | null = null
    void onHost(page, work).then((value) => (came = { value }))
    for (let waited = 0; waited < 120 && came === null; waited++) await this.wait(500)
    if (came === null) this.judge.deny(11, 'what a fresh page is asked never settles')
    return (came as { value: T } | null)?.value ?? null
  }

  /** A page of its own, when the killed pages' leases have ended and the shared IP count has sunk. */
  private async fresh(slot: number, laterMs = 61_000): Promise<Page> {
    for (const page of this.pages) page?.kill()
    this.pages.length = 0
    await this.jump(laterMs)
    return this.load(slot, [])
  }

  /** Every job that a page was told of is reached by a page that knows only the disk. */
  private async reach(slot: number): Promise<void> {
    const { name } = slot === 2 ? this.ledgers.b : this.ledgers.a
    const wanted = this.judge.owed(name, this.clock.now() + this.machine.skewMs)
    if (wanted.length === 0) return
    const page = await this.fresh(slot)
    await this.wait(3_000)
    const listed = (await this.through(page, () => page.room.list())) ?? []
    for (const { jobId, word } of wanted) {
      const entry = listed.find((each) => each.jobId === jobId)
      if (!entry) {
        this.judge.deny(3, `the job of word ${word.id} is in no list`)
        continue
      }
      const tryOn = onHost(page, () => entry.open())
      onHost(page, () => tryOn.subscribe(({ state }) => this.trace.push(`  opened: ${state}`)))
      // a lease of a page that was killed is watched for as long as it holds
      await this.wait(15_000)
      if (tryOn.get().can.resume) void this.shopper.hear(page, 'resume', () => tryOn.resume())
      await this.wait(3_000)
      const { state, attempt } = tryOn.get()
      const reached = attempt?.jobId === jobId && (state === 'final' || state === 'failed')
      if (!reached) this.judge.deny(3, `the job of word ${word.id} ends as ${state}`)
    }
  }

  private async endWithReset(): Promise<void> {
    const page = await this.fresh(0)
    await this.wait(1_000)
    this.shopper.reset(page)
    await this.wait(3_000)
    if (this.ledgers.a.floor < this.ledgers.a.shopper)
      this.judge.deny(6, 'reset() on working storages does not resolve')
  }

  private async endWithMonth(): Promise<void> {
    for (const laterMs of [31 * 86_400_000, 86_400_000 + 61_000]) {
      const page = await this.fresh(0, laterMs)
      await this.through(page, () => page.room.ready)
      await this.wait(5_000)
    }
    this.judge.monthPassed(this.ledgers.a, this.disks.a)
  }

  async close(): Promise<void> {
    for (const page of this.pages) page?.kill()
    await this.network.close()
  }
}
