import type { TryOnContext } from './try-on.types.ts'

/** A guard or an action that looks at what the actor came to. */
export const its = <Name extends string>(type: Name) =>
  ({ type, params: <T>({ event }: { event: { output: T } }): T => event.output }) as const

/** A step that broke unforeseen ends in a state that says nothing untrue and can be left. */
const breaks = '#tryOn.stalled'

/** Asks an actor of the room. */
export const asked = <Name extends string>(src: Name) =>
  ({ src, input: ({ context }: { context: TryOnContext }) => context, onError: breaks }) as const

/** How often a read or the photo's PUT is repeated before the try-on stops as rejected. */
const readRepeats = 4

/** A request that is repeated while it fails. */
export const requested = <Name extends string>(src: Name, repeats = readRepeats) =>
  ({
    src,
    input: ({ context }: { context: TryOnContext }) => ({ clock: context.clock, repeats, of: context }),
    onError: breaks,
  }) as const

/** Goes where the record leads that stands now. */
export const routed = { target: '#tryOn.routing', actions: its('take') } as const

/** What several states answer in the same way to one intent. */
export const begins = { guard: 'isCurrent', target: '#tryOn.preparing.consenting', actions: 'takeConsent' } as const
export const leaves = { guard: 'isCurrent', target: '#tryOn.leaving' } as const
export const discards = { guard: 'mayDiscard', target: '#tryOn.discarding' } as const
export const goesOn = { target: '#tryOn.resuming', actions: 'restartDeadline' } as const
export const ended = { retry: begins, startOver: leaves, discard: discards } as const

/** What stopped the requests is written down; the parent's view stays until it is. */
export const settling = { tags: 'busy', invoke: { ...asked('writeStop'), onDone: routed } } as const
