/** What a UI may ask for, in the order in which a flow meets it. */
export const intents = ['start', 'submitEmail', 'resume', 'retry', 'startOver', 'discard'] as const

/** What a UI may ask for. */
export type Intent = (typeof intents)[number]

/** Every state that a view can be in. */
export const tryOnStates = [
  'restoring',
  'idle',
  'preparing',
  'submitting',
  'needsEmail',
  'processing',
  'preview',
  'stalled',
  'unauthorized',
  'final',
  'failed',
  'outcomeUnknown',
  'limitReached',
  'rejected',
  'protocolError',
] as const

/** Where a try-on stands, as a view says it. */
export type TryOnState = (typeof tryOnStates)[number]

/** The least that a UI has to tell apart: what each state is to a shopper. */
export const groups = {
  restoring: 'waiting',
  idle: 'ready',
  preparing: 'busy',
  submitting: 'busy',
  needsEmail: 'asks',
  processing: 'busy',
  preview: 'busy',
  stalled: 'stopped',
  unauthorized: 'stopped',
  final: 'done',
  failed: 'stopped',
  outcomeUnknown: 'stopped',
  limitReached: 'stopped',
  rejected: 'stopped',
  protocolError: 'stopped',
} as const satisfies Record<TryOnState, string>

/** The least that a UI has to tell apart. */
export type TryOnGroup = (typeof groups)[TryOnState]
