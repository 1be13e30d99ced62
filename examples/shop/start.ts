import { parseArgs } from 'node:util'
import { untilStopped, usualData } from '@fitting-room/service'
import { announce, startSandbox } from './sandbox.ts'
import { serveShop } from './serve-shop.ts'

const { values } = parseArgs({ options: { data: { type: 'string', default: usualData } } })
const sandbox = await startSandbox(values.data)
const shop = await serveShop(sandbox)
const withdraw = announce(sandbox)

console.log(`
  The shop:     ${shop.url}
  The service:  ${sandbox.baseUrl}

  Open the shop, pick the Breton tee, press “Use a sample photo”, then “Try it on”.
  The product “Test tee” shows every other outcome. Ctrl-C stops both.
`)

await untilStopped()
withdraw()
await Promise.allSettled([shop.close(), sandbox.server.close()])
process.exit(0)
