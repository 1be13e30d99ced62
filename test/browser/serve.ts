import { createService } from '@fitting-room/service'
import { openSandbox } from '../support/open-sandbox.ts'
import { serveFetch } from '../support/serve-fetch.ts'

/** Many tests run side by side, each as if from elsewhere: none is refused because of the others. */
const somewhere = () => [10, 0, 0, 0].map((part) => part || Math.floor(256 * Math.random())).join('.')

const service = createService({
  config: openSandbox({ previewAfterMs: 150, readyAfterMs: 300 }),
  publicUrl: () => server.url,
})
const cors = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers': '*',
  'Access-Control-Allow-Methods': '*',
}
/** A target that leads elsewhere, where whoever follows is told that all is well. */
const led = async ({ method }: Request, path: string) =>
  path === '/led' && method === 'PUT'
    ? new Response(null, { status: 303, headers: { ...cors, Location: '/arrived' } })
    : new Response(null, { headers: cors })
const server = await serveFetch((request, { drop }) => {
  const { pathname } = new URL(request.url)
  return /^\/(?:led|arrived)$/.test(pathname)
    ? led(request, pathname)
    : service.fetch(request, { ip: somewhere(), drop })
})
console.log(server.url)
