import type { Problem } from './problem.ts'
import type { TryOnView } from './view.ts'

const never: TryOnView['can'] = Object.freeze({
  start: false,
  submitEmail: false,
  resume: false,
  retry: false,
  startOver: false,
  discard: false,
})

/** The view before storage has been read, and always on a server. */
export const restoringView: TryOnView & { state: 'restoring' } = Object.freeze({
  state: 'restoring',
  group: 'waiting',
  attempt: null,
  funnel: null,
  etaSeconds: null,
  progress: null,
  preview: null,
  result: null,
  message: null,
  problem: null,
  trouble: null,
  waitingUntil: null,
  durable: true,
  metadataKept: false,
  exclusive: true,
  can: never,
})

/** Nothing is kept of the try-on. */
export const idleView = Object.freeze({
  ...restoringView,
  state: 'idle',
  group: 'ready',
  can: { ...never, start: true, discard: true },
} satisfies TryOnView)

/** Something could not be done, and nothing has changed. */
export const idleWith = (problem: Problem): TryOnView => ({ ...idleView, problem })

/** The shopper has consented, and nothing has come of it yet. */
export const preparingView: TryOnView = Object.freeze({
  ...restoringView,
  state: 'preparing',
  group: 'busy',
  can: { ...never, start: true, startOver: true, discard: true },
})

/** What is kept, or was said, waits for what could not be loaded. */
export const unloadedView = (problem: Problem): TryOnView => ({
  ...restoringView,
  state: 'stalled',
  group: 'stopped',
  problem,
  can: { ...never, resume: true, retry: true, startOver: true, discard: true },
})
