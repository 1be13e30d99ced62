/** Something that is asked, and waits for its answer. */
export interface Waiting<A, R> {
  item: A
  resolve(result: R): void
  reject(error: unknown): void
}

/** Gives each what `ask` resolves with for it, in their order; where it rejects, so do all. */
export async function settle<A, R>(asked: Waiting<A, R>[], ask: (items: A[]) => Promise<R[]>): Promise<void> {
  try {
    const results = await ask(asked.map(({ item }) => item))
    asked.forEach(({ resolve }, at) => resolve(results[at] as R))
  } catch (error) {
    asked.forEach(({ reject }) => reject(error))
  }
}

/** Asks as one for all that is asked in one turn; `ask` resolves with a result for each. */
export function inOneTurn<A, R>(ask: (items: A[]) => Promise<R[]>): (item: A) => Promise<R> {
  const waiting: Waiting<A, R>[] = []
  const askForAll = () => void settle(waiting.splice(0), ask)
  return (item) =>
    new Promise((resolve, reject) => {
      // once everything that goes on in this turn has come as far as it gets
      if (waiting.push({ item, resolve, reject }) === 1) process.nextTick(askForAll)
    })
}

/**
 * Calls for what waits, one call after the other as long as there is something: what comes while one is out goes with the
 * next one. Gives what is to be called as something comes.
 */
export function oneCallAtATime(isWaiting: () => boolean, call: () => Promise<void>): () => void {
  let isOut = false

  async function callForWaiting(): Promise<void> {
    isOut = true
    while (isWaiting()) {
      // what arrives in this turn and the next one goes along: a call for twice as many costs little more
      await new Promise(setImmediate)
      await new Promise(setImmediate)
      await call()
    }
    isOut = false
  }

  return () => {
    if (!isOut) void callForWaiting()
  }
}

/**
 * Asks for many things as one: what comes while a call is out goes with the next one, in the order in which it came. `ask`
 * resolves with a result for each; where it rejects, so do all of that call. No call asks for more than `atMost`.
 */
export function gathered<A, R>(ask: (items: A[]) => Promise<R[]>, atMost: number): (item: A) => Promise<R> {
  const waiting: Waiting<A, R>[] = []
  const come = oneCallAtATime(
    () => waiting.length > 0,
    () => settle(waiting.splice(0, atMost), ask),
  )
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      come()
    })
}
