import {
  longestCloseMs,
  newVisitor,
  picturesOf,
  stageOf,
  stages,
  usualPlaces,
  type Blob,
  type BlobStore,
  type Job,
  type Ledger,
  type Places,
  type Store,
  type Visitor,
} from './ports.ts'
import { createTurns, type Turns } from './turns.ts'

/** A store that lives as long as the process; transactions run one after another. */
export function memoryStore(places = usualPlaces, turns = createTurns()): Store {
  const kept = new Map<string, unknown>()
  /** When each was used last. */
  const photos = new Map<string, number>()
  const queues = { fetch: createQueue(places.fetch, turns), render: createQueue(places.render, turns) }
  const nameOf = (...parts: string[]) => JSON.stringify(parts)
  const visitorIn = (storeId: string, id: string) => nameOf('visitor', storeId, id)
  const jobIn = (id: string) => nameOf('job', id)
  const isOver = (name: string, job: Job) => name.startsWith('["job"') && job.state !== 'queued'
  const of = <T>(values: ReadonlyMap<string, unknown>, name: string) => (values.get(name) ?? null) as T | null

  const visitorOf = (values: ReadonlyMap<string, unknown>, storeId: string, id: string) =>
    of<Visitor>(values, visitorIn(storeId, id)) ?? newVisitor(storeId, id)

  /** Writes stay in `staged` until the transaction ends. */
  function ledgerOn(staged: Map<string, unknown>, queued: Job[]): Ledger {
    const read = <T>(name: string) => of<T>(staged, name) ?? of<T>(kept, name)
    const creditsIn = (storeId: string) => nameOf('credits', storeId)
    const used = (storeId: string) => read<number>(creditsIn(storeId)) ?? 0
    const use = (storeId: string, more: number) => void staged.set(creditsIn(storeId), used(storeId) + more)
    function queue(job: Job): void {
      staged.set(jobIn(job.id), job)
      queued.push(job)
    }
    return {
      visitor: async (storeId, id) => read<Visitor>(visitorIn(storeId, id)) ?? newVisitor(storeId, id),
      saveVisitor: async (visitor) => void staged.set(visitorIn(visitor.storeId, visitor.id), visitor),
      async anonymousId(storeId, ip, fresh) {
        const name = nameOf('anonymous', storeId, ip)
        const id = read<string>(name) ?? fresh
        staged.set(name, id)
        return id
      },
      async takeCredit(storeId, credits) {
        if (used(storeId) >= credits) return null
        use(storeId, 1)
        return 0
      },
      giveCreditBack: async (storeId) => use(storeId, -1),
      async usePhoto(name, at) {
        if (photos.has(name)) photos.set(name, at)
      },
      job: async (id) => read<Job>(jobIn(id)),
      addJob: async (job) => queue(job),
      saveJob: async (job) => void staged.set(jobIn(job.id), job),
      passOn: async (job) => queue(job),
    }
  }

  let last: Promise<unknown> = Promise.resolve()
  return {
    transaction(work) {
      const turn = last.then(async () => {
        const staged = new Map<string, unknown>()
        const queued: Job[] = []
        const result = await work(ledgerOn(staged, queued))
        staged.forEach((value, name) => kept.set(name, value))
        for (const job of queued) queues[stageOf(job)].push(job)
        return result
      })
      last = turn.catch(() => undefined)
      return turn
    },
    visitor: async (storeId, id) => visitorOf(kept, storeId, id),
    job: async (id) => of<Job>(kept, jobIn(id)),
    async poll(jobId, visitorId) {
      const job = of<Job>(kept, jobIn(jobId))
      return job && { job, visitor: visitorOf(kept, job.storeId, visitorId ?? job.visitorId) }
    },
    told: async () => ({ issued: new Map(), imported: [] }),
    keepPhoto: async (name, at) => void photos.set(name, at),
    async expire(until, remove) {
      const jobs = [...kept].filter(
        ([name, value]) => isOver(name, value as Job) && (value as Job).acceptedAt <= until.jobs,
      )
      // first nobody is told of them any more: what is to be removed may last, and fail
      for (const [name, job] of jobs) {
        kept.delete(name)
        for (const picture of Object.values(picturesOf(job as Job))) photos.set(picture, longAgo)
      }
      const unused = [...photos].filter(([, at]) => at < until.photos).map(([name]) => name)
      const gone = await remove(unused)
      for (const name of unused) {
        // one that was used meanwhile is asked for again
        if (Number(photos.get(name)) >= until.photos) continue
        if (gone.includes(name)) photos.delete(name)
        else photos.set(name, until.photos)
      }
      return jobs.length + unused.length
    },
    run: async (work) => stages.forEach((stage) => queues[stage].run(work)),
    close: async () => void (await Promise.all(stages.map((stage) => queues[stage].close()))),
  }
}

/** When what is of no use any more was used last, in epoch ms. */
const longAgo = -1

/** How soon a job that could not be done is handed out again, in ms. */
const againMs = 1_000

/** A job in line. */
interface Waiting {
  job: Job
  turn: number
  /** How many came before it: those of one turn are begun as they came. */
  number: number
}

function createQueue({ ofOneStore, ofAll }: Places, turns: Turns) {
  /** Of each store, as they came. */
  const lines = new Map<string, Waiting[]>()
  const running = new Map<Promise<void>, Job>()
  let work: ((jobId: string) => Promise<void>) | null = null
  let came = 0

  const ofStore = (storeId: string) => [...running.values()].filter((job) => job.storeId === storeId).length

  /** Takes the job whose turn it is out of its line; none where there is none, or no place for it. */
  function taken(): Job | undefined {
    if (running.size >= ofAll) return undefined
    const heads = [...lines].flatMap(([storeId, [head]]) => (head && ofStore(storeId) < ofOneStore ? [head] : []))
    const [first, ...others] = heads
    if (!first) return undefined
    const { job } = others.reduce((one, other) => (isBefore(other, one) ? other : one), first)
    const line = lines.get(job.storeId)
    line?.shift()
    if (line?.length === 0) lines.delete(job.storeId)
    return job
  }

  function next(): void {
    for (let job = work && taken(); work && job; job = taken()) {
      const begun = job
      const done = work(begun.id)
        // who could not do it now may later; its age ends that
        .catch(() => void setTimeout(() => push(begun), againMs))
        .finally(() => {
          running.delete(done)
          next()
        })
      running.set(done, begun)
    }
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
    run(handler: (jobId: string) => Promise<void>): void {
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

/** Photos and pictures that live as long as the process. */
export function memoryBlobs(): BlobStore {
  const blobs = new Map<string, Blob>()
  return {
    put: async (name, blob) => void blobs.set(name, blob),
    get: async (name) => blobs.get(name) ?? null,
    remove: async (name) => void blobs.delete(name),
  }
}
