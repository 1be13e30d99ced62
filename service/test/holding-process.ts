import { randomUUID } from 'node:crypto'
import { openFolderStore } from '../src/folder-store.ts'
import { queuedJob } from './queued-job.ts'

/** Takes a job of a folder, says its ID, and does not end it. */
const { store } = await openFolderStore(process.argv[2] ?? '', { report: console.error })
const hold = (id: string) => (console.log(id), new Promise<never>(() => {}))
await store.run(hold, hold)
await store.transaction((ledger) => ledger.addJob(queuedJob({ id: randomUUID(), storeId: 'main' })))
