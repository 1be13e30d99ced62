import { memoryStore, watchedStore, type Job, type Store } from '@fitting-room/service'

/** The service's own store, in memory or as given, with its ledger of jobs laid open: what it denies, a view must not say. Tells of every change. */
export function openLedger(
  onSave: (job: Job) => void = () => {},
  kept = memoryStore(),
): { store: Store; jobs: Map<string, Job> } {
  const jobs = new Map<string, Job>()
  const store = watchedStore(kept, {
    saved(job) {
      jobs.set(job.id, job)
      onSave(job)
    },
  })
  return { store, jobs }
}
