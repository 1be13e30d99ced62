import { createServer, type Server } from 'node:http'
import { connect, createServer as createProxy, type AddressInfo, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { serve, type RunningServer } from '@fitting-room/service'
import { chromium, type Browser, type Page } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { chromiumLaunch } from '../../../test/browser/chromium.ts'
import { openSandbox } from '../../../test/support/open-sandbox.ts'
import { sandboxKey } from '../sandbox.ts'
import { serveShop } from '../serve-shop.ts'

const photo = fileURLToPath(new URL('../../sample/person.png', import.meta.url))

/** How many POST /generations reached the socket of each server; both kill the connection once the body is read. */
const reached = { room: 0, bare: 0 }
let service: RunningServer
let proxy: Server | ReturnType<typeof createProxy>
let bare: Server
let shop: Awaited<ReturnType<typeof serveShop>>
let browser: Browser
let page: Page

const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port
const listen = (server: { listen(port: number, host: string, done: () => void): unknown }) =>
  new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

/** In front of the real service, byte for byte, but for submissions. */
function killingProxy(target: string) {
  return createProxy((client) => {
    const upstream: Socket = connect(Number(new URL(target).port), '127.0.0.1')
    let text = ''
    client.on('data', (chunk) => {
      text += chunk.toString('latin1')
      const submission = /^POST \/generations /m.exec(text)
      if (!submission) return void upstream.write(chunk)
      const [head = '', body = ''] = text.slice(submission.index).split('\r\n\r\n')
      if (body.length < Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)) return
      reached.room++
      client.destroy()
      upstream.destroy()
    })
    upstream.pipe(client)
    for (const socket of [client, upstream]) socket.on('error', () => undefined)
    client.on('close', () => upstream.destroy())
  })
}

/** A server that keeps its connections open, as most do. */
function keepingServer(): Server {
  return createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('Access-Control-Allow-Origin', '*')
      response.setHeader('Access-Control-Allow-Headers', 'Content-Type')
      if (request.method !== 'POST') return void response.end('{}')
      reached.bare++
      request.socket.destroy()
    })
  })
}

beforeAll(async () => {
  service = await serve({ config: openSandbox({ previewAfterMs: 500, readyAfterMs: 1000 }) }, 0)
  proxy = killingProxy(service.url)
  bare = keepingServer()
  await Promise.all([listen(proxy), listen(bare)])
  shop = await serveShop({ baseUrl: `http://127.0.0.1:${portOf(proxy)}`, apiKey: sandboxKey }, 0)
  browser = await chromium.launch(await chromiumLaunch())
  page = await browser.newPage()
})
afterAll(async () => {
  await browser?.close()
  await shop?.close()
  bare?.closeAllConnections()
  bare?.close()
  proxy?.close()
  await service?.close()
})

it('a submission whose connection dies after the body reaches the service once; on connections kept open a bare fetch arrives again', async () => {
  await page.goto(`${shop.url}#/products/1001`)
  await page.locator('.screen[data-state="idle"]').waitFor()
  await page.locator('input[type=file]').setInputFiles(photo)
  await page.getByRole('button', { name: 'Try it on' }).click()
  await page.locator('.screen[data-state="outcomeUnknown"]').waitFor()

  await page.evaluate(
    async (url) => {
      await Promise.all([1, 2, 3].map(async () => (await fetch(url)).text()))
      const headers = { 'Content-Type': 'application/json' }
      await fetch(url, { method: 'POST', headers, body: '{}' }).catch(() => undefined)
    },
    `http://127.0.0.1:${portOf(bare)}/generations`,
  )

  console.log(`Chromium ${browser.version()}, HTTP/1.1: fitting-room ${reached.room}, bare fetch ${reached.bare}`)
  expect(reached.room).toBe(1)
  expect(reached.bare).toBeGreaterThan(1)
})
