import { parseArgs } from 'node:util'
import type { Violation } from './judge.ts'
import { installPlatform } from './platform.ts'
import { draw, play, shrink } from './sequence.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '1000' },
    from: { type: 'string', default: '0' },
    /** Plays one sequence and prints its trace. */
    at: { type: 'string' },
    shrink: { type: 'boolean', default: false },
    /** Leaves out sequences whose text has this. */
    without: { type: 'string' },
    /** Goes on past violations, and groups them. */
    collect: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed)
const runs = Number(values.runs)
const from = Number(values.from)
const signature = ({ rule, harm, why }: Violation) => `${rule} ${harm}: ${why}`

installPlatform()

if (values.at !== undefined) {
  const number = Number(values.at)
  const found = await play(draw(seed, number))
  const [first] = found.violations
  const shown = values.shrink && first ? await shrink(draw(seed, number), (each) => signature(each) === signature(first)) : found
  console.log(JSON.stringify(shown.sequence))
  console.log(shown.trace.join('\n'))
} else {
  const began = performance.now()
  const groups = new Map<string, number[]>()
  const total = { sequences: 0, ops: 0, submissions: 0, jobs: 0, faults: 0, views: 0 }
  for (let number = from; number < from + runs; number++) {
    const sequence = draw(seed, number)
    if (values.without !== undefined && new RegExp(values.without).test(JSON.stringify(sequence))) continue
    const found = await play(sequence)
    total.sequences++
    total.ops += found.sequence.ops.length
    for (const [name, count] of Object.entries(found.seen)) total[name as keyof typeof found.seen] += count
    for (const name of new Set(found.violations.map(signature))) groups.set(name, [...(groups.get(name) ?? []), number])
    if (groups.size > 0 && !values.collect) break
  }
  const plain = (op: unknown) => JSON.stringify(op).replaceAll('"', '')
  for (const [name, numbers] of [...groups].sort(([, a], [, b]) => b.length - a.length)) {
    console.log(`${String(numbers.length).padStart(6)}  ${name}  at ${numbers.slice(0, 6).join(' ')}`)
    if (!values.shrink || numbers[0] === undefined) continue
    const { setup, ops } = (await shrink(draw(seed, numbers[0]), (each) => signature(each) === name)).sequence
    console.log(`        ${plain(setup)}`)
    for (const op of ops) console.log(`          ${plain(op)}`)
  }
  console.log(JSON.stringify(total), `${((performance.now() - began) / runs).toFixed(1)} ms each`)
}
