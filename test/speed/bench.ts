import { fileURLToPath } from 'node:url'
import { serve } from '@fitting-room/service'
import { chromium } from 'playwright'
import { chromiumLaunch } from '../engines/chromium.ts'
import { openSandbox } from '../support/open-sandbox.ts'
import { servePage } from '../support/serve-page.ts'

const rounds = 15
/** How fast many a phone sends, in bits a second. */
const uplink = 5_000_000

const built = (name: string) => servePage(fileURLToPath(new URL(name, import.meta.url)))
const [bare, page] = [await built('./bare.ts'), await built('./page.ts')]
const server = await serve({ config: openSandbox({ previewAfterMs: 100, readyAfterMs: 200 }) }, 0)
const browser = await chromium.launch(await chromiumLaunch())

const median = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? NaN

/** Each time in a browser profile of its own, as a new visitor comes. */
async function visits(url: string, run: string): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const context = await browser.newContext()
    const tab = await context.newPage()
    await tab.goto(url)
    await tab.evaluate('idle')
    times.push((await tab.evaluate(run)) as number)
    await context.close()
  }
  return median(times)
}

const door = `${page.url}?api=${encodeURIComponent(server.url)}`
const tab = await browser.newPage()
await tab.goto(door)
const photo = (await tab.evaluate('ready()')) as { before: number; after: number; ms: number }
const rows = [
  ['from navigation to fifty cards without a door', await visits(bare.url, 'idle')],
  ['from navigation to fifty cards that are idle', await visits(door, 'idle')],
  ['from the click to preparing', await visits(door, 'click()')],
  ['to make a photo of 12 megapixels ready', photo.ms],
  ['to send it as it was, at 5 Mbit/s', (photo.before * 8_000) / uplink],
  ['to send what was made of it', (photo.after * 8_000) / uplink],
] as const
for (const [what, ms] of rows) console.log(`| ${what} | ${Math.round(ms)} ms |`)
console.log(`| its bytes, before and after | ${photo.before} | ${photo.after} |`)

await browser.close()
await server.close()
page.close()
bare.close()
