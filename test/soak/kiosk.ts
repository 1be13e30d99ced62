import { parseArgs } from 'node:util'
import { installPlatform } from '../model/platform.ts'
import { grownSince, Kiosk, type Figures } from './shoppers.ts'

const { values } = parseArgs({
  options: { shoppers: { type: 'string', default: '5000' }, seed: { type: 'string', default: '20261121' } },
})
const shoppers = Number(values.shoppers)
/** When the figures are taken first: everything that is made once has been made. */
const warm = Math.ceil(shoppers / 10)

installPlatform()
const kiosk = new Kiosk(Number(values.seed))
let first: Figures | null = null
for (let served = 1; served <= shoppers; served++) {
  await kiosk.serve()
  if (served % warm !== 0) continue
  // what the turns of the event loop still hold goes first
  await kiosk.idle(2_000)
  globalThis.gc?.()
  const figures = kiosk.figures()
  first ??= figures
  console.log(`${String(served).padStart(5)} shoppers: ${JSON.stringify(figures)}`)
}
const last = kiosk.figures()
if (first) for (const grown of grownSince(first, last)) kiosk.deny(grown)
await kiosk.close()
for (const violation of kiosk.violations) console.log(`  ${violation}`)
console.log(
  `${shoppers} shoppers in ${kiosk.days} days: ${JSON.stringify(kiosk.did)}; ${kiosk.violations.size} violations`,
)
process.exitCode = kiosk.violations.size > 0 ? 1 : 0
