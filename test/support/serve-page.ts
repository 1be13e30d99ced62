import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'vite'

/** Builds one script as a store's own build would, and serves a page that runs it, with what it loads later. */
export async function servePage(entry: string): Promise<{ url: string; close(): void }> {
  const built = await build({
    configFile: false,
    logLevel: 'warn',
    resolve: { conditions: ['fitting-room-source', 'module', 'browser', 'production'] },
    build: { write: false, lib: { entry, formats: ['es'] } },
  })
  if (!Array.isArray(built)) throw new TypeError('a library build gives a list')
  const files = new Map<string, string>()
  for (const file of built[0]?.output ?? []) if (file.type === 'chunk') files.set(`/${file.fileName}`, file.code)
  const [first] = files.keys()
  const page = `<!doctype html><meta charset="utf-8"><title>page</title><script type="module" src="${first}"></script>`
  const server = createServer((request, response) => {
    const code = files.get(request.url ?? '')
    response.setHeader('Content-Type', code === undefined ? 'text/html' : 'text/javascript').end(code ?? page)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
