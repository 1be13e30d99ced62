import type { BodyLimits } from './body.ts'

/** The largest photo that is taken, and how long it may take over a poor connection. */
export const photoLimits: BodyLimits = { atMost: 20 * 1024 * 1024, longestMs: 120_000 }
