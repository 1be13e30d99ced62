import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FlowStorage, TryOn } from 'fitting-room'
import { memoryStorage } from 'fitting-room/storage/memory'
import { answers, createWorld, person, product, type World } from './support/world.ts'

let world: World
let close: (() => Promise<void>)[]
beforeEach(() => void (close = []))
afterEach(() => Promise.all(close.map((end) => end())))

const worldWith = (storage: FlowStorage) => {
  world = createWorld({ storage })
  close.push(() => world.close())
  return world
}

/** Storage that a reload keeps, with its misbehaviour under the test's control. */
function controlled() {
  const inner = memoryStorage()
  const calls: string[] = []
  let meet: (call: string, key: string) => unknown = () => undefined
  const through = (call: string, key: string, work: () => unknown) => {
    calls.push(`${call} ${key.split(':').slice(4).join(':')}`)
    const met = meet(call, key)
    return met === undefined ? work() : met
  }
  const storage: FlowStorage = {
    getItem: (key) => through('get', key, () => inner.getItem(key)),
    setItem: (key, value) => through('set', key, () => inner.setItem(key, value)),
    removeItem: (key) => through('remove', key, () => inner.removeItem(key)),
    update: (key, change) => through('update', key, () => inner.update(key, change)),
    ...(inner.photos && { photos: inner.photos }),
  }
  return { storage, inner, calls, misbehave: (how: typeof meet) => void (meet = how) }
}

const isRecord = (key: string) => key.includes(':try-on:') && !key.endsWith(':lease')
const refuse = () => Promise.reject(new DOMException('full', 'QuotaExceededError'))
const hang = () => new Promise(() => {})
const started = async (tryOn: TryOn) => {
  tryOn.subscribe(() => {})
  await tryOn.start(person)
}

describe('the order of writes', () => {
  it('the claim stands before the POST leaves, the job ID before the first poll', async () => {
    const { storage, calls } = controlled()
    const log: string[] = calls
    worldWith(storage)
    world.fault('POST', '/generations', [async (reach) => (log.push('POST'), reach())])
    world.fault('GET', '/generations', [async (reach) => (log.push('poll'), reach())])
    const tryOn = world.room().tryOn(product)
    await started(tryOn)
    await world.until(tryOn, 'processing')
    await world.settle()
    const record = log.filter((each) => /^(update .*try-on|POST|poll)/.test(each)).map((each) => each.split(' ')[0])
    expect(record.slice(-4)).toEqual(['update', 'POST', 'update', 'poll'])
  })

  it('the index entry stands before the record that it names', async () => {
    const { storage, calls } = controlled()
    worldWith(storage)
    await started(world.room().tryOn(product))
    const writes = calls.filter((each) => each.startsWith('update'))
    expect(writes.findIndex((each) => each.endsWith('index'))).toBeLessThan(
      writes.findIndex((each) => isRecord(`:${each.slice('update '.length)}`)),
    )
  })

  it('a rejection replaces the claim by its own phase in one write', async () => {
    const { storage, inner } = controlled()
    worldWith(storage)
    world.fault('POST', '/generations', [answers(404, { error: 'Variant not found' })])
    const tryOn = world.room().tryOn(product)
    await started(tryOn)
    await world.until(tryOn, 'rejected')
    const key = [...(await keysOf(inner))].find(isRecord) ?? ''
    expect(JSON.parse(String(await inner.getItem(key)))).toMatchObject({ phase: 'rejected' })
  })
})

async function keysOf(storage: FlowStorage): Promise<string[]> {
  const prefix = `fitting-room:${'https%3A%2F%2Fapi.test'.replaceAll('%', '_')}:default:anyone`
  const index = JSON.parse(String(await storage.getItem(`${prefix}:index`))) as { keys: string[] }
  return index.keys
}

describe('storage that never worked', () => {
  it.each([
    ['rejects', refuse],
    [
      'throws',
      () => {
        throw new Error('denied')
      },
    ],
  ])('that %s: the flow runs in memory and says so', async (_, how) => {
    const { storage, misbehave } = controlled()
    misbehave(how)
    worldWith(storage)
    const tryOn = world.room().tryOn(product)
    expect((await world.until(tryOn, 'idle')).problem).toEqual({ kind: 'storageUnreadable' })
    await tryOn.start(person)
    const view = await world.until(tryOn, 'final')
    expect(view.durable).toBe(false)
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('that hangs: every call ends at its time limit', async () => {
    const { storage, misbehave } = controlled()
    misbehave(hang)
    worldWith(storage)
    const tryOn = world.room().tryOn(product)
    await world.until(tryOn, 'idle')
    void tryOn.start(person)
    expect((await world.until(tryOn, 'final')).durable).toBe(false)
  })
})

describe('a claim that can not be written', () => {
  it('takes the consent back first, then goes on in memory', async () => {
    const { storage, inner, misbehave } = controlled()
    worldWith(storage)
    let records = 0
    // the consent is the first write of the record, the claim the second
    misbehave((call, key) => (call === 'update' && isRecord(key) && ++records === 2 ? refuse() : undefined))
    const found: unknown[] = []
    const key = 'fitting-room:https_3A_2F_2Fapi.test:default:anyone:try-on:1001:2001'
    world.fault('POST', '/generations', [async (reach) => (found.push(await inner.getItem(key)), reach())])
    const tryOn = world.room().tryOn(product)
    await started(tryOn)
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
    expect(found).toEqual([null])
  })

  it('sends nothing when the consent can not be taken back either', async () => {
    const { storage, misbehave } = controlled()
    worldWith(storage)
    let records = 0
    misbehave((call, key) => (call !== 'get' && isRecord(key) && ++records >= 2 ? refuse() : undefined))
    const tryOn = world.room().tryOn(product)
    await started(tryOn)
    const view = await world.until(tryOn, 'rejected')
    expect(view.problem).toEqual({ kind: 'storage' })
    expect(world.count('POST', '/generations')).toBe(0)
  })
})

describe('a job ID that can not be written', () => {
  it('is followed all the same, and durable is false', async () => {
    const { storage, misbehave } = controlled()
    worldWith(storage)
    const held = world.hold('POST', '/generations', 'after')
    const tryOn = world.room().tryOn(product)
    await started(tryOn)
    await held.reached
    misbehave((call) => (call === 'get' ? undefined : refuse()))
    held.release()
    expect((await world.until(tryOn, 'processing')).durable).toBe(false)
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })
})

describe('storage that loses data in between', () => {
  it('gets the job ID anew', async () => {
    const { storage, inner } = controlled()
    worldWith(storage)
    const held = world.hold('POST', '/generations', 'after')
    const tryOn = world.room().tryOn(product)
    await started(tryOn)
    await held.reached
    for (const key of (await keysOf(inner)).filter(isRecord)) await inner.removeItem(key)
    held.release()
    const { attempt } = await world.until(tryOn, 'processing')
    const again = await world.until(world.room().tryOn(product), 'processing')
    expect(again.attempt?.jobId).toBe(attempt?.jobId)
  })
})

describe('a failed read', () => {
  it('is not an absence: nothing is submitted, and resume() reads again', async () => {
    const { storage, misbehave } = controlled()
    worldWith(storage)
    const first = world.room()
    await started(first.tryOn(product))
    await world.until(first.tryOn(product), 'processing')
    first.close()
    misbehave((call) => (call === 'get' ? refuse() : undefined))
    const tryOn = world.room().tryOn(product)
    const view = await world.until(tryOn, 'idle')
    expect(view).toMatchObject({ problem: { kind: 'storageUnreadable' }, can: { resume: true } })
    expect(world.count('POST', '/generations')).toBe(1)
    misbehave(() => undefined)
    await tryOn.resume()
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('a start over a record that could not be read finds it, and does not overwrite it', async () => {
    const { storage, misbehave } = controlled()
    worldWith(storage)
    const first = world.room()
    await started(first.tryOn(product))
    const { attempt } = await world.until(first.tryOn(product), 'processing')
    first.close()
    misbehave((call) => (call === 'get' ? refuse() : undefined))
    const tryOn = world.room().tryOn(product)
    await world.until(tryOn, 'idle')
    misbehave(() => undefined)
    await tryOn.start(person)
    const view = await world.until(tryOn, 'final')
    expect(view.attempt?.jobId).toBe(attempt?.jobId)
    expect(world.count('POST', '/generations')).toBe(1)
  })
})

describe('records that this version can not read', () => {
  const good = {
    version: 1,
    savedAt: 0,
    attemptId: 'a',
    startedAt: 0,
    phase: 'final',
    productId: '1001',
    variantId: '2001',
    funnelIds: [12],
    photo: { id: 'p' },
  }
  it.each([
    ['a newer one', JSON.stringify({ ...good, version: 2 })],
    ['a corrupt one', '{"version":1,'],
    ['a foreign one', JSON.stringify({ hello: 'world' })],
    ['one from the future', JSON.stringify({ ...good, savedAt: Date.UTC(2026, 10, 1) + 360_000 })],
  ])('%s is reported and left, and a new start uses another key', async (_, text) => {
    const { storage, inner } = controlled()
    worldWith(storage)
    const key = 'fitting-room:https_3A_2F_2Fapi.test:default:anyone:try-on:1001:2001'
    await inner.setItem(key, text)
    const tryOn = world.room().tryOn(product)
    const view = await world.until(tryOn, 'idle')
    expect(view.problem).toEqual({ kind: 'recordUnreadable' })
    await tryOn.start(person)
    await world.until(tryOn, 'final')
    expect(await inner.getItem(key)).toBe(text)
    const again = await world.until(world.room().tryOn(product), 'final')
    expect(again.attempt?.jobId).toBe(tryOn.get().attempt?.jobId)
  })
})

describe('stores that hand back the parsed object', () => {
  it('work unchanged', async () => {
    const inner = memoryStorage()
    const parsing: FlowStorage = {
      getItem: (key) => {
        const text = inner.getItem(key) as string | null
        return text === null ? undefined : (JSON.parse(text) as unknown)
      },
      setItem: (key, value) => inner.setItem(key, value),
      removeItem: (key) => inner.removeItem(key),
    }
    worldWith(parsing)
    const tryOn = world.room().tryOn(product)
    await started(tryOn)
    const { attempt } = await world.until(tryOn, 'final')
    const again = await world.until(world.room().tryOn(product), 'final')
    expect(again.attempt).toEqual(attempt)
  })
})

describe('expiry', () => {
  it('a finished record is gone after its retention', async () => {
    worldWith(memoryStorage())
    const tryOn = world.room().tryOn(product)
    await started(tryOn)
    await world.until(tryOn, 'final')
    world.clock.advance(86_400_001)
    expect((await world.until(world.room().tryOn(product), 'idle')).attempt).toBeNull()
  })

  it('a record with a job is polled once before it expires', async () => {
    worldWith(memoryStorage())
    const first = world.room()
    await started(first.tryOn(product))
    await world.until(first.tryOn(product), 'processing')
    first.close()
    world.clock.advance(86_400_001)
    await world.until(world.room().tryOn(product), 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })
})

describe('epochs', () => {
  it('after reset() a late answer writes nothing', async () => {
    const { storage, inner } = controlled()
    worldWith(storage)
    const held = world.hold('POST', '/generations', 'after')
    const room = world.room()
    const tryOn = room.tryOn(product)
    await started(tryOn)
    await held.reached
    await room.reset()
    held.release()
    await world.settle()
    expect(await room.list()).toEqual([])
    expect(await inner.getItem('fitting-room:https_3A_2F_2Fapi.test:default:anyone:try-on:1001:2001')).toBeNull()
  })

  it('reset() leaves nothing but the epoch', async () => {
    const left = new Map<string, string>()
    const storage: FlowStorage = {
      getItem: (key) => left.get(key) ?? null,
      setItem: (key, value) => left.set(key, value),
      removeItem: (key) => left.delete(key),
    }
    worldWith(storage)
    const room = world.room()
    const tryOn = room.tryOn(product)
    await started(tryOn)
    await world.until(tryOn, 'final')
    await room.reset()
    expect([...left.keys()].map((key) => key.split(':').at(-1))).toEqual(['epoch'])
  })
})

describe('a wrong clock', () => {
  it('set back an hour: a wait keeps its length', async () => {
    worldWith(memoryStorage())
    world.fault('POST', '/generations', [answers(429, { error: 'Rate limit exceeded' }, { 'Retry-After': '20' })])
    const tryOn = world.room().tryOn(product)
    await started(tryOn)
    const view = await world.until(tryOn, ({ waitingUntil }) => waitingUntil !== null)
    expect((view.waitingUntil ?? 0) - world.clock.now()).toBeLessThanOrEqual(20_000)
    await world.until(tryOn, 'final')
  })
})
