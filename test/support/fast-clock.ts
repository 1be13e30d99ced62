/** A clock that runs `times` as fast, so that the shoppers of one address stay within its IP limit. */
export function fastClock(times: number): { now(): number } {
  const began = Date.now()
  return { now: () => began + (Date.now() - began) * times }
}
