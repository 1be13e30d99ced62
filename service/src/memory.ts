import type { Blob, BlobStore, Job, Ledger, Queue, Store, Visitor } from './ports.ts'

/** A store that lives as long as the process; transactions run one after another. */
export function memoryStore(): Store {
  const visitors = new Map<string, Visitor>()
  const anonymous = new Map<string, string>()
  const jobs = new Map<string, Job>()
  const credits = new Map<string, number>()
  const name = (...parts: string[]) => JSON.stringify(parts)
  const ledger: Ledger = {
    visitor: async (storeId, id) => visitors.get(name(storeId, id)) ?? null,
    saveVisitor: async (visitor) => void visitors.set(name(visitor.storeId, visitor.id), visitor),
    anonymousId: async (storeId, ip) => anonymous.get(name(storeId, ip)) ?? null,
    saveAnonymousId: async (storeId, ip, id) => void anonymous.set(name(storeId, ip), id),
    job: async (id) => jobs.get(id) ?? null,
    saveJob: async (job) => void jobs.set(job.id, job),
    creditsUsed: async (storeId) => credits.get(storeId) ?? 0,
    saveCreditsUsed: async (storeId, used) => void credits.set(storeId, used),
  }
  let last: Promise<unknown> = Promise.resolve()
  return {
    transaction(work) {
      const turn = last.then(() => work(ledger))
      last = turn.catch(() => undefined)
      return turn
    },
  }
}

/** A queue that lives as long as the process. */
export function memoryQueue(atOnce = 2): Queue {
  const waiting: string[] = []
  const running = new Set<Promise<void>>()
  let work: ((jobId: string) => Promise<void>) | null = null
  const next = () => {
    while (work && waiting.length > 0 && running.size < atOnce) {
      const job = work(waiting.shift() as string).finally(() => {
        running.delete(job)
        next()
      })
      running.add(job)
    }
  }
  return {
    async push(jobId) {
      waiting.push(jobId)
      next()
    },
    run(handler) {
      work = handler
      next()
    },
    async close() {
      work = null
      await Promise.allSettled(running)
    },
  }
}

/** Photos and pictures that live as long as the process. */
export function memoryBlobs(): BlobStore {
  const blobs = new Map<string, Blob>()
  return {
    put: async (name, blob) => void blobs.set(name, blob),
    get: async (name) => blobs.get(name) ?? null,
  }
}
