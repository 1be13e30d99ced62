import { parseArgs } from 'node:util'
import { seededChance } from '../model/platform.ts'
import { playLookbook } from './lookbook.ts'

/** Many try-ons through one IP, by processes that are killed at random; fails where one is paid for twice, or lost. */
const { values } = parseArgs({
  options: { count: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' } },
})
const random = seededChance(Number(values.seed))
const report = await playLookbook({
  tryOns: Number(values.count),
  processes: 3,
  atOnce: 20,
  generation: { previewAfterMs: 6_000, readyAfterMs: 10_000 },
  livesMs: () => 5_000 + 30_000 * random(),
  onProgress: (ended, kills) => ended % 50 === 0 && console.log(`${ended} have ended, ${kills} kills`),
})
const { kills, paid, finals, unknown, twice, lost, tookMs } = report
console.log(
  `seed ${values.seed}: ${values.count} try-ons, ${kills} kills: ${paid} paid, ${finals} final, ${unknown} unknown,`,
)
console.log(`${twice} paid twice, ${lost} lost; ${(finals / (tookMs / 60_000)).toFixed(1)} pictures a minute`)
if (twice > 0 || lost > 0) process.exitCode = 1
