import { createServer, type Server } from 'node:http'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { serve, type RunningServer } from '@fitting-room/service'
import { chromium, type Browser } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { chromiumLaunch } from '../engines/chromium.ts'
import { hangMs } from '../limits.ts'
import { openSandbox } from '../support/open-sandbox.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const photo = `${root}examples/sample/person.png`

let sandbox: RunningServer
let browser: Browser
let site: Server

/** The guide's markup beside a script tag, and the built files that it loads. */
async function pageOf(baseUrl: string): Promise<string> {
  const [, markup = ''] = /```html\n([^`]*)```/.exec(await readFile(`${root}docs/element.md`, 'utf8')) ?? []
  const script = '<script type="module" src="/fitting-room-element.js"></script>'
  return `<!doctype html><title>Breton tee</title><link rel="icon" href="data:,">${script}${markup.replace('"/api"', `"${baseUrl}"`)}`
}

beforeAll(async () => {
  sandbox = await serve({ config: openSandbox({ previewAfterMs: 100, readyAfterMs: 500 }) }, 0)
  site = createServer(async ({ url = '/' }, answer) => {
    const isPage = url === '/'
    answer.setHeader('Content-Type', isPage ? 'text/html' : 'text/javascript')
    answer.end(isPage ? await pageOf(sandbox.url) : await readFile(`${root}dist/browser${url}`))
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  browser = await chromium.launch(await chromiumLaunch())
})
afterAll(async () => {
  await browser?.close()
  site?.close()
  await sandbox?.close()
})

it('a page without a bundler carries a photo to the picture, and loads the core only then', async () => {
  const page = await browser.newPage()
  page.setDefaultTimeout(hangMs)
  const scripts: string[] = []
  page.on('request', (request) => void (request.resourceType() === 'script' && scripts.push(request.url())))
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}`)
  await page.locator('[data-state=idle]').waitFor()
  const before = scripts.length
  const choice = page.locator('input[type=file][data-intent=start]')
  const wrong = page.locator('.photo:visible')
  const none = { name: 'photo.jpg', mimeType: 'image/jpeg', buffer: Buffer.from('none') }
  expect(await wrong.count()).toBe(0)
  // what is no photo is said to be none
  await choice.setInputFiles(none)
  await wrong.waitFor()
  expect(await page.locator('.photoAdvice:visible').count()).toBe(0)
  await choice.focus()
  await choice.setInputFiles(photo)
  await page.getByRole('status').getByText('One moment').waitFor()
  // what had the focus is hidden
  expect(await page.evaluate(() => document.activeElement?.localName)).toBe('fitting-room-try-on')
  await page.locator('[data-state=final]').waitFor()
  expect(await page.getByRole('status').textContent()).toBe('Your picture is ready')
  const another = page.locator('[data-intent=retry]:visible')
  expect(await another.count()).toBe(1)
  // beside a picture, too
  await another.setInputFiles(none)
  await wrong.waitFor()
  expect(await page.locator('[data-state=final]').count()).toBe(1)
  expect(await page.locator('img[data-picture]').getAttribute('src')).toMatch(/^http/)
  expect(await page.locator('[slot=busy]').isVisible()).toBe(false)
  // the worker that draws the photo is no file
  const later = scripts.slice(before).filter((url) => url.startsWith('http'))
  expect(new Set(later.map((url) => /fitting-room-(\w+)-/.exec(url)?.[1]))).toEqual(new Set(['core', 'prepare']))
  await page.close()
})
