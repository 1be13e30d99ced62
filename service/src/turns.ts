import type { Clock } from './ports.ts'

/** How far apart the jobs of one store stand in line, and how far behind the others that may bring it, in seconds. */
const apartSeconds = 1
const behindSeconds = 600

/** When somebody's next job is in turn, in whole seconds of the clock: the sooner, the earlier it is begun. */
export type Turns = (whose: string) => number

/**
 * A line in which whoever sends many jobs stands behind who sends few, but not for long: a job is in turn as it comes, or a
 * while after the one before of the same store.
 */
export function createTurns(clock: Clock = Date): Turns {
  const last = new Map<string, number>()
  return (whose) => {
    const now = Math.floor(clock.now() / 1_000)
    const turn = Math.max(now, Math.min((last.get(whose) ?? now - apartSeconds) + apartSeconds, now + behindSeconds))
    last.set(whose, turn)
    return turn
  }
}
