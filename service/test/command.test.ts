import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { seldom } from '../../test/limits.ts'
import { freePort } from '../../test/support/free-port.ts'
import { suiteConfig } from '../../test/support/suite-config.ts'
import { inMemory, openData } from '../src/open-data.ts'
import { deadAddress } from '../src/run.ts'
import manifest from '../package.json' with { type: 'json' }
import { png } from './contract.suite.ts'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
/** A Node as one before 22.13. */
const withoutSqlite = '--no-experimental-sqlite'
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'service-'))
})
afterEach(() => rm(folder, { recursive: true }))

function run(...given: string[]) {
  const args = given.filter((each) => each !== withoutSqlite)
  const flags = ['--conditions=fitting-room-source', ...(args.length < given.length ? [withoutSqlite] : [])]
  const child = spawn(process.execPath, [...flags, main, ...args], {
    cwd: tmpdir(),
    env: { ...process.env, INIT_CWD: folder },
  })
  let err = ''
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const line = new Promise<string>((resolve) => child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString())))
  const ended = new Promise<{ code: number | null; err: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, err })),
  )
  return { child, line, ended }
}

describe('npm run service', () => {
  it('gives a store of a folder a new key, which the service takes from then on, and no other one', async () => {
    await writeFile(join(folder, 'config.json'), JSON.stringify(suiteConfig))
    const start = () => run('--config', 'config.json', '--port', '0', '--data', 'data')
    const change = (...args: string[]) => run('key', ...args, '--config', 'config.json', '--data', 'data')
    expect((await change('refresh', 'main').ended).err).toContain('no service has kept anything in')
    const before = start()
    await before.line
    before.child.kill()
    await before.ended
    expect((await change('refresh', 'mian').ended).err).toContain(
      'has no store mian, and none was imported; it has main',
    )
    const refreshed = change('refresh', 'main')
    const key = (await refreshed.line).trim()
    expect([await refreshed.ended, key]).toEqual([{ code: 0, err: '' }, expect.stringMatching(/^[0-9a-f]{32}$/)])
    const { child, line, ended } = start()
    const url = (await line).trim().slice('listening on '.length)
    const statusOf = async (given: string) =>
      (await fetch(`${url}/requests-left`, { headers: { 'X-Service-SDK-Key': given } })).status
    expect([await statusOf(key), await statusOf('main-key')]).toEqual([200, 401])
    child.kill()
    expect((await ended).code).toBe(0)
  })

  it('tries the sandbox out on a Node that cannot keep a folder, and says so', async () => {
    const { child, line, ended } = run(withoutSqlite, '--sandbox', '--port', '0')
    expect(await line).toMatch(/^listening on/)
    child.kill()
    expect(await ended).toEqual({
      code: 0,
      err: expect.stringMatching(/22\.13[^]*the key is sandbox-key; products: 1001 Breton tee, .*1009 Test tee/),
    })
    expect(await readdir(folder)).toEqual([])
    await writeFile(join(folder, 'config.json'), JSON.stringify(suiteConfig))
    const kept = run(withoutSqlite, '--config', 'config.json', '--port', '0')
    expect(await kept.ended).toEqual({ code: 2, err: expect.stringContaining('Node 22.13 or newer is needed') })
  })

  it('refuses to keep nothing where a database is named', async () => {
    const kept = openData(inMemory, () => undefined, 'postgres://127.0.0.1/none')
    await expect(kept).rejects.toThrow('DATABASE_URL')
  })

  it('refuses a command that it does not know', async () => {
    const { code, err } = await run('key', 'lose', 'main', '--config', 'config.json').ended
    expect([code, err]).toEqual([2, expect.stringContaining('a command is key refresh')])
  })

  it('takes paths from the caller’s folder, images from the configuration’s, prints one line, and keeps the pictures', async () => {
    await mkdir(join(folder, 'conf'))
    const config = structuredClone(suiteConfig)
    const [store] = config.stores
    if (store?.products[0]) store.products[0].image = 'tee.svg'
    await writeFile(
      join(folder, 'conf', 'config.json'),
      JSON.stringify({ ...config, generation: { previewAfterMs: 0, readyAfterMs: 0 } }),
    )
    await writeFile(
      join(folder, 'conf', 'tee.svg'),
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>',
    )
    const { child, line, ended } = run('--config', 'conf/config.json', '--port', '0', '--data', 'data')
    const [, url] = /^listening on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(await line) ?? []
    const headers = { 'X-Service-SDK-Key': 'main-key', 'Content-Type': 'application/json' }
    const post = async (path: string, body: object) =>
      (
        (await (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json()) as {
          data: any
        }
      ).data
    const target = await post('/uploads', { contentType: 'image/png' })
    await fetch(target.uploadUrl, { method: 'PUT', body: png, headers: { 'Content-Type': 'image/png' } })
    const order = { funnelId: 12, productId: '1001', variantId: '2001', imageUrl: target.imageUrl }
    const { jobId } = await post('/generations', order)
    const statusNow = async () => (await (await fetch(`${url}/generations/${jobId}`, { headers })).json()).data.status
    await expect.poll(statusNow, seldom).toBe('SUCCESS')
    expect(await readdir(join(folder, 'data', 'pictures'))).toHaveLength(3)
    child.kill('SIGTERM')
    expect((await ended).code).toBe(0)
  })

  it('goes on though nobody reads any more what it says', async () => {
    await writeFile(join(folder, 'config.json'), JSON.stringify(suiteConfig))
    const { child, line, ended } = run('--config', 'config.json', '--port', '0', '--data', ':memory:')
    const [, url = ''] = /^listening on (http:\S+)\n$/.exec(await line) ?? []
    child.stderr.destroy()
    child.stdout.destroy()
    const headers = { 'X-Service-SDK-Key': 'main-key', 'Content-Type': 'application/json' }
    const order = { funnelId: 12, productId: '1001', variantId: '2001', imageUrl: `${url}/photos/none.png` }
    const begun = await fetch(`${url}/generations`, { method: 'POST', headers, body: JSON.stringify(order) })
    const { data } = (await begun.json()) as { data: { jobId: string } }
    // its failure is a line
    const statusNow = async () =>
      (await (await fetch(`${url}/generations/${data.jobId}`, { headers })).json()).data.status
    await expect.poll(statusNow, seldom).toBe('ERROR')
    expect((await fetch(`${url}/context`, { headers })).status).toBe(200)
    child.kill('SIGTERM')
    expect((await ended).code).toBe(0)
  })

  it('refuses a wrong configuration with the path of the wrong field', async () => {
    await writeFile(join(folder, 'config.json'), JSON.stringify({ stores: [{ id: 'a', apiKey: 7 }] }))
    const { code, err } = await run('--config', 'config.json', '--port', '0', '--data', 'data').ended
    expect(code).toBe(2)
    expect(err).toContain('stores[0].apiKey:')
    expect(err).not.toMatch(/^\s+at /m)
  })

  it('refuses a configuration that names a picture that is not there', async () => {
    const config = structuredClone(suiteConfig)
    config.stores[0]!.products[0]!.image = 'nowhere.svg'
    await writeFile(join(folder, 'config.json'), JSON.stringify(config))
    const { code, err } = await run('--config', 'config.json', '--port', '0', '--data', 'data').ended
    expect([code, err]).toEqual([2, expect.stringContaining('  stores[0].products[0].image: there is no ')])
    // as some editors begin a file
    await writeFile(join(folder, 'config.json'), `\uFEFF${JSON.stringify(config)}`)
    expect((await run('--config', 'config.json', '--port', '0', '--data', 'data').ended).err).toBe(err)
  })

  it('reads its configuration again at SIGUSR2, and goes by the old one where that is wrong', async () => {
    const path = join(folder, 'config.json')
    const withKey = (apiKey: string) =>
      JSON.stringify({
        ...suiteConfig,
        stores: suiteConfig.stores.map((each, at) => (at === 0 ? { ...each, apiKey } : each)),
      })
    await writeFile(path, withKey('first-key'))
    const { child, line, ended } = run('--config', 'config.json', '--port', '0', '--data', ':memory:')
    const [, url] = /(http:\S+)/.exec(await line) ?? []
    const statusOf = async (key: string) =>
      (await fetch(`${url}/funnel?funnelIds=12`, { headers: { 'X-Service-SDK-Key': key } })).status
    expect(await statusOf('first-key')).toBe(200)
    await writeFile(path, withKey('second-key'))
    child.kill('SIGUSR2')
    await expect.poll(() => statusOf('second-key'), { interval: 500 }).toBe(200)
    expect(await statusOf('first-key')).toBe(401)
    await writeFile(path, '{')
    const told = once(child.stderr, 'data')
    child.kill('SIGUSR2')
    expect(String(await told)).toContain('is no JSON')
    expect(await statusOf('second-key')).toBe(200)
    child.kill('SIGTERM')
    expect((await ended).code).toBe(0)
  })

  it('serves the sandbox at the address that is asked for, and keeps its try-ons below the caller’s folder', async () => {
    const headers = { 'X-Service-SDK-Key': 'sandbox-key', 'Content-Type': 'application/json' }
    const served = async <T>(ask: (url: string) => Promise<T>): Promise<T> => {
      const { child, line, ended } = run('--sandbox', '--port', '0', '--host', '127.0.0.2')
      const [, url = ''] = /^listening on (http:\/\/127\.0\.0\.2:\d+)\n$/.exec(await line) ?? []
      const asked = await ask(url)
      child.kill('SIGTERM')
      expect((await ended).code).toBe(0)
      return asked
    }
    const order = { funnelId: 11, productId: '1001', variantId: '2001', imageUrl: 'http://127.0.0.2/none.png' }
    const { data } = await served(async (url) =>
      (await fetch(`${url}/generations`, { method: 'POST', headers, body: JSON.stringify(order) })).json(),
    )
    expect(await readdir(join(folder, '.fitting-room'))).toContain('database')
    const again = await served(async (url) => (await fetch(`${url}/generations/${data.jobId}`, { headers })).status)
    expect(again).toBe(200)
  })

  it('listens only once the keys are there of what its configuration names', async () => {
    const config = { ...suiteConfig, generator: { provider: 'fashn' } }
    await writeFile(join(folder, 'config.json'), JSON.stringify(config))
    const { code, err } = await run('--config', 'config.json', '--port', '0').ended
    expect([code, err]).toEqual([2, expect.stringContaining('FASHN_API_KEY in the environment gives it')])
    expect(await readdir(folder)).toEqual(['config.json'])
  })

  it('refuses a place that nothing can be kept in', async () => {
    await writeFile(join(folder, 'taken'), '')
    const { code, err } = await run('--sandbox', '--port', '0', '--data', 'taken/data').ended
    expect([code, err]).toEqual([2, expect.stringContaining('--data gives another folder')])
  })

  it('says why a database cannot be opened', async () => {
    await mkdir(join(folder, 'data'))
    await writeFile(join(folder, 'data', 'database'), 'no folder')
    const { code, err } = await run('--sandbox', '--port', '0', '--data', 'data').ended
    expect([code, err]).toEqual([2, expect.stringContaining('cannot be opened: its files are not those of a database')])
  })

  it('shows whoever runs it how it is, on an address of its own', async () => {
    const port = String(await freePort())
    const { child, line, ended } = run('--sandbox', '--port', '0', '--operation', port)
    expect(await line).toMatch(/^listening on /)
    expect(await (await fetch(`http://127.0.0.1:${port}/ready`)).text()).toBe('ready')
    expect(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).toContain('process_cpu_seconds_total')
    const other = run('--sandbox', '--port', '0', '--data', ':memory:', '--operation', `[127.0.0.1]:${port}`)
    expect(await other.ended).toMatchObject({ code: 2, err: expect.stringContaining(`port ${port} is taken`) })
    // nobody is to commit the photos of people
    expect(await readFile(join(folder, '.fitting-room', '.gitignore'), 'utf8')).toBe('*\n')
    child.kill('SIGTERM')
    expect((await ended).code).toBe(0)
  })

  it('says nothing else where its port is taken, and gives it back at once when it ends', async () => {
    const port = String(await freePort())
    const start = () => run('--sandbox', '--port', port, '--data', ':memory:')
    const { child, line, ended } = start()
    await line
    const err = `port ${port} is taken; give another with --port or --operation\n`
    expect(await start().ended).toEqual({ code: 2, err })
    child.kill('SIGTERM')
    await ended
    const again = start()
    expect(await again.line).toMatch(/^listening on /)
    again.child.kill('SIGTERM')
    await again.ended
  })

  it('says how it is used', async () => {
    const { line, ended } = run('--help')
    expect([await line, await ended]).toEqual([expect.stringMatching(/^usage: /), { code: 0, err: '' }])
  })

  it('says which version it is', async () => {
    const { line, ended } = run('--version')
    expect([await line, await ended]).toEqual([`${manifest.version}\n`, { code: 0, err: '' }])
  })

  it('says where its pictures cannot be found by others', () => {
    expect(deadAddress('0.0.0.0', 'http://0.0.0.0:8787')).toContain('publicUrl in the configuration')
    expect(deadAddress('127.0.0.1', 'http://127.0.0.1:8787')).toBeNull()
  })

  it('has a role of two only with a database that both share', async () => {
    const { code, err } = await run('--sandbox', '--role', 'worker').ended
    expect([code, err]).toEqual([2, expect.stringContaining('--role worker needs DATABASE_URL')])
  })

  it.each([
    ['no arguments', [], 'either --sandbox or --config is needed'],
    ['a bad port', ['--config', 'c', '--data', 'd', '--port', 'x'], '--port must be a number'],
    ['a file that is not there', ['--config', 'nowhere.json', '--data', 'd', '--port', '0'], 'cannot be read'],
    ['an address that is none', ['--sandbox', '--host', ''], '--host must be an address'],
    [
      'a place for operation that is none',
      ['--sandbox', '--operation', 'here'],
      '--operation must be PORT or HOST:PORT',
    ],
    ['an unknown option', ['--nonsense'], '--help says how it is used'],
  ])('%s: says what to do', async (_, args, text) => {
    const { code, err } = await run(...args).ended
    expect(code).toBe(2)
    expect(err).toContain(text)
  })
})
