import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { chromiumHasTabs } from '../engines/chromium.ts'
import { servePage } from '../support/serve-page.ts'
import { startChromium, type Chromium } from './chromium-process.ts'
import { watchedService, whenTold, type WatchedService } from './watched-service.ts'

let page: Awaited<ReturnType<typeof servePage>>
let chromium: Chromium
let service: WatchedService
let tab: Page
beforeAll(async () => {
  page = await servePage(fileURLToPath(new URL('./page.ts', import.meta.url)))
})
afterAll(() => page?.close())
beforeEach(async () => {
  chromium = await startChromium()
})
afterEach(async () => {
  await chromium.kill()
  await service.close()
})

const stateOf = () => tab.evaluate('tryOn.get().state') as Promise<string>
const reach = (state: string) => expect.poll(stateOf, { interval: 20 }).toBe(state)
const polls = () => service.count('GET /generations')

/** Lets a test know that the page has read an answer. */
const noteBodies = `
  globalThis.bodiesRead = []
  for (const name of ['text', 'json', 'arrayBuffer', 'blob']) {
    const read = Response.prototype[name]
    Response.prototype[name] = async function () {
      const body = await read.call(this)
      bodiesRead.push(this.url)
      return body
    }
  }`

/** A page whose time only the test moves, with a try-on whose job is being waited for. */
async function processing(): Promise<void> {
  service = await watchedService(whenTold)
  tab = await chromium.context.newPage()
  await tab.addInitScript(noteBodies)
  const opened = Date.now()
  await tab.clock.install({ time: opened })
  await tab.goto(`${page.url}?api=${encodeURIComponent(service.url)}&poll=2000`)
  await reach('idle')
  await tab.clock.pauseAt(opened + 3_600_000)
  await tab.evaluate('photo().then(photo => tryOn.start(photo))')
  await reach('processing')
  await expect.poll(() => tab.evaluate("bodiesRead.filter((url) => url.includes('/generations/')).length")).toBe(1)
  // storage works in order: what the page does with an answer is done when this is
  await tab.evaluate('room.list()')
  expect(polls()).toBe(1)
}
/** The picture is ready for the next poll. */
async function rendered(): Promise<void> {
  await expect.poll(() => [...service.jobs.values()].map(({ state }) => state)).toEqual(['rendered'])
  service.make('final')
}

it('hidden for an hour: the first tick shows the picture, with one poll', async () => {
  await processing()
  await rendered()
  await tab.clock.fastForward('01:00:00')
  await tab.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
  await reach('final')
  expect(polls()).toBe(2)
})

it('asleep past the deadline: one poll, then stalled; resume() goes on', async () => {
  await processing()
  await tab.clock.fastForward(200_000)
  await reach('stalled')
  expect(polls()).toBe(2)
  await tab.evaluate('tryOn.resume()')
  await reach('processing')
  expect(service.count('POST /generations')).toBe(1)
})

it('offline and back: nothing is sent meanwhile, and the picture is asked for at once', async () => {
  await processing()
  await rendered()
  await chromium.context.setOffline(true)
  await tab.clock.fastForward(2_000)
  await expect.poll(() => tab.evaluate('tryOn.get().waitingUntil !== null')).toBe(true)
  await tab.clock.fastForward(20_000)
  expect(await stateOf()).toBe('processing')
  const before = polls()
  await chromium.context.setOffline(false)
  await reach('final')
  expect([before, polls()]).toEqual([1, 2])
})

it.runIf(chromiumHasTabs)('in the back/forward cache: no request while away, right when it is back', async () => {
  await processing()
  await tab.evaluate('globalThis.isTheSamePage = true')
  await tab.goto('about:blank')
  const away = polls()
  await rendered()
  await tab.goBack({ waitUntil: 'commit' })
  expect(await tab.evaluate('globalThis.isTheSamePage')).toBe(true)
  expect(polls() - away).toBeLessThanOrEqual(1)
  await reach('final')
  expect(service.count('POST /generations')).toBe(1)
})
