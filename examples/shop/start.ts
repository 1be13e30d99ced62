import { announce, startSandbox } from './sandbox.ts'
import { serveShop } from './serve-shop.ts'

const sandbox = await startSandbox()
const shop = await serveShop(sandbox)
const withdraw = announce(sandbox)

console.log(`
  The shop:     ${shop.url}
  The service:  ${sandbox.baseUrl}

  Open the shop, pick the Breton tee, press “Use a sample photo”, then “Try it on”.
  The product “Test tee” shows every other outcome. Ctrl-C stops both.
`)

const stop = () => {
  withdraw()
  void Promise.allSettled([shop.close(), sandbox.server.close()]).then(() => process.exit(0))
}
process.once('SIGINT', stop)
process.once('SIGTERM', stop)
