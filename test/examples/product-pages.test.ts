import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { serve, type RunningServer } from '@fitting-room/service'
import { chromium, type Browser } from 'playwright'
import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { serveShop } from '../../examples/shop/serve-shop.ts'
import { chromiumLaunch } from '../engines/chromium.ts'
import { engines, type RunningEngine } from '../engines/engines.ts'
import { limits } from '../limits.ts'
import { openLedger } from '../support/open-ledger.ts'
import { openSandbox } from '../support/open-sandbox.ts'
import { serveFetch } from '../support/serve-fetch.ts'
import { findViolations } from '../support/violations.ts'
import { copyOf, packedIn, served } from './copy.ts'
import { choosing, pageIn, samplePhoto } from './page-in.ts'

const folders = ['react', 'vue', 'svelte', 'solid', 'plain'] as const
const pages = [...folders, 'shop'] as const

let sandbox: RunningServer
let folder: string
/** Where each page is served, and what ends that. */
const sites = new Map<string, { url: string; close(): unknown }>()
const roots = new Map<string, string>()
const { store, jobs } = openLedger()
/** How far the service's time is ahead: each page has an IP limit of its own. */
let ahead = 0

/** Each folder is copied and installed as its reader would do it, with the packages as they would be published. */
beforeAll(async () => {
  const config = openSandbox({ previewAfterMs: 500, readyAfterMs: 3_000 })
  sandbox = await serve({ config, store, clock: { now: () => Date.now() + ahead } }, 0)
  folder = await mkdtemp(join(tmpdir(), 'fitting-room-packed-'))
  const packages = await packedIn(folder)
  // in a folder of its own: the shop's own tests build it where it stands
  const shop = await serveShop({ baseUrl: sandbox.url, apiKey: 'sandbox-key' }, 0, join(folder, 'shop'))
  sites.set('shop', { ...shop, url: `${shop.url}#/products/1001` })
  const begin = async (name: string) => {
    const root = await copyOf(name, packages)
    roots.set(name, root)
    const page = join(root, 'dist', 'index.html')
    // the policy that README tells of, with what these pages have of their own: an icon in the text, and styles
    const own = "style-src 'self' 'unsafe-inline'"
    const images = `img-src 'self' data: ${sandbox.url} blob:`
    const policy = `default-src 'self'; connect-src 'self' ${sandbox.url}; ${images}; worker-src blob:; ${own}`
    const meta = `<head><meta http-equiv="Content-Security-Policy" content="${policy}">`
    await writeFile(page, (await readFile(page, 'utf8')).replace('<head>', meta))
    sites.set(name, await served(root, sandbox.url))
  }
  await Promise.all(folders.map(begin))
  // five installations at once are much for a machine that others share
}, limits.testTimeout)
afterAll(async () => {
  for (const site of sites.values()) await site.close()
  await sandbox?.close()
  for (const made of [folder, ...roots.values()]) await rm(made, { recursive: true, force: true })
})

/** A page behind something that answers some of its requests itself, until the test ends. */
async function frontOf(name: string, answer: (path: string) => Response | null) {
  const page = sites.get(name)!
  const front = await serveFetch(async ({ url, method, headers, body }) => {
    const { pathname, search } = new URL(url)
    headers.set('accept-encoding', 'identity')
    const asked = { method, headers, body, ...(body && { duplex: 'half' as const }) }
    return answer(pathname) ?? fetch(page.url + pathname + search, asked)
  })
  onTestFinished(() => front.close())
  return front
}

describe.each(engines)('in $name', ({ launch }) => {
  let engine: RunningEngine
  beforeAll(async () => void (engine = await launch()))
  afterAll(() => engine?.close())
  beforeEach(() => {
    ahead += 3_600_000
    jobs.clear()
  })

  describe.each(pages)('the product page of %s', (name) => {
    it('brings a photo to the picture, once, through a reload and another size; loads the core for it, and not before', async () => {
      const tab = await engine.open(sites.get(name)!.url)
      const { marked, reaches, press, choosePhoto, violations } = pageIn(tab)
      const picture = () => tab.run(`${marked('picture')}?.getAttribute('src') ?? null`)
      const scripts = async () => new Set((await tab.loaded()).filter((url) => url.endsWith('.js'))).size
      await reaches('idle')
      const before = await scripts()
      expect(await violations()).toEqual([])
      await choosePhoto()
      expect(await scripts()).toBe(before)
      await press('start')
      await reaches('processing')
      expect(await scripts()).toBeGreaterThan(before)
      await tab.run('void setTimeout(() => location.reload())')
      await reaches('final')
      await expect.poll(picture).toMatch(/^http/)
      expect(await violations()).toEqual([])
      await press('size-2002')
      await reaches('idle')
      expect(await tab.run(`!!${marked('picture')}`)).toBe(false)
      await press('size-2001')
      await reaches('final')
      expect(jobs.size).toBe(1)
      await press('startOver')
      await reaches('idle')
      expect(tab.words).toEqual([])
      await tab.close()
    })

    it('lets the shopper overrule what is advised against, of that photo alone', async () => {
      const tab = await engine.open(sites.get(name)!.url)
      const { marked, isThere, reaches, press, choosePhoto, violations } = pageIn(tab)
      const small = { width: 90, height: 120, channels: 3, background: 'pink' } as const
      const photo = await sharp({ create: small }).png().toBuffer()
      await reaches('idle')
      await choosePhoto(photo)
      await press('start')
      // who uses a keyboard goes on from what it has come to; the shop moves nobody who was elsewhere
      if (name !== 'shop') expect(await tab.run('document.activeElement?.tagName')).toBe('H2')
      await isThere('allTheSame')
      expect(await violations()).toEqual([])
      await choosePhoto(photo)
      await expect.poll(() => tab.run(`!!${marked('allTheSame')}`)).toBe(false)
      // nor is what was said of it said of the next one
      expect(await tab.run(`${marked('problem')}?.textContent ?? ''`)).toBe('')
      await press('start')
      expect(jobs.size).toBe(0)
      await press('allTheSame')
      await reaches('final')
      expect(jobs.size).toBe(1)
      if (name !== 'shop') {
        // another try-on, with another photo
        await choosePhoto(photo)
        await press('retry')
        await press('allTheSame')
        await expect.poll(() => jobs.size).toBe(2)
        await reaches('final')
      }
      expect(tab.words).toEqual([])
      await tab.close()
    })
  })

  // the shop asks for a photo in a dialog
  it.each(folders)(
    'the product page of %s has another photo take the place of one that is being uploaded',
    async (name) => {
      const tab = await engine.open(sites.get(name)!.url)
      const { marked, reaches, press, choosePhoto } = pageIn(tab)
      const other = await sharp(samplePhoto).resize(300, 400).png().toBuffer()
      // no other test has tried that size on
      await press('size-2003')
      await reaches('idle')
      await choosePhoto()
      const isBegun = `${marked('try-on')}?.dataset.state === 'preparing'`
      const chooseOther = `if (${isBegun}) { looking.disconnect(); ${choosing(marked('photo'), other)} }`
      const options = '{ attributes: true, subtree: true }'
      await tab.run(`(() => {
      const looking = new MutationObserver(() => { ${chooseOther} })
      looking.observe(document.body, ${options})
    })()`)
      await press('start')
      // which it does before anything is accepted
      await expect.poll(() => jobs.size).toBe(1)
      const photos = [...jobs.values()].map(({ photo }) => ('name' in photo ? photo.name : ''))
      const sent = await Promise.all(photos.map(async (photo) => fetch(`${sandbox.url}/photos/${photo}`)))
      const widths = await Promise.all(
        sent.map(async (answer) => (await sharp(await answer.arrayBuffer()).metadata()).width),
      )
      expect(widths).toEqual([300])
      // nor does the next test meet what this one has begun
      await reaches('final')
      await tab.close()
    },
  )

  it('keeps photo and word where the core is refused, as by a blocker or a deploy, and goes on once it is not, or says that the page has to be reloaded', async () => {
    let isRefused = false
    let refused = 0
    const front = await frontOf('react', (path) => {
      const isCore = /\/core-[^/]*\.js$/.test(path)
      return isCore && isRefused ? new Response(`refused ${++refused}`, { status: 404 }) : null
    })
    const tab = await engine.open(front.url)
    const { reaches, press, choosePhoto, marked } = pageIn(tab)
    await reaches('idle')
    await choosePhoto()
    isRefused = true
    await press('start')
    await reaches('stalled')
    expect([await tab.run(`${marked('problem')}.textContent`), refused > 0]).toEqual([
      expect.stringContaining('could not be loaded'),
      true,
    ])
    isRefused = false
    await press('resume')
    const after = () => tab.run(`[${marked('try-on')}.dataset.state, ${marked('problem')}?.textContent].join()`)
    await expect.poll(after).toMatch(/^(?:submitting|processing|preview|final)|reload/)
    // a browser may keep that it could not be loaded
    if (String(await after()).includes('reload')) {
      await tab.run('void setTimeout(() => location.reload())')
      await reaches('idle')
      await choosePhoto()
      await press('start')
    }
    await reaches('final')
    expect(jobs.size).toBe(1)
    await tab.close()
  })

  it('the page of every state shows each once, with words, and can be used by everybody', async () => {
    const tab = await engine.open(`${sites.get('react')!.url}/states.html`)
    const shown = `[...document.querySelectorAll('[data-testid="try-on"]')]`
    await expect.poll(() => tab.run(`new Set(${shown}.map(({ dataset }) => dataset.state)).size`)).toBe(15)
    expect(await tab.run(`${shown}.every((panel) => panel.querySelector('h2').textContent !== '')`)).toBe(true)
    expect(await pageIn(tab).violations()).toEqual([])
    expect(tab.words).toEqual([])
    await tab.close()
  })
})

it.each(folders)('%s is typed, as its own compiler checks it', async (name) => {
  await promisify(execFile)('npm', ['run', 'check'], { cwd: roots.get(name)! })
})

describe('in one browser of any size', () => {
  let browser: Browser
  beforeAll(async () => void (browser = await chromium.launch(await chromiumLaunch())))
  afterAll(() => browser?.close())

  it.each([
    ['a phone', 'light', 390],
    ['a phone', 'dark', 390],
    ['a desktop', 'light', 1280],
    ['a desktop', 'dark', 1280],
  ] as const)('every state can be used by everybody on %s, %s', async (_, colorScheme, width) => {
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 844 } })
    for (const url of [`${sites.get('react')!.url}/states.html`, sites.get('shop')!.url]) {
      await page.goto(url)
      await page.locator('[data-testid="try-on"][data-state="idle"]').waitFor()
      expect(await page.evaluate(findViolations)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    }
    await page.close()
  })
})

describe('in one page after the other', () => {
  let engine: RunningEngine
  beforeAll(async () => void (engine = await engines[0]!.launch()))
  afterAll(() => engine?.close())

  it.each(folders)('%s tells who hears it once what holds it up, however often it is tried again', async (name) => {
    const front = await frontOf(name, (path) =>
      path.startsWith('/api') ? new Response('down', { status: 503 }) : null,
    )
    const tab = await engine.open(front.url)
    const { reaches, press, choosePhoto, marked } = pageIn(tab)
    await reaches('idle')
    await tab.run(`(() => {
    const status = ${marked('try-on')}.querySelector('[role="status"]')
    globalThis.heard = []
    globalThis.left = []
    globalThis.times = new Set()
    new MutationObserver(() => {
      if (heard.at(-1) !== status.textContent) heard.push(status.textContent)
      if (left.at(-1) !== !!${marked('startOver')}) left.push(!!${marked('startOver')})
      for (const [time] of ${marked('try-on')}.innerText.matchAll(/Next try at .+/g)) times.add(time)
    }).observe(${marked('try-on')}, { subtree: true, childList: true, characterData: true })
  })()`)
    await choosePhoto()
    await press('start')
    await expect.poll(() => tab.run('times.size')).toBeGreaterThan(2)
    expect(await tab.run('heard.slice(-2)')).toEqual([
      'Getting your photo ready. Your photo is on its way.',
      'The fitting room is not answering. It goes on by itself.',
    ])
    // what cancels it, once there, stays: the focus may be on it
    expect(await tab.run('left.slice(left.indexOf(true))')).toEqual([true])
    await tab.close()
  })

  it.each(folders)('%s is developed with the sandbox of the installed service, to the picture', async (name) => {
    const dev = await served(roots.get(name)!, null)
    onTestFinished(() => dev.close())
    const tab = await engine.open(dev.url)
    const { marked, reaches, press, choosePhoto } = pageIn(tab)
    await reaches('idle')
    await choosePhoto()
    await press('start')
    await reaches('final')
    await expect.poll(() => tab.run(`${marked('picture')}?.naturalWidth > 0`)).toBe(true)
    expect(tab.words).toEqual([])
    await tab.close()
  })
})
