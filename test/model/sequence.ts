import * as fc from 'fast-check'
import type { Violation } from './judge.ts'
import { sequences, type Op, type Sequence } from './operations.ts'
import { seededChance } from './platform.ts'
import { World } from './world.ts'

/** What came of one sequence. */
export interface Finding {
  sequence: Sequence
  violations: Violation[]
  trace: string[]
  seen: { submissions: number; jobs: number; faults: number; views: number }
}

/** The seed of the sequence of that number. */
const seedOf = (seed: number, number: number) => (Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b)) | 0

export function draw(seed: number, number: number): Sequence {
  const [drawn] = fc.sample(sequences, { seed: seedOf(seed, number), numRuns: 1 })
  if (!drawn) throw new TypeError('nothing was drawn')
  return drawn
}

/** Plays a sequence in a world of its own; the same chance every time. */
export async function play(sequence: Sequence): Promise<Finding> {
  const { random } = Math
  Math.random = seededChance(1)
  const world = new World(sequence.setup)
  const uncaught = (error: unknown) => world.judge.uncaught(error)
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
    Math.random = random
  }
}

/** The same sequence with less of it, one step at a time. */
function* smaller({ setup, ops }: Sequence): Generator<Sequence> {
  for (const length of [8, 4, 2, 1]) {
    for (let at = 0; at < ops.length; at += length) yield { setup, ops: ops.toSpliced(at, length) }
  }
  if (setup.slowMs > 0) yield { setup: { ...setup, slowMs: 0 }, ops }
  if (setup.end !== 'reach') yield { setup: { ...setup, end: 'reach' }, ops }
  for (const [at, op] of ops.entries()) for (const simpler of simplerOps(op)) yield { setup, ops: ops.with(at, simpler) }
}

function simplerOps(op: Op): Op[] {
  if (op.do === 'beside') return [op.first, op.second]
  if (op.do === 'load' && op.modes.some((mode) => mode !== 'ok')) {
    const [near, far] = op.modes
    return [['ok', far], [near, 'ok']].flatMap((modes) => (`${modes}` === `${op.modes}` ? [] : { ...op, modes } as Op))
  }
  const isPlain = op.do !== 'start' || (op.photo === 'url' && !op.fails)
  return isPlain ? [] : [{ ...op, photo: 'url', fails: false }]
}

/** The smallest sequence found that still breaks a promise in the same way. */
export async function shrink(first: Sequence, same: (found: Violation) => boolean): Promise<Finding> {
  let smallest = await play(first)
  for (let found: Finding | null = smallest; found; ) {
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
