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
  close(): Promise<void>
}

interface Hold {
  request: string
  where: 'before' | 'after'
  arrive(): void
  released: Promise<void>
}

export async function watchedService(
  generation = { previewAfterMs: 1_000, readyAfterMs: 2_000 },
): Promise<WatchedService> {
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
  const service = createService({ config: openSandbox(generation), publicUrl: server.url, store })
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
    async close() {
      server.close()
      await service.close()
    },
  }
}
