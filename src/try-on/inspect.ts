import { guarded } from '../platform/guarded.ts'
import type { TryOnState } from '../rules/words.ts'
import type { Inspect } from './try-on.types.ts'

/** Tells a listener of the application what happens in a try-on's machine, in words of our own. */
export function inspection(
  listener: Inspect,
  { productId, variantId }: { productId: string; variantId: string },
  state: () => TryOnState,
) {
  const tell = guarded(listener)
  return ({ type }: { type: string }, value: unknown, waits: readonly { delay: string; until: number }[]): void => {
    // with each tick only the progress is drawn anew
    const ends = waits.flatMap(({ delay, until }) => (delay === 'tick' ? [] : until))
    const nextAt = ends.length > 0 ? Math.min(...ends) : null
    const told = type.replace(/^xstate\.(\w+).*/, '$1')
    tell({ type: told, states: leaves(value), state: state(), nextAt, productId, variantId })
  }
}

const leaves = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : Object.entries(Object(value)).flatMap(([state, within]) => leaves(within).map((leaf) => `${state}.${leaf}`))
