import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { openFolderStore, parseConfig, serve } from '@fitting-room/service'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { suiteConfig } from '../../test/support/suite-config.ts'
import { startEmbeddedPostgres } from '../src/embedded/embedded-postgres.ts'
import { openDatabase } from '../src/postgres/database.ts'
import { png } from './contract.suite.ts'
import { embedded, killCycles, onServer } from './kill-cycles.ts'

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
    const { acknowledged, lost, creditsOff } = await killCycles(await open(), { cycles, random: Math.random })
    expect(acknowledged).toBeGreaterThanOrEqual(cycles)
    expect([lost, creditsOff]).toEqual([0, 0])
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

  it('is one process’s at a time, and says so to another', async () => {
    const { store } = await openFolderStore(folder, { report })
    await expect(openFolderStore(folder, { report })).rejects.toThrow('is in use by another service')
    await store.close()
    const again = await openFolderStore(folder, { report })
    await again.store.close()
  })
})
