import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openFolderStore, parseConfig, serve } from '@fitting-room/service'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { suiteConfig } from '../../test/support/suite-config.ts'
import { png } from './contract.suite.ts'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const headers = { 'X-Service-SDK-Key': 'main-key', 'Content-Type': 'application/json' }
const report = (error: unknown) => console.error(error)

let folder: string
let child: ChildProcess | null
beforeEach(async () => {
  child = null
  folder = await mkdtemp(join(tmpdir(), 'service-'))
})
afterEach(async () => {
  await kill()
  await rm(folder, { recursive: true })
})

/** Everybody may try on what they like, and pictures are there as soon as they are drawn. */
const config = {
  ...suiteConfig,
  trustedProxies: ['127.0.0.1'],
  stores: suiteConfig.stores.map((store) => ({ ...store, email: null, tryOnCap: null, credits: 1_000_000 })),
  generation: { previewAfterMs: 0, readyAfterMs: 0 },
}

/** The service as a command, on the test's folder; resolves with its address. */
async function start(): Promise<string> {
  await writeFile(join(folder, 'config.json'), JSON.stringify(config))
  const args = ['--config', 'config.json', '--port', '0', '--data', 'data']
  child = spawn(process.execPath, ['--conditions=fitting-room-source', main, ...args], {
    cwd: tmpdir(),
    env: { ...process.env, INIT_CWD: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout!, 'data')) as [Buffer]
  return /http:\S+/.exec(line.toString())?.[0] ?? ''
}

async function kill(): Promise<void> {
  child?.kill('SIGKILL')
  if (child?.exitCode === null && child.signalCode === null) await once(child, 'close')
}

async function post(url: string, path: string, body: object): Promise<any> {
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return ((await answer.json()) as { data: unknown }).data
}

const order = (imageUrl: string) => ({
  funnelId: 12,
  productId: '1001',
  variantId: '2001',
  imageUrl,
  uniqueUserId: 'shopper',
})

async function upload(url: string): Promise<string> {
  const { uploadUrl, imageUrl } = await post(url, '/uploads', { contentType: 'image/png' })
  await fetch(uploadUrl, { method: 'PUT', body: png, headers: { 'Content-Type': 'image/png' } })
  return imageUrl
}

interface Polled {
  status: string
  imageUrl: string
  totalRequests: number
}

/** The job as it stands, asked for from an address of its own. */
async function polled(url: string, jobId: string): Promise<Polled> {
  const address = `2001:db8:${jobId.slice(0, 4)}::1`
  const answer = await fetch(`${url}/generations/${jobId}`, { headers: { ...headers, 'X-Forwarded-For': address } })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  return ((await answer.json()) as { data: Polled }).data
}

/** The job once it is over. */
async function ended(url: string, jobId: string): Promise<Polled> {
  await expect.poll(() => polled(url, jobId).then(({ status }) => status), { interval: 500 }).not.toBe('PROCESSING')
  return polled(url, jobId)
}

describe('a service in a folder', () => {
  it('does, after it was killed at any moment, each job that it has acknowledged, and counts it once', async () => {
    const acknowledged: string[] = []
    for (let cycle = 0; cycle < 5; cycle += 1) {
      const url = await start()
      const photo = await upload(url)
      const before = acknowledged.length
      const submissions = Array.from({ length: 12 }, async () => {
        const { jobId } = await post(url, '/generations', order(photo))
        acknowledged.push(jobId)
        // in the middle of the others and of their pictures
        if (acknowledged.length - before === 4 + cycle) child?.kill('SIGKILL')
      })
      await Promise.allSettled(submissions)
      await kill()
    }
    const last = await start()
    const jobs = await Promise.all(acknowledged.map((jobId) => ended(last, jobId)))
    expect(acknowledged.length).toBeGreaterThanOrEqual(5 * 4)
    expect(jobs.map(({ status }) => status)).toEqual(acknowledged.map(() => 'SUCCESS'))
    expect(jobs[0]?.totalRequests).toBeGreaterThanOrEqual(acknowledged.length)
    expect((await fetch(jobs[0]!.imageUrl)).status).toBe(200)
  })

  it('keeps visitors and upload targets, and answers from another address', async () => {
    const first = await serve({ config: parseConfig(config), ...(await openFolderStore(folder, { report })) }, 0)
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

  it('is one process’s at a time, and says so to another', async () => {
    const { store } = await openFolderStore(folder, { report })
    await expect(openFolderStore(folder, { report })).rejects.toThrow('is in use by another service')
    await store.close()
    const again = await openFolderStore(folder, { report })
    await again.store.close()
  })
})
