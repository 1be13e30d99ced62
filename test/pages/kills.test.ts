import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { BrowserContext, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { servePage } from '../support/serve-page.ts'
import { newProfile, startChromium } from './chromium-process.ts'
import { insecureHost, mapInsecureHost } from './insecure-host.ts'
import { watchedService, whenTold, type WatchedService } from './watched-service.ts'

let page: Awaited<ReturnType<typeof servePage>>
beforeAll(async () => {
  page = await servePage(fileURLToPath(new URL('./page.ts', import.meta.url)))
})
afterAll(() => page?.close())

const totals = { kills: 0, paidTwice: 0, lost: 0, untrue: 0 }
afterAll(() => console.log(`Chromium killed: ${JSON.stringify(totals)}`))

const stateOf = (tab: Page) => tab.evaluate('tryOn.get().state') as Promise<string>
const reach = (tab: Page, state: string) => expect.poll(() => stateOf(tab)).toBe(state)

interface Kill {
  phase: string
  /** Leads a started try-on to the moment of the kill. */
  until: (tab: Page, service: WatchedService) => Promise<unknown>
  /** What the next browser on the same profile shows in the end. */
  ends: 'final' | 'outcomeUnknown'
  hold?: [request: string, where: 'before' | 'after']
  /** Its pictures wait to be told; else they are ready at once. */
  waits?: true
  /** On which grounds beside Web Locks it is told, too: where what the next browser does may differ. */
  also?: Ground[]
}

/** What the next browser meets: a lease that the dead one has left, or an IndexedDB that fails once. */
type Ground = 'lease' | 'failing IndexedDB'
const kills: Kill[] = [
  { phase: 'preparing, funnel asked for', hold: ['GET /funnel', 'before'], until: none, ends: 'final' },
  {
    phase: 'preparing, target asked for',
    hold: ['POST /uploads', 'before'],
    until: none,
    ends: 'final',
  },
  {
    phase: 'preparing, photo on its way',
    hold: ['PUT /photos', 'before'],
    until: none,
    ends: 'final',
    also: ['lease'],
  },
  { phase: 'preparing, photo arrived', hold: ['PUT /photos', 'after'], until: none, ends: 'final' },
  {
    phase: 'submitting, received',
    hold: ['POST /generations', 'before'],
    until: none,
    ends: 'outcomeUnknown',
    also: ['lease'],
  },
  {
    phase: 'submitting, accepted',
    hold: ['POST /generations', 'after'],
    until: none,
    ends: 'outcomeUnknown',
    also: ['lease', 'failing IndexedDB'],
  },
  { phase: 'processing', waits: true, until: (tab) => reach(tab, 'processing'), ends: 'final' },
  {
    phase: 'processing, poll out',
    hold: ['GET /generations', 'before'],
    until: none,
    ends: 'final',
    also: ['lease', 'failing IndexedDB'],
  },
  {
    phase: 'preview',
    waits: true,
    async until(tab, service) {
      await reach(tab, 'processing')
      service.make('preview')
      await reach(tab, 'preview')
    },
    ends: 'final',
  },
  { phase: 'final', until: (tab) => reach(tab, 'final'), ends: 'final' },
]
async function none() {}

/** IndexedDB opens for none of its pages. */
const breakIndexedDb = (context: BrowserContext) =>
  context.addInitScript(() => {
    IDBFactory.prototype.open = () => {
      throw new DOMException('broken', 'UnknownError')
    }
  })

async function tell({ hold, until, ends, waits }: Kill, ground?: Ground): Promise<void> {
  const profile = await newProfile()
  const service = await watchedService(waits && whenTold)
  const host = ground === 'lease' ? insecureHost : '127.0.0.1'
  const url = `${page.url.replace('127.0.0.1', host)}?api=${encodeURIComponent(service.url)}`
  const start = () => startChromium({ profile, flags: [mapInsecureHost] })
  try {
    const first = await start()
    const tab = await first.open(url)
    expect(await tab.evaluate('isSecureContext && "locks" in navigator')).toBe(ground !== 'lease')
    await reach(tab, 'idle')
    const waiting = hold && service.hold(...hold)
    await tab.evaluate('void photo().then(photo => tryOn.start(photo))')
    await waiting?.there
    await until(tab, service)
    const seen = (await tab.evaluate('tryOn.get().attempt?.jobId ?? null')) as string | null
    await first.kill()
    waiting?.release()
    service.make('final')

    if (ground === 'failing IndexedDB') {
      const sent = service.count('POST /generations')
      const broken = await start()
      await breakIndexedDb(broken.context)
      const unread = await broken.open(url)
      // what IndexedDB holds is not known, and nothing is done as if it held nothing
      await expect.poll(() => unread.evaluate('tryOn.get().problem?.kind')).toBe('storageUnreadable')
      expect(await stateOf(unread)).toBe('idle')
      expect(service.count('POST /generations')).toBe(sent)
      await broken.kill()
    }

    const last = await start()
    const again = await last.open(url)
    await reach(again, ends)
    const view = (await again.evaluate('tryOn.get()')) as { attempt: { jobId: string } | null; state: string }
    await last.kill()

    totals.kills++
    if (service.count('POST /generations') > 1) totals.paidTwice++
    if (seen !== null && view.attempt?.jobId !== seen) totals.lost++
    if (view.attempt?.jobId && !service.jobs.has(view.attempt.jobId)) totals.untrue++
    expect(service.count('POST /generations')).toBe(1)
    expect(service.jobs.size).toBe(1)
    if (seen !== null) expect(view.attempt?.jobId).toBe(seen)
    expect(totals).toMatchObject({ paidTwice: 0, lost: 0, untrue: 0 })
  } finally {
    await service.close()
    await rm(profile, { recursive: true, force: true })
  }
}

const named = (of: Kill[]) => of.map((kill) => [kill.phase, kill] as const)
const alsoOn = (ground: Ground) => named(kills.filter(({ also }) => also?.includes(ground)))

describe('Chromium with Web Locks, killed on a profile that outlives it', () => {
  it.each(named(kills))('%s', (_, kill) => tell(kill))
})

describe('Chromium in lease mode, killed on a profile that outlives it', () => {
  it.each(alsoOn('lease'))('%s', (_, kill) => tell(kill, 'lease'))
})

describe('Chromium, killed on a profile of an earlier visit, whose IndexedDB fails in the next one and works after that', () => {
  it.each(alsoOn('failing IndexedDB'))('%s', (_, kill) => tell(kill, 'failing IndexedDB'))
})
