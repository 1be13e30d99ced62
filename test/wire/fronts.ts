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

/** An answer that says only that there will be another one. */
const interim = /^HTTP\/1\.1 1\d\d [\s\S]*?\r\n\r\n/

/** The service's own connections, seen through their bytes: of the submission under test its last answer is lost. */
export async function servicesOwn(): Promise<Front> {
  const reached: Reached[] = []
  const { port } = await (service ??= open())
  const localAddress = `127.0.1.${++addresses}`
  const sockets = new Set<Socket>()
  const server = createProxy((client) => {
    const upstream = connect({ port, host: '127.0.0.1', localAddress })
    let asked = ''
    let isTested = false
    client.on('data', (chunk) => {
      upstream.write(chunk)
      asked += chunk.toString('latin1')
      const [head = ''] = /^POST \/generations [\s\S]*?\r\n\r\n/m.exec(asked) ?? []
      const length = /^content-length: (\d+)/im.exec(head)
      const body = asked.slice(asked.indexOf(head) + head.length)
      const isWhole = head !== '' && (length ? body.length >= Number(length[1]) : body.endsWith('0\r\n\r\n'))
      if (!isWhole) return
      asked = ''
      isTested = isKilled(body)
      if (isTested) reached.push({ body, streamed: length === null })
    })
    upstream.on('data', (chunk) => {
      if (!isTested) return void client.write(chunk)
      const [told = ''] = interim.exec(chunk.toString('latin1')) ?? []
      client.write(told)
      if (told.length === chunk.length) return
      client.destroySoon()
      upstream.destroy()
    })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
    }
    upstream.on('close', () => client.end())
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
  /** How often the submission under test is refused before its connection is lost. */
  refusals?: number
}

/** The same API behind another server, which keeps its connections open, as most do. */
async function another(
  make: (listener: RequestListener) => Server,
  scheme: 'http' | 'https',
  { closes = false, losesUploads = false, refusals = 0 }: Behaviour = {},
): Promise<Front> {
  const reached: Reached[] = []
  const service = createService({ config, publicUrl: () => server.url })
  const server = await serveFetch(
    async (request, { streamed, drop, refuse }) => {
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
          if (reached.length > refusals) return lose()
          refuse()
          throw new Error('it is not answered')
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

/** No connection is used again, and that is all. */
export const http1ClosingAlone = () => another(createServer, 'http', { closes: true })

/** As the service does it: an interim answer first, and no connection that is used again. */
export async function http1Closing() {
  const certificate = await tls()
  const sayProcessing =
    (listener: RequestListener): RequestListener =>
    (request, answer) => {
      if (request.method === 'POST') answer.writeProcessing()
      listener(request, answer)
    }
  return another((listener) => createSecure1(certificate, sayProcessing(listener)), 'https', { closes: true })
}

export async function http2Kept(behaviour?: Behaviour) {
  const certificate = await tls()
  // the compatibility API of http2 is that of http, but for its types
  return another((listener) => createSecure2(certificate, listener as never), 'https', behaviour)
}
