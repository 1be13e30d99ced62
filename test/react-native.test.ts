import { build } from 'esbuild'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { serve, type RunningServer } from '@fitting-room/service'
import type * as library from 'fitting-room'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLedger } from './support/open-ledger.ts'
import { openSandbox } from './support/open-sandbox.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const product = { productId: '1001', variantId: '2001', funnelIds: [11] }
/** All that is there beside the language itself: no DOM, `crypto`, `performance`, Blob, channel or database. */
const globals = { setTimeout, clearTimeout, fetch, Headers, AbortController, URL, console }

const { store, jobs } = openLedger()
let server: RunningServer
let code: string
let photo: Buffer

beforeAll(async () => {
  server = await serve({ config: openSandbox({ previewAfterMs: 100, readyAfterMs: 300 }), store }, 0)
  const { outputFiles } = await build({
    stdin: { contents: "export * from './dist/src/index.js'", resolveDir: root },
    bundle: true,
    platform: 'neutral',
    mainFields: ['module', 'main'],
    format: 'iife',
    globalName: 'fittingRoom',
    write: false,
  })
  code = outputFiles[0]!.text
  photo = await readFile(`${root}examples/sample/person.png`)
})
afterAll(() => server?.close())

/** An app as it is started: everything anew but what it has stored. */
function start(stored: Map<string, string>) {
  const realm = createContext({ ...globals })
  const { createFittingRoom } = runInContext(`${code}; fittingRoom`, realm) as typeof library
  const bytes = runInContext(`new Uint8Array(${photo.length}).buffer`, realm) as ArrayBuffer
  new Uint8Array(bytes).set(photo)
  const storage = {
    getItem: async (key: string) => stored.get(key) ?? null,
    setItem: async (key: string, value: string) => void stored.set(key, value),
    removeItem: async (key: string) => void stored.delete(key),
  }
  const options = { baseUrl: server.url, apiKey: 'sandbox-key', storage, timing: { pollIntervalMs: 50 } }
  return { createFittingRoom, options, photo: { bytes, type: 'image/png' } }
}

const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count))

describe('a runtime that has JavaScript and little else, as React Native', () => {
  it('is told at once what it has to bring', () => {
    const { createFittingRoom, options } = start(new Map())
    expect(() => createFittingRoom(options)).toThrow(/"randomBytes" is not valid.*where there is no crypto/)
  })

  it('carries a photo to the picture, and finds it again when the app is started anew', async () => {
    const stored = new Map<string, string>()
    const first = start(stored)
    const room = first.createFittingRoom({ ...first.options, randomBytes })
    const tryOn = room.tryOn(product)
    await tryOn.start(first.photo)
    const result = await tryOn.result()
    room.close()
    expect(jobs.size).toBe(1)

    const second = start(stored)
    const again = second.createFittingRoom({ ...second.options, randomBytes })
    const view = await again.tryOn(product).ready
    expect(view.state).toBe('final')
    expect(view.result?.imageUrl).toBe(result.imageUrl)
    expect(jobs.size).toBe(1)
    again.close()
  })

  it('looks at once when the app is shown again', async () => {
    const { createFittingRoom, options, photo: given } = start(new Map())
    let show = () => {}
    let ended = false
    const room = createFittingRoom({
      ...options,
      randomBytes,
      // nothing is asked by itself for as long as the test may take
      timing: { pollIntervalMs: 86_400_000, deadlineMs: 172_800_000 },
      pageLife({ onWake }) {
        show = onWake
        return () => void (ended = true)
      },
    })
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    await tryOn.start(given)
    await expect
      .poll(() => {
        show()
        return tryOn.get().state
      })
      .toBe('final')
    room.close()
    expect(ended).toBe(true)
  })
})
