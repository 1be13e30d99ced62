import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { servePage } from '../support/serve-page.ts'
import { newProfile, startChromium } from './chromium-process.ts'
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
}
const kills: Kill[] = [
  { phase: 'preparing, funnel asked for', hold: ['GET /funnel', 'before'], until: none, ends: 'final' },
  {
    phase: 'preparing, target asked for',
    hold: ['POST /uploads', 'before'],
    until: none,
    ends: 'final',
  },
  { phase: 'preparing, photo on its way', hold: ['PUT /photos', 'before'], until: none, ends: 'final' },
  { phase: 'preparing, photo arrived', hold: ['PUT /photos', 'after'], until: none, ends: 'final' },
  {
    phase: 'submitting, received',
    hold: ['POST /generations', 'before'],
    until: none,
    ends: 'outcomeUnknown',
  },
  {
    phase: 'submitting, accepted',
    hold: ['POST /generations', 'after'],
    until: none,
    ends: 'outcomeUnknown',
  },
  { phase: 'processing', waits: true, until: (tab) => reach(tab, 'processing'), ends: 'final' },
  { phase: 'processing, poll out', hold: ['GET /generations', 'before'], until: none, ends: 'final' },
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

describe('Chromium, killed on a profile that outlives it', () => {
  it.each(kills.map((kill) => [kill.phase, kill] as const))('%s', async (_, { hold, until, ends, waits }) => {
    const profile = await newProfile()
    const service = await watchedService(waits && whenTold)
    const url = `${page.url}?api=${encodeURIComponent(service.url)}`
    try {
      const first = await startChromium({ profile })
      const tab = await first.open(url)
      await reach(tab, 'idle')
      const waiting = hold && service.hold(...hold)
      await tab.evaluate('void photo().then(photo => tryOn.start(photo))')
      await waiting?.there
      await until(tab, service)
      const seen = (await tab.evaluate('tryOn.get().attempt?.jobId ?? null')) as string | null
      await first.kill()
      waiting?.release()
      service.make('final')

      const second = await startChromium({ profile })
      const again = await second.open(url)
      await reach(again, ends)
      const view = (await again.evaluate('tryOn.get()')) as { attempt: { jobId: string } | null; state: string }
      await second.kill()

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
  })
})
