/** How long a store may take to answer whoever looks after it, in ms. */
const longestLookMs = 5_000

/** What a store answers in time; null where it does not. */
export function orNothing<T>(answer: Promise<T>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<null>((resolve) => (timer = setTimeout(resolve, longestLookMs, null)))
  const inTime = answer.catch(() => null)
  return Promise.race([inTime, late]).finally(() => clearTimeout(timer))
}
