import type { Job, Store } from './ports.ts'

interface Watcher {
  /** A transaction writes the job, for the first time or again. */
  saved?(job: Job, isNew: boolean): void
  /** Its work is done, whatever came of it: no stage is to come. */
  worked?(jobId: string): void
}

/** The same store, whose jobs somebody watches. */
export function watchedStore(inner: Store, { saved, worked }: Watcher): Store {
  return {
    ...inner,
    transaction: (work) =>
      inner.transaction((ledger) =>
        work({
          ...ledger,
          async addJob(job) {
            await ledger.addJob(job)
            saved?.(job, true)
          },
          async saveJob(job) {
            await ledger.saveJob(job)
            saved?.(job, false)
          },
          async passOn(job) {
            await ledger.passOn(job)
            saved?.(job, false)
          },
        }),
      ),
    run: (work, giveUp) =>
      inner.run(async (jobId, stage) => {
        await work(jobId, stage)
        if ((await inner.job(jobId))?.state !== 'queued') worked?.(jobId)
      }, giveUp),
  }
}
