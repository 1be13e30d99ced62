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
  type ServiceOptions,
  type Store,
} from '@fitting-room/service'
import { describe } from 'vitest'
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

interface Kept extends DurableStore {
  release(): Promise<void>
}

const onFolder = async (): Promise<Kept> => {
  const folder = await mkdtemp(join(tmpdir(), 'service-'))
  return { ...(await openFolderStore(folder, { report })), release: () => rm(folder, { recursive: true }) }
}

const onServer = async (clock: Clock): Promise<Kept> => {
  const server = await startPostgresServer()
  return { ...(await openServerStore(await server.newDatabase(), { report, clock })), release: server.close }
}

describe.each([
  ['on a folder', onFolder],
  ['on PostgreSQL', onServer],
])('%s', (_, open) => {
  /** A service on a store that outlasts it, however it is reached. */
  async function subject(
    reach: (options: Omit<ServiceOptions, 'publicUrl'>) => Promise<Pick<Subject, 'url' | 'fetch' | 'close'>>,
  ): Promise<Subject> {
    const clock = movableClock()
    const { store: inner, release, ...shared } = await open(clock)
    const { store, rendered } = watched(inner)
    const { close, ...reached } = await reach({ config: parseConfig(suiteConfig), clock, store, ...shared })
    return { ...reached, rendered, advance: clock.advance, close: () => close().finally(release) }
  }

  contractSuite('over a socket', () =>
    subject(async (options) => {
      const { url, close } = await serve(options, 0)
      return { url, close, fetch: (path, init) => fetch(url + path, init) }
    }),
  )

  contractSuite('in process', () =>
    subject(async (options) => {
      const url = 'http://service.test'
      const { fetch: ask, close } = createService({ ...options, publicUrl: url })
      return { url, close, fetch: async (path, init) => ask(new Request(url + path, init)) }
    }),
  )
})
