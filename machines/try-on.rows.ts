import type { TryOnContext } from './try-on.types.ts'

/** What several states answer in the same way to one intent. */
export const begins = { guard: 'isCurrent', target: '#tryOn.preparing.consenting', actions: 'takeConsent' } as const
export const leaves = { guard: 'isCurrent', target: '#tryOn.leaving' } as const
export const discards = { guard: 'mayDiscard', target: '#tryOn.discarding' } as const
export const goesOn = { target: '#tryOn.resuming', actions: 'restartDeadline' } as const
/** A step that broke unforeseen ends in a state that says nothing untrue and can be left. */
export const breaks = '#tryOn.stalled' as const
export const ended = { retry: begins, startOver: leaves, discard: discards } as const

/** How often a read or the photo's PUT is repeated before the try-on stops as rejected. */
const readRepeats = 4
export const reading = ({ context }: { context: TryOnContext }) => ({
  clock: context.clock,
  repeats: readRepeats,
  of: context,
})
