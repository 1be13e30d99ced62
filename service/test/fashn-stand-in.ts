import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json as jsonOf } from 'node:stream/consumers'
import sharp from 'sharp'

export type Answer = (response: ServerResponse) => void
export const answer =
  (status: number, body: object = {}): Answer =>
  (response) =>
    void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
/** The connection ends without an answer. */
export const lost: Answer = (response) => response.destroy()

export interface FashnStandIn {
  url: string
  /** What /run was asked for, as JSON. */
  runs: { model_name: string; inputs: Record<string, string> }[]
  /** The headers of each, and the query. */
  asked: { authorization: string | undefined; search: string }[]
  /** What becomes of the next requests to /run, which begin pictures all the same; then they are answered with an ID. */
  faults: Answer[]
  /** What /status says, one after the other; the last one for good. Default: processing, then completed. */
  states: object[]
  close(): Promise<void>
}

/** A server that speaks FASHN's shapes, by its public documentation. */
export async function startFashnStandIn(): Promise<FashnStandIn> {
  const picture = await sharp({ create: { width: 30, height: 40, channels: 3, background: '#284' } })
    .png()
    .toBuffer()
  const standIn: Omit<FashnStandIn, 'url' | 'close'> = { runs: [], asked: [], faults: [], states: [] }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search } = new URL(request.url ?? '', url)
    if (pathname === '/output_0.png') return void response.writeHead(200).end(picture)
    standIn.asked.push({ authorization: request.headers.authorization, search })
    if (pathname.startsWith('/status/')) {
      const next = standIn.states.length > 1 ? standIn.states.shift() : standIn.states[0]
      return answer(200, { id: pathname.slice('/status/'.length), error: null, ...next })(response)
    }
    standIn.runs.push((await jsonOf(request)) as FashnStandIn['runs'][number])
    const fault = standIn.faults.shift()
    if (fault) return fault(response)
    answer(200, { id: `prediction-${standIn.runs.length}`, error: null })(response)
  }

  const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  standIn.states.push({ status: 'processing' }, { status: 'completed', output: [`${url}/output_0.png`] })
  return Object.assign(standIn, {
    url,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}
