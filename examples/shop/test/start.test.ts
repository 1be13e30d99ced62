import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

it('npm start prints where the shop and the service are, serves both, and stops both at Ctrl-C', async () => {
  const start = fileURLToPath(new URL('../start.ts', import.meta.url))
  const child = spawn(process.execPath, ['--conditions=fitting-room-source', start])
  let out = ''
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
      if (out.includes('Ctrl-C')) resolve()
    })
    child.on('close', () => reject(new Error(out)))
  })
  await ready
  const [, shop = ''] = /The shop: +(http:\S+)/.exec(out) ?? []
  const [, service = ''] = /The service: +(http:\S+)/.exec(out) ?? []
  expect(new URL(shop).origin).not.toBe(new URL(service).origin)
  expect(await (await fetch(shop)).text()).toContain('Atelier')
  const settings = (await (await fetch(`${shop}settings.json`)).json()) as { baseUrl: string; products: unknown[] }
  expect(settings.baseUrl).toBe(service)
  expect(settings.products.length).toBeGreaterThanOrEqual(6)
  expect((await fetch(`${service}/context`)).status).toBe(401)
  child.kill('SIGINT')
  expect(await ended).toBe(0)
  await expect(fetch(shop)).rejects.toThrow()
  await expect(fetch(service)).rejects.toThrow()
})
