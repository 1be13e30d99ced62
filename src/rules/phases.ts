/** How far an attempt may have come; each phase replaces the one before it in one write. */
export const phases = [
  'consented',
  'claimed',
  'throttled',
  'awaitingEmail',
  'emailRegistered',
  'unauthorized',
  'limitReached',
  'rejected',
  'protocolError',
  'accepted',
  'preview',
  'failed',
  'final',
] as const

export type Phase = (typeof phases)[number]

/** Nothing is out, nor was anything started, and what is left to do goes on without anybody's doing. */
export const unsentPhases: readonly Phase[] = ['consented', 'throttled', 'emailRegistered']

/** There is a job, in the order in which it comes on. */
export const jobPhases: readonly Phase[] = ['accepted', 'preview', 'failed', 'final']
