/** Whether a storage was reset after it was seen with the first counts, of its IDs each. */
export const wasReset = (before: Readonly<Record<string, number>>, now: Readonly<Record<string, number>>): boolean =>
  Object.entries(now).some(([id, count]) => count > (before[id] ?? 0))
