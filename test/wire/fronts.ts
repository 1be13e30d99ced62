import { createServer } from 'node:http'
import { createSecureServer as createSecure2 } from 'node:http2'
import { createServer as createSecure1 } from 'node:https'
import { connect, createServer as createProxy, type AddressInfo, type Server, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { createService, serve } from '@fitting-room/service'
import { generate } from 'selfsigned'
import { openSandbox } from '../support/open-sandbox.ts'

/** A POST /generations that reached the socket: its body, and whether it came without a length. */
interface Reached {
  body: string
  streamed: boolean
}

/** A server whose connection dies each time that it has read the body of the submission under test. */
export interface Front {
  url: string
  reached: Reached[]
  /** How many upload targets were asked for. */
  uploads(): number
  close(): Promise<void>
}

/** The submission under test; others are served. */
const isKilled = (body: string) => body.includes('"variantId":"2001"')

const config = openSandbox({ previewAfterMs: 60_000, readyAfterMs: 60_000 })
const listen = async (server: Server) => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** The service as it is started by everybody, seen through the bytes of its connections. */
export async function servicesOwn(): Promise<Front> {
  const reached: Reached[] = []
  let uploads = 0
  const service = await serve({ config }, 0)
  const sockets = new Set<Socket>()
  const server = createProxy((client) => {
    const upstream = connect(Number(new URL(service.url).port), '127.0.0.1')
    let text = ''
    client.on('data', (chunk) => {
      text += chunk.toString('latin1')
      uploads += chunk.toString('latin1').split(/^POST \/uploads /m).length - 1
      const head = /^POST \/generations [\s\S]*?\r\n\r\n/m.exec(text)
      if (!head) return void upstream.write(chunk)
      const length = /^content-length: (\d+)/im.exec(head[0])
      const body = text.slice(head.index + head[0].length)
      const whole = length ? body.length >= Number(length[1]) : body.endsWith('0\r\n\r\n')
      if (!whole) return
      if (!isKilled(body)) {
        upstream.write(Buffer.from(text.slice(head.index), 'latin1'))
        text = ''
        return
      }
      reached.push({ body, streamed: length === null })
      client.destroy()
      upstream.destroy()
    })
    upstream.pipe(client)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
    }
    client.on('close', () => upstream.destroy())
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}`,
    reached,
    uploads: () => uploads,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await service.close()
    },
  }
}

interface Behaviour {
  /** Answers say `Connection: close`. */
  closes?: boolean
  /** POST /uploads loses its connection, too. */
  losesUploads?: boolean
}

type Handler = Parameters<typeof createServer>[1] & {}

/** The same API behind another server, which keeps its connections open, as most do. */
async function another(
  scheme: 'http' | 'https',
  make: (handle: Handler) => Server,
  { closes = false, losesUploads = false }: Behaviour = {},
): Promise<Front> {
  const reached: Reached[] = []
  /** The connections themselves by their port there: HTTP/2 hands out streams in their place. */
  const sockets = new Map<number | undefined, Socket>()
  let uploads = 0
  let url = ''
  const service = createService({ config, publicUrl: () => url })
  const server = make(async (request, response) => {
    const { method = '', headers, url: path } = request
    const body = await buffer(request)
    const lose = () => void sockets.get(request.socket.remotePort)?.destroy()
    if (path === '/drop') {
      response.writeHead(204, { 'Access-Control-Allow-Origin': '*' }).end()
      return void response.once('close', () => sockets.forEach((socket) => socket.destroy()))
    }
    if (method === 'POST' && path === '/uploads') {
      uploads++
      if (losesUploads) return lose()
    }
    if (method === 'POST' && path === '/generations' && isKilled(body.toString())) {
      reached.push({ body: body.toString(), streamed: headers['content-length'] === undefined })
      return lose()
    }
    const sent = Object.entries(headers).filter(([name]) => !name.startsWith(':')) as [string, string][]
    const answer = await service.fetch(
      new Request(url + path, { method, headers: sent, ...(body.length > 0 && { body }) }),
      { ip: '127.0.0.1' },
    )
    if (!closes) answer.headers.delete('connection')
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()))
  })
  server.on('connection', (socket: Socket) => {
    sockets.set(socket.remotePort, socket)
    socket.on('error', () => undefined)
  })
  url = `${scheme}://127.0.0.1:${await listen(server)}`
  return {
    url,
    reached,
    uploads: () => uploads,
    async close() {
      sockets.forEach((socket) => socket.destroy())
      server.close()
      await service.close()
    },
  }
}

let generated: ReturnType<typeof generate> | undefined

/** A certificate that nobody has signed but itself, for this run. */
async function tls() {
  generated ??= generate([{ name: 'commonName', value: '127.0.0.1' }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  })
  const { private: key, cert } = await generated
  return { key, cert }
}

export const http1Kept = () => another('http', (handle) => createServer(handle))

export async function http1Closing() {
  const certificate = await tls()
  return another('https', (handle) => createSecure1(certificate, handle), { closes: true })
}

export async function http2Kept(behaviour?: Behaviour) {
  const certificate = await tls()
  // the compatibility API of http2 is that of http, but for its types
  return another('https', (handle) => createSecure2(certificate, handle as never), behaviour)
}
