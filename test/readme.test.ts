import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sandboxConfig } from '@fitting-room/service'
import type { FittingRoomOptions, RoomTiming } from 'fitting-room'
import { clientTiming } from 'fitting-room/client'
import { restoringView, tryOnMachine } from 'fitting-room/machines'
import { describe, expect, it } from 'vitest'
import { exitCodes } from '../examples/terminal/exit-codes.ts'
import { intents, tryOnStates } from '../src/rules/words.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const textOf = (file: string) => readFileSync(root + file, 'utf8')
const readme = textOf('README.md')
const contributing = textOf('CONTRIBUTING.md')
const options = textOf('docs/options.md')
const scriptsOf = (file: string) => (JSON.parse(textOf(file)) as { scripts: Record<string, string> }).scripts
const scripts = scriptsOf('package.json')

const rows = (first: RegExp, text = readme) =>
  [...text.matchAll(/^\| ([^|]+) \| ([^|]+) \|/gm)]
    .map(([, key = '', value = '']) => [key.trim(), value.trim()])
    .filter(([key = '']) => first.test(key))
/** The rows of the table with this heading, cell by cell. */
const table = (heading: string, text = readme) => {
  const lines =
    text
      .slice(text.indexOf(`\n| ${heading} |`))
      .split('\n\n')[0]
      ?.trim()
      .split('\n') ?? []
  return lines.slice(2).map((line) => line.split(' | ').map((cell) => cell.replace(/^\|\s|\s\|$/g, '')))
}
/** What stands in backticks. */
const coded = (text = '') => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
const sorted = (names: readonly string[]) => names.toSorted()
const optionNames = {
  baseUrl: 0,
  apiKey: 0,
  storage: 0,
  photoStore: 0,
  photos: 0,
  checkPhoto: 0,
  namespace: 0,
  retentionMs: 0,
  timing: 0,
  uniqueUserId: 0,
  askVisitorFirst: 0,
  pageLife: 0,
  randomBytes: 0,
  inspect: 0,
  inspectRequests: 0,
  limit: 0,
  notice: 0,
  keepPictures: 0,
  core: 0,
  fetch: 0,
  putPhoto: 0,
  budget: 0,
  shareOf: 0,
  clock: 0,
} satisfies Record<keyof FittingRoomOptions, 0>

const guides = readdirSync(`${root}docs`).filter((name) => name.endsWith('.md'))

const trimmed = (line: string) => line.trim().replace(/^export /, '')

const plain = (text: string) => text.split('\n').map(trimmed).join('\n')

/** What an application that compiles has of what is shown. */
const compiled = () =>
  ['types/consumers/snippets', 'types/consumers/guides', 'docs/flows', 'docs/node-server', 'docs/element-jsx']
    .map((name) => plain(textOf(`test/${name}.ts`)))
    .join('\n')

/** What is shown without an empty line in it stands together there, too. */
const shownIn = (text: string) =>
  [...text.matchAll(/```ts\n([\s\S]*?)```/g)].flatMap(([, block = '']) => plain(block.trim()).split('\n\n'))

const uncompiled = (text: string) => shownIn(text).filter((paragraph) => !compiled().includes(paragraph))

describe('the README', () => {
  it('says what the code is compiled to', () => {
    const [, target = ''] = /"target": "(\w+)"/.exec(textOf('tsconfig.json')) ?? []
    expect(textOf('README.md')).toContain(`The code is compiled to ${target}.`)
  })

  it('gives the sizes that are measured', () => {
    const measured = JSON.parse(execFileSync('npx', ['size-limit', '--json'], { cwd: root, encoding: 'utf8' })) as {
      name: string
      size: number
    }[]
    const shown = measured.map(({ name, size }) => [name, size < 1000 ? `${size} B` : `${(size / 1000).toFixed(1)} kB`])
    const stated = rows(/^`fitting-room/).map(([name = '', size]) => [name.split('`')[1], size])
    expect(stated).toEqual(shown)
  })

  it('shows what compiles; the files of an app are run by the first day of its framework', () => {
    const snippets = readme.replaceAll(/```ts\n\/\/ (?:src\/|vite\.config)[\s\S]*?```/g, '')
    expect(shownIn(snippets).length).toBeGreaterThan(8)
    expect(uncompiled(snippets)).toEqual([])
    const markup = [...readme.matchAll(/```(?:tsx|vue|svelte)\n(.*)/g)].map(([, first]) => first)
    expect(markup).toEqual(markup.map(() => expect.stringMatching(/^(?:\/\/|<!--) src\/TryOn\.\w+ for /)))
  })

  it.each(guides)('the guide %s shows what compiles', (guide) => {
    expect(uncompiled(textOf(`docs/${guide}`))).toEqual([])
  })

  it('leads to every guide', () => {
    const [, listed = ''] = /^## Guides$([\s\S]*?)^## /m.exec(readme) ?? []
    expect(guides.filter((guide) => !listed.includes(`](docs/${guide})`))).toEqual([])
    expect(guides.flatMap((guide) => shownIn(textOf(`docs/${guide}`))).length).toBeGreaterThan(15)
  })

  it('lists what the sandbox sells, by which funnel, and its test variants', () => {
    const [{ products, funnels } = { products: [], funnels: [] }] = sandboxConfig().stores
    const variants = products.find(({ id }) => id === '1009')?.variants ?? []
    const sold = products.flatMap(({ id, title, variants: sizes }) => {
      const funnel = funnels.find(({ productIds }) => productIds.includes(id))
      const names = sizes.map((size) => (size.available === false ? `${size.id} (sold out)` : size.id)).join(', ')
      return id === '1009' ? [] : [[title, id, `${funnel?.id}, ${funnel?.funnelType.replace('_', ' ')}`, names]]
    })
    expect(table('product')).toEqual(
      sold.map((cells) => [...cells.slice(0, -1), expect.stringContaining(cells.at(-1)!)]),
    )
    expect(rows(/^90\d\d$/)).toEqual(variants.map(({ id, title }) => [id, title]))
  })

  it('lists the exit codes of the terminal', () => {
    const stated = rows(/^\d{1,3}$/, textOf('docs/terminal.md')).map(([code, text = '']) => [
      text.split(':')[0],
      Number(code),
    ])
    expect(stated).toEqual(Object.entries(exitCodes))
  })

  it('names commands that exist, as CONTRIBUTING and the guides do', () => {
    const texts = [readme, contributing, ...guides.map((guide) => textOf(`docs/${guide}`))].join('\n')
    const named = [...texts.matchAll(/npm (?:run )?([a-z-]+(?::[a-z]+)?)/g)].map(([, name]) => name)
    const own = ['ci', 'install', ...Object.keys(scriptsOf('examples/react/package.json'))]
    expect([...new Set(named)].filter((name = '') => !own.includes(name) && scripts[name] === undefined)).toEqual([])
    expect(named).toEqual(expect.arrayContaining(['start', 'test', 'model', 'soak']))
  })

  it('lists every state of the view, with the intents that leave it', () => {
    const stated = table('state').flatMap(([states, , ways]) => coded(states).map((state) => [state, coded(ways)]))
    expect(sorted(stated.map(([state]) => String(state)))).toEqual(sorted(tryOnStates))
    for (const [state, ways] of stated) {
      const isFollowing = state === 'processing' || state === 'preview'
      const events: readonly string[] = tryOnMachine.states[isFollowing ? 'following' : String(state)]?.events ?? []
      const left = intents.filter((intent) => ways?.includes(intent) || (intent === 'discard' && state !== 'restoring'))
      expect([state, left]).toEqual([state, intents.filter((intent) => events.includes(intent))])
    }
  })

  it('lists every intent', () => {
    expect(table('intent').map(([call = '']) => /\w+/.exec(call)?.[0])).toEqual(intents)
  })

  it('lists every field of the view', () => {
    const [fields] = /^Beside the state a view has [^.]*/m.exec(readme) ?? []
    expect(['state', ...coded(fields)]).toEqual(Object.keys(restoringView))
  })

  it('lists every option', () => {
    const stated = table('option', options).flatMap(([names]) => coded(names))
    expect(sorted(stated)).toEqual(sorted(Object.keys(optionNames)))
  })

  it('lists every time with its default', () => {
    const [, names, defaults = ''] = table('option', options).find(([name]) => name === '`timing`') ?? []
    const timing: RoomTiming = { pollIntervalMs: undefined, deadlineMs: 180_000, ...clientTiming }
    expect(coded(names)).toEqual(Object.keys(timing))
    const stated = defaults.split(', ').map((ms) => (ms === 'planned' ? undefined : Number(ms.replaceAll(',', ''))))
    expect(stated).toEqual(Object.values(timing))
  })

  it('says how many sequences the model plays, and which compilers check an application', () => {
    const count = /const sequences = ([\d_]+)/.exec(textOf('test/model/promises.test.ts'))?.[1]?.replace('_', ',')
    const proof = textOf('docs/proof.md')
    expect(proof).toContain(`${count} seeded sequences`)
    const [oldest] = readdirSync(`${root}test/types`).filter((name) => /^\d/.test(name))
    expect(proof).toContain(`TypeScript ${oldest} to 7`)
  })
})

describe('CONTRIBUTING', () => {
  it('names every room of the library, and only what is there', () => {
    const rooms = table('room', contributing).flatMap(([room]) => coded(room))
    expect(rooms.filter((room) => !existsSync(root + room))).toEqual([])
    const inSrc = readdirSync(`${root}src`).filter((name) => name !== 'tsconfig.json')
    expect(rooms).toEqual(expect.arrayContaining(inSrc.map((name) => `src/${name}`)))
  })

  it('names every project of the tests', () => {
    const [, text = ''] = table('command', contributing).find(([command]) => command === '`npm test`') ?? []
    const nodes = [...textOf('test/vitest.config.ts').matchAll(/ node\('([a-z-]+)'/g)].map(([, name = '']) => name)
    const stated = coded(/\(`unit`[^)]*/.exec(text)?.[0])
    expect(sorted(stated)).toEqual(sorted([...nodes, 'chromium', 'firefox', 'webkitgtk']))
  })
})
