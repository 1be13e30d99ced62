/** The same function, of which so many calls run at once; the others wait their turn. */
export function limited<A extends unknown[], R>(
  atOnce: number,
  work: (...args: A) => Promise<R>,
): (...args: A) => Promise<R> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (...args) => {
    if (running < atOnce) running += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work(...args)
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
