import { longestCloseMs, type Job, type Places } from './ports.ts'
import type { Turns } from './turns.ts'

/** How soon a job that could not be done is handed out again, in ms. */
const againMs = 1_000

/** A job in line. */
interface Waiting {
  job: Job
  turn: number
  /** How many came before it: those of one turn are begun as they came. */
  number: number
}

type Handler = (jobId: string) => Promise<void>

/** Jobs in line, each store's for itself, that live as long as the process. */
export function createQueue({ ofOneStore, ofAll }: Places, turns: Turns) {
  /** Of each store, as they came. */
  const lines = new Map<string, Waiting[]>()
  const running = new Map<Promise<void>, Job>()
  let work: Handler | null = null
  let came = 0

  const ofStore = (storeId: string) => [...running.values()].filter((job) => job.storeId === storeId).length

  /** Takes the job whose turn it is out of its line; none where there is none, or no place for it. */
  function taken(): Job | undefined {
    if (work === null || running.size >= ofAll) return undefined
    const heads = [...lines].flatMap(([storeId, [head]]) => (head && ofStore(storeId) < ofOneStore ? [head] : []))
    const [first, ...others] = heads
    if (!first) return undefined
    const { job } = others.reduce((one, other) => (isBefore(other, one) ? other : one), first)
    const line = lines.get(job.storeId)
    line?.shift()
    if (line?.length === 0) lines.delete(job.storeId)
    return job
  }

  function begin(job: Job, handler: Handler): void {
    const done = handler(job.id)
      // who could not do it now may later; its age ends that
      .catch(() => void setTimeout(() => push(job), againMs))
      .finally(() => {
        running.delete(done)
        next()
      })
    running.set(done, job)
  }

  function next(): void {
    for (let job = taken(); work && job; job = taken()) begin(job, work)
  }

  function push(job: Job): void {
    const waiting = { job, turn: turns(job.storeId), number: came++ }
    const line = lines.get(job.storeId)
    if (line) line.push(waiting)
    else lines.set(job.storeId, [waiting])
    next()
  }
  return {
    push,
    /** How many wait. */
    size: () => [...lines.values()].reduce((sum, { length }) => sum + length, 0),
    run(handler: Handler): void {
      work = handler
      next()
    },
    async close(): Promise<void> {
      work = null
      let timer: ReturnType<typeof setTimeout> | undefined
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, longestCloseMs)))
      await Promise.race([late, Promise.allSettled(running.keys())])
      clearTimeout(timer)
    },
  }
}

const isBefore = (one: Waiting, other: Waiting) =>
  one.turn < other.turn || (one.turn === other.turn && one.number < other.number)
