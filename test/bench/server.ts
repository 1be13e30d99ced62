import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** What one exchange meets: an answer, a status in its place, or a connection that dies. */
export type Met = 'answer' | 'drop' | number

/** A fault: what the nth submission and the nth poll meet, once the server has read them and done what they ask. */
export interface Fault {
  name: string
  submission: (nth: number) => Met
  poll: (nth: number) => Met
}

/** One API that starts paid jobs and lets them be polled, as one client speaks it. */
export interface Dialect {
  submission: RegExp
  accepted: (jobId: string) => object
  /** Its first group is the job's ID. */
  poll: RegExp
  polled: (jobId: string, done: boolean) => object
  /** Whatever else the client asks for. */
  other?: (path: string) => object
}

export interface RunningServer {
  url: string
  /** Paid jobs that were started. */
  jobs(): number
  close(): void
}

/** How often a job is polled before it is done. */
const pendingPolls = 1

/** One server for every client: it does what a submission asks before it meets its fault. */
export async function startServer(dialect: Dialect, fault: Fault): Promise<RunningServer> {
  const jobs = new Map<string, number>()
  let polls = 0

  function meet(request: IncomingMessage): [Met, object] {
    const path = request.url ?? ''
    if (request.method === 'POST' && dialect.submission.test(path)) {
      const jobId = `00000000-0000-4000-8000-${String(jobs.size + 1).padStart(12, '0')}`
      jobs.set(jobId, 0)
      return [fault.submission(jobs.size), dialect.accepted(jobId)]
    }
    const [, jobId] = (request.method === 'GET' && dialect.poll.exec(path)) || []
    if (jobId === undefined) return ['answer', dialect.other?.(path) ?? {}]
    const met = fault.poll(++polls)
    const seen = jobs.get(jobId) ?? 0
    if (met === 'answer') jobs.set(jobId, seen + 1)
    return [met, dialect.polled(path, seen >= pendingPolls)]
  }

  const server = createServer(async (request, response) => {
    await text(request)
    const [met, body] = meet(request)
    if (met === 'drop') return void request.socket.destroy()
    response.writeHead(met === 'answer' ? 200 : met, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify(met === 'answer' ? body : { error: 'Internal error' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    jobs: () => jobs.size,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
