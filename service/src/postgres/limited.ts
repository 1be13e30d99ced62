/** Lets so many of what is given to it go on at once; the others wait in the order in which they came. */
export function limited(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let underWay = 0
  return async (work) => {
    if (underWay === atOnce) await new Promise<void>((resolve) => waiting.push(resolve))
    else underWay += 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      // whoever is next has the place
      if (next) next()
      else underWay -= 1
    }
  }
}
