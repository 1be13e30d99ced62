import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { constants, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo, Server, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** What comes with a request beside what `fetch` knows of it. */
export interface Wire {
  /** Whether the body came without a length. */
  streamed: boolean
  /** Kills the connection; the answer goes nowhere. */
  drop(): void
  /** Says in HTTP/2 that the request was not processed, as some proxies do of what they have passed on. */
  refuse(): void
}

export interface FetchServer {
  url: string
  /** Kills every connection. */
  dropAll(): void
  close(): void
}

/** A fetch-style handler on a port, over any of Node's servers, so that a test can stand between the two. */
export async function serveFetch(
  handle: (request: Request, wire: Wire) => Promise<Response>,
  make: (listener: RequestListener) => Server = createServer,
  scheme: 'http' | 'https' = 'http',
  port = 0,
): Promise<FetchServer> {
  /** The connections themselves by their port there: HTTP/2 hands out streams in their place. */
  const sockets = new Map<number | undefined, Socket>()
  let url = ''
  const server = make((request, response) => {
    const answering = async () => {
      const drop = () => void sockets.get(request.socket.remotePort)?.destroy()
      const refuse = () =>
        (response as unknown as Partial<Http2ServerResponse>).stream?.close(constants.NGHTTP2_REFUSED_STREAM)
      const streamed = request.headers['content-length'] === undefined
      const ends = new AbortController()
      response.once('close', () => response.writableFinished || ends.abort())
      const answer = await handle(await requestOf(request, url, ends.signal), { streamed, drop, refuse })
      const body = Buffer.from(await answer.arrayBuffer())
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(body)
    }
    // a connection that is gone wants no answer
    answering().catch(() => response.destroy())
  })
  server.on('connection', (socket: Socket) => {
    sockets.set(socket.remotePort, socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  url = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`
  const dropAll = () => sockets.forEach((socket) => socket.destroy())
  return {
    url,
    dropAll,
    close() {
      dropAll()
      server.close()
    },
  }
}

async function requestOf(request: IncomingMessage, origin: string, signal: AbortSignal): Promise<Request> {
  const { method = '', headers, url = '' } = request
  const body = await buffer(request)
  const sent = Object.entries(headers).filter(([name]) => !name.startsWith(':')) as [string, string][]
  return new Request(origin + url, { method, headers: sent, signal, ...(body.length > 0 && { body }) })
}
