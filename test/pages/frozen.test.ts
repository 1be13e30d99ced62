import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { chromiumHasTabs } from '../engines/chromium.ts'
import { servePage } from '../support/serve-page.ts'
import { spawnChromium } from './chromium-process.ts'
import { devTools } from './devtools.ts'
import { insecureHost, mapInsecureHost } from './insecure-host.ts'
import { watchedService } from './watched-service.ts'

let page: Awaited<ReturnType<typeof servePage>>
beforeAll(async () => {
  page = await servePage(fileURLToPath(new URL('./page.ts', import.meta.url)))
})
afterAll(() => page?.close())

it.runIf(chromiumHasTabs).each([
  ['by Web Locks', '127.0.0.1'],
  ['by a lease', insecureHost],
])('one owner %s: a hidden page that is frozen hands over, and follows when it thaws', async (_, host) => {
  const chromium = await spawnChromium({ flags: [mapInsecureHost] })
  const browser = await devTools(chromium.endpoint)
  const service = await watchedService()
  try {
    const url = `${page.url.replace('127.0.0.1', host)}?api=${encodeURIComponent(service.url)}`
    const owner = await browser.open(url)
    await expect.poll(() => owner.run('globalThis.tryOn?.get().state')).toBe('idle')
    const other = await browser.open(url)
    const isIn = (state: string) => async () => (await other.run('globalThis.tryOn?.get().state')) === state
    await expect.poll(isIn('idle')).toBe(true)
    expect(await owner.run('document.visibilityState')).toBe('hidden')

    service.hold('GET /generations', 'before')
    void owner.run('photo().then(photo => tryOn.start(photo))')
    await expect.poll(isIn('processing')).toBe(true)
    await expect.poll(() => service.count('GET /generations')).toBe(1)
    // Chromium freezes no page by itself that is in the middle of a transaction
    await owner.run('room.list()')
    await owner.send('Page.setWebLifecycleState', { state: 'frozen' })
    await expect.poll(() => service.count('GET /generations')).toBeGreaterThan(1)
    await expect.poll(isIn('final')).toBe(true)

    await owner.send('Page.setWebLifecycleState', { state: 'active' })
    await expect.poll(() => owner.run('tryOn.get().state')).toBe('final')
    expect(await owner.run('tryOn.get().result')).toEqual(await other.run('tryOn.get().result'))
    expect(service.count('POST /generations')).toBe(1)
  } finally {
    browser.close()
    await chromium.kill()
    await service.close()
  }
})
