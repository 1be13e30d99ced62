import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serve, type RunningServer } from '@fitting-room/service'
import sharp from 'sharp'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { chromiumLaunch } from '../../../test/engines/chromium.ts'
import { hangMs } from '../../../test/limits.ts'
import { openSandbox } from '../../../test/support/open-sandbox.ts'
import { findViolations } from '../../../test/support/violations.ts'
import { openTestStore, type TestStore } from '../../../test/support/test-store.ts'
import { sandboxKey } from '../sandbox.ts'
import { serveShop } from '../serve-shop.ts'

const photo = fileURLToPath(new URL('../../sample/person.png', import.meta.url))

const hourMs = 3_600_000
/** How far the service's time is ahead: a picture is ready when a test says so, however slow the machine is. */
let ahead = 0
let server: RunningServer
let kept: TestStore
let shop: Awaited<ReturnType<typeof serveShop>>
let browser: Browser
let context: BrowserContext
let page: Page
let submissions: string[]
let polled: Set<string>

beforeAll(async () => {
  // the service's time leaps, and jobs do not
  const config = { ...openSandbox({ previewAfterMs: hourMs, readyAfterMs: 2 * hourMs }), giveUpAfterMinutes: 1e9 }
  kept = await openTestStore()
  const { store, uploadSecret } = kept
  server = await serve({ config, store, uploadSecret, clock: { now: () => Date.now() + ahead } }, 0)
  shop = await serveShop({ baseUrl: server.url, apiKey: sandboxKey }, 0)
  browser = await chromium.launch(await chromiumLaunch())
})
afterAll(async () => {
  await browser?.close()
  await shop?.close()
  await server?.close().finally(kept.release)
})

beforeEach(async () => {
  // an IP limit of its own
  ahead += hourMs
  context = await browser.newContext({ viewport: { width: 1200, height: 900 } })
  context.setDefaultTimeout(hangMs)
  page = await context.newPage()
  await page.clock.install()
  submissions = []
  polled = new Set()
  context.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (request.method() === 'POST' && pathname === '/generations') submissions.push(request.url())
    if (request.method() === 'GET' && pathname.startsWith('/generations/')) polled.add(pathname)
  })
})
afterEach(async () => {
  // wherever a test has led to; `npm start` has pages of its own
  const found = page.url() === 'about:blank' ? [] : await page.evaluate(findViolations)
  await context.close()
  expect(found).toEqual([])
})

const state = () => page.locator('.screen').getAttribute('data-state')
const reaches = (wanted: string) => page.locator(`.screen[data-state="${wanted}"]`).waitFor()
/** The service makes that picture, and the page asks for it, whenever it has planned to. */
async function made(picture: 'preview' | 'final') {
  ahead += picture === 'preview' ? hourMs : 2 * hourMs
  await page.clock.fastForward(20_000)
  await reaches(picture)
}
async function finishes() {
  await reaches('processing')
  await made('final')
}
const press = (name: string) => page.getByRole('button', { name }).click()

async function open(product: string, size?: string) {
  await page.goto(`${shop.url}#/products/${product}`)
  if (size) await page.getByRole('radio', { name: size }).check({ force: true })
  await reaches('idle')
}
async function tryOn(product = '1001', size?: string) {
  await open(product, size)
  await page.locator('input[type=file]').setInputFiles(photo)
  await press('Try it on')
}

/** How many final pictures the page keeps. */
const keptPictures = () =>
  page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve) => {
      const opening = indexedDB.open('fitting-room-photos')
      opening.onsuccess = () => resolve(opening.result)
    })
    const keys = await new Promise<IDBValidKey[]>((resolve) => {
      const asking = database.transaction('items').objectStore('items').getAllKeys()
      asking.onsuccess = () => resolve(asking.result)
    })
    database.close()
    return keys.filter((key) => /:picture:.*:final$/.test(String(key))).length
  })

/** Holds matching requests until the returned function lets them go. */
async function hold(method: string, part: string): Promise<{ arrived: Promise<void>; release: () => void }> {
  let release = () => {}
  let arrive = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const arrived = new Promise<void>((resolve) => (arrive = resolve))
  await context.route(
    (url) => url.href.startsWith(server.url) && url.pathname.startsWith(part),
    async (route) => {
      if (route.request().method() !== method) return route.continue()
      arrive()
      await released
      await route.continue().catch(() => undefined)
    },
  )
  return { arrived, release: () => release() }
}

describe('the shop', () => {
  it('lists the products and leads to one by keyboard', async () => {
    await page.goto(shop.url)
    await page.getByRole('link', { name: 'Breton tee' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Breton tee' }).waitFor()
    expect(await page.title()).toContain('Breton tee')
  })

  it('carries a shopper from the product page to the final picture', async () => {
    await tryOn()
    await reaches('processing')
    expect(await page.locator('progress').getAttribute('aria-label')).toBe('Your try-on is being made')
    await made('preview')
    await page.getByText('Preview', { exact: true }).waitFor()
    await made('final')
    const picture = page.getByRole('img', { name: 'You in the Breton tee' })
    expect(await picture.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth))).toBe(512)
    const slider = page.getByRole('slider')
    await slider.focus()
    await page.keyboard.press('Home')
    expect(await slider.inputValue()).toBe('0')
    expect(submissions).toHaveLength(1)
  })

  it('shows the shopper’s own photo while the picture is made, and every picture in the same place', async () => {
    await tryOn()
    await reaches('processing')
    const photoShown = page.getByRole('img', { name: 'Your photo' })
    await photoShown.waitFor()
    const frame = () => page.locator('.screen .picture').boundingBox()
    const first = await frame()
    await made('preview')
    expect(await frame()).toEqual(first)
    const preview = await page.getByTestId('picture').getAttribute('src')
    // until the final picture is there
    const picture = await hold('GET', '/pictures')
    await made('final')
    await picture.arrived
    expect(await page.getByTestId('picture').getAttribute('src')).toBe(preview)
    expect(await frame()).toEqual(first)
    picture.release()
    await expect.poll(() => page.getByTestId('picture').getAttribute('src')).not.toBe(preview)
    expect(await frame()).toEqual(first)
  })

  it('lists what was tried on before, also while another tab goes on', async () => {
    await tryOn()
    await finishes()
    await page.getByRole('link', { name: 'Atelier' }).click()
    const list = page.locator('.earlier li a')
    await expect.poll(() => list.allInnerTexts()).toEqual(['Breton tee\nThere you are'])
    const other = await context.newPage()
    await other.goto(`${shop.url}#/products/1002`)
    await other.locator('input[type=file]').setInputFiles(photo)
    await other.getByRole('button', { name: 'Try it on' }).click()
    await expect.poll(() => list.first().innerText()).toMatch(/being made/)
    await page.goto(`${shop.url}#/products/1001`)
    await reaches('final')
  })

  it('goes on with what was left, and forgets what is to be forgotten, after a warning where it may be paid for', async () => {
    await tryOn()
    await reaches('processing')
    await page.clock.fastForward(200_000)
    await reaches('stalled')
    await press('Choose another photo')
    await reaches('idle')
    await page.getByRole('link', { name: 'Atelier' }).click()
    const list = page.locator('.earlier li')
    const pressIn = (name: string) => list.getByRole('button', { name: `${name}: Breton tee` }).click()
    await pressIn('Forget this try-on')
    await list.getByText('forgetting it does not take it back').waitFor()
    expect(await list.locator(':focus').innerText()).toBe('Forget this try-on')
    await pressIn('Go on')
    await expect.poll(() => list.locator('a').allInnerTexts()).toEqual([expect.stringMatching(/being made/)])
    ahead += 2 * hourMs
    await page.clock.fastForward(60_000)
    await expect.poll(() => list.locator('a').allInnerTexts()).toEqual(['Breton tee\nThere you are'])
    await pressIn('Forget this try-on')
    await expect.poll(() => list.count()).toBe(0)
    expect(submissions).toHaveLength(1)
  })

  it('saves the picture, and shows the one that is kept where its address is dead', async () => {
    await tryOn()
    await finishes()
    const [download] = await Promise.all([page.waitForEvent('download'), press('Save the picture')])
    expect(download.suggestedFilename()).toBe('try-on.jpeg')
    await expect.poll(keptPictures).toBe(1)
    await context.route('**/pictures/**', (route) => route.fulfill({ status: 404, body: 'gone' }))
    await page.reload()
    await reaches('final')
    const picture = page.getByTestId('picture')
    await expect.poll(() => picture.getAttribute('src')).toMatch(/^blob:/)
    expect(await picture.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth))).toBe(512)
    await page.getByRole('link', { name: 'Atelier' }).click()
    await expect.poll(() => page.locator('.earlier img').getAttribute('src')).toMatch(/^blob:/)
  })

  it('opens what was left for another photo once more, over a reload too, and says what is no longer there', async () => {
    await tryOn()
    await finishes()
    await press('Choose another photo')
    await reaches('idle')
    await page.getByRole('link', { name: 'Atelier' }).click()
    await page.locator('.earlier li a').click()
    await reaches('final')
    await page.reload()
    await reaches('final')
    await page.getByTestId('save').waitFor()
    // and says so where it is forgotten, with nothing to try on in its place
    await page.getByRole('button', { name: 'Forget this try-on: Breton tee' }).click()
    await page.getByRole('alert').getByText('This try-on is no longer here.').waitFor()
    expect(await page.locator('.screen').count()).toBe(0)
    await page.goto(`${shop.url}#/try-ons/none`)
    await page.getByRole('alert').getByText('This try-on is no longer here.').waitFor()
    expect(submissions).toHaveLength(1)
  })

  it('leads from the list to the size that was tried on', async () => {
    await open('1001')
    await page.getByTestId('size-2003').click()
    await page.locator('input[type=file]').setInputFiles(photo)
    await press('Try it on')
    await reaches('processing')
    await page.getByRole('link', { name: 'Atelier' }).click()
    await page.locator('.earlier li a').click()
    await reaches('processing')
    expect(await page.locator('input[name=size]:checked').getAttribute('value')).toBe('2003')
  })

  it('hands the picture to other programs, where the browser does that', async () => {
    await page.addInitScript(() => {
      const shared: string[] = []
      Object.assign(navigator, {
        canShare: () => true,
        share: async ({ files: [file] = [], title }: ShareData) =>
          void shared.push(`${title}: ${file?.name}, ${file?.size}`),
      })
      Object.assign(globalThis, { shared })
    })
    await page.reload()
    await tryOn()
    await finishes()
    await press('Share')
    await expect
      .poll(() => page.evaluate('shared'))
      .toEqual([expect.stringMatching(/^Breton tee: try-on\.jpeg, \d{4,}$/)])
  })

  it('tells a tag manager what becomes of try-ons once the shopper lets it, and no longer', async () => {
    const types = () => page.evaluate('(globalThis.dataLayer ?? []).map(({ type }) => type)')
    await tryOn()
    await reaches('processing')
    expect(await types()).toEqual([])
    await page.locator('#measure').check()
    await expect.poll(types).toEqual(['photoChosen', 'consented', 'submitted'])
    await finishes()
    await expect.poll(types).toContain('seen')
    // which is taken back in whatever tab
    const other = await context.newPage()
    await other.goto(shop.url)
    await other.locator('#measure').uncheck()
    await expect.poll(() => page.locator('#measure').isChecked()).toBe(false)
    const told = await types()
    await press('Choose another photo')
    await tryOn()
    await reaches('processing')
    expect(await types()).toEqual(told)
    await page.locator('#measure').check()
    await page.getByRole('button', { name: 'Forget me on this device' }).click()
    await expect.poll(() => page.locator('#measure').isChecked()).toBe(false)
  })

  it('says that a picture is gone whose address is dead and of which nothing is kept', async () => {
    await context.route('**/pictures/**', (route) => route.fulfill({ status: 404, body: 'gone' }))
    await tryOn()
    await finishes()
    await page.locator('.note', { hasText: 'This picture is not kept any more.' }).waitFor()
    expect(await state()).toBe('final')
    await press('Save the picture')
    await page.locator('.note', { hasText: 'This picture is not kept any more.' }).waitFor()
  })

  it('says what speaks against a photo, and takes it all the same where the shopper wants that', async () => {
    await open('1001')
    const small = await sharp({ create: { width: 90, height: 90, channels: 3, background: 'teal' } })
      .png()
      .toBuffer()
    await page.locator('input[type=file]').setInputFiles({ name: 'small.png', mimeType: 'image/png', buffer: small })
    await press('Try it on')
    await page.locator('.note', { hasText: 'This photo is very small' }).waitFor()
    expect([await state(), submissions.length]).toEqual(['idle', 0])
    await press('Use it all the same')
    await finishes()
    expect(submissions).toHaveLength(1)
  })

  it('takes a photo with the camera, in the page', async () => {
    await open('1001')
    await press('Use the camera')
    await press('Take the photo')
    await press('Try it on')
    await finishes()
    expect(submissions).toHaveLength(1)
  })

  it('speaks four languages, and remembers which', async () => {
    await page.goto(shop.url)
    await page.getByRole('combobox', { name: 'Language' }).selectOption('Deutsch')
    await page.getByRole('heading', { name: 'Neu eingetroffen' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Neu eingetroffen' }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('de')
    await open('1001')
    await page.locator('input[type=file]').setInputFiles(photo)
    await press('Anprobieren')
    await finishes()
    await page.getByRole('heading', { name: 'Da sind Sie' }).waitFor()
    for (const [label, title] of [
      ['Français', 'Vous voilà'],
      ['Español', 'Aquí estás'],
      ['English', 'There you are'],
    ]) {
      await page.locator('#language').selectOption(label ?? '')
      await page.getByRole('heading', { name: title ?? '' }).waitFor()
    }
    expect(submissions).toHaveLength(1)
  })

  it('says in the status region what is going on', async () => {
    await tryOn()
    await finishes()
    expect(await page.getByRole('status').textContent()).toContain('There you are')
  })

  it('takes a dropped photo', async () => {
    await open('1006')
    const data = await page.evaluateHandle(async () => {
      const { src } = document.querySelector('.garment img') as HTMLImageElement
      const transfer = new DataTransfer()
      transfer.items.add(new File([await (await fetch(src)).blob()], 'photo.svg', { type: 'image/svg+xml' }))
      return transfer
    })
    await page.locator('.drop').dispatchEvent('drop', { dataTransfer: data })
    await press('Try it on')
    await page.locator('.note', { hasText: 'not a photo that can be used' }).waitFor()
    expect(await state()).toBe('idle')
    expect(submissions).toHaveLength(0)
  })
})

describe('a reload', () => {
  it('during the upload goes on with the same consent', async () => {
    const put = await hold('PUT', '/photos')
    await tryOn()
    await put.arrived
    expect(await state()).toBe('preparing')
    await page.reload()
    put.release()
    await finishes()
    expect(submissions).toHaveLength(1)
  })

  it('before the answer of a submission is outcomeUnknown, and sends nothing by itself', async () => {
    const post = await hold('POST', '/generations')
    await tryOn()
    await post.arrived
    await page.reload()
    await reaches('outcomeUnknown')
    post.release()
    await page.locator('.lead', { hasText: 'can cost another try-on' }).waitFor()
    expect(submissions).toHaveLength(1)
    await press('Start a new one')
    await finishes()
    expect(submissions).toHaveLength(2)
  })

  it.each(['processing', 'preview'])('during %s polls the same job', async (during) => {
    await tryOn()
    await reaches('processing')
    if (during === 'preview') await made('preview')
    await page.reload()
    await reaches(during)
    await made('final')
    expect(submissions).toHaveLength(1)
    expect(polled.size).toBe(1)
  })

  it('at the end shows the picture again without a request', async () => {
    await tryOn()
    await finishes()
    const before = [submissions.length, polled.size]
    let requests = 0
    context.on('request', (request) => {
      if (
        request.url().startsWith(server.url) &&
        !request.url().includes('/pictures/') &&
        !request.url().includes('/photos/')
      )
        requests++
    })
    await page.reload()
    await reaches('final')
    expect([submissions.length, polled.size, requests]).toEqual([...before, 0])
  })
})

describe('every other state has words and a next step', () => {
  it.each([
    ['Job error', 'failed', 'Try again'],
    ['Answer lost', 'outcomeUnknown', 'Start a new one'],
    ['500 after accepting', 'outcomeUnknown', 'Start a new one'],
    ['Malformed answer', 'protocolError', 'Start a new one'],
    ['Try-on limit', 'limitReached', 'Try again'],
    ['Key revoked', 'unauthorized', 'Try now'],
  ])('%s: %s', async (size, wanted, next) => {
    await tryOn('1009', size)
    await reaches(wanted)
    await page.getByRole('heading', { level: 2 }).waitFor()
    await page.getByRole('button', { name: next }).waitFor()
    expect(submissions).toHaveLength(1)
  })

  it('IP throttling waits, then goes on with the same attempt', async () => {
    await tryOn('1009', 'IP throttling')
    await page.getByText('It goes on by itself. Next try at').waitFor()
    await page.clock.fastForward(60_000)
    await finishes()
    expect(submissions).toHaveLength(2)
  })

  it('E-mail required: asks, and goes on with the same try-on', async () => {
    await tryOn('1009', 'E-mail required')
    await reaches('needsEmail')
    await page.getByRole('textbox', { name: 'E-mail' }).fill('ada@example.com')
    await press('Continue')
    await finishes()
    const stored = await context.storageState({ indexedDB: true })
    expect(JSON.stringify(stored)).not.toContain('ada@example.com')
  })

  it('Sold out can still be tried on', async () => {
    await tryOn('1009', 'Sold out')
    await finishes()
  })

  it('“Forget me on this device” wipes everything', async () => {
    await tryOn()
    await finishes()
    await press('Forget me on this device')
    await page.getByRole('heading', { name: 'New in' }).waitFor()
    await page.goto(`${shop.url}#/products/1001`)
    await reaches('idle')
    await expect.poll(() => page.getByRole('button', { name: 'Use my last photo' }).count()).toBe(0)
  })
})

/** What `npm start` runs, once it says where everything is. */
async function startWith(data: string) {
  const start = fileURLToPath(new URL('../start.ts', import.meta.url))
  const child = spawn(process.execPath, ['--conditions=fitting-room-source', start, '--data', data])
  let out = ''
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
      if (out.includes('Ctrl-C')) resolve()
    })
    child.on('close', () => reject(new Error(out)))
  })
  const [, shopUrl = ''] = /The shop: +(http:\S+)/.exec(out) ?? []
  const [, service = ''] = /The service: +(http:\S+)/.exec(out) ?? []
  return {
    shopUrl,
    service,
    stop: () => {
      child.kill('SIGINT')
      return ended
    },
  }
}

// here and at the end, because it builds the shop where this file serves it
it('npm start serves the shop and the service, stops both at Ctrl-C, and knows their try-ons when it starts again', async () => {
  const data = await mkdtemp(join(tmpdir(), 'shop-'))
  onTestFinished(() => rm(data, { recursive: true }))
  const { shopUrl, service, stop } = await startWith(data)
  expect(new URL(shopUrl).origin).not.toBe(new URL(service).origin)
  expect(await (await fetch(shopUrl)).text()).toContain('Atelier')
  const settings = (await (await fetch(`${shopUrl}settings.json`)).json()) as { baseUrl: string; products: unknown[] }
  expect(settings.baseUrl).toBe(service)
  expect(settings.products.length).toBeGreaterThanOrEqual(6)
  expect((await fetch(`${service}/context`)).status).toBe(401)
  const headers = { 'X-Service-SDK-Key': sandboxKey, 'Content-Type': 'application/json' }
  const order = { funnelId: 11, productId: '1001', variantId: '2001', imageUrl: `${service}/photos/none.png` }
  const answer = await fetch(`${service}/generations`, { method: 'POST', headers, body: JSON.stringify(order) })
  const { jobId } = ((await answer.json()) as { data: { jobId: string } }).data
  expect(await stop()).toBe(0)
  await expect(fetch(shopUrl)).rejects.toThrow()
  await expect(fetch(service)).rejects.toThrow()

  const again = await startWith(data)
  const polled = await fetch(`${again.service}/generations/${jobId}`, { headers })
  // its photo is not there
  expect(await polled.json()).toMatchObject({ data: { status: 'ERROR' } })
  expect(await again.stop()).toBe(0)
})
