import { fileURLToPath } from 'node:url'
import { createService, intakeInMemory as takePhoto, type Generator, type Job } from '@fitting-room/service'
import type { CDPSession, Page } from 'playwright'
import { seededChance } from '../../model/platform.ts'
import { newProfile, startChromium, type Chromium } from '../../pages/chromium-process.ts'
import { keptExpression } from '../../support/everything-kept.ts'
import { openLedger } from '../../support/open-ledger.ts'
import { openSandbox } from '../../support/open-sandbox.ts'
import { serveFetch, type FetchServer } from '../../support/serve-fetch.ts'
import { servePage } from '../../support/serve-page.ts'
import { tracesInMemory } from './snapshot.ts'

/** How fast the time of page and service passes. */
const times = 20
const began = Date.now()
const clock = { now: () => began + (Date.now() - began) * times }

/** What a page runs first: time goes faster, and what is made for a photo's address is counted. */
const faster = `(() => {
  const began = ${began}, times = ${times}
  const [now, sinceStart, after, every] = [Date.now, performance.now.bind(performance), setTimeout, setInterval]
  Date.now = () => began + (now() - began) * times
  performance.now = () => sinceStart() * times
  globalThis.setTimeout = (run, ms = 0, ...args) => after(run, ms / times, ...args)
  globalThis.setInterval = (run, ms = 0, ...args) => every(run, ms / times, ...args)
  const live = globalThis.liveUrls = new Set()
  const [create, revoke] = [URL.createObjectURL, URL.revokeObjectURL]
  URL.createObjectURL = (of) => { const url = create.call(URL, of); live.add(url); return url }
  URL.revokeObjectURL = (url) => { live.delete(url); revoke.call(URL, url) }
})()`

/** A picture that every browser shows. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='
const picture = { bytes: Uint8Array.from(Buffer.from(pixel, 'base64')), type: 'image/png' }
const generator: Generator = async () => ({ preview: picture, final: picture })

/** How the bytes of every photo and picture begin, and what else may be one. */
const startsOfPictures = ['\xFF\xD8\xFF', 'PNG\r\n', 'a blob of ']

/** What is to be flat, in bytes or as numbers. */
export interface Figures {
  heap: number
  nodes: number
  kept: number
}

/** What a shopper sees, and does next. */
interface Seen {
  session: string | undefined
  state: string | undefined
  asksEmail: boolean
}

/** The example's kiosk in a Chromium with a profile that outlives it, and its shoppers. */
export class Display {
  readonly did = { served: 0, pictures: 0, powerCuts: 0, networkCuts: 0, leftAlone: 0 }
  readonly traces: string[] = []
  #random: () => number
  #jobs: ReadonlyMap<string, Job> = new Map()
  /** Those of the present shopper that storage has had. */
  readonly #attempts = new Set<string>()
  #hasLooked = false
  #close: (() => unknown)[] = []
  #url = ''
  #profile = ''
  #chromium!: Chromium
  #page!: Page
  #session!: CDPSession

  constructor(seed: number) {
    this.#random = seededChance(seed)
  }

  async open(): Promise<void> {
    const { store, jobs } = openLedger()
    this.#jobs = jobs
    const config = openSandbox({ previewAfterMs: 2_000, readyAfterMs: 6_000 })
    const stores = config.stores.map((each) => ({ ...each, email: { freeTryOns: 0 }, tryOnCap: null, credits: null }))
    const uploads: FetchServer = await serveFetch((request) => service.fetch(request, { ip: '127.0.0.1' }))
    const service = createService({
      config: { ...config, stores },
      store,
      clock,
      publicUrl: uploads.url,
      generator,
      takePhoto,
    })
    const site = await servePage(fileURLToPath(new URL('./page.tsx', import.meta.url)), (request) => {
      const url = request.url.replace('/api/', '/')
      return service.fetch(new Request(url, request), { ip: '127.0.0.1' })
    })
    this.#url = site.url
    this.#close = [site.close, uploads.close, service.close]
    this.#profile = await newProfile()
    await this.#switchOn()
  }

  async close(): Promise<void> {
    await this.#chromium.kill()
    for (const close of this.#close) await close()
  }

  async #switchOn(): Promise<void> {
    // of longer texts a snapshot has but the beginning, unless it is told otherwise
    const flags = ['--js-flags=--heap-snapshot-string-limit=1000000']
    this.#chromium = await startChromium({ profile: this.#profile, flags })
    await this.#chromium.context.grantPermissions(['clipboard-read'])
    this.#page = await this.#chromium.context.newPage()
    await this.#page.addInitScript(faster)
    await this.#page.goto(this.#url)
    this.#session = await this.#chromium.context.newCDPSession(this.#page)
  }

  /** One shopper from the first touch to the wipe, with what happens meanwhile; then nothing of theirs is to be found. */
  async serve(): Promise<void> {
    const email = `shopper-${this.did.served}-${Math.floor(this.#random() * 1e9)}@example.com`
    const isLeftAlone = this.#random() < 0.2
    /** At which look the power, or the network, fails; at none for most. */
    const [power, network] = [this.#look(0.1), this.#look(0.15)]
    const known = new Set(this.#jobs.keys())
    this.#attempts.clear()
    this.#hasLooked = false
    await this.#reach('ready')
    await this.#press('begin')
    let isOver = false
    for (let looks = 0; !isOver; looks++) {
      if (looks === power) await this.#cutPower()
      if (looks === network) await this.#cutNetwork()
      isOver = await this.#goOn(email, isLeftAlone)
    }
    this.did.served++
    if (isLeftAlone) this.did.leftAlone++
    const jobs = [...this.#jobs.values()].filter(({ id }) => !known.has(id))
    this.did.pictures += jobs.filter(({ state }) => state === 'rendered').length
    const photos = jobs.flatMap(({ photo }) => ('name' in photo ? [photo.name] : []))
    await this.#search([email, ...jobs.flatMap(({ id, visitorId }) => [id, visitorId]), ...photos])
  }

  #look(probability: number): number {
    return this.#random() < probability ? Math.floor(this.#random() * 25) : -1
  }

  #see(): Promise<Seen> {
    return this.#page.evaluate(() => {
      const marked = (id: string) => document.querySelector<HTMLElement>(`[data-testid="${id}"]`)
      const [session, state] = [marked('kiosk')?.dataset['session'], marked('try-on')?.dataset['state']]
      return { session, state, asksEmail: marked('email') !== null }
    })
  }

  /** What the shopper does about what is to be seen; true once nothing of the visit is shown any more. */
  async #goOn(email: string, isLeftAlone: boolean): Promise<boolean> {
    const { session, state, asksEmail } = await this.#see()
    if (session === 'ready') return true
    const kept = await this.#page.evaluate<string>(keptExpression)
    for (const [, id] of kept.matchAll(/attemptId\W+(\w+)/g)) this.#attempts.add(id!)
    if (asksEmail) await this.#giveEmail(email)
    else if (state === undefined) await this.#press('piece-1001')
    else if (state === 'idle') await this.#try()
    else if (state === 'final' && !this.#hasLooked) {
      // long enough for the picture to be kept
      this.#hasLooked = true
      await this.#page.waitForTimeout(200)
      // what is there now must be found, or that nothing is found later says nothing
      const isBlind = this.did.served === 0 && (await tracesInMemory(this.#session, [...this.#attempts])).length === 0
      if (isBlind) throw new Error('the search of the memory does not find the attempt that is shown')
    } else if (['final', 'failed', 'rejected', 'outcomeUnknown', 'stalled'].includes(state) && !isLeftAlone)
      await this.#press('done')
    await this.#page.waitForTimeout(30)
    return false
  }

  async #try(): Promise<void> {
    await this.#page.evaluate(async () => {
      const canvas = Object.assign(document.createElement('canvas'), { width: 300, height: 400 })
      const context = canvas.getContext('2d')!
      context.fillStyle = 'teal'
      context.fillRect(0, 0, 300, 400)
      const photo = await new Promise<Blob>((resolve) => canvas.toBlob((blob) => resolve(blob!), 'image/png'))
      const files = new DataTransfer()
      files.items.add(new File([photo], 'photo.png', { type: 'image/png' }))
      const input = document.querySelector<HTMLInputElement>('[data-testid="photo"]')
      if (!input) return
      input.files = files.files
      input.dispatchEvent(new Event('change', { bubbles: true }))
    })
    await this.#press('start')
  }

  #giveEmail(email: string): Promise<void> {
    return this.#page.evaluate((address) => {
      const input = document.querySelector<HTMLInputElement>('[data-testid="email"]')
      if (!input) return
      input.value = address
      input.form?.requestSubmit()
    }, email)
  }

  /** Presses what is there; what is not is looked for again. */
  #press(id: string): Promise<void> {
    return this.#page.evaluate((name) => {
      const button = document.querySelector<HTMLButtonElement>(`[data-testid="${name}"]`)
      button?.dispatchEvent(new PointerEvent('pointerup', { bubbles: true }))
      button?.click()
    }, id)
  }

  async #reach(session: string): Promise<void> {
    while ((await this.#see()).session !== session) await this.#page.waitForTimeout(30)
  }

  async #cutPower(): Promise<void> {
    this.did.powerCuts++
    await this.#chromium.kill()
    await this.#switchOn()
  }

  async #cutNetwork(): Promise<void> {
    this.did.networkCuts++
    await this.#chromium.context.setOffline(true)
    await this.#page.waitForTimeout(300)
    await this.#chromium.context.setOffline(false)
  }

  /**
   * Whether anything of these is kept, shown, addressed or held in memory; a page knows of former attempts, by numbers that are
   * nothing to anybody, so that what is late is not taken for the next shopper's.
   */
  async #search(texts: readonly string[]): Promise<void> {
    const outside = [...texts, ...this.#attempts]
    const isIn = (where: string, text: string) =>
      outside.filter((each) => text.includes(each)).map((each) => `${where}: ${each}`)
    const shown = () => document.documentElement.outerHTML
    const clipboard = () => navigator.clipboard.readText()
    const urls = await this.#page.evaluate<number>('liveUrls.size')
    const { entries } = await this.#session.send('Page.getNavigationHistory')
    const kept = await this.#page.evaluate<string>(keptExpression)
    this.traces.push(
      ...isIn('kept', kept),
      ...startsOfPictures.filter((start) => kept.includes(start)).map((start) => `kept: a picture, ${start}`),
      ...isIn('history', JSON.stringify(entries)),
      ...isIn('shown', await this.#page.evaluate(shown)),
      ...isIn('clipboard', await this.#page.evaluate(clipboard)),
      ...(urls > 0 ? [`${urls} addresses of photos`] : []),
      ...(await tracesInMemory(this.#session, texts)).map((each) => `memory: ${each}`),
    )
  }

  async figures(): Promise<Figures> {
    await this.#session.send('HeapProfiler.collectGarbage')
    const { usedSize } = await this.#session.send('Runtime.getHeapUsage')
    const { nodes } = await this.#session.send('Memory.getDOMCounters')
    const everything = await this.#page.evaluate<string>(keptExpression)
    // how long pictures take is the device's own, too, and is known better and better, in some kB at the most
    const jobTimes = /^"\d+": \{"\w+:SERVICE_\w+".*$/gm
    // which of an hour's places are taken is the device's own, and grows and shrinks with how many came
    const places = /^"\d+": \{"taken":.*$/gm
    const all = everything.replaceAll(jobTimes, '').replaceAll(places, '')
    return { heap: usedSize, nodes, kept: all.length }
  }
}
