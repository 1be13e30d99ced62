import { memoryStore, type Job, type Store } from '@fitting-room/service'

/** The service's own store, with its ledger of jobs laid open: what it denies, a view must not say. Tells of every change. */
export function openLedger(onSave: (job: Job) => void = () => {}): { store: Store; jobs: Map<string, Job> } {
  const jobs = new Map<string, Job>()
  const inner = memoryStore()
  const store: Store = {
    transaction: (work) =>
      inner.transaction((ledger) =>
        work({
          ...ledger,
          async saveJob(job) {
            await ledger.saveJob(job)
            jobs.set(job.id, job)
            onSave(job)
          },
        }),
      ),
  }
  return { store, jobs }
}
