import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@fitting-room/service'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { problems } from 'fitting-room/testing'
import { tryOnStates } from '../src/rules/words.ts'
import { describe, expect, it } from 'vitest'
import { flows } from './docs/flows.ts'
import { nodeServer } from './docs/node-server.ts'
import { statesPage } from './docs/states.ts'
import { openLedger } from './support/open-ledger.ts'
import { openSandbox } from './support/open-sandbox.ts'
import { person } from './support/world.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const textOf = (file: string) => readFileSync(root + file, 'utf8')

describe('the documentation', () => {
  it('draws the states as the machine has them (`npm run docs` draws them anew)', () => {
    expect(textOf('docs/states.md')).toBe(statesPage())
  })

  it('has a guide to testing whose flow comes to its picture', async () => {
    const { sandbox, flow, tried } = await flows(person)
    expect(tried.get().result?.imageUrl).toMatch(/^http/)
    expect(sandbox.ledger.accepted).toBe(1)
    flow.close()
    await sandbox.close()
  })

  it('has a Node server that says at once to a browser that its word is there, and closes each connection', async () => {
    const { store, jobs } = openLedger()
    const service = await serve({ config: openSandbox({ previewAfterMs: 0, readyAfterMs: 0 }), store }, 0)
    const server = nodeServer({ baseUrl: service.url, apiKey: 'sandbox-key' }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const word = { productId: '1001', variantId: '2001', funnelId: 11, imageUrl: `${service.url}/garments/none.png` }
    const headers = { Origin: 'https://shop.test', 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-origin' }
    const options = { host: '127.0.0.1', port, path: '/api/generations', method: 'POST', headers }
    const sent = request(options)
    const interim = once(sent, 'information')
    sent.end(JSON.stringify({ ...word, uniqueUserId: 'ada' }))
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.resume()
    expect([(await interim)[0].statusCode, answer.headers.connection, answer.statusCode]).toEqual([102, 'close', 200])
    expect(jobs.size).toBe(1)
    server.close()
    await service.close()
  })

  it('draws each state of the view that a try-on is in by itself', () => {
    const [, overview = ''] = statesPage().split('```')
    const drawn = new Set([...overview.matchAll(/--> (\w+)/g)].map(([, name]) => name))
    // one state of the machine, of which the pictures tell which it is
    const nameOf = (state: string) => (state === 'processing' || state === 'preview' ? 'following' : state)
    expect(tryOnStates.filter((state) => !drawn.has(nameOf(state)))).toEqual([])
  })

  it('shows a whole screen as the example has it', () => {
    const guide = textOf('docs/screen.md')
    for (const file of ['room.ts', 'Product.tsx'])
      expect(guide).toContain(`\`\`\`tsx\n${textOf(`examples/react/src/${file}`)}\`\`\``)
  })

  it('tells of each problem once', () => {
    const told = [...textOf('docs/problems.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, kind = '']) => kind)
    expect(told.toSorted()).toEqual(Object.keys(problems).toSorted())
  })

  it.each(['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'service/README.md', ...pages('docs')])(
    '%s links to what is there',
    (file) => {
      const links = [...textOf(file).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link)
      expect(links.filter((link) => !leadsSomewhere(file, link))).toEqual([])
    },
  )
})

function leadsSomewhere(from: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const to = path === '' ? from : join(dirname(from), path)
  return existsSync(join(root, to)) && (anchor === undefined || anchorsOf(textOf(to)).includes(anchor))
}

/** The headings of a page, as its addresses name them. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

function pages(folder: string): string[] {
  return readdirSync(root + folder).flatMap((name) => (name.endsWith('.md') ? `${folder}/${name}` : []))
}
