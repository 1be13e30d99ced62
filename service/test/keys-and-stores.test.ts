import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createService, openServerStore } from '@fitting-room/service'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Command } from '../src/arguments.ts'
import { carryOut } from '../src/command.ts'
import { suiteConfig } from '../../test/support/suite-config.ts'
import { startPostgresServer, type PostgresServer } from './postgres-server.ts'
import { configOf, report, url } from './submissions.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgresServer()
})
afterAll(() => server.close())

describe('all processes on one PostgreSQL', () => {
  it('know at once of a key that was refreshed, of a store that was disconnected, and of one that is connected again', async () => {
    const databaseUrl = await server.newDatabase()
    const open = async () => {
      const { store } = await openServerStore(databaseUrl, { report })
      return createService({ config: configOf(null), publicUrl: url, store, works: false, report })
    }
    const services = await Promise.all([open(), open()])
    const statuses = (key: string) =>
      Promise.all(
        services.map(async (service, at) => {
          const path = `${url}/requests-left?uniqueUserId=one`
          const request = new Request(path, { headers: { 'X-Service-SDK-Key': key } })
          return (await service.fetch(request, { ip: `10.0.0.${at}` })).status
        }),
      )
    const folder = await mkdtemp(join(tmpdir(), 'keys-'))
    const config = join(folder, 'config.json')
    await writeFile(config, JSON.stringify(suiteConfig))
    const change = (what: 'refresh' | 'disconnect') =>
      carryOut({ name: `key ${what}`, of: 'main', config, data: 'none' }, databaseUrl)
    expect(await statuses('main-key')).toEqual([200, 200])
    const first = await change('refresh')
    expect([await statuses('main-key'), await statuses(first)]).toEqual([
      [401, 401],
      [200, 200],
    ])
    await change('disconnect')
    expect([await statuses('main-key'), await statuses(first)]).toEqual([
      [401, 401],
      [401, 401],
    ])
    const second = await change('refresh')
    expect([await statuses(first), await statuses(second)]).toEqual([
      [401, 401],
      [200, 200],
    ])
    // the other stores keep theirs
    expect(await statuses('other-key')).toEqual([200, 200])
    await rm(folder, { recursive: true })
    await Promise.all(services.map((service) => service.close()))
  })

  it('know at once of a store that was imported, and imported again, and of one that was removed', async () => {
    const databaseUrl = await server.newDatabase()
    const services = await Promise.all(
      [0, 1].map(async () => {
        const { store } = await openServerStore(databaseUrl, { report })
        return createService({ config: configOf(null), publicUrl: url, store, works: false, report })
      }),
    )
    const funnels = (key: string, id: number) =>
      Promise.all(
        services.map(async (service, at) => {
          const request = new Request(`${url}/funnel?funnelIds=${id}`, { headers: { 'X-Service-SDK-Key': key } })
          const answer = await service.fetch(request, { ip: `10.0.1.${at}` })
          return answer.status === 200 ? ((await answer.json()) as { data: { id: number } }).data.id : answer.status
        }),
      )
    const folder = await mkdtemp(join(tmpdir(), 'stores-'))
    const config = join(folder, 'config.json')
    await writeFile(config, JSON.stringify(suiteConfig))
    const command = (name: Command['name'], of: string) => carryOut({ name, of, config, data: 'none' }, databaseUrl)
    const file = join(folder, 'store.json')
    const [main] = suiteConfig.stores
    const importOf = async (changes: object) => {
      await writeFile(file, JSON.stringify({ ...main, id: 'new', apiKey: 'new-store-key', ...changes }))
      return command('store import', file)
    }
    expect(await funnels('new-store-key', 12)).toEqual([401, 401])
    expect(await importOf({})).toBe('new is imported')
    expect(await funnels('new-store-key', 12)).toEqual([12, 12])
    await importOf({ funnels: [{ id: 44, funnelType: 'dress', generationModel: 'SERVICE_PRO', productIds: [] }] })
    expect([await funnels('new-store-key', 12), await funnels('new-store-key', 44)]).toEqual([
      [404, 404],
      [44, 44],
    ])
    const refreshed = await command('key refresh', 'new')
    expect([await funnels('new-store-key', 44), await funnels(refreshed, 44)]).toEqual([
      [401, 401],
      [44, 44],
    ])
    // in the place of a configured one
    await importOf({ id: 'main', apiKey: 'another-main-key' })
    expect([await funnels('main-key', 12), await funnels('another-main-key', 12)]).toEqual([
      [401, 401],
      [12, 12],
    ])
    await expect(importOf({ apiKey: 'another-main-key' })).rejects.toThrow('another store has this key')
    await expect(importOf({ apiKey: 'other-key' })).rejects.toThrow('another store has this key')
    await expect(importOf({ funnels: [], products: [{ ...main!.products[0], image: 'tee.svg' }] })).rejects.toThrow(
      '1001',
    )
    await expect(importOf({ funnels: 'none' })).rejects.toThrow('funnels')
    expect([await command('store remove', 'main'), await funnels('main-key', 12)]).toEqual([
      'main is as it is configured, or is no more',
      [12, 12],
    ])
    await command('store remove', 'new')
    expect(await funnels(refreshed, 44)).toEqual([401, 401])
    // what was said of a configured one's key holds again
    const issued = await command('key refresh', 'main')
    await importOf({ id: 'main', apiKey: 'another-main-key' })
    await importOf({ id: 'main', apiKey: 'a-third-main-key' })
    expect([await funnels(issued, 12), await funnels('a-third-main-key', 12)]).toEqual([
      [401, 401],
      [12, 12],
    ])
    // the key that it had before is its own still
    await expect(importOf({ id: 'second', apiKey: issued })).rejects.toThrow('another store has this key')
    await command('store remove', 'main')
    expect([await funnels('main-key', 12), await funnels(issued, 12)]).toEqual([
      [401, 401],
      [12, 12],
    ])
    await command('key disconnect', 'main')
    await importOf({ id: 'main', apiKey: 'another-main-key' })
    await command('store remove', 'main')
    const statuses = await Promise.all(['main-key', issued, 'another-main-key'].map((key) => funnels(key, 12)))
    expect(new Set(statuses.flat())).toEqual(new Set([401]))
    await expect(command('store remove', 'new')).rejects.toThrow('no store new')
    await expect(command('key refresh', 'new')).rejects.toThrow('no store new')
    await rm(folder, { recursive: true })
    await Promise.all(services.map((service) => service.close()))
  })
})
