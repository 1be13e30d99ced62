import type { RunArguments } from './arguments.ts'
import type { Config } from './config.ts'
import { openDrawing } from './drawing/drawing-pool.ts'
import { memoryStore } from './memory.ts'
import type { Log } from './operation/log.ts'
import { createMetrics } from './operation/metrics.ts'
import { serveOperation } from './operation/serve-operation.ts'
import { placesFor, type Observer } from './ports.ts'
import { serve } from './server.ts'
import { createService, type ServiceOptions } from './service.ts'
import { untilStopped } from './until-stopped.ts'

/** How long the end may take, in ms: a database that stands still would hold it for ever. */
const longestEndMs = 240_000

/** Serves or works, as its role is, until the process is asked to end, and ends it. */
export async function run(
  kept: Omit<ServiceOptions, 'publicUrl'>,
  log: Log,
  { port, host, role, sandbox, operation: place }: RunArguments,
): Promise<void> {
  const { config, store = memoryStore(placesFor(config)) } = kept
  const { report } = log
  // its processes want the processors for themselves as they begin
  const drawing = openDrawing({ beginsAtOnce: true, report })
  const metrics = createMetrics(store.waiting)
  const observer: Observer = {
    answered: metrics.answered,
    ended(job, seconds) {
      metrics.ended(job, seconds)
      log.ended(job)
    },
  }
  const options = { ...kept, store, drawing, report, observer, works: role !== 'api' }
  const orClosed = async (error: unknown) => {
    await store.close()
    throw error
  }
  const operation = place && (await serveOperation({ store, metrics }, place).catch(orClosed))
  const running =
    role === 'worker'
      ? createService({ ...options, publicUrl: config.publicUrl ?? '' })
      : await serve(options, port, host).catch(orClosed)
  operation?.serves(true)
  const dead = 'url' in running && config.publicUrl === undefined && deadAddress(host, running.url)
  if (dead) console.error(dead)
  // who reads that it serves may end it at once
  const stopped = untilStopped()
  console.log('url' in running ? `listening on ${running.url}` : 'working')
  if (sandbox) for (const store of config.stores) console.error(whatItSells(store))
  await stopped
  setTimeout(() => process.exit(1), longestEndMs).unref()
  operation?.serves(false)
  // whoever tries something on at home starts it again at once
  await running.close({ gently: !sandbox })
  process.exit(0)
}

/** What somebody needs to know to try the sandbox. */
const whatItSells = ({ apiKey, products }: Config['stores'][number]) =>
  `the key is ${apiKey}; products: ${products.map(({ id, title }) => `${id} ${title}`).join(', ')}`

/** What to say where a service listens on every address, and none of them is the one that pictures are told to be at. */
export const deadAddress = (host: string, url: string): string | null =>
  host === '0.0.0.0' || host === '::'
    ? `pictures are told to be at ${url}: publicUrl in the configuration is where others find this`
    : null
