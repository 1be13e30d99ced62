import {
  newVisitor,
  picturesOf,
  stageOf,
  stages,
  usualPlaces,
  type Blob,
  type BlobStore,
  type Job,
  type Ledger,
  type Store,
  type Visitor,
} from './ports.ts'
import { createQueue } from './memory-queue.ts'
import { createTurns } from './turns.ts'

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
    async anonymousId(storeId, ip, fresh) {
      const name = nameOf('anonymous', storeId, ip)
      const id = of<string>(kept, name) ?? fresh
      kept.set(name, id)
      return id
    },
    job: async (id) => of<Job>(kept, jobIn(id)),
    async poll(jobId, visitorId) {
      const job = of<Job>(kept, jobIn(jobId))
      return job && { job, visitor: job.pictures && visitorOf(kept, job.storeId, visitorId ?? job.visitorId) }
    },
    told: async () => ({ issuedTo: null, isIssued: () => false, imported: new Map() }),
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
    run: async (work) => stages.forEach((stage) => queues[stage].run((id) => work(id, stage))),
    waiting: async () => ({ fetch: queues.fetch.size(), render: queues.render.size() }),
    close: async () => void (await Promise.all(stages.map((stage) => queues[stage].close()))),
  }
}

/** When what is of no use any more was used last, in epoch ms. */
const longAgo = -1

/** Photos and pictures that live as long as the process. */
export function memoryBlobs(): BlobStore {
  const blobs = new Map<string, Blob>()
  return {
    put: async (name, blob) => void blobs.set(name, blob),
    get: async (name) => blobs.get(name) ?? null,
    remove: async (name) => void blobs.delete(name),
  }
}
