import { createAdaptorServer } from '@hono/node-server'
import type { AddressInfo, Socket } from 'node:net'
import type { Service } from './assemble.ts'
import { createService, type ServiceOptions } from './service.ts'

export interface RunningServer {
  url: string
  service: Service
  close(): Promise<void>
}

const refusal = JSON.stringify({ error: 'Invalid request', message: 'this is not an HTTP request that can be read' })

/** What a request gets that is no HTTP, or whose head is too large: an error body, and CORS as everywhere. */
const unreadable = [
  'HTTP/1.1 400 Bad Request',
  'Content-Type: application/json',
  `Content-Length: ${refusal.length}`,
  'Access-Control-Allow-Origin: *',
  'Connection: close',
  '',
  refusal,
].join('\r\n')

/** Serves on 127.0.0.1; port 0 takes a free one. Rejects when the port is taken. */
export async function serve(options: Omit<ServiceOptions, 'publicUrl'>, port: number): Promise<RunningServer> {
  let url = ''
  const service = createService({ ...options, publicUrl: () => url })
  const server = createAdaptorServer({
    fetch: (request, { incoming }) => {
      const { socket } = incoming
      return service.fetch(request, { ip: socket.remoteAddress ?? '', drop: () => socket.destroy() })
    },
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (socket.writable && error.code !== 'ECONNRESET') socket.end(unreadable)
    else socket.destroy()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    service,
    async close() {
      if ('closeAllConnections' in server) server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await service.close()
    },
  }
}
