import { build } from 'vite'
import { serveFetch, type Wire } from './serve-fetch.ts'

/**
 * Builds one script as a store's own build would, and serves a page that runs it, with what it loads later; beside it what
 * the page's own server answers below `/api`.
 */
export async function servePage(
  entry: string,
  api?: (request: Request, wire: Wire) => Promise<Response>,
): Promise<{ url: string; close(): void }> {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    // whatever the tests themselves run as
    oxc: { jsx: { runtime: 'automatic', development: false } },
    define: { 'process.env.NODE_ENV': '"production"' },
    resolve: { conditions: ['fitting-room-source', 'module', 'browser', 'production'] },
    build: { write: false, lib: { entry, formats: ['es'] } },
  })
  if (!Array.isArray(built)) throw new TypeError('a library build gives a list')
  const files = new Map<string, string>()
  for (const file of built[0]?.output ?? []) if (file.type === 'chunk') files.set(`/${file.fileName}`, file.code)
  const [first] = files.keys()
  const page = `<!doctype html><meta charset="utf-8"><title>page</title><script type="module" src="${first}"></script>`
  const server = await serveFetch(async (request, wire) => {
    const { pathname } = new URL(request.url)
    if (api && pathname.startsWith('/api')) return api(request, wire)
    const code = files.get(pathname)
    return new Response(code ?? page, {
      headers: { 'Content-Type': code === undefined ? 'text/html' : 'text/javascript' },
    })
  })
  return { url: `${server.url}/`, close: server.close }
}
