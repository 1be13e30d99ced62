import { mkdtemp, rm } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { serve, type Job, type RunningServer } from '@fitting-room/service'
import jsQR from 'jsqr'
import { chromium, type Page } from 'playwright'
import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { chromiumLaunch } from '../engines/chromium.ts'
import { engines, type RunningEngine, type Tab } from '../engines/engines.ts'
import { serveShop } from '../../examples/shop/serve-shop.ts'
import { hangMs, limits } from '../limits.ts'
import { keptExpression } from '../support/everything-kept.ts'
import { insecureHost, mapInsecureHost } from '../pages/insecure-host.ts'
import { openLedger } from '../support/open-ledger.ts'
import { openSandbox } from '../support/open-sandbox.ts'
import { findViolations } from '../support/violations.ts'
import { copyOf, packedIn, served } from './copy.ts'
import { pageIn, samplePhoto } from './page-in.ts'

let sandbox: RunningServer
let packages: string
let root: string
let site: Awaited<ReturnType<typeof served>>
const { store, jobs } = openLedger()
/** How far the service's time is ahead: each engine has an IP limit of its own. */
let ahead = 0

/** The folder is copied and installed as its reader would do it, with the packages as they would be published. */
beforeAll(async () => {
  const config = openSandbox({ previewAfterMs: 500, readyAfterMs: 3_000 })
  sandbox = await serve({ config, store, clock: { now: () => Date.now() + ahead } }, 0)
  packages = await mkdtemp(join(tmpdir(), 'fitting-room-packed-'))
  root = await copyOf('kiosk', await packedIn(packages))
  site = await served(root, sandbox.url)
}, limits.testTimeout)
afterAll(async () => {
  site?.close()
  await sandbox?.close()
  for (const made of [packages, root]) await rm(made, { recursive: true, force: true })
})

/** The display, as a shopper uses it. */
function displayIn(tab: Tab) {
  const page = pageIn(tab)
  return {
    ...page,
    session: (state: string) => expect.poll(() => tab.run(`${page.marked('kiosk')}?.dataset.session`)).toBe(state),
    kept: async () => JSON.stringify(await tab.run(keptExpression)),
  }
}

const nameOf = (taken?: Job['photo']) => (taken && 'name' in taken ? taken.name : 'no photo')

describe.each(engines)('the kiosk in $name', ({ launch }) => {
  let engine: RunningEngine
  beforeAll(async () => void (engine = await launch()))
  afterAll(() => engine?.close())
  beforeEach(() => {
    ahead += 3_600_000
    jobs.clear()
  })

  it('serves one shopper after the other, through a reload, and keeps nothing of who has gone', async () => {
    const tab = await engine.open(site.url)
    const { press, session, reaches, choosePhoto, violations, kept, isThere } = displayIn(tab)
    await session('ready')
    expect(await violations()).toEqual([])
    await press('begin')
    await isThere('piece-1001')
    expect(await violations()).toEqual([])
    await press('piece-1001')
    await choosePhoto()
    await press('start')
    await reaches('processing')
    // the power is lost for a moment
    await tab.run('void setTimeout(() => location.reload())')
    await session('active')
    await reaches('final')
    await isThere('pictures')
    expect(await violations()).toEqual([])
    const [first] = jobs.values()
    expect(await kept()).toContain(first?.id)
    await press('done')
    await session('ready')
    const left = await kept()
    for (const trace of [first?.id, first?.visitorId, nameOf(first?.photo)]) expect(left).not.toContain(trace)

    await press('begin')
    await press('piece-1002')
    await choosePhoto()
    await press('start')
    await reaches('final')
    expect(jobs.size).toBe(2)
    expect(new Set([...jobs.values()].map(({ visitorId }) => visitorId)).size).toBe(2)
    await press('done')
    await session('ready')
    expect(tab.words).toEqual([])
    await tab.close()
  })

  it('counts down where nobody is there, and goes on for who says so', async () => {
    const tab = await engine.open(`${site.url}/?idle=32&warn=30&hold=60`)
    const { press, session, isThere, violations } = displayIn(tab)
    await session('ready')
    await press('begin')
    await session('warning')
    await isThere('count')
    expect(await violations()).toEqual([])
    await press('stay')
    await session('active')
    expect(tab.words).toEqual([])
    await tab.close()
  })
})

it('a finger presses what it touches, though its touch keeps the visit', async () => {
  const browser = await chromium.launch(await chromiumLaunch())
  const page = await (await browser.newContext({ hasTouch: true, viewport: { width: 1080, height: 1920 } })).newPage()
  page.setDefaultTimeout(hangMs)
  const reaches = (state: string) => page.locator(`[data-session=${state}]`).waitFor()
  await page.goto(`${site.url}/?idle=32&warn=31&hold=60`)
  for (let visit = 0; visit < 5; visit++) {
    await reaches('ready')
    await page.getByTestId('begin').tap()
    await reaches('warning')
    await page.getByRole('alertdialog').getByRole('button', { name: 'I am done' }).tap()
  }
  await reaches('ready')
  await browser.close()
})

/** A display in a Chromium of its own, whose service lets nobody try anything on without an e-mail address if it asks for one. */
async function displayPage({ asksEmail = false, isInsecure = false } = {}) {
  jobs.clear()
  const own = openLedger()
  const config = openSandbox({ previewAfterMs: 500, readyAfterMs: 3_000 })
  const email = asksEmail ? { freeTryOns: 0 } : null
  const stores = config.stores.map((each) => ({ ...each, email }))
  const service = await serve({ config: { ...config, stores }, store: own.store }, 0)
  const { args, ...usual } = await chromiumLaunch()
  const browser = await chromium.launch({ ...usual, args: [...args, mapInsecureHost] })
  onTestFinished(async () => {
    await browser.close()
    await service.close()
  })
  const page = await (await browser.newContext({ viewport: { width: 1080, height: 1920 } })).newPage()
  page.setDefaultTimeout(hangMs)
  const address = new URL(`?${new URLSearchParams({ service: service.url })}`, site.url)
  if (isInsecure) address.hostname = insecureHost
  await page.goto(address.href)
  const press = async (...ids: string[]) => {
    for (const id of ids) await page.getByTestId(id).click()
  }
  return {
    page,
    jobs: own.jobs,
    press,
    session: (state: string) => page.locator(`[data-session=${state}]`).waitFor(),
    reaches: (state: string) => page.locator(`[data-testid=try-on][data-state=${state}]`).waitFor(),
    choosePhoto: () => page.getByTestId('photo').setInputFiles(samplePhoto),
    violations: () => page.evaluate(findViolations),
  }
}

it('a display serves who has a keyboard alone', async () => {
  const { page, session, reaches, jobs: made } = await displayPage()
  const focused = () => page.evaluate('document.activeElement?.dataset.testid')
  const reach = async (id: string) => {
    await page.getByTestId(id).waitFor()
    for (let tabs = 0; (await focused()) !== id && tabs < 30; tabs++) await page.keyboard.press('Tab')
    expect(await focused()).toBe(id)
  }
  const enter = async (id: string) => {
    await reach(id)
    await page.keyboard.press('Enter')
  }
  await session('ready')
  await enter('begin')
  await enter('piece-1001')
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), enter('photo')])
  await chooser.setFiles(samplePhoto)
  await enter('start')
  await reaches('processing')
  // what is read out is not what is busy
  expect(await page.locator('[aria-busy=true]').evaluateAll((busy) => busy.map((each) => each.className))).toEqual([
    expect.stringContaining('frame'),
  ])
  await enter('back')
  await reach('piece-1002')
  // the page is drawn anew as the picture comes, and its focus stays
  await page.getByTestId('pictures').getByText('There you are').waitFor()
  expect(await focused()).toBe('piece-1002')
  await enter('done')
  await session('ready')
  expect(made.size).toBe(1)
})

it('a display takes a photo with its camera, and asks for an address where that is wanted', async () => {
  const { page, press, session, reaches, violations, jobs: made } = await displayPage({ asksEmail: true })
  await session('ready')
  await press('begin', 'piece-1001')
  await page.getByTestId('camera').waitFor()
  expect(await violations()).toEqual([])
  await press('camera')
  await expect.poll(() => page.getByTestId('shoot').isEnabled()).toBe(true)
  expect(await violations()).toEqual([])
  await press('shoot', 'start')
  await reaches('needsEmail')
  expect(await violations()).toEqual([])
  await page.getByTestId('email').fill('a@example.com')
  await page.keyboard.press('Enter')
  await reaches('final')
  expect(await violations()).toEqual([])
  expect(made.size).toBe(1)
})

it('a display shows what its shopper has left, from what is kept too, and forgets it after a warning', async () => {
  const { page, press, session, reaches, choosePhoto, violations, jobs: made } = await displayPage()
  await session('ready')
  await press('begin', 'piece-1001')
  await choosePhoto()
  await press('start')
  await reaches('final')
  await press('retry')
  await choosePhoto()
  await press('start')
  await reaches('processing')
  // another piece may be looked at meanwhile
  await press('back', 'piece-1002', 'back')
  const tiles = page.getByTestId('pictures').locator('li')
  await expect.poll(() => tiles.count()).toBe(2)
  const forget = tiles.first().getByRole('button', { name: /^Forget/ })
  await forget.click()
  await tiles.first().getByRole('alert').waitFor()
  expect(await violations()).toEqual([])
  await forget.click()
  await expect.poll(() => tiles.count()).toBe(1)

  await page.route('**/pictures/**', (route) => route.abort())
  await page.reload()
  await expect.poll(() => tiles.locator('img').getAttribute('src')).toMatch(/^blob:/)
  await tiles.locator('button').first().click()
  await reaches('final')
  await expect.poll(() => page.getByTestId('picture').getAttribute('src')).toMatch(/^blob:/)
  // from here it is tried on once more
  await press('retry')
  await page.getByTestId('photo').waitFor({ state: 'attached' })
  expect(made.size).toBe(2)
})

it('a display serves on plain http in a network, through a reload, with what a browser gives it there', async () => {
  const { page, press, session, reaches, choosePhoto, jobs: made } = await displayPage({ isInsecure: true })
  await session('ready')
  expect(await page.evaluate('isSecureContext || "locks" in navigator || "mediaDevices" in navigator')).toBe(false)
  await press('begin', 'piece-1001')
  await page.getByText('Take or choose a photo').waitFor()
  expect(await page.getByTestId('camera').count()).toBe(0)
  await choosePhoto()
  await press('start')
  await reaches('processing')
  await page.reload()
  await reaches('final')
  const [job] = made.values()
  expect(await page.evaluate(keptExpression)).toContain(job?.id)
  await press('done')
  await session('ready')
  expect(await page.evaluate(keptExpression)).not.toContain(job?.id)
  expect(made.size).toBe(1)
})

it('a display lets nobody begin where not all could be removed, until it is', async () => {
  const { page, press, session, violations } = await displayPage()
  await session('ready')
  await press('begin', 'piece-1001')
  await page.evaluate(() => {
    const { setItem, removeItem } = Storage.prototype
    const refuse = () => {
      throw new DOMException('no', 'QuotaExceededError')
    }
    Object.assign(Storage.prototype, { setItem: refuse, removeItem: refuse })
    const { open } = IDBFactory.prototype
    Object.assign(IDBFactory.prototype, { open: refuse })
    Object.assign(globalThis, {
      mend() {
        Object.assign(Storage.prototype, { setItem, removeItem })
        Object.assign(IDBFactory.prototype, { open })
      },
    })
  })
  await press('done')
  await session('locked')
  expect(await violations()).toEqual([])
  expect(await page.getByTestId('begin').count()).toBe(0)
  // in one turn of the page, as it is tried again by itself as soon as it can be
  await page.getByRole('button', { name: 'Try again now' }).evaluate((button: HTMLButtonElement) => {
    Object(globalThis).mend()
    button.click()
  })
  await session('ready')
})

it('a phone takes a try-on home by its code: one paid job on two devices', async () => {
  jobs.clear()
  const shop = await serveShop({ baseUrl: sandbox.url, apiKey: 'sandbox-key' }, 0, join(packages, 'shop'))
  const browser = await chromium.launch(await chromiumLaunch())
  const profile = async (viewport: { width: number; height: number }) => {
    const page = await (await browser.newContext({ viewport })).newPage()
    page.setDefaultTimeout(hangMs)
    return page
  }
  const reachesFinal = (page: Page) => page.locator('[data-testid=try-on][data-state=final]').waitFor()
  const display = await profile({ width: 1080, height: 1920 })
  const addresses = new URLSearchParams({ shop: shop.url, service: sandbox.url })
  await display.goto(`${site.url}/?${addresses}`)
  for (const id of ['begin', 'piece-1001']) await display.getByTestId(id).click()
  await display.getByTestId('photo').setInputFiles(samplePhoto)
  await display.getByTestId('start').click()
  await display.getByTestId('takeHome').click()
  const code = display.getByTestId('code')
  const shot = sharp(await code.screenshot()).ensureAlpha()
  const { data, info } = await shot.raw().toBuffer({ resolveWithObject: true })
  const read = jsQR.default(new Uint8ClampedArray(data), info.width, info.height)
  expect(read?.data).toBe(await code.getAttribute('data-text'))
  expect(await display.evaluate(findViolations)).toEqual([])

  const phone = await profile({ width: 390, height: 844 })
  await phone.goto(read!.data)
  // the address is nobody's to find
  expect(phone.url()).not.toContain('ticket')
  await reachesFinal(phone)
  expect(await phone.evaluate(findViolations)).toEqual([])
  await display.getByTestId('close').click()
  await display.getByTestId('done').click()
  await display.getByTestId('begin').waitFor()
  await phone.reload()
  await phone.locator('.earlier img').waitFor()
  await phone.locator('.earlier a').click()
  await reachesFinal(phone)
  // a code that is read again leads to what it has brought
  await phone.goto('about:blank')
  await phone.goto(read!.data)
  await phone.getByRole('alert').waitFor()
  expect(jobs.size).toBe(1)
  await browser.close()
  await shop.close()
})

it('the kiosk is typed, as its own framework checks it', async () => {
  await promisify(execFile)('npm', ['run', 'check'], { cwd: root })
})
