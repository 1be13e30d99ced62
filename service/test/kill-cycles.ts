import { spawn, type ChildProcess } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import { Client } from 'pg'
import { freePort } from '../../test/support/free-port.ts'
import { suiteConfig } from '../../test/support/suite-config.ts'
import { png } from './contract.suite.ts'
import { startPostgresServer } from './postgres-server.ts'

/** What many kills came to. */
export interface KillReport {
  kills: number
  /** Submissions whose answer was read. */
  acknowledged: number
  /** Of these, jobs that did not come to a picture that can be loaded, or to an end where a provider makes them. */
  lost: number
  /** Of these, jobs whose picture was another one at the end than when it was first seen. */
  changed: number
  /** Credits that were taken more or less often than there are jobs. */
  creditsOff: number
  /** Jobs whose answer was lost with its process. */
  unheard: number
}

export interface KillOptions {
  cycles: number
  /** Between 0 and 1, when in a cycle its process is killed, and which. */
  random: () => number
}

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const headers = { 'X-Service-SDK-Key': 'main-key', 'Content-Type': 'application/json' }
const perCycle = 12

/** Everybody may try on what they like, and pictures are there as soon as they are drawn. */
const config = {
  ...suiteConfig,
  trustedProxies: ['127.0.0.1'],
  stores: suiteConfig.stores.map((store) => ({ ...store, email: null, tryOnCap: null, credits: 1_000_000 })),
  generation: { previewAfterMs: 0, readyAfterMs: 0 },
}

/** Runs the command in a folder, and restarts it as it was. */
export async function createCommand(
  folder: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  more: object = {},
) {
  let child: ChildProcess | null = null
  await writeFile(join(folder, 'config.json'), JSON.stringify({ ...config, ...more }))
  return {
    async start(): Promise<void> {
      child = spawn(
        process.execPath,
        ['--conditions=fitting-room-source', main, '--config', 'config.json', '--data', 'data', ...args],
        { cwd: tmpdir(), env: { ...process.env, ...env, INIT_CWD: folder }, stdio: ['ignore', 'pipe', 'ignore'] },
      )
      await once(child.stdout!, 'data')
    },
    async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
      child?.kill(signal)
      if (child?.exitCode === null && child.signalCode === null) await once(child, 'close')
    },
  }
}

/** How many jobs there are, how many of them have not failed, and how many credits are used. */
interface Counts {
  jobs: number
  unfailed: number
  credits: number
}

interface Subject {
  url: string
  /** What may be killed, and what it takes to be there again. */
  commands: Awaited<ReturnType<typeof createCommand>>[]
  /** What there is once everything has ended. */
  counted(): Promise<Counts>
  /** Whether a job may fail: where it is not known whether a provider has begun its pictures. */
  mayFail: boolean
  release(): Promise<void>
}

/** How long a job is waited for at the end, in ms. */
const longestEndMs = 600_000

const counting = `select (select count(*)::int from fitting_room.jobs) as jobs,
  (select count(*)::int from fitting_room.jobs where state <> 'failed') as unfailed,
  (select sum(used)::int from fitting_room.credits) as credits`

/** One process with its database in a folder. */
export async function embedded(env: NodeJS.ProcessEnv = {}, more: object = {}): Promise<Subject> {
  const folder = await mkdtemp(join(tmpdir(), 'kills-'))
  const port = String(await freePort())
  return {
    url: `http://127.0.0.1:${port}`,
    commands: [await createCommand(folder, ['--port', port], env, more)],
    async counted() {
      const database = await PGlite.create(join(folder, 'data', 'database'))
      const { rows } = await database.query<Counts>(counting)
      await database.close()
      return rows[0]!
    },
    mayFail: 'generator' in more,
    release: () => rm(folder, { recursive: true }),
  }
}

/** One process that answers and two that draw, on a PostgreSQL server. */
export async function onServer(): Promise<Subject> {
  const folder = await mkdtemp(join(tmpdir(), 'kills-'))
  const server = await startPostgresServer()
  const address = await server.newDatabase()
  const port = String(await freePort())
  const command = (...args: string[]) => createCommand(folder, args, { DATABASE_URL: address })
  return {
    url: `http://127.0.0.1:${port}`,
    commands: await Promise.all([
      command('--role', 'api', '--port', port),
      command('--role', 'worker'),
      command('--role', 'worker'),
    ]),
    async counted() {
      const client = new Client({ connectionString: address })
      await client.connect()
      const { rows } = await client.query<Counts>(counting)
      await client.end()
      return rows[0]!
    },
    mayFail: false,
    async release() {
      await server.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** Kills a process in the middle of submissions and of their pictures, again and again. */
export async function killCycles(subject: Subject, { cycles, random }: KillOptions): Promise<KillReport> {
  const { url, commands } = subject
  const acknowledged: string[] = []
  /** What was there when a job was first seen to have ended, by its ID. */
  const seen = new Map<string, string>()
  let changed = 0

  async function call(path: string, body?: object): Promise<any> {
    const from = `2001:db8:${Math.floor(random() * 65_536).toString(16)}::1`
    const init = body && { method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(url + path, { headers: { ...headers, 'X-Forwarded-For': from }, ...init })
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
    return ((await answer.json()) as { data: unknown }).data
  }

  async function upload(): Promise<string> {
    const { uploadUrl, imageUrl } = await call('/uploads', { contentType: 'image/png' })
    await fetch(uploadUrl, { method: 'PUT', body: png, headers: { 'Content-Type': 'image/png' } })
    return imageUrl as string
  }

  async function cycle(): Promise<void> {
    const imageUrl = await upload()
    const victim = commands[Math.floor(random() * commands.length)]!
    const moment = Math.ceil(random() * perCycle)
    let answered = 0
    const order = { funnelId: 12, productId: '1001', variantId: '2001', imageUrl, uniqueUserId: 'shopper' }
    const submissions = Array.from({ length: perCycle }, async () => {
      const { jobId } = await call('/generations', order)
      acknowledged.push(jobId as string)
      answered += 1
      if (answered === moment) await victim.end('SIGKILL')
    })
    await Promise.allSettled(submissions)
    // some of them have ended by now, and stay as they are
    const earlier = acknowledged[Math.floor(random() * acknowledged.length)]
    if (earlier) await look(earlier).catch(() => null)
    await victim.end('SIGKILL')
    await victim.start()
  }

  /** What a job has come to: the digest of its picture, or why there is none; null as long as it has not ended. */
  async function look(jobId: string): Promise<string | null> {
    const { status, imageUrl, storageStatus } = await call(`/generations/${jobId}`)
    if (status === 'PROCESSING' || storageStatus === 'PENDING') return null
    const picture = status === 'SUCCESS' && (await fetch(imageUrl))
    if (picture && !picture.ok) throw new Error(`a picture is ${picture.status}`)
    const end = picture ? hash('sha256', new Uint8Array(await picture.arrayBuffer())) : (status as string)
    if ((seen.get(jobId) ?? end) !== end) changed += 1
    seen.set(jobId, end)
    return end
  }

  /** Whether it came to its end while somebody waited for it. */
  async function isEnded(jobId: string): Promise<boolean> {
    const until = performance.now() + longestEndMs
    while (performance.now() < until) {
      const end = await look(jobId)
      if (end !== null) return end !== 'ERROR' || subject.mayFail
      await after(500)
    }
    return false
  }

  await Promise.all(commands.map((command) => command.start()))
  for (let done = 0; done < cycles; done += 1) await cycle()
  let lost = 0
  for (const jobId of acknowledged) lost += (await isEnded(jobId)) ? 0 : 1
  await Promise.all(commands.map((command) => command.end('SIGTERM')))
  const { jobs, unfailed, credits } = await subject.counted()
  await subject.release()
  return {
    kills: cycles,
    acknowledged: acknowledged.length,
    lost,
    changed,
    creditsOff: Math.abs(unfailed - credits),
    unheard: jobs - acknowledged.length,
  }
}
