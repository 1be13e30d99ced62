import { wordEndsAt } from '../src/rules/record.ts'
import type { Wait } from './trouble.ts'
import type { TryOnContext } from './try-on.types.ts'

/** A guard or an action that looks at that part of the event. */
export const given = <Name extends string, Part extends string>(type: Name, part: Part) =>
  ({ type, params: <T>({ event }: { event: { [P in Part]: T } }): T => event[part] }) as const

/** What the actor came to. */
export const its = <Name extends string>(type: Name) => given(type, 'output')

/** What a late answer tells. */
const tells = <Name extends string>(type: Name) => given(type, 'written')

/** What broke unforeseen ends in a state that says nothing untrue and can be left. */
export const breaks = { target: '#tryOn.broken', actions: 'takeBreak' } as const

/** Asks an actor of the room. */
export const asked = <Name extends string>(src: Name) =>
  ({ src, input: ({ context }: { context: TryOnContext }) => context, onError: breaks }) as const

/** A request that is repeated while it fails, for as long as the shopper's word holds. */
export const requested = <Name extends string>(src: Name, repeats = Infinity) =>
  ({
    id: src,
    src,
    input: ({ context }: { context: TryOnContext }) => ({
      name: src,
      clock: context.clock,
      repeats,
      until: wordEndsAt(context.wordAt),
      of: context,
    }),
    onError: breaks,
  }) as const

/** A page that is back, or online again, need not wait. */
export const wakes = (name: string) => ({ wake: { actions: { type: 'wakeRequest', params: name } } }) as const

/** What requests tell while they are made. */
export const noted = {
  waiting: {
    actions: { type: 'noteWait', params: ({ event }: { event: { of: string; wait: Wait | null } }) => event },
  },
} as const

/** Goes where the record leads that stands now. */
export const routed = { target: '#tryOn.routing', actions: its('take') } as const

/** What came of a submission that another page, or this one before it was away, has made. */
export const learns = {
  lateAnswer: [
    { guard: tells('isNoNews') },
    { guard: tells('isJob'), target: '#tryOn.routing', actions: [tells('take'), 'startJob'] },
    { target: '#tryOn.booting', actions: tells('take') },
  ],
} as const

/** What several states answer in the same way to one intent. */
export const begins = {
  guard: 'isCurrent',
  target: '#tryOn.preparing.consenting',
  actions: given('takeConsent', 'consent'),
} as const
export const leaves = { guard: 'isCurrent', target: '#tryOn.leaving' } as const
export const discards = { guard: 'mayDiscard', target: '#tryOn.discarding' } as const
/** With the same job, or with the same consent, which the shopper's word renews. */
export const follows = { target: '#tryOn.resuming', actions: 'restartDeadline' } as const
export const goesOn = [
  { ...follows, guard: 'hasJob' },
  { guard: 'isPrepared', target: '#tryOn.submitting.renewing', actions: 'hearWord' },
  { target: '#tryOn.preparing.renewing', actions: 'hearWord' },
] as const
export const ended = { ...learns, retry: begins, startOver: leaves, discard: discards } as const

/** The job was asked once more, as its picture could not be shown. */
export const readdressed = { lateAnswer: { guard: tells('isOtherAddress'), actions: tells('take') } } as const

/** The renewed consent is written down before anything is sent for it. */
export const renewing = {
  tags: 'busy',
  invoke: {
    ...asked('renew'),
    onDone: [{ guard: its('stands'), target: '#tryOn.resuming', actions: its('take') }, routed],
  },
} as const

/** What stopped the requests is written down; the parent's view stays until it is. */
export const settling = { tags: 'busy', invoke: { ...asked('writeStop'), onDone: routed } } as const
