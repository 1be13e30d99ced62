import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openFolderStore, parseConfig, serve } from '@fitting-room/service'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { suiteConfig } from '../../test/support/suite-config.ts'
import { startEmbeddedPostgres } from '../src/embedded/embedded-postgres.ts'
import { openDatabase } from '../src/postgres/database.ts'
import { png } from './contract.suite.ts'
import { seldom } from '../../test/limits.ts'
import { freePort } from '../../test/support/free-port.ts'
import { openJobQueue } from '../src/postgres/job-queue.ts'
import { usualPlaces } from '../src/ports.ts'
import { startFashnStandIn } from './fashn-stand-in.ts'
import { createCommand, embedded, killCycles, onServer } from './kill-cycles.ts'
import { startPostgresServer } from './postgres-server.ts'

const headers = { 'X-Service-SDK-Key': 'main-key', 'Content-Type': 'application/json' }
const report = (error: unknown) => console.error(error)

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'service-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function post(url: string, path: string, body: object): Promise<any> {
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return ((await answer.json()) as { data: unknown }).data
}

describe('a service that is killed at any moment', () => {
  it.each([
    ['in a folder', embedded, 5],
    ['on PostgreSQL, of several processes', onServer, 3],
  ])('%s does each job that it has acknowledged, and counts it once', async (_, open, cycles) => {
    const { acknowledged, lost, changed, creditsOff } = await killCycles(await open(), {
      cycles,
      random: Math.random,
    })
    expect(acknowledged).toBeGreaterThanOrEqual(cycles)
    expect([lost, changed, creditsOff]).toEqual([0, 0, 0])
  })

  it('asks a provider once for each job, and brings each to its end', async () => {
    const standIn = await startFashnStandIn()
    // its pictures would lie at an address inside, which the service does not fetch from
    standIn.states.splice(0, 2, { status: 'failed', error: { name: 'PipelineError', message: 'no' } })
    const generator = { provider: 'fashn', url: standIn.url }
    const subject = await embedded({ FASHN_API_KEY: 'a-key-of-fashn' }, { generator })
    const { acknowledged, lost, changed, creditsOff, unheard } = await killCycles(subject, {
      cycles: 2,
      random: Math.random,
    })
    expect([lost, changed, creditsOff]).toEqual([0, 0, 0])
    expect(standIn.runs.length).toBeLessThanOrEqual(acknowledged + unheard)
    expect(standIn.runs.length).toBeGreaterThan(0)
    await standIn.close()
  })
})

describe('a service of two processes', () => {
  it('is restarted, one after the other, without a failed request', async () => {
    const server = await startPostgresServer()
    const address = await server.newDatabase()
    const env = { DATABASE_URL: address }
    const open = async () => {
      const [port, operation] = [String(await freePort()), String(await freePort())]
      const args = ['--port', port, '--operation', operation]
      const command = await createCommand(folder, args, env, { publicUrl: 'http://service.test' })
      return {
        ...command,
        url: `http://127.0.0.1:${port}`,
        readyUrl: `http://127.0.0.1:${operation}/ready`,
        isReady: true,
      }
    }
    const commands = [await open(), await open()]
    await Promise.all(commands.map((command) => command.start()))
    let asked = 0
    let isOver = false

    /** As a proxy before them does, which looks now and then who is ready. */
    function ask(path: string, init?: RequestInit): Promise<Response> {
      const ready = commands.filter(({ isReady }) => isReady)
      return fetch(ready[asked++ % ready.length]!.url + path, { headers, ...init })
    }
    async function look(): Promise<void> {
      while (!isOver) {
        for (const command of commands) {
          const answer = await fetch(command.readyUrl).catch(() => null)
          command.isReady = answer?.ok ?? false
        }
        await after(20)
      }
    }
    const failed: unknown[] = []
    const jobs: string[] = []
    const order = {
      funnelId: 12,
      productId: '1001',
      variantId: '2001',
      imageUrl: 'http://service.test/photos/none.png',
    }
    async function shopper(name: string): Promise<void> {
      for (let at = 0; !isOver; at += 1) {
        const body = JSON.stringify({ ...order, uniqueUserId: `${name} ${at}` })
        const forwarded = { 'X-Forwarded-For': `2001:db8:${at.toString(16)}::${name}` }
        const answer = await ask('/generations', { method: 'POST', headers: { ...headers, ...forwarded }, body }).catch(
          (error: unknown) => void failed.push(error),
        )
        if (answer?.ok) jobs.push(((await answer.json()) as { data: { jobId: string } }).data.jobId)
        else if (answer) failed.push(answer.status)
      }
    }
    const shoppers = [look(), ...['a', 'b', 'c', 'd'].map(shopper)]
    for (const command of commands) {
      const before = jobs.length
      await expect.poll(() => jobs.length).toBeGreaterThan(before + 20)
      await command.end('SIGTERM')
      await command.start()
      await expect.poll(() => command.isReady).toBe(true)
    }
    isOver = true
    await Promise.all(shoppers)
    expect(failed).toEqual([])
    // whoever had them handed them back, or has done them: their photo is not there
    const states = async () => {
      const answers = await Promise.all(
        jobs.map((id, at) =>
          ask(`/generations/${id}`, { headers: { ...headers, 'X-Forwarded-For': `2001:db8:1:${at.toString(16)}::1` } }),
        ),
      )
      const polled = await Promise.all(answers.map((answer) => answer.json() as Promise<{ data: { status: string } }>))
      return [...new Set(polled.map(({ data }) => data.status))]
    }
    await expect.poll(states, seldom).toEqual(['ERROR'])
    await Promise.all(commands.map((command) => command.end('SIGTERM')))
    await server.close()
  })
})

describe('a service in a folder', () => {
  it('keeps visitors and upload targets, and answers from another address', async () => {
    const first = await serve({ config: parseConfig(suiteConfig), ...(await openFolderStore(folder, { report })) }, 0)
    await post(first.url, '/customer-register', { email: 'a@example.com', uniqueUserId: 'known' })
    const { uploadUrl } = await post(first.url, '/uploads', { contentType: 'image/png' })
    await first.close()
    const second = await serve({ config: parseConfig(suiteConfig), ...(await openFolderStore(folder, { report })) }, 0)
    const left = await fetch(`${second.url}/requests-left?uniqueUserId=known`, { headers })
    expect(await left.json()).toMatchObject({ data: { requestsLeft: -1 } })
    const target = second.url + uploadUrl.slice(first.url.length)
    expect((await fetch(target, { method: 'PUT', body: png, headers: { 'Content-Type': 'image/png' } })).status).toBe(
      200,
    )
    await second.close()
  })

  it('goes on with another connection where one is lost, in the same session', async () => {
    const embedded = await startEmbeddedPostgres(folder)
    for (let connection = 0; connection < 3; connection += 1) {
      const database = openDatabase(embedded.connection, 1, report)
      // the one before is let go of in its time
      const given = () => database.query('select $1::integer as given', [connection]).catch(() => null)
      await expect.poll(given).toEqual([{ given: connection }])
      await database.close()
    }
    await embedded.close()
  })

  it('leaves one folder for its socket, however often it is killed', async () => {
    const sockets = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('fitting-room-')).toSorted()
    const embedded = await startEmbeddedPostgres(folder)
    const host = 'host' in embedded.connection ? basename(embedded.connection.host) : ''
    expect(await sockets()).toContain(host)
    await embedded.close()
    // as if it had been killed
    await mkdir(join(tmpdir(), host))
    const again = await startEmbeddedPostgres(folder)
    expect(await sockets()).not.toContain(host)
    await again.close()
  })

  it('takes up what a killed process was at as it begins, and waits for nobody’s silence', async () => {
    const holding = fileURLToPath(new URL('holding-process.ts', import.meta.url))
    const killed = spawn(process.execPath, ['--conditions=fitting-room-source', holding, folder])
    await once(killed.stdout, 'data')
    const ended = once(killed, 'close')
    killed.kill('SIGKILL')
    await ended
    const place = await startEmbeddedPostgres(folder)
    const database = openDatabase(place.connection, 1, report)
    const states = () =>
      database.query<{ state: string }>(`select state from fitting_room_queue.job where name = 'render'`)
    expect(await states()).toEqual([{ state: 'active' }])
    const queue = await openJobQueue({ place: database, places: usualPlaces, report })
    expect(await states()).toEqual([{ state: 'retry' }])
    await queue.close()
    await database.close()
    await place.close()
  })

  it('is one process’s at a time, and says so to another', async () => {
    const { store } = await openFolderStore(folder, { report })
    await expect(openFolderStore(folder, { report })).rejects.toThrow('is in use by another service')
    await store.close()
    const again = await openFolderStore(folder, { report })
    await again.store.close()
  })
})
