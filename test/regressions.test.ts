import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createActor, fromPromise } from 'xstate'
import type { FlowStorage, TryOn } from 'fitting-room'
import { tryOnMachine, tryOnView, type TryOnContext, type Written } from 'fitting-room/machines'
import type { AttemptRecord } from '../src/rules/record.ts'
import { memoryStorage } from 'fitting-room/storage/memory'
import { answers, createWorld, person, product, type World } from './support/world.ts'

let world: World
let storage: FlowStorage & { refuse: (how: ((call: string, key: string) => boolean) | null) => void }

/** Storage that refuses after it has run the change, as a full disk does. */
function refusing(): typeof storage {
  const inner = memoryStorage()
  let refuses: ((call: string, key: string) => boolean) | null = null
  const check = (call: string, key: string) => {
    if (refuses?.(call, key)) throw new DOMException('full', 'QuotaExceededError')
  }
  return {
    refuse: (how) => void (refuses = how),
    getItem: (key) => (check('get', key), inner.getItem(key)),
    setItem: (key, value) => (check('set', key), inner.setItem(key, value)),
    removeItem: (key) => (check('remove', key), inner.removeItem(key)),
    update: (key, change) =>
      inner.update(key, (old) => {
        const value = change(old)
        check('update', key)
        return value
      }),
    ...(inner.photos && { photos: inner.photos }),
  }
}
const isRecord = (key: string) => key.includes(':try-on:') && !key.endsWith(':lease')

beforeEach(() => {
  storage = refusing()
  world = createWorld({ storage })
})
afterEach(() => world.close())

const started = async (tryOn: TryOn) => {
  tryOn.subscribe(() => {})
  await tryOn.start(person)
}

describe('never paid twice', () => {
  it('a claim is not sent while the disk still holds the consent that a reload would go on with', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    world.fault('GET', '/funnel', [
      async () => {
        storage.refuse((call, key) => call !== 'get' && isRecord(key))
        return Response.json({ error: 'Unauthorized' }, { status: 401 })
      },
    ])
    tryOn.subscribe(() => {})
    await tryOn.start(person)
    await world.until(tryOn, 'unauthorized')
    await tryOn.resume()
    const view = await world.until(tryOn, 'rejected')
    expect(view.problem).toEqual({ kind: 'storage' })
    expect(world.count('POST', '/generations')).toBe(0)
  })

  it('a refused key is not tried again by itself after a reload where no other page is kept out', async () => {
    const inner = memoryStorage()
    const plain: FlowStorage = {
      getItem: (key) => inner.getItem(key),
      setItem: (key, value) => inner.setItem(key, value),
      removeItem: (key) => inner.removeItem(key),
    }
    world = createWorld({ storage: plain })
    world.fault('POST', '/generations', [answers(401, { error: 'Unauthorized' })])
    const first = world.room()
    await started(first.tryOn(product))
    await world.until(first.tryOn(product), 'unauthorized')
    first.close()
    const again = world.room().tryOn(product)
    await world.until(again, 'unauthorized')
    world.clock.advance(300_000)
    await world.settle()
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('a changed base URL sends nothing to the new installation', async () => {
    let base = 'https://api.test'
    const room = world.room({ baseUrl: () => base })
    const tryOn = room.tryOn(product)
    const held = world.hold('PUT', '/photos')
    await started(tryOn)
    await held.reached
    base = 'https://elsewhere.test'
    held.release()
    expect((await world.until(tryOn, 'rejected')).problem).toMatchObject({ situation: 'moved' })
    expect(world.count('POST', '/generations')).toBe(0)
  })
})

describe('never lost', () => {
  it('a late answer is taken by whoever runs the try-on by then', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    const held = world.hold('POST', '/generations', 'after')
    await started(tryOn)
    await held.reached
    room.close()
    await world.until(tryOn, 'outcomeUnknown')
    held.release()
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('an attempt that can not be archived is not left', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    await started(tryOn)
    const { attempt } = await world.until(tryOn, 'processing')
    storage.refuse((_, key) => key.includes(':attempt:'))
    await tryOn.startOver()
    expect(tryOn.get().attempt).toEqual(attempt)
    expect(tryOn.get().state).not.toBe('idle')
  })

  it('discarding one try-on does not drop the late job of another', async () => {
    const room = world.room({ timing: { submitTimeoutMs: 5_000 } })
    const [one, two] = [room.tryOn(product), room.tryOn({ ...product, variantId: '2002' })]
    const held = world.hold('POST', '/generations', 'after')
    await started(one)
    await held.reached
    await world.until(one, 'outcomeUnknown')
    await one.startOver()
    await started(two)
    await world.until(two, 'processing')
    await two.discard({ abandonPaidJob: true })
    held.release()
    await world.settle()
    expect((await room.list()).map(({ jobId }) => jobId)).toEqual([expect.any(String)])
  })

  it('a resumed job that gets no answer backs off, and does not fall back to its old stop', async () => {
    const tryOn = world.room().tryOn(product)
    world.fault('GET', '/generations', [answers(200, { data: { status: 'DONE' } }), answers(503, {}), answers(503, {})])
    await started(tryOn)
    await world.until(tryOn, 'protocolError')
    await tryOn.resume()
    await world.settle()
    expect(tryOn.get().state).toBe('processing')
    await world.until(tryOn, 'final')
  })
})

describe('never untrue', () => {
  it('a full disk lets the flow run in memory, and says so', async () => {
    storage.refuse((call) => call !== 'get')
    const tryOn = world.room().tryOn(product)
    await started(tryOn)
    expect((await world.until(tryOn, 'final')).durable).toBe(false)
    expect(world.count('GET', '/funnel')).toBe(1)
  })

  it('a claim that the disk refuses does not loop', async () => {
    let records = 0
    storage.refuse((call, key) => call === 'update' && isRecord(key) && ++records === 2)
    const tryOn = world.room().tryOn(product)
    await started(tryOn)
    await world.until(tryOn, 'final')
    expect(world.count('GET', '/funnel')).toBe(1)
  })

  it('a retry of an archived attempt is not permitted, one of a listed current attempt is a new one', async () => {
    const room = world.room()
    await started(room.tryOn(product))
    const { attempt } = await world.until(room.tryOn(product), 'final')
    const [listed] = await world.room().list()
    const tryOn = listed?.open() as TryOn
    await world.until(tryOn, 'final')
    await tryOn.retry()
    const again = await world.until(tryOn, 'final')
    expect(again.attempt?.jobId).not.toBe(attempt?.jobId)
    const before = world.sent.length
    const archived = (await world.room().list()).find((each) => each.archived)?.open() as TryOn
    const view = await world.until(archived, 'final')
    expect(view.attempt).toEqual(attempt)
    await expect(archived.retry()).rejects.toMatchObject({ problem: { kind: 'notAllowed', intent: 'retry' } })
    expect(world.sent.length).toBe(before)
  })

  it('a new consent knows nothing of what stopped the one before', async () => {
    const room = world.room({ askVisitorFirst: true })
    const tryOn = room.tryOn(product)
    world.fault('GET', '/funnel', [answers(404, { error: 'Funnel not found' })])
    await started(tryOn)
    await world.until(tryOn, 'rejected')
    const visitor = { requestsLeft: 0, totalRequests: 2, uniqueUserId: 'v' }
    world.fault('GET', '/requests-left', [answers(200, { data: visitor })])
    await tryOn.retry()
    await world.until(tryOn, 'needsEmail')
  })

  it('a resumed attempt knows nothing of the refusal that stopped it', async () => {
    const tryOn = world.room({ askVisitorFirst: true }).tryOn(product)
    world.fault('GET', '/funnel', [answers(401, { error: 'Unauthorized' })])
    await started(tryOn)
    await world.until(tryOn, 'unauthorized')
    await tryOn.resume()
    await world.settle()
    expect([tryOn.get().state, tryOn.get().problem]).toEqual(['processing', null])
  })

  it('a subscriber that throws stops nothing', async () => {
    const failures: unknown[] = []
    const report = (error: unknown) => void failures.push(error)
    process.once('uncaughtException', report)
    const room = world.room()
    const tryOn = room.tryOn(product)
    let thrown = false
    room.visitor.subscribe(() => {
      if (thrown) return
      thrown = true
      throw new Error('a bug of the page')
    })
    await started(tryOn)
    await world.until(tryOn, 'final')
    await new Promise((resolve) => setImmediate(resolve))
    process.off('uncaughtException', report)
    expect(thrown).toBe(true)
    expect(failures).toEqual([new Error('a bug of the page')])
  })
})

describe('a storage that refuses everything', () => {
  it('keeps a paid attempt that it can not archive', async () => {
    const tryOn = world.room().tryOn(product)
    await started(tryOn)
    await world.until(tryOn, 'final')
    storage.refuse((call) => call !== 'get')
    await tryOn.retry()
    const { problem } = await world.until(tryOn, ({ state }) => state !== 'preparing')
    // the paid picture could not be archived, so it stays
    expect([tryOn.get().state, problem?.kind]).toEqual(['final', 'storage'])
  })

  it('that hangs and then recovers is written to again', async () => {
    let hangs = false
    const inner = memoryStorage()
    const slow: FlowStorage = {
      getItem: (key) => inner.getItem(key),
      setItem: (key, value) => inner.setItem(key, value),
      removeItem: (key) => inner.removeItem(key),
      update: (key, change) => {
        const write = () => void inner.update(key, change)
        return hangs && isRecord(key) ? new Promise<void>((resolve) => waiting.push(() => resolve(write()))) : write()
      },
    }
    const waiting: (() => void)[] = []
    world = createWorld({ storage: slow })
    const tryOn = world.room().tryOn(product)
    const held = world.hold('POST', '/generations', 'after')
    await started(tryOn)
    await held.reached
    hangs = true
    held.release()
    expect((await world.until(tryOn, 'processing')).durable).toBe(false)
    hangs = false
    for (const go of waiting) go()
    await world.settle()
    expect((await world.until(tryOn, 'final')).durable).toBe(true)
  })
})

describe('a claim', () => {
  it('whose submission breaks unforeseen is outcomeUnknown, and resume() is not permitted', async () => {
    const { clock } = world
    const claimed: AttemptRecord = {
      version: 1,
      savedAt: 0,
      attemptId: 'a',
      startedAt: clock.now(),
      phase: 'claimed',
      productId: '1',
      variantId: '2',
      funnelIds: [1],
      photo: { id: 'p', imageUrl: 'https://api.test/p' },
      funnel: { id: 1, funnelType: 'upper_body', generationModel: 'SERVICE_FAST' },
    }
    const standing = (record: AttemptRecord): Written => ({ kind: 'stands', record, durable: true })
    const stands = (record: AttemptRecord) => fromPromise<Written, TryOnContext>(async () => standing(record))
    const broken = fromPromise<Written, TryOnContext>(() => Promise.reject(new Error('a bug')))
    const restore = stands({ ...claimed, phase: 'throttled', until: 0 })
    const probe = fromPromise<Written, TryOnContext>(async ({ input }) => standing(input.record ?? claimed))
    const machine = tryOnMachine.provide({ actors: { restore, probe, claim: stands(claimed), submit: broken } })
    const given = { pollIntervalMs: 1, deadlineMs: 1, askVisitorFirst: false, exclusive: true, archived: false }
    const own = createActor(machine, { input: { ...given, clock }, clock })
    own.start()
    await world.settle()
    clock.advance(1)
    await world.settle()
    expect(tryOnView(own.getSnapshot())).toMatchObject({ state: 'outcomeUnknown', can: { resume: false } })
    own.stop()
  })
})

describe('never leaking', () => {
  it('an answer to the shopper before reset() teaches the next one nothing', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    const held = world.hold('POST', '/generations', 'after')
    await started(tryOn)
    await held.reached
    await room.reset()
    held.release()
    await world.settle()
    expect(room.visitor.get().uniqueUserId).toBeNull()
    expect(room.photo.get()).toBeNull()
  })

  it('reset() fails where it can not know what has to go', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    await started(tryOn)
    await world.until(tryOn, 'final')
    storage.refuse((call, key) => call === 'get' && key.endsWith(':index'))
    await expect(room.reset()).rejects.toMatchObject({ kind: 'storage' })
    storage.refuse(null)
    await room.reset()
    expect(await room.list()).toEqual([])
  })

  it('visitor and photo expire like everything else', async () => {
    const tryOn = world.room().tryOn(product)
    await started(tryOn)
    await world.until(tryOn, 'final')
    world.clock.advance(86_400_001)
    const late = world.room()
    await late.ready
    expect(late.visitor.get().uniqueUserId).toBeNull()
    expect(late.photo.get()).toBeNull()
  })
})

describe('never stuck', () => {
  it('an intent of a room that is closed meanwhile rejects, and so does result()', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    const result = tryOn.result().catch((error: unknown) => error)
    const intent = tryOn.start(person).catch((error: unknown) => error)
    room.close()
    expect(await result).toMatchObject({ problem: { kind: 'stopped', reason: 'closed' } })
    expect(await intent).toMatchObject({ problem: { kind: 'stopped', reason: 'closed' } })
  })

  it('a base URL that is missing for a moment does not end the try-on', async () => {
    let base = 'https://api.test'
    const tryOn = world.room({ baseUrl: () => base }).tryOn(product)
    await started(tryOn)
    await world.until(tryOn, 'processing')
    base = ''
    world.clock.advance(5_000)
    await world.settle()
    base = 'https://api.test'
    await world.until(tryOn, 'final')
  })

  it('a registration that has to wait for a day can be left', async () => {
    const tryOn = world.room().tryOn({ ...product, variantId: '2009' })
    await started(tryOn)
    await world.until(tryOn, 'needsEmail')
    world.fault('POST', '/customer-register', [
      answers(429, { error: 'Rate limit exceeded' }, { 'Retry-After': '86400' }),
    ])
    await tryOn.submitEmail({ email: 'ada@example.com' })
    await world.settle()
    expect(tryOn.get().can.startOver).toBe(true)
    await tryOn.startOver()
    expect(tryOn.get().state).toBe('idle')
  })

  it('an empty visitor ID is refused at once', () => {
    expect(() => world.room({ uniqueUserId: '' })).toThrow(expect.objectContaining({ kind: 'input' }))
  })
})
