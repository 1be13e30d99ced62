/**
 * What tells one storage from every other, each ID with how often that storage was reset: rooms that have no ID in common
 * do not share it.
 */
export type Counts = Readonly<Record<string, number>>

/** Whether counts are from before a reset that others tell of, by an ID that both have: others may know what those do not. */
export const isFormer = (counts: Counts, told: Counts): boolean =>
  Object.entries(counts).some(([id, count]) => count < Number(told[id]))

/** Whether one storage was reset between two looks at it: an ID that is new there began at none. */
export const wasReset = (before: Counts, now: Counts): boolean =>
  Object.entries(now).some(([id, count]) => count > (before[id] ?? 0))

/** The counts of a storage that is reset once more. */
export const onceMore = (counts: Counts): Counts =>
  Object.fromEntries(Object.entries(counts).map(([id, count]) => [id, count + 1]))
