import type { BodyLimits } from './body.ts'

/** The largest photo that is taken, and how long it may take over a poor connection: 4 kB a second at the least. */
export const photoLimits: BodyLimits = {
  atMost: 20 * 1024 * 1024,
  longestMs: 120_000,
  slowest: { bytesPerMs: 4, afterMs: 10_000 },
}
