import type { Job, Store } from '../ports.ts'

/** The job as `change` makes it of how it stands; null where that is nothing to change. */
export function changedJob(store: Store, jobId: string, change: (job: Job) => Job | null): Promise<Job | null> {
  return store.transaction(async (ledger) => {
    const known = await ledger.job(jobId)
    const next = known && change(known)
    if (next) await ledger.saveJob(next)
    return next
  })
}

/** Says that a job's pictures are made under that ID; the provider may have told a process that has no provider. */
export const startedAs = (store: Store, jobId: string, id: string) =>
  changedJob(store, jobId, (job) =>
    job.state === 'queued' && job.asked?.id === null ? { ...job, asked: { ...job.asked, id } } : null,
  )
