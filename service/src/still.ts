/** How often it is looked whether this process goes on, and from how long a pause it counts as having stood still, in ms. */
const lookMs = 250
const stillMs = 1_000

let lookedAt = performance.now()
let stoodStillAt = -Infinity

function look(): void {
  const now = performance.now()
  if (now > lookedAt + stillMs) stoodStillAt = now
  lookedAt = now
}

setInterval(look, lookMs).unref()

/** Whether this process stood still for a while since then, in ms as `performance.now()` has them. */
export function stoodStillSince(at: number): boolean {
  look()
  return stoodStillAt >= at
}
