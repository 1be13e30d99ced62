import { parseArgs } from 'node:util'
import { Display } from './display.ts'

const { values } = parseArgs({
  options: { shoppers: { type: 'string', default: '500' }, seed: { type: 'string', default: '20261121' } },
})
const shoppers = Number(values.shoppers)
/** How often the figures are taken; the first time everything that is made once has been made. */
const every = Math.ceil(shoppers / 10)

const display = new Display(Number(values.seed))
await display.open()
for (let served = 1; served <= shoppers; served++) {
  await display.serve()
  if (served % every === 0)
    console.log(`${served} shoppers: ${JSON.stringify(await display.figures())} ${JSON.stringify(display.did)}`)
}
await display.close()
for (const trace of new Set(display.traces)) console.log(`  ${trace}`)
console.log(`${shoppers} shoppers: ${JSON.stringify(display.did)}; ${display.traces.length} traces`)
process.exitCode = display.traces.length > 0 ? 1 : 0
