import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { insecureHost } from '../pages/insecure-host.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** The two packages as they would be published, in that folder; the built code that is there. */
export async function packedIn(folder: string): Promise<Record<string, string>> {
  // what builds a package before it is packed would change what other tests run
  const pack = async (of: string) => {
    const options = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]
    const { stdout } = await run('npm', options, { cwd: join(repository, of), maxBuffer: 2 ** 26 })
    const [{ name, filename }] = JSON.parse(stdout) as [{ name: string; filename: string }]
    return [name, `file:${join(folder, filename)}`]
  }
  return Object.fromEntries([await pack('.'), await pack('service')])
}

/** An example's folder by itself, installed as its reader would install it: with the published packages. */
export async function copyOf(example: string, packages: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `fitting-room-${example}-`))
  const isSource = (path: string) => !/\/(node_modules|dist)$/.test(path)
  await cp(join(repository, 'examples', example), folder, { recursive: true, filter: isSource })
  const file = join(folder, 'package.json')
  const manifest = JSON.parse(await readFile(file, 'utf8')) as Record<string, Record<string, string>>
  for (const list of [manifest['dependencies'], manifest['devDependencies']])
    for (const [name, target] of Object.entries(packages)) if (list?.[name]) list[name] = target
  await writeFile(file, JSON.stringify(manifest))
  const options = { cwd: folder, maxBuffer: 2 ** 26, env: { ...process.env, NODE_ENV: '' } }
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund'], options)
  await run('npm', ['run', 'build'], options)
  return folder
}

/** The installed service with its sandbox, as `npx fitting-room-service` runs it, by the Node that runs this. */
export async function serviceIn(
  folder: string,
): Promise<{ url: string; child: ChildProcess; ended: Promise<unknown[]> }> {
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  const child = spawn(join(folder, 'node_modules/.bin/fitting-room-service'), ['--sandbox', '--port', '0'], {
    cwd: folder,
    // who runs these tests has the folder of what is kept else
    env: { ...process.env, PATH, INIT_CWD: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const [line] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer]
  return { url: /http:\S+/.exec(String(line))?.[0] ?? '', child, ended }
}

/** Serves what was built with that sandbox under /api, or the sources with one of its own, in another process. */
export async function served(folder: string, sandboxUrl: string | null): Promise<{ url: string; close(): void }> {
  const child = spawn(
    process.execPath,
    ['node_modules/vite/bin/vite.js', sandboxUrl === null ? 'dev' : 'preview', '--host', '127.0.0.1', '--port', '0'],
    {
      cwd: folder,
      env: {
        ...process.env,
        NODE_ENV: '',
        NO_COLOR: '1',
        __VITE_ADDITIONAL_SERVER_ALLOWED_HOSTS: insecureHost,
        ...(sandboxUrl !== null && { SANDBOX_URL: sandboxUrl }),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const url = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(said) ?? []
      if (found !== undefined) resolve(found)
    })
    child.once('exit', (code) => reject(new Error(`vite ended with ${code}: ${said}`)))
  })
  return { url, close: () => void child.kill() }
}
