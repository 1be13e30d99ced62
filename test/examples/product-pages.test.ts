import { source as axe } from 'axe-core'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serve, type RunningServer } from '@fitting-room/service'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chromiumLaunch } from '../engines/chromium.ts'
import { hangMs } from '../limits.ts'
import { openSandbox } from '../support/open-sandbox.ts'
import { copyOf, packedIn, served } from './copy.ts'

const photo = fileURLToPath(new URL('../../examples/sample/person.png', import.meta.url))

let sandbox: RunningServer
let browser: Browser
let folder: string
let packages: Record<string, string>
/** How far the service's time is ahead: each page has an IP limit of its own. */
let ahead = 0

beforeAll(async () => {
  const config = openSandbox({ previewAfterMs: 500, readyAfterMs: 3_000 })
  sandbox = await serve({ config, clock: { now: () => Date.now() + ahead } }, 0)
  browser = await chromium.launch(await chromiumLaunch())
  folder = await mkdtemp(join(tmpdir(), 'fitting-room-packed-'))
  packages = await packedIn(folder)
})
afterAll(async () => {
  await browser?.close()
  await sandbox?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Each folder is copied and installed as its reader would do it, with the packages as they would be published. */
describe.each(['react', 'vue', 'svelte', 'solid'])('the product page with %s', (name) => {
  let root: string
  let site: { url: string; close(): void }
  let context: BrowserContext
  let page: Page
  let submissions: number
  let words: string[]

  beforeAll(async () => {
    root = await copyOf(name, packages)
    site = await served(root, sandbox.url)
  })
  afterAll(async () => {
    site?.close()
    await rm(root, { recursive: true, force: true })
  })

  beforeEach(async () => {
    ahead += 3_600_000
    submissions = 0
    words = []
    context = await browser.newContext({ viewport: { width: 390, height: 844 } })
    context.setDefaultTimeout(hangMs)
    context.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/generations')) submissions++
    })
    page = await context.newPage()
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) words.push(message.text())
    })
    page.on('pageerror', (error) => words.push(String(error)))
    await page.goto(site.url)
  })
  afterEach(() => context.close())

  const reaches = (state: string) => page.locator(`[data-testid=try-on][data-state=${state}]`).waitFor()
  const press = (id: string) => page.getByTestId(id).click()

  it('brings a photo to the picture, once, through a reload and another size', async () => {
    await reaches('idle')
    await page.getByTestId('photo').setInputFiles(photo)
    await press('start')
    await reaches('processing')
    await page.reload()
    await reaches('final')
    await expect.poll(() => page.getByTestId('picture').getAttribute('src')).toMatch(/^http/)
    await press('size-2002')
    await reaches('idle')
    expect(await page.getByTestId('picture').count()).toBe(0)
    await press('size-2001')
    await reaches('final')
    expect(submissions).toBe(1)
    await press('startOver')
    await reaches('idle')
    expect(words).toEqual([])
  })

  it('is developed with a sandbox of its own', async () => {
    const dev = await served(root, null)
    const answer = await fetch(`${dev.url}/api/context`, { headers: { 'X-Service-SDK-Key': 'sandbox-key' } })
    dev.close()
    expect(answer.status).toBe(200)
  })

  it('loads no core before anybody tries something on, and can be used by everybody', async () => {
    await reaches('idle')
    const scripts = () =>
      page.evaluate(() => performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).length)
    const before = await scripts()
    await page.evaluate(axe)
    const check = () => page.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))')
    expect(await check()).toEqual([])
    await page.getByTestId('photo').setInputFiles(photo)
    expect(await scripts()).toBe(before)
    await press('start')
    await reaches('final')
    expect(await scripts()).toBeGreaterThan(before)
    expect(await check()).toEqual([])
  })
})
