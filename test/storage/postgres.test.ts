import { PGlite } from '@electric-sql/pglite'
import type { Pool } from 'pg'
import { createRoom } from 'fitting-room/core'
import { postgresStorage } from 'fitting-room/storage/postgres'
import { createSandbox } from '@fitting-room/service/sandbox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPool, startPostgresServer, type PostgresServer } from '../../service/test/postgres-server.ts'
import { storageConformance } from './conformance.ts'

let server: PostgresServer
let pools: Pool[]
const embedded = new PGlite()
beforeAll(async () => {
  server = await startPostgresServer()
  const connectionString = await server.newDatabase()
  pools = Array.from({ length: 2 }, () => openPool({ connectionString }))
})
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()))
  await server.close()
  await embedded.close()
})

let opened = 0
// as if each were another process
storageConformance('PostgreSQL', () => postgresStorage(pools[opened++ % 2]!))
storageConformance('PGlite', () => postgresStorage(embedded))

describe('storage: PostgreSQL', () => {
  it('is made by many at once', async () => {
    const all = Array.from({ length: 20 }, (_, at) => postgresStorage(pools[at % 2]!, { name: 'at_once' }))
    await Promise.all(all.map((storage, at) => storage.setItem(`key:${at}`, '{}')))
    expect(await all[0]?.getItem('key:19')).toBe('{}')
  })

  it('takes no name that would be read as something else', () => {
    expect(() => postgresStorage(embedded, { name: 'a; drop table b' })).toThrow(TypeError)
  })

  it('tells a failure, and works again when the database does', async () => {
    let isBroken = true
    const storage = postgresStorage({
      query: (text, values) => (isBroken ? Promise.reject(new Error('gone')) : embedded.query(text, values)),
    })
    await expect(storage.getItem('key')).rejects.toThrow('gone')
    isBroken = false
    expect(await storage.getItem('key')).toBeNull()
  })

  it('lets one of two rooms submit a try-on that both of them start, and the other one follow', async () => {
    const sandbox = createSandbox()
    const { fetch, putPhoto, baseUrl } = sandbox
    const rooms = pools.map((pool) =>
      createRoom({ baseUrl, apiKey: 'sandbox-key', fetch, putPhoto, photos: false, storage: postgresStorage(pool) }),
    )
    const tryOns = rooms.map((room) => room.tryOn({ productId: '1001', variantId: '2001', funnelIds: [11] }))
    const photo = { bytes: new Uint8Array([0xff, 0xd8, 0xff, 0xe0]), type: 'image/jpeg' }
    await Promise.allSettled(tryOns.map((tryOn) => tryOn.start(photo)))
    const results = await Promise.all(tryOns.map((tryOn) => tryOn.result()))
    expect(new Set(results.map(({ imageUrl }) => imageUrl)).size).toBe(1)
    expect([tryOns.map((tryOn) => tryOn.get().state), sandbox.ledger.accepted]).toEqual([['final', 'final'], 1])
    rooms.forEach((room) => room.close())
    await sandbox.close()
  })
})
