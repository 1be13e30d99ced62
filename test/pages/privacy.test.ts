import { fileURLToPath } from 'node:url'
import { createService } from '@fitting-room/service'
import type { Page } from 'playwright'
import { afterAll, beforeAll, beforeEach, afterEach, expect, it } from 'vitest'
import { openSandbox } from '../support/open-sandbox.ts'
import { serveFetch, type FetchServer } from '../support/serve-fetch.ts'
import { servePage } from '../support/serve-page.ts'
import { startChromium, type Chromium } from './chromium-process.ts'

const key = 'sandbox-key'
const email = 'ada.lovelace@example.com'
/** Stands in the page's photo, behind the picture. */
const photoBytes = 'bytes-of-the-photo'
/** Every JPEG that a browser makes begins with it. */
const jpegMark = 'JFIF'

let page: Awaited<ReturnType<typeof servePage>>
let chromium: Chromium
let api: FetchServer
/** Where photos are uploaded to: an origin of its own. */
let uploads: FetchServer
let tab: Page
let logged: string[]
/** What was sent to each origin but the API's: address, headers and body. */
let sentElsewhere: string[]
let signedUrls: string[]

beforeAll(async () => {
  page = await servePage(fileURLToPath(new URL('./page.ts', import.meta.url)))
})
afterAll(() => page?.close())
beforeEach(async () => {
  uploads = await serveFetch((request) => service.fetch(request, { ip: '127.0.0.1' }))
  api = await serveFetch((request) => service.fetch(request, { ip: '127.0.0.1' }))
  const service = createService({
    config: openSandbox({ previewAfterMs: 100, readyAfterMs: 200 }),
    publicUrl: uploads.url,
  })
  chromium = await startChromium()
  tab = await chromium.context.newPage()
  logged = []
  sentElsewhere = []
  signedUrls = []
  tab.on('console', (message) => logged.push(message.text()))
  tab.on('pageerror', (error) => logged.push(String(error)))
  tab.on('request', async (request) => {
    if (request.url().startsWith(api.url) || request.method() === 'PUT') return
    sentElsewhere.push(JSON.stringify([request.url(), await request.allHeaders(), request.postData()]))
  })
  tab.on('response', async (response) => {
    if (!response.url().endsWith('/uploads') || response.request().method() !== 'POST') return
    const { data } = (await response.json()) as { data: { uploadUrl: string } }
    signedUrls.push(data.uploadUrl)
  })
})
afterEach(async () => {
  await chromium.kill()
  uploads.close()
  api.close()
})

const reach = (state: string) => expect.poll(() => tab.evaluate('tryOn.get().state'), { interval: 20 }).toBe(state)

/** Everything that the page's origin keeps, as text. */
const kept = () => tab.evaluate('everythingKept()') as Promise<string>

it('key, e-mail address, signed URL and photo bytes are in no storage, log, inspector event or request to another origin', async () => {
  const puts: string[] = []
  tab.on('request', async (request) => {
    if (request.method() === 'PUT') puts.push(JSON.stringify(await request.allHeaders()))
  })
  await tab.goto(`${page.url}?api=${encodeURIComponent(api.url)}&product=1009&variant=9009`)
  await reach('idle')
  await tab.evaluate(`photo(${JSON.stringify(photoBytes)}).then(photo => tryOn.start(photo, { customKey: 'look' }))`)
  await reach('needsEmail')
  await tab.evaluate(`tryOn.submitEmail({ email: '${email}', name: 'Ada' })`)
  await reach('final')
  await tab.evaluate(`photo().then(photo => tryOn.retry(photo, { customerEmail: '${email}' }))`)
  await reach('final')

  expect(signedUrls).toHaveLength(2)
  const inspected = (await tab.evaluate('JSON.stringify(inspected)')) as string
  expect(inspected).toContain('submitEmail')
  const seen = { storage: await kept(), logs: logged.join('\n'), inspected, elsewhere: sentElsewhere.join('\n') }
  expect(seen.storage).toContain('final')
  for (const [where, text] of Object.entries(seen)) {
    for (const secret of [key, email, 'Ada"', photoBytes, jpegMark, ...signedUrls.map((url) => new URL(url).search)]) {
      expect([where, secret, text.includes(secret)]).toEqual([where, secret, false])
    }
  }
  expect(puts).toHaveLength(2)
  for (const headers of puts) expect(headers.toLowerCase()).not.toMatch(/sandbox-key|x-service-sdk-key|cookie/)
})

it('a photo that waits is gone from storage once it is uploaded; reset() leaves nothing of the shopper', async () => {
  await tab.goto(`${page.url}?api=${encodeURIComponent(api.url)}`)
  await reach('idle')
  let letGo = () => {}
  const held = new Promise<void>((resolve) => (letGo = resolve))
  await tab.route(/\/uploads$/, async (route) => {
    await held
    await route.continue()
  })
  await tab.evaluate(`void photo(${JSON.stringify(photoBytes)}).then(photo => tryOn.start(photo))`)
  // as it was made ready, without what lay behind the picture
  await expect.poll(kept).toContain(jpegMark)
  expect(await kept()).not.toContain(photoBytes)
  letGo()
  await reach('final')
  expect(await kept()).not.toContain(jpegMark)
  expect(await kept()).toContain('uniqueUserId')
  await tab.evaluate('room.reset()')
  const left = await kept()
  for (const trace of ['uniqueUserId', 'jobId', 'imageUrl', 'attemptId', 'photo:', 'try-on:']) {
    expect([trace, left.includes(trace)]).toEqual([trace, false])
  }
})
