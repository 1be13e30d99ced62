import { createService, type Job } from '@fitting-room/service'
import { openSandbox } from '../support/open-sandbox.ts'
import { serveFetch, type FetchServer } from '../support/serve-fetch.ts'
import { openLedger } from '../support/open-ledger.ts'

/** The real service on a port, with its ledger laid open, a list of what reached it, and exchanges held on demand. */
export interface WatchedService {
  url: string
  jobs: ReadonlyMap<string, Job>
  /** `METHOD /path` of every request, in order. */
  reached: string[]
  count(request: string): number
  /** The next matching exchange waits, before it reaches the service or before its answer leaves. */
  hold(request: string, where: 'before' | 'after'): { there: Promise<void>; release(): void }
  /** Moves its time on until that picture of every job so far is ready. */
  make(picture: 'preview' | 'final'): void
  close(): Promise<void>
}

/** Pictures are ready when a test says so, however slow the machine is. */
export const whenTold = { previewAfterMs: 3_600_000, readyAfterMs: 7_200_000 }
const atOnce = { previewAfterMs: 0, readyAfterMs: 0 }

interface Hold {
  request: string
  where: 'before' | 'after'
  arrive(): void
  released: Promise<void>
}

export async function watchedService(generation = atOnce): Promise<WatchedService> {
  let ahead = 0
  const { store, jobs } = openLedger()
  const reached: string[] = []
  const holds: Hold[] = []
  const server: FetchServer = await serveFetch(async (request) => {
    const name = `${request.method} ${new URL(request.url).pathname}`
    reached.push(name)
    const at = holds.findIndex((each) => name.startsWith(each.request))
    const [hold] = at < 0 ? [] : holds.splice(at, 1)
    const wait = async (where: Hold['where']) => {
      if (hold?.where !== where) return
      hold.arrive()
      await hold.released
    }
    await wait('before')
    const answer = await service.fetch(request, { ip: '127.0.0.1' })
    await wait('after')
    return answer
  })
  const service = createService({
    config: openSandbox(generation),
    publicUrl: server.url,
    store,
    clock: { now: () => Date.now() + ahead },
  })
  return {
    url: server.url,
    jobs,
    reached,
    count: (request) => reached.filter((each) => each.startsWith(request)).length,
    hold(request, where) {
      let release = () => {}
      let arrive = () => {}
      const there = new Promise<void>((resolve) => (arrive = resolve))
      const released = new Promise<void>((resolve) => (release = resolve))
      holds.push({ request, where, arrive: () => arrive(), released })
      return { there, release: () => release() }
    },
    make: (picture) => void (ahead += picture === 'preview' ? generation.previewAfterMs : generation.readyAfterMs),
    async close() {
      server.close()
      await service.close()
    },
  }
}
