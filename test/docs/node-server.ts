import { createServer, type Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { createProxy } from 'fitting-room/proxy'

/** The server of the guide to back ends. */
export function nodeServer(settings: { baseUrl: string; apiKey: string }): Server {
  const listener = getRequestListener(createProxy({ baseUrl: settings.baseUrl, apiKey: () => settings.apiKey }))

  const server = createServer((request, response) => {
    // a browser repeats what it has sent on a connection that ends without any answer
    if (request.method === 'POST' && request.headers.origin) response.writeProcessing()
    response.setHeader('Connection', 'close')
    return listener(request, response)
  })
  return server
}
