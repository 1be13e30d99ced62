import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright'
import { chromiumLaunch } from '../engines/chromium.ts'
import { servePage } from '../support/serve-page.ts'
import { playFlows, type Cost } from './flows.ts'

const kilo = (bytes: number) => `${(bytes / 1_000).toFixed(1)} kB`
const rowOf = (name: string, { cpuMs, heapBytes, timers, storageBytes, storageCalls }: Cost) =>
  `| ${name} | ${cpuMs.toFixed(0)} ms | ${kilo(heapBytes)} | ${timers.toFixed(1)} | ${kilo(storageBytes)} | ${storageCalls.toFixed(0)} |`

console.log('| flows in one process | CPU a flow | heap | timers | storage | storage calls |')
// the first flows pay for what is compiled
await playFlows(20, 'each a room')
for (const count of [100, 1_000, 10_000])
  console.log(rowOf(`${count.toLocaleString('en')}, each a room`, await playFlows(count, 'each a room')))
for (const count of [100, 300]) console.log(rowOf(`${count}, in one room`, await playFlows(count, 'one room')))

const { items } = await playFlows(1_000, 'one room')
const page = await servePage(fileURLToPath(new URL('page.ts', import.meta.url)))
const browser = await chromium.launch(await chromiumLaunch())
for (const records of [1, 1_000]) {
  const context = await browser.newContext()
  const tab = await context.newPage()
  await tab.goto(page.url)
  // the first ones of the store's try-ons, and the catalog of all
  const kept = records === 1 ? (await playFlows(1, 'one room')).items : items
  await tab.evaluate(`fill(${JSON.stringify([...kept])})`)
  await tab.goto(`${page.url}?variant=2001`)
  const resumedMs = (await tab.evaluate('resumed')) as number
  const { listed, ms, left } = (await tab.evaluate('reset()')) as { listed: number; ms: number; left: number }
  console.log(
    `${records} records in Chromium: resumed ${Math.round(resumedMs)} ms after the navigation; ` +
      `reset() of ${listed} attempts in ${Math.round(ms)} ms, ${left} left`,
  )
  await context.close()
}
await browser.close()
page.close()
