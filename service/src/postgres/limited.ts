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

/** Lets one of those that have the same name go on at a time, in the order in which they came. */
export function oneByOne(): <T>(name: string, work: () => Promise<T>) => Promise<T> {
  const places = new Map<string, { take: ReturnType<typeof limited>; wanted: number }>()
  return async (name, work) => {
    const place = places.get(name) ?? { take: limited(1), wanted: 0 }
    places.set(name, place)
    place.wanted += 1
    try {
      return await place.take(work)
    } finally {
      if (--place.wanted === 0) places.delete(name)
    }
  }
}
