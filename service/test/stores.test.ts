import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createService,
  memoryBlobs,
  memoryStore,
  openFolderStore,
  openServerStore,
  type Config,
  type Store,
} from '@fitting-room/service'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { assemble } from '../src/assemble.ts'
import { IpLimiter } from '../src/ip-limiter.ts'
import { deleteExpired } from '../src/retention.ts'
import { newVisitor, picturesOf, usualPlaces, type BlobStore, type Ledger } from '../src/ports.ts'
import { createTurns } from '../src/turns.ts'
import { rememberedUploads } from '../src/uploads.ts'
import { sandboxConfig } from '../src/sandbox-config.ts'
import { createWorker } from '../src/worker.ts'
import { undrawn } from '../../test/support/undrawn.ts'
import { png } from './contract.suite.ts'
import { startPostgresServer, type PostgresServer } from './postgres-server.ts'
import { queuedJob } from './queued-job.ts'
import { configOf, headers, report, submit, url } from './submissions.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgresServer()
})
afterAll(() => server.close())

/** A line in which no time passes, however slow the machine is. */
const turns = () => createTurns({ now: () => 0 })

const kinds: [string, () => Promise<{ store: Store; release(): Promise<void> }>][] = [
  ['in memory', async () => ({ store: memoryStore(usualPlaces, turns()), release: async () => {} })],
  [
    'in a folder',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'service-'))
      return {
        ...(await openFolderStore(folder, { report, turns: turns() })),
        release: () => rm(folder, { recursive: true }),
      }
    },
  ],
  [
    'in PostgreSQL',
    async () => {
      const options = { report, turns: turns() }
      return { ...(await openServerStore(await server.newDatabase(), options)), release: async () => {} }
    },
  ],
]

/** Jobs of a store, each of which is begun and ends as a test says. */
function held(store: Store) {
  const begun: string[] = []
  const ends: (() => void)[] = []
  return {
    begun,
    ends,
    async work(jobId: string) {
      begun.push(jobId)
      await new Promise<void>((resolve) => ends.push(resolve))
    },
    async add(storeId: string, count: number) {
      const jobs = Array.from({ length: count }, () => queuedJob({ id: randomUUID(), storeId }))
      await store.transaction(async (ledger) => {
        for (const job of jobs) await ledger.addJob(job)
      })
      return jobs.map(({ id }) => id)
    },
  }
}

describe.each(kinds)('a store %s', (_, open) => {
  /** The statuses of 200 submissions at once, and how many are accepted. */
  async function accepted(credits: number | null, shopperOf: (at: number) => string, config = configOf(credits)) {
    const { store, release } = await open()
    // nobody works on the jobs, so that none fails and gives its credit back
    const reports: unknown[] = []
    const service = createService({
      config,
      publicUrl: url,
      store,
      works: false,
      report: (error) => reports.push(error),
    })
    const answers = await Promise.all(Array.from({ length: 200 }, (_, at) => submit(service, at, shopperOf(at))))
    await service.close()
    await release()
    expect(reports).toEqual([])
    return answers.filter(({ status }) => status === 200).length
  }

  it('lets through 200 submissions of one shopper at once as many as the cap says', async () => {
    expect(await accepted(null, () => 'one')).toBe(5)
  })

  it('lets through 200 submissions of as many shoppers as there are credits', async () => {
    expect(await accepted(37, (at) => `shopper ${at}`)).toBe(37)
  })

  it('carries out each of many submissions at once a single time, though there is no credit for most', async () => {
    const { store, release } = await open()
    let times = 0
    const transaction: Store['transaction'] = (work) =>
      store.transaction((ledger) => {
        times += 1
        return work(ledger)
      })
    const parts = { store: { ...store, transaction }, works: false, report }
    const service = createService({ config: configOf(4), publicUrl: url, ...parts })
    // the first of all has a store's credits written down, for which it is alone
    await submit(service, 20, 'shopper 20')
    times = 0
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => submit(service, at, `shopper ${at}`)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(times).toBe(20)
    await service.close()
    await release()
  })

  it('counts for a cap what was accepted while there was none', async () => {
    const { store, release } = await open()
    const withCap = configOf(null)
    const without = { ...withCap, stores: withCap.stores.map((each) => ({ ...each, tryOnCap: null })) }
    const statusUnder = async (config: Config) => {
      const service = createService({ config, publicUrl: url, store, works: false, report })
      return (await submit(service, 0, 'one')).status
    }
    for (let at = 0; at < 5; at += 1) expect(await statusUnder(without)).toBe(200)
    expect(await statusUnder(withCap)).toBe(429)
    expect(await statusUnder(without)).toBe(200)
    await store.close()
    await release()
  })

  it('counts for a cap what another process has accepted, whose clock is ahead', async () => {
    const { store, release } = await open()
    const at = (aheadMs: number) =>
      createService({
        config: configOf(null),
        publicUrl: url,
        store,
        clock: { now: () => Date.now() + aheadMs },
        works: false,
        report,
      })
    const [ahead, own] = [at(60_000), at(0)]
    const statuses: number[] = []
    for (let round = 0; round < 4; round += 1)
      for (const service of [ahead, own]) statuses.push((await submit(service, round, 'one')).status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(5)
    await own.close()
    await release()
  })

  it('counts for no cap what was accepted while the clock was ahead', async () => {
    const { store, release } = await open()
    let now = Date.now()
    const clock = { now: () => now }
    const service = createService({ config: configOf(null), publicUrl: url, store, clock, works: false, report })
    const yearMs = 365 * 86_400_000
    now += yearMs
    for (let at = 0; at < 5; at += 1) expect((await submit(service, at, 'one')).status).toBe(200)
    expect((await submit(service, 5, 'one')).status).toBe(429)
    now -= yearMs
    expect((await submit(service, 6, 'one')).status).toBe(200)
    await service.close()
    await release()
  })

  it('takes no credit more where a store has fewer than it has used, or than it had', async () => {
    const { store, release } = await open()
    const take = (credits: number) => store.transaction((ledger) => ledger.takeCredit('main', credits))
    const takeAll = async (credits: number) => {
      for (let taken = 0; ; taken += 1) if ((await take(credits)) === null) return taken
    }
    for (let at = 0; at < 120; at += 1) await take(320)
    expect([await takeAll(100), await takeAll(128), await takeAll(160)]).toEqual([
      0,
      expect.any(Number),
      expect.any(Number),
    ])
    const used = 120 + (await takeAll(320))
    expect(used).toBeLessThanOrEqual(320)
    await store.close()
    await release()
  })

  it('forgets no try-on that is queued, however old', async () => {
    const { store, release } = await open()
    const [waiting, over] = [randomUUID(), randomUUID()]
    for (const id of [waiting, over])
      await store.transaction((ledger) => ledger.addJob(queuedJob({ id, storeId: 'main' })))
    await store.transaction(async (ledger) => ledger.saveJob({ ...(await ledger.job(over))!, state: 'failed' }))
    await store.expire({ photos: 0, jobs: 2 ** 52 }, async (names) => names)
    expect([(await store.job(waiting))?.state, await store.job(over)]).toEqual(['queued', null])
    await store.close()
    await release()
  })

  it('hands out again a job that could not be done, until it is', async () => {
    const { store, release } = await open()
    let tries = 0
    const work = async () => {
      tries += 1
      if (tries < 2) throw new Error('there was no process to draw a picture')
    }
    await store.transaction((ledger) => ledger.addJob(queuedJob({ id: randomUUID(), storeId: 'main' })))
    await store.run(work, async () => {})
    // a server that tells of new jobs is asked seldom for others
    await expect.poll(() => tries).toBe(2)
    await store.close()
    await release()
  })

  it('forgets with a failed try-on what there may be of its pictures', async () => {
    const { store, release } = await open()
    const id = randomUUID()
    await store.transaction((ledger) => ledger.addJob(queuedJob({ id, storeId: 'main', acceptedAt: 0 })))
    await store.transaction(async (ledger) => ledger.saveJob({ ...(await ledger.job(id))!, state: 'failed' }))
    const removed: string[] = []
    await store.expire({ photos: 0, jobs: 1 }, async (names) => (removed.push(...names), names))
    expect(removed.toSorted()).toEqual([`${id}-preview.jpeg`, `${id}.jpeg`])
    await store.close()
    await release()
  })

  it('looks up a shopper for a poll once there are pictures, be it the one who polls or the one of the try-on', async () => {
    const { store, release } = await open()
    const id = randomUUID()
    const saved = await store.transaction(async (ledger) => {
      const visitor = { ...(await ledger.visitor('main', 'shopper')), email: 'shopper@example.com', counted: 3 }
      await ledger.saveVisitor(visitor)
      await ledger.addJob(queuedJob({ id, storeId: 'main', visitorId: visitor.id }))
      return visitor
    })
    const polls = () => Promise.all([undefined, saved.id, 'another'].map((visitorId) => store.poll(id, visitorId)))
    for (const polled of await polls()) expect(polled).toMatchObject({ job: { id, state: 'queued' }, visitor: null })
    const pictures = picturesOf({ id })
    await store.transaction(async (ledger) =>
      ledger.saveJob({ ...(await ledger.job(id))!, state: 'rendered', pictures }),
    )
    const shopper = { id: saved.id, email: expect.any(String) as string, counted: 3 }
    expect(await polls()).toMatchObject(
      [shopper, shopper, { id: 'another', email: null, counted: 0 }].map((visitor) => ({ job: { pictures }, visitor })),
    )
    await store.close()
    await release()
  })

  it('tells nobody of a try-on whose pictures are being removed, whatever becomes of that', async () => {
    const { store, release } = await open()
    const id = randomUUID()
    await store.transaction((ledger) => ledger.addJob(queuedJob({ id, storeId: 'main', acceptedAt: 0 })))
    await store.transaction(async (ledger) => ledger.saveJob({ ...(await ledger.job(id))!, state: 'rendered' }))
    const until = { photos: 0, jobs: 1 }
    await expect(store.expire(until, () => Promise.reject(new Error('no disk')))).rejects.toThrow('no disk')
    expect([await store.job(id), await store.poll(id, undefined)]).toEqual([null, null])
    const removed: string[] = []
    await store.expire(until, async (names) => (removed.push(...names), names))
    expect(removed.toSorted()).toEqual([`${id}-preview.jpeg`, `${id}.jpeg`])
    await store.close()
    await release()
  })

  it('forgets all but what cannot be removed, which it tries again another time', async () => {
    const { store, release } = await open()
    const there = new Set<string>()
    for (let at = 0; at < 450; at += 1) {
      there.add(`${at}.png`)
      await store.keepPhoto(`${at}.png`, at)
    }
    const stuck = new Set(Array.from({ length: 250 }, (_, at) => `${at}.png`))
    const remove = async (names: string[]) => {
      const gone = names.filter((name) => !stuck.has(name))
      gone.forEach((name) => there.delete(name))
      return gone
    }
    while ((await store.expire({ photos: 1_000, jobs: 0 }, remove)) > 0);
    expect(there).toEqual(stuck)
    stuck.clear()
    while ((await store.expire({ photos: 1_001, jobs: 0 }, remove)) > 0);
    expect(there.size).toBe(0)
    await store.close()
    await release()
  })

  it('tells how many jobs wait', async () => {
    const { store, release } = await open()
    await held(store).add('main', 3)
    await expect.poll(store.waiting, { timeout: 60_000 }).toEqual({ fetch: 0, render: 3 })
    await store.close()
    await release()
  })

  it('keeps no store waiting for another one that has many jobs, none of which ends', async () => {
    const { store, release } = await open()
    const { begun, ends, work, add } = held(store)
    await add('main', 20)
    await store.run(work, work)
    await expect.poll(() => begun.length).toBe(4)
    await add('another', 20)
    await expect.poll(() => begun.length).toBe(8)
    const [other] = await add('other', 1)
    await expect.poll(() => begun.includes(other!)).toBe(true)
    expect(begun.length).toBe(9)
    // the rest of them, too, however they are worked on
    await expect
      .poll(() => {
        ends.splice(0).forEach((end) => end())
        return begun.length
      })
      .toBe(41)
    await store.close()
    await release()
  })

  it('gives a store that begins the next place, however many jobs others have before it', async () => {
    const { store, release } = await open()
    const { begun, ends, work, add } = held(store)
    for (const storeId of ['one', 'two', 'three', 'four']) await add(storeId, 30)
    await store.run(work, work)
    await expect.poll(() => begun.length).toBe(16)
    const [only] = await add('five', 1)
    ends.shift()?.()
    await expect.poll(() => begun.length).toBe(17)
    expect(begun.at(-1)).toBe(only)
    // and nobody is left waiting
    await expect
      .poll(() => {
        ends.splice(0).forEach((end) => end())
        return begun.length
      })
      .toBe(121)
    await store.close()
    await release()
  })

  it('makes what was accepted as it was accepted, whatever the configuration says by then', async () => {
    const { store, release } = await open()
    const blobs = memoryBlobs()
    await blobs.put('there.png', { bytes: new Uint8Array(1), type: 'image/png' })
    const config = configOf(null)
    const before = createService({ config, publicUrl: url, store, blobs, works: false, report })
    const order = { funnelId: 12, productId: '1001', variantId: '2001', imageUrl: `${url}/photos/there.png` }
    const body = JSON.stringify({ ...order, uniqueUserId: 'one' })
    const answer = await before.fetch(new Request(`${url}/generations`, { method: 'POST', headers, body }), {})
    const { jobId } = ((await answer.json()) as { data: { jobId: string } }).data
    const made: string[] = []
    const stores = config.stores.map((each) => ({
      ...each,
      products: [],
      funnels: each.funnels.map((funnel) => ({ ...funnel, funnelType: 'dress' as const, productIds: [] })),
    }))
    const after = createService({
      config: { ...config, stores, generation: { ...config.generation, readyAfterMs: 1e9 } },
      publicUrl: url,
      store,
      blobs,
      ...undrawn,
      generator: (photo, garment, funnelType, storeId) => {
        made.push(`${funnelType} of ${storeId}`)
        return undrawn.generator(photo, garment, funnelType, storeId)
      },
      report,
    })
    const state = async () => {
      const polled = await after.fetch(new Request(`${url}/generations/${jobId}`, { headers }), {})
      return ((await polled.json()) as { data: { storageStatus?: string } }).data.storageStatus
    }
    await expect.poll(state, { interval: 300 }).toBe('READY')
    expect(made).toEqual(['upper_body of main'])
    await after.close()
    await release()
  })

  it('keeps no job waiting for photos of the same store that other people’s servers do not send', async () => {
    const { store, release } = await open()
    const isWaitedFor = (name: string) => name.endsWith('never.png')
    const ends: (() => void)[] = []
    const blobs = memoryBlobs()
    const photo = { bytes: new Uint8Array(1), type: 'image/png' }
    await blobs.put('there.png', photo)
    const put: string[] = []
    const service = assemble({
      config: configOf(null),
      publicUrl: () => url,
      store,
      blobs: { ...blobs, put: (name, blob) => (put.push(name), blobs.put(name, blob)) },
      ...undrawn,
      limiter: new IpLimiter(Date),
      works: true,
      uploads: rememberedUploads(),
      clock: Date,
      report,
      garmentOf: async () => new Uint8Array(1),
      async fetchPhoto(address) {
        if (isWaitedFor(address)) await new Promise<void>((resolve) => ends.push(resolve))
        return photo
      },
    })
    const order = async (at: number, imageUrl: string) => {
      const body = { funnelId: 12, productId: '1001', variantId: '2001', imageUrl, uniqueUserId: `shopper ${at}` }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      const answer = await service.fetch(new Request(`${url}/generations`, init), { ip: `10.2.0.${at}` })
      return ((await answer.json()) as { data: { jobId: string } }).data.jobId
    }
    const slow: string[] = []
    for (let at = 0; at < 11; at += 1) slow.push(await order(at, 'https://slow.example/never.png'))
    const uploaded = await order(31, `${url}/photos/there.png`)
    const elsewhere = await order(32, 'https://quick.example/there.png')
    const stateOf = async (id: string) => (await store.job(id))?.state
    await expect.poll(() => stateOf(uploaded)).toBe('rendered')
    await expect.poll(() => stateOf(elsewhere)).toBe('rendered')
    expect(new Set(await Promise.all(slow.map(stateOf)))).toEqual(new Set(['queued']))
    await expect
      .poll(async () => {
        ends.splice(0).forEach((end) => end())
        return new Set(await Promise.all(slow.map(stateOf)))
      })
      .toEqual(new Set(['rendered']))
    await service.close()
    // what was fetched for one job is gone with it
    const fetched = put.filter((name) => !name.endsWith('.jpeg'))
    expect([fetched.length, await Promise.all(fetched.map((name) => blobs.get(name)))]).toEqual([
      12,
      Array(12).fill(null),
    ])
    await release()
  })

  it('keeps no job waiting for pictures of products that other people’s servers do not send', async () => {
    const { store, release } = await open()
    const ends: (() => void)[] = []
    const blobs = memoryBlobs()
    await blobs.put('photo.png', { bytes: new Uint8Array(1), type: 'image/png' })
    const garments: number[] = []
    const put: string[] = []
    const { work, giveUp } = createWorker({
      config: { giveUpAfterMinutes: 60 },
      store,
      blobs: { ...blobs, put: (name, blob) => (put.push(name), blobs.put(name, blob)) },
      async generator(...order) {
        garments.push(order[1].length)
        return undrawn.generator(...order)
      },
      fetchPhoto: () => Promise.reject(new Error('no photo lies elsewhere')),
      async garmentOf({ image }) {
        if (image) await new Promise<void>((resolve) => ends.push(resolve))
        return new Uint8Array(image ? 5 : 1)
      },
      report,
      clock: Date,
    })
    await store.run(work, giveUp)
    const add = async (image: string | null) => {
      const id = randomUUID()
      const product = { id: '1001', title: 'Tee', image }
      await store.transaction((ledger) => ledger.addJob(queuedJob({ id, storeId: 'main', product })))
      return id
    }
    const slow: string[] = []
    for (let at = 0; at < 11; at += 1) slow.push(await add('https://slow.example/never.png'))
    const drawn = await add(null)
    const stateOf = async (id: string) => (await store.job(id))?.state
    await expect.poll(() => stateOf(drawn)).toBe('rendered')
    expect(new Set(await Promise.all(slow.map(stateOf)))).toEqual(new Set(['queued']))
    await expect
      .poll(async () => {
        ends.splice(0).forEach((end) => end())
        return new Set(await Promise.all(slow.map(stateOf)))
      })
      .toEqual(new Set(['rendered']))
    expect(garments.filter((length) => length === 5)).toHaveLength(11)
    // what was fetched for one job is gone with it
    const fetched = put.filter((name) => !name.endsWith('.jpeg'))
    expect(fetched).toHaveLength(11)
    await expect.poll(() => Promise.all(fetched.map((name) => blobs.get(name)))).toEqual(Array(11).fill(null))
    await store.close()
    await release()
  })

  it('gives the credit of a failed job back, and neither its count nor its place under the cap', async () => {
    const { store, release } = await open()
    const service = createService({ config: configOf(1), publicUrl: url, store, report: () => {} })
    for (let at = 0; at < 5; at += 1) {
      const answer = await submit(service, at, 'one', '2003')
      expect(answer.status).toBe(200)
      const { data } = (await answer.json()) as { data: { jobId: string } }
      await expect.poll(async () => (await store.job(data.jobId))?.state).toBe('failed')
    }
    expect((await submit(service, 6, 'one', '2001')).status).toBe(429)
    expect((await store.visitor('main', 'one')).counted).toBe(5)
    await service.close()
    await release()
  })

  it('deletes the pictures of a try-on though photos are kept for as long as can be', async () => {
    const { store, release } = await open()
    const blobs = memoryBlobs()
    const job = queuedJob({ id: randomUUID(), storeId: 'main', acceptedAt: 1, state: 'rendered' })
    const { final } = picturesOf(job)
    await blobs.put(final, { bytes: png, type: 'image/jpeg' })
    await store.transaction((ledger) => ledger.addJob(job))
    const config = { ...configOf(null), keep: { photoHours: 876_000, pictureDays: 1 } }
    const away = { ...blobs, remove: () => Promise.reject(new Error('away')) }
    const look = (from: BlobStore, now: number) =>
      deleteExpired({ config, store: { ...store, now: async () => now }, blobs: from, clock: Date, report: () => {} })
    await look(away, Date.now() - 60_000)
    expect(await blobs.get(final)).not.toBeNull()
    await look(blobs, Date.now())
    expect(await blobs.get(final)).toBeNull()
    await store.close()
    await release()
  })

  it('forgets a photo a day after its last use, and a try-on with its pictures when its time has come', async () => {
    const { store: opened, release } = await open()
    const blobs = memoryBlobs()
    let now = Date.now()
    const store = { ...opened, now: async () => now }
    const clock = { now: () => now }
    const hours = (count: number) => void (now += count * 3_600_000)
    const config = configOf(null)
    const service = createService({ config, publicUrl: url, store, blobs, clock, ...undrawn, report })
    const call = async (path: string, body?: object) => {
      const init = body && { method: 'POST', body: JSON.stringify(body) }
      return service.fetch(new Request(url + path, { headers, ...init }))
    }
    const read = async (answer: Response) => ((await answer.json()) as { data: any }).data
    const { uploadUrl, imageUrl } = await read(await call('/uploads', { contentType: 'image/png' }))
    await service.fetch(new Request(uploadUrl, { method: 'PUT', body: png, headers: { 'Content-Type': 'image/png' } }))
    const order = { funnelId: 12, productId: '1001', variantId: '2001', imageUrl, uniqueUserId: 'one' }
    const isThere = async (address: string) => (await service.fetch(new Request(address))).status === 200
    const jobs: string[] = []
    const tryOn = async () => {
      const { jobId } = await read(await call('/generations', order))
      await expect.poll(async () => (await store.job(jobId))?.state).toBe('rendered')
      jobs.push(jobId)
    }
    const passed = async (count: number) => {
      hours(count)
      await deleteExpired({ config, store, blobs, clock, report })
    }

    await tryOn()
    // by the clock of a machine that is ahead of the store's nothing is over
    const ahead = { now: () => now + 31 * 24 * 3_600_000 }
    await deleteExpired({ config, store, blobs, clock: ahead, report })
    await passed(23)
    await tryOn()
    await passed(23)
    expect(await isThere(imageUrl)).toBe(true)
    await passed(2)
    expect(await isThere(imageUrl)).toBe(false)
    const picture = (await read(await call(`/generations/${jobs[0]}`))).imageUrl
    expect(await isThere(picture)).toBe(true)
    hours(30 * 24 - 48)
    // its time has come, though nothing was deleted yet
    expect((await call(`/generations/${jobs[0]}`)).status).toBe(404)
    await passed(0)
    expect([await isThere(picture), await store.job(jobs[0]!)]).toEqual([false, null])
    expect((await call(`/generations/${jobs[1]}`)).status).toBe(200)
    await service.close()
    await release()
  })

  /** Counts a try-on of one of five shoppers. */
  const count = (at: number) => async (ledger: Ledger) => {
    const visitor = await ledger.visitor('main', `shopper ${at % 5}`)
    void ledger.saveVisitor({ ...visitor, counted: visitor.counted + 1 })
    return visitor
  }
  const counts = async (store: Store) => {
    const shoppers = await Promise.all([0, 1, 2, 3, 4].map((at) => store.visitor('main', `shopper ${at}`)))
    return shoppers.map(({ counted }) => counted)
  }

  it('takes many at once, of which each sees what those before it have written', async () => {
    const { store, release } = await open()
    const read = await Promise.all(Array.from({ length: 100 }, (_, at) => store.transaction(count(at))))
    // in whatever order
    const counted = read.map((each) => each.counted).toSorted((a, b) => a - b)
    expect(counted).toEqual(Array.from({ length: 100 }, (_, at) => Math.floor(at / 5)))
    expect(await counts(store)).toEqual([20, 20, 20, 20, 20])
    await store.close()
    await release()
  })

  it('takes many at once, of which each stands or falls alone', async () => {
    const { store, release } = await open()
    const countOrFail = (at: number) => async (ledger: Ledger) => {
      const { counted } = await count(at)(ledger)
      // of two things in two orders
      if (at % 7 === 6) await ledger.visitor('main', `shopper ${(at + 1) % 5}`)
      if (at % 10 === 9) throw new Error('refused')
      return counted
    }
    const all = Array.from({ length: 100 }, (_, at) => store.transaction(countOrFail(at)))
    const refused = Array.from({ length: 10 }, (_, at) => at * 10 + 9)
    const ends = await Promise.allSettled(all)
    expect(ends.flatMap(({ status }, at) => (status === 'rejected' ? at : []))).toEqual(refused)
    expect(await counts(store)).toEqual([20, 20, 20, 20, 10])
    await store.close()
    await release()
  })

  it('forces a refusal once, also where what came with it is refused for another reason', async () => {
    const { store, release } = await open()
    const beside: Promise<unknown>[] = []
    const transaction: Store['transaction'] = (work) => {
      const end = store.transaction(work)
      beside.push(store.transaction(() => Promise.reject(new Error('refused'))).catch(() => {}))
      return end
    }
    const config = sandboxConfig()
    const service = createService({ config, publicUrl: url, store: { ...store, transaction }, works: false, report })
    const order = { funnelId: 11, productId: '1009', variantId: '9007', imageUrl: 'https://a.example/a.png' }
    const forced = Array.from({ length: 10 }, (_, at) => {
      const body = JSON.stringify({ ...order, uniqueUserId: `shopper ${at}` })
      const init = { method: 'POST', headers: { ...headers, 'X-Service-SDK-Key': 'sandbox-key' }, body }
      return service.fetch(new Request(`${url}/generations`, init), { ip: `10.1.0.${at}` })
    })
    const statuses = (await Promise.all(forced)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([429]))
    await Promise.all(beside)
    await service.close()
    await release()
  })

  it('keeps nothing of a submission that could not be queued', async () => {
    const { store, release } = await open()
    const transaction: Store['transaction'] = (work) =>
      store.transaction((ledger) =>
        work({ ...ledger, addJob: (job) => ledger.addJob(job).then(() => Promise.reject(new Error('queue down'))) }),
      )
    const reports: unknown[] = []
    const service = createService({
      config: configOf(1),
      publicUrl: url,
      store: { ...store, transaction },
      report: (error) => reports.push(error),
    })
    const refused = await submit(service, 0, 'one')
    expect([refused.status, await refused.json()]).toEqual([500, { error: 'Could not create generation' }])
    expect(reports).toHaveLength(1)
    expect(await store.visitor('main', 'one')).toEqual(newVisitor('main', 'one'))
    await service.close()
    await release()
  })
})
