import * as fc from 'fast-check'
import type { Violation } from './violation.ts'
import { sequencesAt, type Front, type Op, type Sequence } from './operations.ts'
import { seededChance } from './platform.ts'
import { World } from './world.ts'

/** What came of one sequence. */
export interface Finding {
  sequence: Sequence
  violations: Violation[]
  trace: string[]
  seen: { submissions: number; jobs: number; faults: number; views: number }
}

/** Counts over many sequences; of one that breaks a promise, each way in which it does. */
export interface Counts {
  sequences: number
  ops: number
  submissions: number
  jobs: number
  faults: number
  views: number
  harms: Record<Violation['harm'], number>
}

export function totals(counts: Counts = noCounts()) {
  return {
    counts,
    add({ sequence, seen, violations }: Finding): void {
      counts.sequences++
      counts.ops += sequence.ops.length
      for (const name of ['submissions', 'jobs', 'faults', 'views'] as const) counts[name] += seen[name]
      for (const { harm } of violations) counts.harms[harm]++
    },
    merge(other: Counts): void {
      for (const name of ['sequences', 'ops', 'submissions', 'jobs', 'faults', 'views'] as const)
        counts[name] += other[name]
      for (const harm of harms) counts.harms[harm] += other.harms[harm]
    },
    text(): string {
      const { sequences, ops, submissions, jobs, faults, views } = counts
      const did = `${ops} operations, ${submissions} submissions, ${jobs} jobs, ${faults} faults, ${views} views`
      return `${sequences} sequences, ${did}: ${harms.map((harm) => `${counts.harms[harm]} ${harm}`).join(', ')}`
    },
  }
}

const harms = ['paid twice', 'lost', 'untrue', 'leaking'] as const
const noCounts = (): Counts => ({
  sequences: 0,
  ops: 0,
  submissions: 0,
  jobs: 0,
  faults: 0,
  views: 0,
  harms: { 'paid twice': 0, lost: 0, untrue: 0, leaking: 0 },
})

/** The seed of the sequence of that number. */
const seedOf = (seed: number, number: number) => (Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b)) | 0

export function draw(seed: number, number: number, front: Front = 'core'): Sequence {
  const [drawn] = fc.sample(sequencesAt(number), { seed: seedOf(seed, number), numRuns: 1 })
  if (!drawn) throw new TypeError('nothing was drawn')
  return { ...drawn, setup: { ...drawn.setup, front } }
}

/** Plays a sequence in a world of its own; the same chance every time. */
export async function play(sequence: Sequence): Promise<Finding> {
  const { random } = Math
  const { getRandomValues } = crypto
  Math.random = seededChance(1)
  const chance = seededChance(2)
  crypto.getRandomValues = (bytes) => {
    if (bytes instanceof Uint8Array) for (const at of bytes.keys()) bytes[at] = Math.floor(chance() * 256)
    return bytes
  }
  const world = new World(sequence.setup)
  const uncaught = (error: unknown) => world.judge.uncaught(error)
  const { error: tell } = console
  // what pages report
  console.error = uncaught
  process.on('unhandledRejection', uncaught)
  process.on('uncaughtException', uncaught)
  try {
    await world.settle()
    for (const op of sequence.ops) await world.run(op)
    await world.end()
    const { violations, seen } = world.judge
    const { jobs, faults } = world.network
    return { sequence, violations, trace: world.trace, seen: { ...seen, jobs: jobs.size, faults } }
  } finally {
    await world.close()
    process.off('unhandledRejection', uncaught)
    process.off('uncaughtException', uncaught)
    console.error = tell
    Math.random = random
    crypto.getRandomValues = getRandomValues
  }
}

/** The same sequence with less of it, one step at a time. */
function* smaller({ setup, ops }: Sequence): Generator<Sequence> {
  for (const length of [8, 4, 2, 1]) {
    for (let at = 0; at < ops.length; at += length) yield { setup, ops: ops.toSpliced(at, length) }
  }
  if (setup.slowMs > 0) yield { setup: { ...setup, slowMs: 0 }, ops }
  if (setup.end !== 'reach') yield { setup: { ...setup, end: 'reach' }, ops }
  for (const [at, op] of ops.entries())
    for (const simpler of simplerOps(op)) yield { setup, ops: ops.with(at, simpler) }
}

function simplerOps(op: Op): Op[] {
  if (op.do === 'beside') return [op.first, op.second]
  if (op.do === 'load' && op.modes.some((mode) => mode !== 'ok')) {
    const [near, far] = op.modes
    return [
      ['ok', far],
      [near, 'ok'],
    ].flatMap((modes) => (modes.join() === op.modes.join() ? [] : ({ ...op, modes } as Op)))
  }
  const isPlain = op.do !== 'start' || (op.photo === 'url' && !op.fails)
  return isPlain ? [] : [{ ...op, photo: 'url', fails: false }]
}

/** The smallest sequence found that still breaks a promise in the same way. */
export async function shrink(first: Sequence, same: (found: Violation) => boolean): Promise<Finding> {
  let smallest = await play(first)
  for (let found: Finding | null = smallest; found;) {
    found = null
    for (const candidate of smaller(smallest.sequence)) {
      const played = await play(candidate)
      if (!played.violations.some(same)) continue
      smallest = found = played
      break
    }
  }
  return smallest
}
