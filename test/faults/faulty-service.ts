import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { createService, parseConfig, type Job } from '@fitting-room/service'
import { undrawn } from '../support/undrawn.ts'
import { openLedger } from '../support/open-ledger.ts'
import { suiteConfig } from '../support/suite-config.ts'
import type { WireFault } from './wire-faults.ts'

/** The real service at a socket; what is planned for an exchange happens to it there. */
export interface FaultyService {
  url: string
  jobs: ReadonlyMap<string, Job>
  /** Requests that reached the socket, as `METHOD /path`. */
  reached: string[]
  /** Meets the next exchange that begins so, or every one. */
  plan(request: string, fault: WireFault, times: 'once' | 'always'): void
  close(): Promise<void>
}

/** `onSilence` is told of each exchange that is served and never answered. */
export async function faultyService(onSilence: () => void): Promise<FaultyService> {
  const { store, jobs } = openLedger()
  const reached: string[] = []
  let planned: { request: string; fault: WireFault; times: 'once' | 'always' } | null = null
  const config = parseConfig({
    stores: suiteConfig.stores.slice(0, 1),
    generation: { previewAfterMs: 0, readyAfterMs: 0 },
  })
  let url = ''
  const service = createService({ config, store, ...undrawn, publicUrl: () => url })

  function faultOf(name: string): WireFault | null {
    if (planned === null || !name.startsWith(planned.request)) return null
    const { fault, times } = planned
    if (times === 'once') planned = null
    return fault
  }

  const server = createServer(async (request, response) => {
    const name = `${request.method} ${request.url}`
    reached.push(name)
    const fault = faultOf(name)
    if (fault?.at === 'beforeReading') return void request.socket.destroy()
    const body = await buffer(request).catch(() => null)
    // a page that was closed in the middle of its request waits for no answer
    if (body === null) return
    if (fault?.at === 'answer') return write(response, fault.status, fault.headers ?? {}, Buffer.from(fault.body))
    const asked = new Request(url + request.url, {
      method: request.method ?? 'GET',
      headers: request.headers as Record<string, string>,
      ...(body.length > 0 && { body }),
    })
    const answer = await service.fetch(asked, { ip: '127.0.0.1' })
    if (fault?.at === 'never') return onSilence()
    if (fault?.at === 'afterServing') return void request.socket.destroy()
    const bytes = Buffer.from(await answer.arrayBuffer())
    if (fault?.at === 'inTheBody') return cut(response, bytes)
    write(response, answer.status, Object.fromEntries(answer.headers), bytes)
  })
  server.on('connection', (socket: Socket) => socket.on('error', () => undefined))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    jobs,
    reached,
    plan: (request, fault, times) => void (planned = { request, fault, times }),
    async close() {
      server.closeAllConnections()
      server.close()
      await service.close()
    },
  }
}

function write(response: ServerResponse, status: number, headers: Record<string, string>, body: Buffer): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers })
  response.end(status === 204 || status === 304 ? undefined : body)
}

/** The head of an answer and half of what it promises. */
function cut(response: ServerResponse, bytes: Buffer): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': bytes.length + 10 })
  response.write(bytes.subarray(0, bytes.length / 2))
  setImmediate(() => response.destroy())
}
