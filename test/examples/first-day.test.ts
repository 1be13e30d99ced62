import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { engines, type RunningEngine } from '../engines/engines.ts'
import { limits } from '../limits.ts'
import { packedIn, served, serviceIn } from './copy.ts'
import { apps } from './first-day/apps.ts'
import { choosing, samplePhoto } from './page-in.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))
const createVite = fileURLToPath(import.meta.resolve('create-vite/index.js'))
const readme = await readFile(join(repository, 'README.md'), 'utf8')

/** The README's files for a framework by their names, and what it has for the configuration of Vite. */
function fromReadme(framework: string) {
  const blocks = [...readme.matchAll(/```\w+\n(?:\/\/|<!--) ([\w/.]+)(?: for (\w+))?.*\n([^`]*)```/g)]
  const own = blocks.filter(([, , of]) => of === undefined || of.toLowerCase() === framework)
  return new Map(own.map(([, name = '', , text = '']) => [name, text]))
}

let folder: string
let packages: string[]
let engine: RunningEngine
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fitting-room-first-day-'))
  packages = Object.values(await packedIn(folder))
  engine = await engines[0]!.launch()
}, limits.testTimeout)
afterAll(async () => {
  await engine?.close()
  await rm(folder, { recursive: true, maxRetries: 20, retryDelay: 500 })
})

/** An empty Vite app with the published packages and the README's code, served with the installed sandbox. */
async function firstDay(framework: keyof typeof apps) {
  const root = join(folder, framework)
  const run = async (command: string, ...given: string[]) => {
    const options = { cwd: root, maxBuffer: 2 ** 26, env: { ...process.env, NODE_ENV: '' } }
    return (await promisify(execFile)(command, given, options)).stdout
  }
  const app = apps[framework]
  const template = [createVite, framework, '--template', `${framework}-ts`, '--no-interactive']
  await promisify(execFile)(process.execPath, template, { cwd: folder })
  await run('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', ...packages)
  const service = await serviceIn(root)
  onTestFinished(() => void service.child.kill())

  const { 'vite.config.ts': config = '', ...files } = Object.fromEntries(fromReadme(framework))
  expect(Object.keys(files)).toEqual(['src/room.ts', expect.stringMatching(/^src\/TryOn\./)])
  for (const [name, text] of Object.entries({ ...files, ...app.files })) await writeFile(join(root, name), text)
  const change = async (name: string, ...changes: [string | RegExp, string][]) => {
    const text = await readFile(join(root, name), 'utf8')
    const changed = changes.reduce((before, [from, to]) => before.replace(from, () => to), text)
    await writeFile(join(root, name), changed)
  }
  const [, plugins = '', compiled = plugins] = ['', ...(app.plugin ?? [])]
  const proxy = config.replace('http://127.0.0.1:8787', service.url)
  await change('vite.config.ts', [plugins, compiled], ['plugins:', `${proxy}  plugins:`])

  // typed as its template is, and by the checker that its template has
  await run('npm', 'run', 'build')
  await run('npm', 'run', 'check', '--if-present')
  // what a server renders, for a page whose hydration is late
  await run('npx', 'vite', 'build', '--ssr', app.server, '--outDir', 'server')
  const module = join(root, 'server/server.js')
  const print = `import(${JSON.stringify(module)}).then(({ html, script = '' }) => console.log(JSON.stringify({ html, script })))`
  const { html, script } = JSON.parse(await run(process.execPath, '-e', print)) as { html: string; script: string }
  await change('index.html', ['</head>', `${script}</head>`], ['"></div>', `">${html}</div>`])
  await change('index.html', [/\/src\/(main|index)\.tsx?/, app.late])
  await run('npx', 'vite', 'build', '--base', '/late/', '--outDir', 'dist/late')

  const site = await served(root, service.url)
  onTestFinished(() => site.close())
  return site.url
}

it.each(['react', 'vue', 'svelte', 'solid'] as const)(
  'an empty Vite app of %s comes to a picture with the code of the README, once, and hydrates late',
  async (framework) => {
    const url = await firstDay(framework)
    const tab = await engine.open(url)
    const isThere = (expression: string) => expect.poll(() => tab.run(`!!(${expression})`)).toBe(true)
    const says = (state: string) => isThere(`document.querySelector('p')?.textContent === '${state}'`)
    const picture = `document.querySelector('img[alt="You in the tee"]')`
    const photo = await readFile(samplePhoto)
    const choose = () => tab.run(choosing(`document.querySelector('input[type=file]')`, photo))
    const submissions = async () => (await tab.loaded()).filter((address) => address.endsWith('/generations')).length
    await says('idle')
    await choose()
    // submitted, and perhaps done by now
    await isThere(`${picture} || ['processing', 'preview'].includes(document.querySelector('p').textContent)`)
    await tab.run('void setTimeout(() => location.reload())')
    await isThere(`${picture}?.naturalWidth > 0`)
    await tab.run(`document.getElementById('2002').click()`)
    await says('idle')
    await tab.run(`document.getElementById('2001').click()`)
    await isThere(picture)

    const served = (await (await fetch(`${url}/late/`)).text()).replaceAll(/<!--.*?-->/g, '')
    expect(served).toMatch(/<p[^>]*>restoring</)
    await tab.run(`void (location.href = '/late/')`)
    await isThere(`document.body.dataset.before === 'final' && ${picture}?.naturalWidth > 0`)
    await tab.run(`document.getElementById('2002').click()`)
    await says('idle')
    expect(await submissions()).toBe(1)
    // what was hydrated follows the size with its intents, too
    await choose()
    await isThere(picture)
    expect(await submissions()).toBe(2)
    expect(tab.words).toEqual([])
  },
)
