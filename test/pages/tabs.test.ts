import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { servePage } from '../support/serve-page.ts'
import { startChromium, type Chromium } from './chromium-process.ts'
import { insecureHost, mapInsecureHost } from './insecure-host.ts'
import { watchedService, type WatchedService } from './watched-service.ts'

let page: Awaited<ReturnType<typeof servePage>>
let chromium: Chromium
let service: WatchedService
let tabs: Page[]
beforeAll(async () => {
  page = await servePage(fileURLToPath(new URL('./page.ts', import.meta.url)))
  chromium = await startChromium({ flags: [mapInsecureHost] })
})
afterAll(async () => {
  await chromium?.kill()
  page?.close()
})
beforeEach(async () => {
  tabs = []
  service = await watchedService()
})
afterEach(async () => {
  await Promise.all(tabs.map((tab) => tab.close()))
  await service.close()
})

const addressOf = (more = '', host = '127.0.0.1') =>
  `${page.url.replace('127.0.0.1', host)}?api=${encodeURIComponent(service.url)}${more}`
async function open(more?: string, host?: string): Promise<Page> {
  const tab = await chromium.open(addressOf(more, host))
  tabs.push(tab)
  return tab
}
const start = (tab: Page) => tab.evaluate('photo().then(photo => tryOn.start(photo))')
const viewOf = (tab: Page) =>
  tab.evaluate('tryOn.get()') as Promise<{ state: string; attempt: { jobId: string } | null }>
const reach = (tab: Page, state: string) =>
  expect.poll(async () => (await viewOf(tab)).state, { interval: 20 }).toBe(state)

describe.each([
  ['by Web Locks', '127.0.0.1'],
  ['by a lease in IndexedDB, without Web Locks', insecureHost],
])('one owner %s', (_, host) => {
  it('is in the context that the name says', async () => {
    const tab = await open('', host)
    expect(await tab.evaluate('isSecureContext && "locks" in navigator')).toBe(host !== insecureHost)
  })

  it.each([2, 5])('%i tabs: one POST, one poller, the same view everywhere', async (count) => {
    const all = []
    for (let at = 0; at < count; at++) all.push(await open('', host))
    const [first, ...others] = all as [Page, ...Page[]]
    for (const tab of all) await reach(tab, 'idle')
    await start(others.at(-1) ?? first)
    for (const tab of all) await reach(tab, 'final')
    const [view, ...same] = await Promise.all(all.map(viewOf))
    for (const each of same) expect(each).toEqual(view)
    expect(service.count('POST /generations')).toBe(1)
    expect(service.count('PUT /photos')).toBe(1)
  })

  /** How the page that runs the try-on comes to its end, or stops. */
  const deaths: Record<string, (owner: Page) => Promise<unknown>> = {
    'tab closed': (owner) => owner.close(),
    'process killed': async (owner) => {
      const session = await chromium.context.newCDPSession(owner)
      void session.send('Page.crash').catch(() => undefined)
    },
    'gone into the back/forward cache': (owner) => owner.goto('about:blank'),
  }

  it.each(Object.keys(deaths))('%s: another tab goes on with the same job, by itself', async (death) => {
    const owner = await open('', host)
    await reach(owner, 'idle')
    const other = await open('', host)
    await reach(other, 'idle')
    service.hold('GET /generations', 'before')
    await start(owner)
    await reach(other, 'processing')
    await expect.poll(() => service.count('GET /generations')).toBe(1)
    await deaths[death]!(owner)
    // how soon is told by a clock that a test moves (ownership.test.ts), not by this machine's
    await expect.poll(() => service.count('GET /generations')).toBeGreaterThan(1)
    await reach(other, 'final')
    expect(service.jobs.size).toBe(1)
    expect(service.count('POST /generations')).toBe(1)
  })
})

it('with neither lock nor atomic update it says so, and a reload submits nothing by itself', async () => {
  const tab = await open('&plain', insecureHost)
  await reach(tab, 'idle')
  expect(await tab.evaluate('tryOn.get().exclusive')).toBe(false)
  const held = service.hold('GET /funnel', 'before')
  await tab.evaluate('void photo().then(photo => tryOn.start(photo))')
  await held.there
  await tab.reload()
  await reach(tab, 'idle')
  held.release()
  await start(tab)
  await reach(tab, 'final')
  expect(service.count('POST /generations')).toBe(1)
})

it('tabs with different try-ons do not disturb each other', async () => {
  const [one, two] = [await open(), await open('&variant=2002')]
  await reach(one, 'idle')
  await reach(two, 'idle')
  await Promise.all([start(one), start(two)])
  await reach(one, 'final')
  await reach(two, 'final')
  const jobs = (await Promise.all([one, two].map(viewOf))).map(
    ({ attempt }) => service.jobs.get(attempt!.jobId)?.variantId,
  )
  expect(jobs).toEqual(['2001', '2002'])
})

it('a reset() in one tab reaches every tab and leaves nothing in storage', async () => {
  const [one, two] = [await open(), await open()]
  await reach(one, 'idle')
  await reach(two, 'idle')
  await start(one)
  await reach(two, 'final')
  await two.evaluate('room.reset()')
  await reach(one, 'idle')
  await reach(two, 'idle')
  expect(await one.evaluate('room.list()')).toEqual([])
  expect(await one.evaluate('[room.visitor.get().uniqueUserId, room.photo.get()]')).toEqual([null, null])
})
