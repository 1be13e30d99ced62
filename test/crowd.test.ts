import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { rowOf } from './crowd/row.ts'
import { play } from './crowd/run.ts'
import { counted, scenarios, strategies } from './crowd/scenarios.ts'

const guide = readFileSync(new URL('../docs/many-devices.md', import.meta.url), 'utf8')

async function played(name: string) {
  const scenario = scenarios[name]!
  const results = []
  for (const strategy of Object.values(strategies)) results.push(await play(scenario, strategy, 1))
  return { scenario, results }
}

it.each(['1 shopper', '4 kiosks, always busy'])('through one IP, %s, it is as the guide says', async (name) => {
  const { scenario, results } = await played(name)
  expect(guide).toContain(rowOf(name, scenario, results))
  const [poller, , own] = results
  // everybody gets the picture, and nobody was refused
  expect(Object.keys(own?.ends ?? {})).toEqual(['final'])
  expect(Object.values(own?.refused ?? {}).every((count) => count === 0)).toBe(true)
  expect(own?.finals.length).toBeGreaterThan(0.95 * (poller?.finals.length ?? Infinity))
})

it('lists every scenario that is played', () => {
  for (const name of counted) expect(guide).toContain(`| ${name}, with one exact count |`)
  for (const name of Object.keys(scenarios)) expect(guide).toContain(`| ${name} |`)
})
