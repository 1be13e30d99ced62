import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { urlOf } from '../server.ts'
import type { Store } from '../ports.ts'
import type { Metrics } from './metrics.ts'
import { orNothing } from './or-nothing.ts'

export interface OperationServer {
  url: string
  /** Whether it serves, and is not about to end; not so at first. */
  serves(isServing: boolean): void
  close(): Promise<void>
}

/** An ID that no job has. */
const nobody = '00000000-0000-4000-8000-000000000000'

/**
 * For whoever runs the service, on an address of its own: `/health` while the process lives, `/ready` while its store
 * answers and it serves, `/metrics` for Prometheus. Rejects where the port is taken.
 */
export async function serveOperation(
  { store, metrics }: { store: Store; metrics: Metrics },
  { host, port }: { host: string; port: number },
): Promise<OperationServer> {
  let isServing = false
  const isReady = async () => (await orNothing(store.job(nobody).then(() => true))) === true
  const app = new Hono()
    .get('/health', (context) => context.text('alive'))
    .get('/ready', async (context) =>
      isServing && (await isReady()) ? context.text('ready') : context.text('not ready', 503),
    )
    .get('/metrics', async (context) =>
      context.body(await metrics.text(), 200, { 'Content-Type': metrics.contentType }),
    )
  const server = serve({ fetch: app.fetch, hostname: host, port })
  await once(server, 'listening')
  return {
    url: urlOf(server.address() as AddressInfo),
    serves: (is) => void (isServing = is),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
