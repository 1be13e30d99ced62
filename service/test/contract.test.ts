import { createService, memoryQueue, parseConfig, serve, type Queue } from '@fitting-room/service'
import { createSandbox } from '@fitting-room/service/sandbox'
import { suiteConfig } from '../../test/support/suite-config.ts'
import { contractSuite } from './contract.suite.ts'

function movableClock() {
  let now = Date.now()
  return { now: () => now, advance: (ms: number) => void (now += ms) }
}

/** The memory queue, and a promise of all that it has handed out. */
function watchedQueue(): { queue: Queue; rendered: () => Promise<void> } {
  const inner = memoryQueue()
  const jobs: Promise<void>[] = []
  const ended = new Map<string, () => void>()
  const push = async (jobId: string) => {
    jobs.push(new Promise((resolve) => ended.set(jobId, resolve)))
    await inner.push(jobId)
  }
  const run: Queue['run'] = (work) => inner.run((jobId) => work(jobId).finally(ended.get(jobId)))
  return { queue: { ...inner, push, run }, rendered: () => Promise.all(jobs).then(() => undefined) }
}

contractSuite('in process', async () => {
  const clock = movableClock()
  const url = 'http://service.test'
  const { queue, rendered } = watchedQueue()
  const service = createService({ config: parseConfig(suiteConfig), publicUrl: url, clock, queue })
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
  const { queue, rendered } = watchedQueue()
  const { url, close } = await serve({ config: parseConfig(suiteConfig), clock, queue }, 0)
  return { url, rendered, advance: clock.advance, close, fetch: (path, init) => fetch(url + path, init) }
})

contractSuite('in a page', async () => {
  const clock = movableClock()
  const { baseUrl: url, fetch, settle, close } = createSandbox({ config: suiteConfig, clock })
  const send = (path: string, init?: RequestInit) => fetch(url + path, init)
  return { url, rendered: settle, advance: clock.advance, close, fetch: send }
})
