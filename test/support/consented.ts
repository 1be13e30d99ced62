import type { AttemptRecord } from '../../src/rules/record.ts'

/** The record of a consent that was given at `now`. */
export const consentedAt = (now: number): AttemptRecord => ({
  version: 2,
  savedAt: now,
  attemptId: 'attempt',
  startedAt: now,
  phase: 'consented',
  productId: '1001',
  variantId: '2001',
  funnelIds: [12],
  photo: { id: 'photo' },
})
