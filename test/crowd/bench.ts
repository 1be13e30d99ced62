import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { detailsOf, rowOf } from './row.ts'
import { play } from './run.ts'
import { counted, oneCount, scenarios, strategies } from './scenarios.ts'

const { values } = parseArgs({ options: { seed: { type: 'string', default: '1' }, only: { type: 'string' } } })
const seed = Number(values.seed)
const guide = readFileSync(new URL('../../docs/many-devices.md', import.meta.url), 'utf8')
const rows: string[] = []

console.log(`seed ${seed}`)
for (const [name, scenario] of Object.entries(scenarios)) {
  if (values.only && !name.startsWith(values.only)) continue
  console.log(`${name}, ${scenario.durationMs / 60_000} minutes`)
  const results = []
  for (const [called, strategy] of Object.entries(strategies)) {
    const result = await play(scenario, strategy, seed)
    results.push(result)
    console.log(detailsOf(called, result))
  }
  rows.push(rowOf(name, scenario, results))
}
for (const name of counted) {
  if (values.only && !name.startsWith(values.only)) continue
  const scenario = scenarios[name]!
  const result = await play(scenario, oneCount(), seed)
  console.log(detailsOf(`${name}, with one exact count`, result))
  rows.push(rowOf(`${name}, with one exact count`, scenario, [result]))
}
console.log(rows.join('\n'))
const missing = rows.filter((row) => !guide.includes(row))
if (seed === 1 && missing.length > 0) {
  console.error(`docs/many-devices.md says something else of:\n${missing.join('\n')}`)
  process.exitCode = 1
}
