import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createService,
  memoryStore,
  openFolderStore,
  openServerStore,
  parseConfig,
  serve,
  watchedStore,
  type Clock,
  type DurableStore,
  type Store,
} from '@fitting-room/service'
import { createSandbox } from '@fitting-room/service/sandbox'
import { suiteConfig } from '../../test/support/suite-config.ts'
import { contractSuite, type Subject } from './contract.suite.ts'
import { startPostgresServer } from './postgres-server.ts'

const report = (error: unknown) => console.error(error)

function movableClock() {
  let now = Date.now()
  return { now: () => now, advance: (ms: number) => void (now += ms) }
}

/** The store, and a promise of all that it has queued. */
function watched(inner: Store): { store: Store; rendered: () => Promise<void> } {
  const jobs: Promise<void>[] = []
  const ended = new Map<string, () => void>()
  const store = watchedStore(inner, {
    saved: ({ id }, isNew) => isNew && void jobs.push(new Promise((resolve) => ended.set(id, resolve))),
    worked: (jobId) => ended.get(jobId)?.(),
  })
  return { store, rendered: () => Promise.all(jobs).then(() => undefined) }
}

contractSuite('in process', async () => {
  const clock = movableClock()
  const url = 'http://service.test'
  const { store, rendered } = watched(memoryStore())
  const service = createService({ config: parseConfig(suiteConfig), publicUrl: url, clock, store })
  return {
    url,
    rendered,
    advance: clock.advance,
    fetch: (path, init) => service.fetch(new Request(url + path, init), { ip: '203.0.113.7' }),
    close: () => service.close(),
  }
})

contractSuite('over a socket', async () => {
  const clock = movableClock()
  const { store, rendered } = watched(memoryStore())
  const { url, close } = await serve({ config: parseConfig(suiteConfig), clock, store }, 0)
  return { url, rendered, advance: clock.advance, close, fetch: (path, init) => fetch(url + path, init) }
})

contractSuite('in a page', async () => {
  const clock = movableClock()
  const { baseUrl: url, fetch, settle, close } = createSandbox({ config: suiteConfig, clock })
  const send = (path: string, init?: RequestInit) => fetch(url + path, init)
  return { url, rendered: settle, advance: clock.advance, close, fetch: send }
})

/** The service on a store that outlasts it. */
async function durable(open: (clock: Clock) => Promise<DurableStore>, release: () => Promise<void>): Promise<Subject> {
  const clock = movableClock()
  const { store: inner, ...shared } = await open(clock)
  const { store, rendered } = watched(inner)
  const { url, close } = await serve({ config: parseConfig(suiteConfig), clock, store, ...shared }, 0)
  return {
    url,
    rendered,
    advance: clock.advance,
    fetch: (path, init) => fetch(url + path, init),
    close: () => close().finally(release),
  }
}

contractSuite('on a folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'service-'))
  return durable(
    () => openFolderStore(folder, { report }),
    () => rm(folder, { recursive: true }),
  )
})

contractSuite('on PostgreSQL', async () => {
  const server = await startPostgresServer()
  const address = await server.newDatabase()
  return durable((clock) => openServerStore(address, { report, clock }), server.close)
})
