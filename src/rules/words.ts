/** What a UI may ask for, in the order in which a flow meets it. */
export const intents = ['start', 'submitEmail', 'resume', 'retry', 'startOver', 'discard'] as const

/** What a shopper may ask for; `view.can` says which intents are permitted. */
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

/** The state of a try-on, as its view shows it. */
export type TryOnState = (typeof tryOnStates)[number]

/** The least that a UI has to tell apart. */
export type TryOnGroup = 'waiting' | 'ready' | 'busy' | 'asks' | 'done' | 'stopped'
