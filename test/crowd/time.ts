import type { Clock } from 'fitting-room'

/** Time that runs from one event to the next as fast as the machine can. */
export interface VirtualTime {
  /** In ms since the beginning. */
  now(): number
  after(ms: number, run: () => void): object
  cancel(timer: object | null): void
  wait(ms: number): Promise<void>
  /** What takes no virtual time, and real time all the same: nothing else happens meanwhile. */
  during<T>(work: Promise<T>): Promise<T>
  /** Runs everything up to `endMs`. */
  runUntil(endMs: number): Promise<void>
  /** The clock of a device that goes wrong by so many ms. */
  clockOf(wrongByMs: number): Clock
}

interface Timer {
  at: number
  order: number
  run: (() => void) | null
}

const beginning = Date.UTC(2026, 10, 21, 9)

export function virtualTime(): VirtualTime {
  const heap: Timer[] = []
  let now = 0
  let order = 0
  let busy = 0

  /** What is begun in one event goes as far as it gets before the next one. */
  async function settled(): Promise<void> {
    do await new Promise<void>((resolve) => setImmediate(resolve))
    while (busy > 0)
  }

  const isBefore = (a: Timer, b: Timer) => a.at < b.at || (a.at === b.at && a.order < b.order)

  function push(timer: Timer): void {
    let index = heap.push(timer) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!isBefore(timer, heap[parent]!)) break
      heap[index] = heap[parent]!
      index = parent
    }
    heap[index] = timer
  }

  function pop(): Timer | undefined {
    const [first] = heap
    const last = heap.pop()
    if (!first || !last || heap.length === 0) return first
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1
      if (!isBefore(heap[child]!, last)) break
      heap[index] = heap[child]!
      index = child
    }
    heap[index] = last
    return first
  }

  const time: VirtualTime = {
    now: () => now,
    after(ms, run) {
      const timer = { at: now + Math.max(0, ms), order: order++, run }
      push(timer)
      return timer
    },
    cancel(timer) {
      if (timer) (timer as Timer).run = null
    },
    wait: (ms) => new Promise((resolve) => void time.after(ms, resolve)),
    during(work) {
      busy += 1
      return work.finally(() => (busy -= 1))
    },
    async runUntil(endMs) {
      await settled()
      while (heap[0] && heap[0].at <= endMs) {
        const { at, run } = pop()!
        now = at
        if (!run) continue
        run()
        await settled()
      }
      now = endMs
    },
    clockOf: (wrongByMs) => ({
      now: () => beginning + Math.floor(now) + wrongByMs,
      monotonic: () => now,
      setTimeout: (run, ms) => time.after(ms, run),
      clearTimeout: (timer) => time.cancel(timer as object | null),
    }),
  }
  return time
}
