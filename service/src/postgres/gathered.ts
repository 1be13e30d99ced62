interface Waiting<A, R> {
  item: A
  resolve(result: R): void
  reject(error: unknown): void
}

async function settle<A, R>(ask: (items: A[]) => Promise<R[]>, asked: Waiting<A, R>[]): Promise<void> {
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
  const askForAll = () => void settle(ask, waiting.splice(0))
  return (item) =>
    new Promise((resolve, reject) => {
      // once everything that goes on in this turn has come as far as it gets
      if (waiting.push({ item, resolve, reject }) === 1) process.nextTick(askForAll)
    })
}

/**
 * Asks for many things as one: what comes while a call is out goes with the next one, in the order in which it came. `ask`
 * resolves with a result for each; where it rejects, so do all of that call. No call asks
 * for more than `atMost`.
 */
export function gathered<A, R>(ask: (items: A[]) => Promise<R[]>, atMost: number): (item: A) => Promise<R> {
  let waiting: Waiting<A, R>[] = []
  let isOut = false

  async function askForWaiting(): Promise<void> {
    isOut = true
    while (waiting.length > 0) {
      // what arrives in this turn and the next one goes along: a call for twice as many costs little more
      await new Promise(setImmediate)
      await new Promise(setImmediate)
      const asked = waiting.slice(0, atMost)
      waiting = waiting.slice(atMost)
      await settle(ask, asked)
    }
    isOut = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!isOut) void askForWaiting()
    })
}
