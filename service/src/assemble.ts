import { AnswerLost, createApp, type Connection } from './app.ts'
import type { Config } from './config.ts'
import { createCore } from './core.ts'
import type { RequestCount } from './ip-limiter.ts'
import type { BlobStore, Clock, Generator, Observer, PhotoIntake, Store } from './ports.ts'
import { startedAs } from './provider/changed-job.ts'
import type { Webhooks } from './provider/webhooks.ts'
import type { Uploads } from './uploads.ts'
import { createWorker, type WorkerParts } from './worker.ts'

/** The service without a port: a fetch-style handler and its worker. */
export interface Service {
  /** Rejects with a `TypeError`, as fetch does, if its answer is to be lost. */
  fetch(request: Request, connection?: Connection): Promise<Response>
  close(): Promise<void>
}

export interface ServiceParts extends Pick<WorkerParts, 'fetchPhoto' | 'garmentOf' | 'provided'> {
  config: Config
  /** The address under which the service is reached, without a trailing slash. */
  publicUrl: () => string
  store: Store
  blobs: BlobStore
  generator: Generator
  limiter: RequestCount
  /** Whether it works on the jobs, too. */
  works: boolean
  uploads: Uploads
  /** Where a provider tells of jobs; none where there is none. */
  webhooks?: Webhooks | undefined
  takePhoto: PhotoIntake
  clock: Clock
  report: (error: unknown) => void
  observer?: Observer | undefined
}

/** The service of these parts, in whatever runtime has them. */
export function assemble(parts: ServiceParts): Service {
  const { config, store, report } = parts
  const respond = createApp({
    ...parts,
    hear: async (jobId, id) => void (await startedAs(store, jobId, id)),
    core: createCore(parts),
    keepPhoto: (name, at) => store.keepPhoto(name, at),
    trustedProxies: () => config.trustedProxies,
  })
  const { work, giveUp } = createWorker(parts)
  if (parts.works) store.run(work, giveUp).catch(report)

  /** Where whoever asks cannot end the connection. */
  async function fetchOrLose(request: Request, connection: Connection): Promise<Response> {
    let lost: AnswerLost | null = null
    const answer = await respond(request, { ...connection, drop: () => void (lost = new AnswerLost()) })
    if (lost) throw lost
    return answer
  }

  return {
    fetch: (request, connection = {}) => (connection.drop ? respond : fetchOrLose)(request, connection),
    close: () => store.close(),
  }
}
