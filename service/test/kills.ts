import { parseArgs } from 'node:util'
import { seededChance } from '../../test/model/platform.ts'
import { embedded, killCycles, onServer } from './kill-cycles.ts'

/** Kills a service in a folder, and the processes of one on PostgreSQL, as often as is said; fails where anything is lost. */
const { values } = parseArgs({
  options: { cycles: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' } },
})
const [cycles, seed] = [Number(values.cycles), Number(values.seed)]
console.log(`seed ${seed}, ${cycles} kills each`)
for (const [name, open] of Object.entries({ 'in a folder': embedded, 'on PostgreSQL': onServer })) {
  const { kills, acknowledged, lost, changed, creditsOff, unheard } = await killCycles(await open(), {
    cycles,
    random: seededChance(seed),
  })
  console.log(
    `${name}: ${kills} kills, ${acknowledged} acknowledged, ${lost} lost, ${changed} changed, ${creditsOff} credits off, ${unheard} unheard`,
  )
  if (lost > 0 || changed > 0 || creditsOff > 0) process.exitCode = 1
}
