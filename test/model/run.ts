import { parseArgs } from 'node:util'
import type { Violation } from './judge.ts'
import { labelOf } from './label.ts'
import type { Sequence } from './operations.ts'
import { installPlatform } from './platform.ts'
import { draw, play, shrink, type Finding } from './sequence.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '20261121' },
    runs: { type: 'string', default: '1000' },
    from: { type: 'string', default: '0' },
    /** Plays the sequence of that number, shrinks it if it breaks a promise, and prints what happens. */
    at: { type: 'string' },
    /** Goes on past violations, groups them, and shrinks some of each group. */
    collect: { type: 'boolean', default: false },
  },
})
const [seed, runs, from] = [values.seed, values.runs, values.from].map(Number) as [number, number, number]
interface Found extends Finding {
  number: number
}

const nameOf = ({ rule, harm, why }: Violation) => `${rule} ${harm}: ${why}`
const textOf = ({ setup, ops }: Sequence) =>
  [setup, ...ops].map((each) => `      ${JSON.stringify(each).replaceAll('"', '')}`).join('\n')
/** How many sequences of a group are shrunk: the shortest. */
const samples = 3

installPlatform()
if (values.at === undefined) await playAll()
else await show(Number(values.at))

async function show(number: number): Promise<void> {
  const drawn = draw(seed, number)
  const [first] = (await play(drawn)).violations
  const found = await (first ? shrink(drawn, (each) => nameOf(each) === nameOf(first)) : play(drawn))
  console.log(`${textOf(found.sequence)}\n\n${found.trace.join('\n')}`)
}

async function playAll(): Promise<void> {
  const began = performance.now()
  const total = { sequences: 0, ops: 0, submissions: 0, jobs: 0, faults: 0, views: 0 }
  const harms = { 'paid twice': 0, lost: 0, untrue: 0, leaking: 0 }
  const groups = new Map<string, Found[]>()
  for (let number = from; number < from + runs; number++) {
    const found = await play(draw(seed, number))
    total.sequences++
    total.ops += found.sequence.ops.length
    for (const [name, count] of Object.entries(found.seen)) total[name as keyof typeof found.seen] += count
    for (const violation of found.violations) {
      harms[violation.harm]++
      groups.set(nameOf(violation), [...(groups.get(nameOf(violation)) ?? []), { number, ...found, trace: [] }])
    }
    if (groups.size > 0 && !values.collect) break
  }
  const each = (performance.now() - began) / total.sequences
  console.log(`seed ${seed}: ${JSON.stringify(total)}, ${each.toFixed(1)} ms each; ${JSON.stringify(harms)}`)
  for (const [name, found] of groups) await explain(name, found)
  process.exitCode = groups.size > 0 ? 1 : 0
}

/** Messages of strangers and other rooms break everything at once: sequences without them tell more. */
const costOf = ({ sequence: { ops } }: Found) =>
  ops.length + (/"inject"|"page":2|"again"/.test(JSON.stringify(ops)) ? 1_000 : 0)

/** How often a promise was broken in that way, and the smallest sequences that do it. */
async function explain(name: string, found: Found[]): Promise<void> {
  console.log(`${found.length} times ${name}`)
  const simplest = found.toSorted((a, b) => costOf(a) - costOf(b)).slice(0, samples)
  for (const { number, sequence, violations } of simplest) {
    const small = await shrink(sequence, (each) => nameOf(each) === name)
    const [first] = violations.filter((each) => nameOf(each) === name)
    console.log(`  ${first && labelOf(first, small.sequence)}, sequence ${number}:\n${textOf(small.sequence)}`)
  }
}
