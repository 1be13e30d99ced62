import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { createProxy } from 'fitting-room/proxy'
import { manualClock } from 'fitting-room/testing'
import type { Wire } from '../support/serve-fetch.ts'
import { servePage } from '../support/serve-page.ts'
import { startChromium, type Chromium } from './chromium-process.ts'
import { watchedService, type WatchedService } from './watched-service.ts'

let service: WatchedService
let chromium: Chromium
let page: Awaited<ReturnType<typeof servePage>>
let tab: Page
/** What stands before the proxy. */
let meet: (request: Request, wire: Wire) => Promise<Response>
let proxy: (request: Request) => Promise<Response>
/** The proxy's. */
let clock: ReturnType<typeof manualClock>

beforeAll(async () => {
  page = await servePage(fileURLToPath(new URL('./page.ts', import.meta.url)), (request, wire) => meet(request, wire))
})
afterAll(() => page.close())
beforeEach(async () => {
  service = await watchedService()
  clock = manualClock()
  proxy = createProxy({ baseUrl: service.url, apiKey: 'sandbox-key', clock })
  meet = proxy
  chromium = await startChromium()
  tab = await chromium.context.newPage()
  await tab.goto(`${page.url}?api=/api`)
  await reach('idle')
})
afterEach(async () => {
  await chromium.kill()
  await service.close()
})

const reach = (state: string) => expect.poll(() => tab.evaluate('tryOn.get().state'), { interval: 20 }).toBe(state)
const start = () => tab.evaluate('photo().then(photo => tryOn.start(photo)).catch(() => {})')

it('in a browser gives the shopper a cookie that no script reads, by which the service knows them', async () => {
  await start()
  await reach('final')
  const [cookie] = await chromium.context.cookies()
  expect(cookie).toMatchObject({ name: 'fitting-room-visitor', path: '/api', httpOnly: true, sameSite: 'Lax' })
  expect(await tab.evaluate('document.cookie')).toBe('')
  const [job] = service.jobs.values()
  expect(job?.visitorId).toBe(cookie?.value)
})

it('submits once what the browser says again because its connection died', async () => {
  let posts = 0
  meet = async (request, { drop }) => {
    if (!request.url.endsWith('/generations')) return proxy(request)
    posts += 1
    if (posts > 1) return proxy(request)
    const { there, release } = service.hold('POST /generations', 'after')
    const answering = proxy(request)
    await there
    drop()
    release()
    return answering
  }
  await start()
  await expect.poll(() => tab.evaluate('tryOn.get().state'), { interval: 20 }).toMatch(/final|outcomeUnknown/)
  expect(service.count('POST /generations')).toBe(1)
  // without a second one from the browser nobody knows what has become of the first
  expect(await tab.evaluate('tryOn.get().state')).toBe(posts > 1 ? 'final' : 'outcomeUnknown')
})

it('submits once what the browser says again long after the proxy has answered', async () => {
  const words: (string | null)[] = []
  meet = async (request, { drop }) => {
    const answer = await proxy(request)
    // as a server does that keeps its connections: it is on one of these that a browser says a POST again
    answer.headers.delete('Connection')
    if (!request.url.endsWith('/generations')) return answer
    words.push(request.headers.get('Idempotency-Key'))
    if (words.length > 1) return answer
    // the answer is in a buffer on the way, for all that the proxy knows
    clock.advance(30_000)
    // where the first is not known any more, a second one is paid for
    drop()
    return answer
  }
  await start()
  await expect.poll(() => tab.evaluate('tryOn.get().state'), { interval: 20 }).toMatch(/final|outcomeUnknown/)
  expect(service.count('POST /generations')).toBe(1)
  expect(words[0]).toMatch(/^[0-9a-f]{32}$/)
  expect(new Set(words).size).toBe(1)
})
