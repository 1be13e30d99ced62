import { getRequestListener } from '@hono/node-server'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as after } from 'node:timers/promises'
import type { Service } from './assemble.ts'
import { isProxy } from './client-address.ts'
import { fewAtOnce } from './few-at-once.ts'
import { checkKeys } from './keys.ts'
import { mostConnections } from './most-connections.ts'
import { sayProcessing } from './said-at-once.ts'
import { createService, type ServiceOptions } from './service.ts'

export interface RunningServer {
  url: string
  service: Service
  /**
   * Answers the requests under way, then ends. With `gently`, new requests are still answered until senders have learnt
   * of the end, each closing its connection; and no connection is cut that a request may be on.
   */
  close(options?: { gently: boolean }): Promise<void>
}

const refusal = { error: 'Invalid request', message: 'this is not an HTTP request that can be read' }
const refusalHeaders = { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'no-store', Connection: 'close' }

/** What a request gets that is no HTTP, or whose head is too large: an error body, and CORS as everywhere. */
const unreadable = [
  'HTTP/1.1 400 Bad Request',
  'Content-Type: application/json',
  `Content-Length: ${JSON.stringify(refusal).length}`,
  ...Object.entries(refusalHeaders).map(([name, value]) => `${name}: ${value}`),
  '',
  JSON.stringify(refusal),
].join('\r\n')

/** How long a connection may last after that, in ms, for it to be read. */
const unreadMs = 1_000

/** How long the head of a request, and all of it, may take to arrive, in ms. */
const timeouts = { headersTimeout: 15_000, requestTimeout: 150_000 }

/** How long a connection without a request is told that it may last, and does, in ms. */
const keepAliveTimeout = 5_000
const idleMs = keepAliveTimeout + 1_000

/**
 * Serves on `host`, by default to this machine alone; port 0 takes a free one. Clients reach it at the configuration's
 * `publicUrl`, or else at that address. Rejects if the port is taken, or with `ConfigError` if a key is missing.
 */
export async function serve(
  options: Omit<ServiceOptions, 'publicUrl'>,
  port: number,
  host = '127.0.0.1',
): Promise<RunningServer> {
  checkKeys(options)
  let service: Service
  let isEnding = false
  const respond = getRequestListener(
    async (request, { incoming: { socket }, outgoing }) => {
      const answer = await service.fetch(request, { ip: socket.remoteAddress ?? '', drop: () => socket.destroy() })
      if (isEnding) (outgoing as ServerResponse).shouldKeepAlive = false
      return answer
    },
    // what has no host, or a path that is none
    { errorHandler: () => Response.json(refusal, { status: 400, headers: refusalHeaders }) },
  )
  const { listener, endAnswered } = fewAtOnce((request, answer) => {
    // a proxy may take the first answer for the last
    if (!isProxy(request.socket.remoteAddress ?? '', options.config.trustedProxies)) sayProcessing(request, answer)
    return respond(request, answer)
  })
  const server = createServer({ requireHostHeader: false, keepAliveTimeout, ...timeouts }, listener)
  server.maxConnections = mostConnections()
  // an expectation that nobody knows is no reason to answer in another way
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  // whoever does not read what was asked for holds it in memory
  server.setTimeout(timeouts.requestTimeout)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy()
    // what was accepted is not refused for what comes behind it
    else if (!endAnswered(socket)) {
      socket.end(unreadable)
      // who sends on, byte by byte, would have the connection for ever
      setTimeout(() => socket.destroy(), unreadMs).unref()
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const url = urlOf(server.address() as AddressInfo)
  // with the port, as it begins to work on what is queued
  service = createService({ ...options, publicUrl: options.config.publicUrl ?? url })
  return {
    url,
    service,
    async close({ gently } = { gently: false }) {
      isEnding = true
      const idleFrom = performance.now() + idleMs
      if (gently) await untilNobodyComes(server)
      await drained(server, gently ? idleFrom : 0)
      await service.close()
    },
  }
}

/** How this machine reaches a server. */
export function urlOf({ address, family, port }: AddressInfo): string {
  const isAny = address === '0.0.0.0' || address === '::'
  const host = isAny ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address
  return `http://${host}:${port}`
}

/** How long requests that are under way have to be answered, in ms: as long as they may take to arrive. */
const longestDrainMs = timeouts.requestTimeout

/** How often it is looked for connections without a request, in ms. */
const lookMs = 50

/** Takes no new connections, answers the requests that are there, and ends what is idle: by default at once. */
async function drained(server: Server, idleFrom = 0): Promise<void> {
  // the server's own way ends idle connections at once, while a request may be on its way
  const { close }: NetServer = idleFrom === 0 ? server : NetServer.prototype
  const isClosed = new Promise<void>((resolve) => close.call(server, () => resolve()))
  const limit = setTimeout(() => server.closeAllConnections(), longestDrainMs)
  const look = setInterval(() => performance.now() >= idleFrom && server.closeIdleConnections(), lookMs)
  await isClosed
  clearInterval(look)
  clearTimeout(limit)
}

/** How long whoever sends requests has to learn that this process ends, and how long for the last of them to be noticed, in ms. */
const lingerMs = 2_000
const quietMs = 500
const longestLingerMs = 20_000

/** A connection that the system has taken, and this process has not yet, is cut off as it closes: it waits until nobody comes. */
async function untilNobodyComes(server: Server): Promise<void> {
  const start = performance.now()
  let last = start
  const come = () => void (last = performance.now())
  server.on('connection', come)
  server.on('drop', come)
  await after(lingerMs)
  while (performance.now() - last < quietMs && performance.now() - start < longestLingerMs) await after(lookMs)
  server.off('connection', come)
  server.off('drop', come)
}
