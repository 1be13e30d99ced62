import { expect, it, onTestFinished } from 'vitest'
import { engines } from '../engines/engines.ts'
import { serveFetch } from '../support/serve-fetch.ts'

const script = { headers: { 'content-type': 'text/javascript' } }
const document = `<!doctype html><link rel="icon" href="data:,"><script type="module">
  globalThis.load = () => import('/core.js').then(({ parts }) => parts, () => 'refused')
</script>`

it.each(engines)('$name loads a module of two files that was refused, after a reload at the latest', async (engine) => {
  let isRefused = true
  const front = await serveFetch(async ({ url }) => {
    const { pathname } = new URL(url)
    if (pathname === '/') return new Response(document, { headers: { 'content-type': 'text/html' } })
    if (isRefused) return new Response(null, { status: 404 })
    return new Response(
      pathname === '/part.js' ? 'export default 2' : "export { default as parts } from '/part.js'",
      script,
    )
  })
  const running = await engine.launch()
  onTestFinished(async () => {
    await running.close()
    front.close()
  })
  const tab = await running.open(front.url)
  expect(await tab.run('load()')).toBe('refused')
  isRefused = false
  await tab.run('void setTimeout(() => location.reload())')
  await expect.poll(() => tab.run('load()').catch(() => 'reloading')).toBe(2)
})
