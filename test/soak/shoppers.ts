import type { Job } from '@fitting-room/service'
import type { TryOn } from 'fitting-room'
import { Disk } from '../model/disk.ts'
import { faultsOf, Network, photoBytes, type Place, type Witness } from '../model/network.ts'
import { Page, type Machine } from '../model/page.ts'
import { Bus, Locks, onHost, seededChance } from '../model/platform.ts'
import { Time } from '../model/time.ts'
import type { RoomLedger } from '../model/words.ts'

/** What has to stay flat. */
export interface Figures {
  heap: number
  keys: number
  timers: number
  channels: number
}

/** How much more there may be at one moment than at another; of the heap in bytes. */
const slack: Figures = { heap: 3_000_000, keys: 3, timers: 2, channels: 0 }

/** What has not stayed flat. */
export function grownSince(first: Figures, last: Figures): string[] {
  const names = ['heap', 'keys', 'timers', 'channels'] as const
  const grown = names.filter((name) => last[name] - first[name] > slack[name])
  return grown.map((name) => `${name}: from ${first[name]} to ${last[name]}`)
}

/** How many former shoppers are looked for. */
const remembered = 200
/** The service is renewed now and then, as what it keeps would hide what the room keeps. */
const renewEvery = 50

/** 5,000 shoppers come in two weeks. */
const msEach = (14 * 86_400_000) / 5_000

const turn = () => new Promise((resolve) => setImmediate(resolve))
const idsIn = (text: string) => text.match(/[0-9a-f][0-9a-f-]{30,35}|word-\d+/g) ?? []

/** A kiosk in virtual time: one room that shoppers use one after the other, with a reset between them. */
export class Kiosk implements Witness {
  readonly violations = new Set<string>()
  readonly did = { submissions: 0, jobs: 0, finals: 0, faults: 0, failures: 0, powerCuts: 0, resets: 0 }
  private readonly time = new Time()
  private readonly disks = [new Disk(), new Disk()]
  private readonly ledger: RoomLedger = {
    name: 'a',
    shopper: 0,
    floor: 0,
    isHalfReset: false,
    isMute: false,
    leavings: 0,
    leaving: new Set(),
    discarded: new Map(),
  }
  private readonly machine: Machine
  private readonly chance: () => number
  private network = new Network(this.time, this)
  private page: Page
  /** What names the present shopper and the ones before, in order. */
  private readonly secrets: Set<string>[] = [new Set()]

  constructor(seed: number) {
    this.chance = seededChance(seed)
    this.machine = {
      clock: this.time,
      skewMs: 0,
      sleptMs: 0,
      locks: new Locks(),
      bus: new Bus(),
      hasLocks: false,
      slowMs: 0,
    }
    this.page = this.load()
  }

  /** Virtual days since the kiosk was opened. */
  get days(): number {
    return Math.round(this.time.monotonic() / 8_640_000) / 10
  }

  deny(why: string): void {
    this.violations.add(why)
  }

  sent(_page: Page, request: Request, body: string): void {
    this.lookFor(`${request.url} ${body}`, 'a request')
  }

  submitted(_page: Page, body: string) {
    this.did.submissions++
    const ids = idsIn(body)
    return { refused: () => {}, told: (jobId: string) => this.learn([jobId, ...ids]) }
  }

  saved(job: Job): void {
    if (job.state === 'queued') this.did.jobs++
    this.learn([job.id, job.visitorId])
  }

  /** One shopper from start to reset, and the kiosk's rest until the next one. */
  async serve(): Promise<void> {
    const until = this.time.monotonic() + msEach
    const number = ++this.ledger.shopper
    this.learn([`word-${number}`])
    if (number % renewEvery === 0) await this.renew()
    if (this.happens(0.4)) this.plan()
    if (this.happens(0.1)) this.trouble()
    const cut = this.happens(0.05) ? this.chance() * 20_000 : null
    await this.shop(number, cut)
    this.restore()
    await this.idle(this.pick([0, 500, 8_000]))
    await this.reset()
    await this.idle(Math.max(1_000, until - this.time.monotonic()))
    this.lookEverywhere()
  }

  /** Lets time pass. */
  async idle(ms: number): Promise<void> {
    const until = this.time.monotonic() + ms
    while (this.time.step(until)) await turn()
    for (let quiet = 0; quiet < 3; quiet = this.network.busy + this.machine.bus.onWay > 0 ? 0 : quiet + 1) await turn()
    for (const error of this.machine.bus.uncaught.splice(0)) this.deny(`uncaught: ${String(error)}`)
  }

  figures(): Figures {
    return {
      heap: process.memoryUsage().heapUsed,
      keys: this.disks.reduce((sum, { values, photos }) => sum + values.size + photos.size, 0),
      timers: this.time.pending,
      channels: this.machine.bus.channels.size,
    }
  }

  async close(): Promise<void> {
    this.page.kill()
    await this.network.close()
  }

  private happens(probability: number): boolean {
    return this.chance() < probability
  }

  private pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.chance() * from.length)] as T
  }

  private load(): Page {
    const page = new Page({
      slot: 0,
      machine: this.machine,
      ledger: this.ledger,
      disks: this.disks,
      storage: 'chain',
      modes: ['ok', 'ok'],
      send: (...given) => this.network.send(...given),
    })
    page.tryOn(0)
    return page
  }

  private plan(): void {
    const place: Place = this.pick(['submission', 'poll', 'read'])
    this.network.plans.push({ place, fault: this.pick(faultsOf[place]) })
    this.did.faults++
  }

  /** A storage fails, or what it is asked lands only when the shopper goes. */
  private trouble(): void {
    this.did.failures++
    const tier = this.pick([0, 1])
    if (this.happens(0.5)) this.page.setMode(tier, 'fail')
    else this.page.hold(tier === 0 ? 'near' : 'far')
  }

  private restore(): void {
    this.page.land()
    this.network.plans.length = 0
    this.page.setMode(0, 'ok')
    this.page.setMode(1, 'ok')
  }

  private async renew(): Promise<void> {
    await this.network.close()
    this.network = new Network(this.time, this)
  }

  /** The shopper starts, and answers what the screen asks for; the power may be cut in between. */
  private async shop(number: number, cut: number | null): Promise<void> {
    const product = this.happens(0.2) ? 1 : 0
    const bytes = photoBytes(number % 256, this.happens(0.1))
    const photo = new Blob([bytes], { type: 'image/png' })
    this.say((tryOn) => tryOn.start(photo, { customKey: `word-${number}` }), product)
    // some go away before they have seen anything
    const patience = this.happens(0.2) ? this.chance() * 5_000 : 30_000
    for (let waited = 0; waited < patience; waited += 1_500) {
      await this.idle(1_500)
      if (cut !== null && waited <= cut && cut < waited + 1_500) await this.cutPower()
      const { state, attempt, can } = this.page.tryOn(product).get()
      if (attempt) this.learn([attempt.id])
      if (state === 'final') this.did.finals++
      if (state === 'final' || state === 'failed' || state === 'rejected') return
      if (state === 'needsEmail') this.say((tryOn) => tryOn.submitEmail({ email: 'ada@example.com' }), product)
      else if (can.resume) this.say((tryOn) => tryOn.resume(), product)
      else if (state === 'outcomeUnknown' && this.happens(0.3)) {
        this.say((tryOn) => tryOn.retry(photo, { customKey: `word-${number}` }), product)
      }
    }
  }

  private say(word: (tryOn: TryOn) => Promise<void>, product: number): void {
    const { page } = this
    onHost(page, () => word(page.tryOn(product))).catch(() => undefined)
  }

  private async cutPower(): Promise<void> {
    this.did.powerCuts++
    this.page.kill()
    await this.idle(5_000)
    this.page = this.load()
  }

  private async reset(): Promise<void> {
    let done = false
    this.say(() => this.page.room.reset().then(() => void (done = true)), 0)
    for (let waited = 0; waited < 60 && !done; waited++) await this.idle(500)
    if (!done) this.deny('reset() on working storages does not resolve')
    this.did.resets++
    this.secrets.unshift(new Set())
    this.secrets.length = Math.min(this.secrets.length, remembered)
    this.lookEverywhere()
  }

  private learn(ids: readonly string[]): void {
    const known = this.secrets.slice(1).some((former) => ids.some((id) => former.has(id)))
    if (!known) for (const id of ids) this.secrets[0]?.add(id)
  }

  private lookFor(text: string, where: string): void {
    const ids = idsIn(text)
    const former = this.secrets.slice(1).findIndex((secrets) => ids.some((id) => secrets.has(id)))
    if (former >= 0) this.deny(`${where} holds what names the shopper ${former + 1} before`)
  }

  private lookEverywhere(): void {
    const { photo, visitor } = this.page.room
    this.lookFor(JSON.stringify([photo.get(), visitor.get()]), 'memory')
    for (const tryOn of this.page.tryOns.values()) this.lookFor(JSON.stringify(tryOn.get()), 'a view')
    for (const disk of this.disks) {
      for (const [key, text] of disk.values) this.lookFor(`${key} ${text}`, 'storage')
      if (disk.photos.size > 0) this.deny('storage holds a photo after reset()')
    }
  }
}
