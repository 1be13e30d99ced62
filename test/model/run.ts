import { fork } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import type { Violation } from './violation.ts'
import { labelOf } from './label.ts'
import type { Sequence } from './operations.ts'
import { installPlatform } from './platform.ts'
import { draw, play, shrink, totals, type Counts, type Finding } from './sequence.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '20261121' },
    runs: { type: 'string', default: '100000' },
    from: { type: 'string', default: '0' },
    processes: { type: 'string', default: '2' },
    /** Plays the sequence of that number, shrinks it if it breaks a promise, and prints what happens. */
    at: { type: 'string' },
    /** Pages come through the door. */
    door: { type: 'boolean', default: false },
    /** Goes on past violations, groups them, and shrinks some of each group. */
    collect: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed)
const front = values.door ? 'door' : 'core'

interface Found extends Finding {
  number: number
}

const nameOf = ({ rule, harm, why }: Violation) => `${rule} ${harm}: ${why}`
const textOf = ({ setup, ops }: Sequence) =>
  [setup, ...ops].map((each) => `      ${JSON.stringify(each).replaceAll('"', '')}`).join('\n')
/** How many sequences of a group are shrunk: the simplest. */
const samples = 3

async function show(number: number): Promise<void> {
  const drawn = draw(seed, number, front)
  const played = await play(drawn)
  const [first] = played.violations
  const found = first ? await shrink(drawn, (each) => nameOf(each) === nameOf(first)) : played
  console.log(`${textOf(found.sequence)}\n\n${found.trace.join('\n')}`)
}

/** Plays the sequences of these numbers, and tells the parent process what they came to. */
async function playFrom(from: number, runs: number): Promise<void> {
  const total = totals()
  const groups = new Map<string, Found[]>()
  for (let number = from; number < from + runs && (values.collect || groups.size === 0); number++) {
    const found = await play(draw(seed, number, front))
    total.add(found)
    for (const name of found.violations.map(nameOf)) {
      groups.set(name, [...(groups.get(name) ?? []), { number, ...found, trace: [] }])
    }
  }
  for (const [name, found] of groups) await explain(name, found)
  process.send?.(total.counts)
  process.exitCode = groups.size > 0 ? 1 : 0
}

/** How often a promise was broken in that way, and the smallest sequences that do it. */
async function explain(name: string, found: Found[]): Promise<void> {
  console.log(`${String(found.length).padStart(6)}  ${name}`)
  const simplest = found.toSorted((a, b) => costOf(a) - costOf(b)).slice(0, samples)
  for (const { number, sequence, violations } of simplest) {
    const small = await shrink(sequence, (each) => nameOf(each) === name)
    const [first] = violations.filter((each) => nameOf(each) === name)
    console.log(`  ${first && labelOf(first, small.sequence)}, sequence ${number}:\n${textOf(small.sequence)}`)
  }
}

/** Messages of strangers and other rooms break everything at once: sequences without them tell more. */
const costOf = ({ sequence: { ops } }: Found) =>
  ops.length + (/"inject"|"page":2|"again"/.test(JSON.stringify(ops)) ? 1_000 : 0)

/** Parts the sequences among processes, and adds up what they came to. */
async function playAll(from: number, runs: number, processes: number): Promise<void> {
  const total = totals()
  const each = Math.ceil(runs / processes)
  const codes = Array.from({ length: processes }, async (_, at) => {
    const own = Math.max(0, Math.min(each, runs - at * each))
    const numbers = ['--seed', `${seed}`, '--from', `${from + at * each}`, '--runs', `${own}`]
    const child = fork(import.meta.filename, [
      ...numbers,
      ...(values.collect ? ['--collect'] : []),
      ...(values.door ? ['--door'] : []),
    ])
    child.on('message', (counts) => total.merge(counts as Counts))
    const [code] = (await once(child, 'exit')) as [number | null]
    return code
  })
  process.exitCode = (await Promise.all(codes)).every((code) => code === 0) ? 0 : 1
  console.log(`seed ${seed}: ${total.text()}`)
}

installPlatform()
const [from, runs, processes] = [values.from, values.runs, values.processes].map(Number) as [number, number, number]
if (values.at !== undefined) await show(Number(values.at))
else if (process.send) await playFrom(from, runs)
else await playAll(from, runs, processes)
