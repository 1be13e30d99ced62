import { withinLimit } from '../../src/platform/clock.ts'
import { succeeds } from '../../src/platform/succeeds.ts'
import type { Clock } from '../../src/ports.ts'

/** How long the first of a kind is waited for, in ms: who waits keeps a place from all others. */
const firstMs = 30_000

/**
 * The first of each kind goes alone until it has passed: the others need not ask what it has learnt. Where that takes long
 * they have another turn.
 */
export function createFirsts(clock: Clock) {
  const firsts = new Map<string, Promise<void>>()
  return async (kind: string, work: (passed: () => void) => Promise<'ended' | 'again'>) => {
    const first = firsts.get(kind)
    let passed = () => {}
    if (first) {
      if (!(await succeeds(withinLimit(clock, firstMs, first)))) return 'again'
    } else {
      firsts.set(kind, new Promise((resolve) => (passed = resolve)))
      void firsts.get(kind)?.then(() => firsts.delete(kind))
    }
    return work(passed).finally(passed)
  }
}
