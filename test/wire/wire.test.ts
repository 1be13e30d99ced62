import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engines, type Tab } from '../engines/engines.ts'
import { servePage } from '../support/serve-page.ts'
import {
  http1Closing,
  http1ClosingAlone,
  http1Kept,
  http2Kept,
  servicesOwn,
  closeService,
  type Front,
} from './fronts.ts'

const conditions = ['cold', 'warm', 'afterPreflight', 'unused', 'afterParallelReads', 'whilePolling']

/** Where a submission must arrive once: by what the client does on HTTP/2, and the service on HTTP/1.1. */
const covered = {
  'the service here': servicesOwn,
  'the same over TLS': http1Closing,
  'HTTP/2': () => http2Kept(),
}
/** Where browsers repeat it and nothing can be done from a page. */
const open = { 'HTTP/1.1, kept open': http1Kept }

const installations = { ...covered, ...open }

const guide = readFileSync(new URL('../../docs/proof.md', import.meta.url), 'utf8')
const words = (count: number) => (count === 1 ? 'once' : 'again')

/** The guide's cell for an engine and an installation. */
function saidOf(engine: string, installation: string): string | undefined {
  const rows = guide.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  const column = rows.find((row) => row.includes(installation))?.indexOf(installation) ?? -1
  return rows.find((row) => row[1]?.startsWith(`${engine} `))?.[column]
}

let page: Awaited<ReturnType<typeof servePage>>
beforeAll(async () => {
  page = await servePage(fileURLToPath(new URL('./page.ts', import.meta.url)))
})
afterAll(() => page?.close())
afterAll(closeService)

const counts: Record<string, Record<string, string>> = {}
afterAll(() => console.table(counts))

describe.each(engines)('$name', (engine) => {
  let tab: Tab
  let close: () => Promise<void>
  let version: string
  beforeAll(async () => {
    const running = await engine.launch()
    ;({ close, version } = running)
    tab = await running.open(page.url)
  })
  afterAll(() => close?.())

  const seen: Record<string, { room: number; bare: number }> = {}
  afterAll(() => {
    for (const [installation, { room, bare }] of Object.entries(seen)) {
      counts[`${engine.name} ${version}, ${installation}`] = { 'fitting-room': `${room}`, 'bare fetch': `${bare}` }
    }
  })

  /** One user action against a server whose connection dies after the body; how did it arrive? */
  async function send(install: () => Promise<Front>, sender: string, condition: string): Promise<Front['reached']> {
    const front = await install()
    await tab.run(`run(${JSON.stringify(front.url)}, '${sender}', '${condition}')`)
    await front.close()
    return front.reached
  }

  describe.each(Object.entries(installations))('%s', (installation, install) => {
    it.each(conditions)('%s', async (condition) => {
      const room = await send(install, 'fittingRoom', condition)
      const bare = await send(install, 'bareFetch', condition)
      const most = (seen[installation] ??= { room: 0, bare: 0 })
      most.room = Math.max(most.room, room.length)
      most.bare = Math.max(most.bare, bare.length)
      // on a slow machine a connection may be seen to be gone only when a submission is lost on it, which is then unknown
      if (installation in covered) expect(room.length).toBeLessThanOrEqual(1)
      for (const { body, streamed } of room) {
        expect(JSON.parse(body)).toMatchObject({ funnelId: 11, productId: '1001', variantId: '2001' })
        expect(streamed).toBe(engine.name === 'Chromium' && installation === 'HTTP/2')
      }
    })
  })

  it('is what the guide says', () => {
    for (const [installation, { room, bare }] of Object.entries(seen)) {
      expect([installation, saidOf(engine.name, installation)]).toEqual([
        installation,
        `${words(room)} / ${words(bare)}`,
      ])
    }
  })

  it('is why to close each connection is not enough', async () => {
    const isChromium = engine.name === 'Chromium'
    let most = 0
    // whether what is given up leaves connections open is a matter of moments
    for (let turn = 0; turn < (isChromium ? 20 : 3) && most < 2; turn++)
      most = Math.max(most, (await send(http1ClosingAlone, 'bareFetch', 'unused')).length)
    expect(most > 1).toBe(isChromium)
  })

  it('is why a proxy must not refuse what it has passed on', async () => {
    const isRepeated = async (sender: string) => {
      // whether a browser has seen by then that an earlier connection is gone is a matter of moments
      for (let turn = 0; turn < 10; turn++)
        if ((await send(() => http2Kept({ refusals: 2 }), sender, 'cold')).length > 1) return true
      return false
    }
    expect([await isRepeated('bareFetch'), await isRepeated('fittingRoom')]).toEqual([true, engine.name !== 'Chromium'])
  })

  it('sends no submission while it is not known whether the origin takes streams', async () => {
    const front = await http2Kept({ losesUploads: true })
    const kind = await tab.run(`submit(${JSON.stringify(front.url)})`)
    await front.close()
    const streams = engine.name === 'Chromium'
    expect(kind).toBe(streams ? 'notSent' : 'outcomeUnknown')
    expect(front.reached).toHaveLength(streams ? 0 : 1)
  })
})
