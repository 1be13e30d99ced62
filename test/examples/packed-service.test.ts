import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { seldom } from '../limits.ts'
import { packedIn, serviceIn } from './copy.ts'

const headers = { 'X-Service-SDK-Key': 'sandbox-key', 'Content-Type': 'application/json' }
const photo = new URL('../../examples/sample/person.png', import.meta.url)

it('the service runs from its package in an empty folder, draws, and keeps what it has made', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fitting-room-packed-service-'))
  onTestFinished(() => rm(folder, { recursive: true, maxRetries: 20, retryDelay: 500 }))
  const packages = Object.values(await packedIn(folder))
  await writeFile(join(folder, 'package.json'), '{ "private": true }')
  const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', ...packages]
  await promisify(execFile)('npm', install, { cwd: folder, maxBuffer: 2 ** 26, env: { ...process.env, NODE_ENV: '' } })

  async function start() {
    const service = await serviceIn(folder)
    onTestFinished(() => void service.child.kill('SIGKILL'))
    return service
  }
  const dataOf = async (answer: Response) => ((await answer.json()) as { data: any }).data

  const first = await start()
  const post = async (path: string, body: object) =>
    dataOf(await fetch(first.url + path, { method: 'POST', headers, body: JSON.stringify(body) }))
  const { uploadUrl, imageUrl } = await post('/uploads', { contentType: 'image/png' })
  const put = { method: 'PUT', headers: { 'Content-Type': 'image/png' }, body: await readFile(photo) }
  expect((await fetch(uploadUrl, put)).status).toBe(200)
  const { jobId } = await post('/generations', { funnelId: 11, productId: '1001', variantId: '2001', imageUrl })
  const jobAt = async (url: string) => dataOf(await fetch(`${url}/generations/${jobId}`, { headers }))
  await expect.poll(async () => (await jobAt(first.url)).storageStatus, seldom).toBe('READY')
  first.child.kill('SIGTERM')
  expect((await first.ended)[0]).toBe(0)

  const second = await start()
  const job = await jobAt(second.url)
  expect(job).toMatchObject({ status: 'SUCCESS', storageStatus: 'READY' })
  const picture = await fetch(job.imageUrl.replace(/^http:\/\/[^/]+/, second.url))
  expect([picture.status, picture.headers.get('Content-Type')]).toEqual([200, 'image/jpeg'])
  second.child.kill('SIGTERM')
  expect((await second.ended)[0]).toBe(0)
})
