/** How often a storage was reset, by each ID that it has. */
type Counts = Readonly<Record<string, number>>

/** Whether a storage was reset after it was seen with the first counts, of its IDs each. */
export const wasReset = (before: Counts, now: Counts): boolean =>
  Object.entries(now).some(([id, count]) => count > (before[id] ?? 0))

/** The counts of a storage that is reset once more. */
export const onceMore = (counts: Counts): Counts =>
  Object.fromEntries(Object.entries(counts).map(([id, count]) => [id, count + 1]))
