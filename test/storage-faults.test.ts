import { afterEach, describe, expect, it, vi } from 'vitest'
import type { FlowStorage } from 'fitting-room'
import { storageChain } from 'fitting-room/storage/chain'
import { indexedDbStorage } from 'fitting-room/storage/indexed-db'
import { webStorage } from 'fitting-room/storage/local-storage'
import { createWorld, person, product, type World } from './support/world.ts'

let world: World | undefined
afterEach(() => world?.close())

/** A disk that refuses writes while the test says so, and counts them. */
function disk() {
  const items = new Map<string, string>()
  let writes = 0
  let refuses = (_nth: number) => false
  const writing = (work: () => unknown) => {
    if (refuses(++writes)) throw new DOMException('full', 'QuotaExceededError')
    return work()
  }
  const storage: FlowStorage = {
    getItem: (key) => items.get(key),
    setItem: (key, value) => writing(() => items.set(key, value)),
    removeItem: (key) => items.delete(key),
  }
  return { storage, items, writes: () => writes, refuse: (which: typeof refuses) => void (refuses = which) }
}

/** A whole try-on on a disk that holds another one, then a reload. */
async function wholeTryOn(refuses: (nth: number) => boolean) {
  const { storage, items, writes, refuse } = disk()
  world = createWorld({ storage })
  const before = world.room()
  const other = before.tryOn({ ...product, variantId: '2002' })
  await other.start(person)
  await world.until(other, 'final')
  const good = [...items].find(([key]) => key.endsWith(':1001:2002'))
  before.close()

  const already = writes()
  refuse((nth) => refuses(nth - already))
  const room = world.room()
  const tryOn = room.tryOn(product)
  tryOn.subscribe(() => {})
  await tryOn.start(person).catch(() => undefined)
  const view = await world.until(tryOn, ({ state }) => ['final', 'rejected', 'idle'].includes(state))
  room.close()
  refuse(() => false)
  const again = world.room().tryOn(product)
  const reloaded = await world.until(again, ({ state }) => state !== 'restoring')
  return {
    view,
    reloaded,
    good,
    items,
    written: writes() - already,
    submissions: world.count('POST', '/generations') - 1,
  }
}

describe('a disk that is full', () => {
  it.each(['at the nth write', 'from the nth write on'])(
    '%s, for every n: the flow goes on and durable is true',
    async (when) => {
      const points = (await wholeTryOn(() => false)).written
      let kept = 0
      for (let n = 1; n <= points + 1; n++) {
        await world?.close()
        const result = await wholeTryOn((nth) => (when === 'at the nth write' ? nth === n : nth >= n))
        expect(result.submissions).toBeLessThanOrEqual(1)
        expect(result.view.state === 'final' ? 1 : 0).toBe(result.submissions)
        expect(result.items.get(result.good?.[0] ?? '')).toBe(result.good?.[1])
        if (result.view.state === 'final' && result.view.durable) {
          expect(result.reloaded.attempt?.jobId).toBe(result.view.attempt?.jobId)
          kept++
        }
      }
      console.log(`full ${when}: ${points} points; after ${kept} of them a reload finds the picture`)
      expect(points).toBeGreaterThan(8)
      expect(kept).toBeGreaterThan(0)
    },
  )
})

describe('the default storage of a page', () => {
  const stubs = (open: () => unknown) => {
    const kept = new Map<string, string>()
    vi.stubGlobal('indexedDB', { open })
    vi.stubGlobal('localStorage', {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => kept.set(key, value),
      removeItem: (key: string) => kept.delete(key),
    })
    return kept
  }
  afterEach(() => vi.unstubAllGlobals())

  it.each<[string, () => unknown]>([
    ['an open that never fires, or is blocked', () => ({})],
    [
      'a private window that refuses it',
      () => {
        throw new DOMException('denied', 'SecurityError')
      },
    ],
    [
      'an open that fails',
      () => {
        const request = { error: new DOMException('broken', 'UnknownError'), onerror: () => {} }
        queueMicrotask(() => request.onerror())
        return request
      },
    ],
  ])('IndexedDB with %s: localStorage takes over, and a reload finds the job', async (_, open) => {
    const kept = stubs(open)
    world = createWorld()
    const { clock } = world
    /** What a room takes that is given none. */
    const asDefault = () => ({ storage: storageChain([indexedDbStorage(), webStorage()], clock) })
    const room = world.room(asDefault())
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    void tryOn.start(person)
    const { attempt, durable } = await world.until(tryOn, 'processing')
    expect(durable).toBe(true)
    expect([...kept.values()].join()).toContain(attempt?.jobId)
    room.close()
    const again = await world.until(world.room(asDefault()).tryOn(product), 'final')
    expect(again.attempt?.jobId).toBe(attempt?.jobId)
    expect(world.count('POST', '/generations')).toBe(1)
  })
})

describe('before storage has been read', () => {
  /** Storage whose first read the test lets go. */
  function slow(items: Map<string, string>) {
    let letGo = () => {}
    const ready = new Promise<void>((resolve) => (letGo = resolve))
    const storage: FlowStorage = {
      getItem: (key) => ready.then(() => items.get(key)),
      setItem: (key, value) => items.set(key, value),
      removeItem: (key) => items.delete(key),
    }
    return { storage, letGo: () => letGo() }
  }

  it('an intent waits, and then takes effect', async () => {
    const { storage, letGo } = slow(new Map())
    world = createWorld({ storage })
    const tryOn = world.room().tryOn(product)
    const word = tryOn.start(person)
    await world.settle()
    expect([tryOn.get().state, world.sent.length]).toEqual(['restoring', 0])
    letGo()
    await word
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('an intent waits, and is refused where a job turns out to be known', async () => {
    const items = new Map<string, string>()
    world = createWorld({ storage: slow(items).storage })
    const first = slow(items)
    first.letGo()
    const room = world.room({ storage: first.storage })
    const tryOn = room.tryOn(product)
    await tryOn.start(person)
    await world.until(tryOn, 'processing')
    room.close()
    const second = slow(items)
    const again = world.room({ storage: second.storage }).tryOn(product)
    const word = again.start(person)
    await world.settle()
    second.letGo()
    await expect(word).rejects.toMatchObject({ problem: { kind: 'notAllowed', intent: 'start' } })
    await world.until(again, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })
})

describe('a thawed page', () => {
  it('of an older epoch writes nothing', async () => {
    const { storage, items } = disk()
    world = createWorld({ storage })
    const held = world.hold('GET', '/funnel')
    const frozen = world.room({ namespace: 'one' })
    const tryOn = frozen.tryOn(product)
    tryOn.subscribe(() => {})
    void tryOn.start(person)
    await held.reached
    const other = world.room({ namespace: 'one' })
    await other.reset()
    held.release()
    for (let turn = 0; turn < 20; turn++) {
      await world.settle()
      world.clock.advanceToNext()
    }
    expect(world.count('POST', '/generations')).toBe(0)
    expect([...items.keys()].filter((key) => key.includes(':try-on:') && !key.endsWith(':lease'))).toEqual([])
  })
})
