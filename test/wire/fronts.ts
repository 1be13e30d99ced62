import { createServer, type RequestListener } from 'node:http'
import { createSecureServer as createSecure2 } from 'node:http2'
import { createServer as createSecure1 } from 'node:https'
import { connect, createServer as createProxy, type AddressInfo, type Server, type Socket } from 'node:net'
import { createService, serve } from '@fitting-room/service'
import { generate } from 'selfsigned'
import { openSandbox } from '../support/open-sandbox.ts'
import { openTestStore } from '../support/test-store.ts'
import { serveFetch } from '../support/serve-fetch.ts'

/** A POST /generations that reached the socket: its body, and whether it came without a length. */
interface Reached {
  body: string
  streamed: boolean
}

/** A server whose connection dies each time that it has read the body of the submission under test. */
export interface Front {
  url: string
  reached: Reached[]
  close(): Promise<void>
}

/** The submission under test; others are served. */
const isKilled = (body: string) => body.includes('"variantId":"2001"')

const config = openSandbox({ previewAfterMs: 60_000, readyAfterMs: 60_000 })

async function open() {
  const { release, ...kept } = await openTestStore()
  const { url, close } = await serve({ config, ...kept }, 0)
  return { port: Number(new URL(url).port), close: () => close().finally(release) }
}

/** The service as it is started by everybody: one behind all of its fronts, to which each has an address of its own. */
let service: ReturnType<typeof open> | null = null
let addresses = 0
export const closeService = async () => (await service)?.close()

/** The service's own connections, seen through their bytes. */
export async function servicesOwn(): Promise<Front> {
  const reached: Reached[] = []
  const { port } = await (service ??= open())
  const localAddress = `127.0.1.${++addresses}`
  const sockets = new Set<Socket>()
  const server = createProxy((client) => {
    const upstream = connect({ port, host: '127.0.0.1', localAddress })
    let text = ''
    client.on('data', (chunk) => {
      text += chunk.toString('latin1')
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reached,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

interface Behaviour {
  /** Answers say `Connection: close`. */
  closes?: boolean
  /** POST /uploads loses its connection, too. */
  losesUploads?: boolean
}

/** The same API behind another server, which keeps its connections open, as most do. */
async function another(
  make: (listener: RequestListener) => Server,
  scheme: 'http' | 'https',
  { closes = false, losesUploads = false }: Behaviour = {},
): Promise<Front> {
  const reached: Reached[] = []
  const service = createService({ config, publicUrl: () => server.url })
  const server = await serveFetch(
    async (request, { streamed, drop }) => {
      const { pathname } = new URL(request.url)
      const lose = () => {
        drop()
        return Response.error()
      }
      if (pathname === '/drop') {
        setImmediate(() => server.dropAll())
        return new Response(null, { status: 204, headers: { 'Access-Control-Allow-Origin': '*' } })
      }
      if (losesUploads && request.method === 'POST' && pathname === '/uploads') return lose()
      if (request.method === 'POST' && pathname === '/generations') {
        const body = await request.clone().text()
        if (isKilled(body)) {
          reached.push({ body, streamed })
          return lose()
        }
      }
      const answer = await service.fetch(request, { ip: '127.0.0.1' })
      if (!closes) answer.headers.delete('connection')
      return answer
    },
    make,
    scheme,
  )
  return {
    url: server.url,
    reached,
    async close() {
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

export const http1Kept = () => another(createServer, 'http')

export async function http1Closing() {
  const certificate = await tls()
  return another((listener) => createSecure1(certificate, listener), 'https', { closes: true })
}

export async function http2Kept(behaviour?: Behaviour) {
  const certificate = await tls()
  // the compatibility API of http2 is that of http, but for its types
  return another((listener) => createSecure2(certificate, listener as never), 'https', behaviour)
}
