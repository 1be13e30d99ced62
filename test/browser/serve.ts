import { createService } from '@fitting-room/service'
import { openSandbox } from '../support/open-sandbox.ts'
import { serveFetch } from '../support/serve-fetch.ts'

/** Many tests run side by side, each as if from elsewhere: none is refused because of the others. */
const somewhere = () => [10, 0, 0, 0].map((part) => part || Math.floor(256 * Math.random())).join('.')

const service = createService({
  config: openSandbox({ previewAfterMs: 150, readyAfterMs: 300 }),
  publicUrl: () => server.url,
})
const server = await serveFetch((request, { drop }) => service.fetch(request, { ip: somewhere(), drop }))
console.log(server.url)
