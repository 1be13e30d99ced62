import * as fc from 'fast-check'
import type { Violation } from './judge.ts'
import { sequences, type Sequence } from './operations.ts'
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
    Math.random = random
  }
}

/** The smallest sequence that still breaks the promise in the same way. */
export async function shrink(seed: number, number: number, same: (found: Violation) => boolean): Promise<Finding> {
  let smallest = await play(draw(seed, number))
  const holds = fc.asyncProperty(sequences, async (sequence) => {
    const found = await play(sequence)
    if (!found.violations.some(same)) return true
    smallest = found
    return false
  })
  await fc.check(holds, { seed: seedOf(seed, number), numRuns: 1, interruptAfterTimeLimit: 60_000 })
  return smallest
}
