import { parseArgs } from 'node:util'
import { Display, type Figures } from './display.ts'

const { values } = parseArgs({
  options: { shoppers: { type: 'string', default: '500' }, seed: { type: 'string', default: '20261121' } },
})
const shoppers = Number(values.shoppers)
/** How often the figures are taken; the first time everything that is made once has been made. */
const every = Math.ceil(shoppers / 10)

/**
 * How much more of anything there may be at the most in the second half than in the first: what is kept is now a quarter of
 * that and now all of it, as a power cut leaves less for a while, and what two storages have is counted twice.
 */
const slack = 1.25
const figures: Figures[] = []

const display = new Display(Number(values.seed))
await display.open()
for (let served = 1; served <= shoppers; served++) {
  await display.serve()
  if (served % every !== 0) continue
  figures.push(await display.figures())
  console.log(`${served} shoppers: ${JSON.stringify(figures.at(-1))} ${JSON.stringify(display.did)}`)
}
await display.close()
for (const trace of new Set(display.traces)) console.log(`  ${trace}`)
console.log(`${shoppers} shoppers: ${JSON.stringify(display.did)}; ${display.traces.length} traces`)
const half = Math.ceil(figures.length / 2)
const most = (of: keyof Figures, among: readonly Figures[]) => Math.max(...among.map((each) => each[of]))
const growing = (['heap', 'nodes', 'kept'] as const).filter(
  (of) => most(of, figures.slice(half)) > slack * most(of, figures.slice(0, half)),
)
for (const of of growing) console.log(`${of} is not flat`)
process.exitCode = display.traces.length + growing.length > 0 ? 1 : 0
