import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FlowStorage, TryOn } from 'fitting-room'
import { memoryStorage } from 'fitting-room/storage/memory'
import { manualClock, type ManualClock } from './support/manual-clock.ts'
import { answers, createWorld, person, product, type World } from './support/world.ts'

let world: World
let disk: ReturnType<typeof memoryStorage>
beforeEach(() => void (disk = memoryStorage()))
afterEach(() => world.close())

const submissions = () => world.count('POST', '/generations')
const recordKey = 'fitting-room:https_3A_2F_2Fapi.test:default:anyone:try-on:1001:2001'
const tooMany = { error: 'Rate limit exceeded', message: 'Too many requests' }

/** A disk that outlives its pages, with an atomic update. */
const lasting = (): FlowStorage => ({
  getItem: (key) => disk.getItem(key),
  setItem: (key, value) => disk.setItem(key, value),
  removeItem: (key) => disk.removeItem(key),
  update: (key, change) => disk.update(key, change),
  ...(disk.photos && { photos: disk.photos }),
})
/** One without, whose calls take a turn. */
const plain = (): FlowStorage => ({
  getItem: async (key) => disk.getItem(key),
  setItem: async (key, value) => disk.setItem(key, value),
  removeItem: async (key) => disk.removeItem(key),
})

/** Messages between pages take their own time. */
async function spin(turns = 40): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
  await world.settle()
}
async function pass(ms: number, clock: ManualClock = world.clock): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    clock.advance(500)
    await spin(5)
  }
}
const watched = (tryOn: TryOn) => {
  tryOn.subscribe(() => {})
  return tryOn
}

describe('without lock and atomic update', () => {
  it('startOver() beside another page does not go on with what that one waits to submit', async () => {
    world = createWorld({ storage: plain() })
    world.fault('POST', '/generations', [
      answers(404, { error: 'Variant not found' }),
      answers(429, tooMany, { 'Retry-After': '20' }),
    ])
    const one = watched(world.room().tryOn(product))
    await one.start(person)
    await world.until(one, 'rejected')
    const other = watched(world.room().tryOn(product))
    await world.until(other, 'rejected')
    await other.retry(person)
    await world.until(other, ({ state, waitingUntil }) => state === 'submitting' && waitingUntil !== null)
    const before = submissions()
    await one.startOver()
    await world.settle()
    world.clock.advance(21_000)
    await spin()
    expect(submissions() - before).toBe(1)
  })
})

describe('a page that slept while another one took over', () => {
  /** A page whose timers do not run, and one that has taken over from it. */
  async function overtaken(request: [string, string], where: 'before' | 'after' = 'before') {
    world = createWorld({ storage: lasting() })
    const sleepy = manualClock()
    const held = world.hold(...request, where)
    const room = world.room({ clock: sleepy })
    const slept = watched(room.tryOn(product))
    await slept.start(person)
    await held.reached
    const awake = watched(world.room().tryOn(product))
    await spin()
    return { sleepy, held, slept, awake, room }
  }

  it.each(['startOver', 'discard'] as const)('submits nothing after %s() there', async (intent) => {
    const { held, awake } = await overtaken(['PUT', '/photos'])
    const again = world.hold('PUT', '/photos')
    await pass(6_000)
    await again.reached
    await awake[intent]()
    held.release()
    await spin(60)
    expect([awake.get().state, submissions()]).toEqual(['idle', 0])
    again.release()
  })

  it('tells the other one of its late answer', async () => {
    const { held, awake, slept, sleepy } = await overtaken(['POST', '/generations'], 'after')
    await pass(6_000)
    expect(awake.get().state).toBe('outcomeUnknown')
    held.release()
    await spin(60)
    await pass(1_000, sleepy)
    expect(['processing', 'preview', 'final']).toContain(awake.get().state)
    expect(slept.get().attempt?.jobId).toBe(awake.get().attempt?.jobId)
    expect(submissions()).toBe(1)
  })
})

describe('an intent that was passed on', () => {
  it('settles when its owner never answers and a third page takes over', async () => {
    world = createWorld({ storage: lasting() })
    const dead: FlowStorage = {
      ...lasting(),
      getItem: (key) => (key === recordKey ? new Promise(() => {}) : disk.getItem(key)),
    }
    watched(world.room({ clock: manualClock(), storage: dead }).tryOn(product))
    await spin()
    const third = watched(world.room().tryOn(product))
    await spin()
    const asking = watched(world.room().tryOn(product))
    await spin()
    const word = asking.start({ imageUrl: 'https://photos.test/p.png' })
    await pass(20_000)
    await word
    expect(third.get().attempt).not.toBeNull()
    expect(submissions()).toBe(1)
  })
})

describe('storage', () => {
  it('that takes longer than its limit over the consent holds no consent while the submission is out', async () => {
    const landing: (() => void)[] = []
    let slow = false
    const storage: FlowStorage = {
      ...lasting(),
      update(key, change) {
        if (!slow || key !== recordKey) return disk.update(key, change)
        slow = false
        const value = change(disk.getItem(key) as string | null)
        return new Promise<void>((resolve) =>
          landing.push(() => {
            void disk.setItem(key, value ?? '')
            resolve()
          }),
        )
      },
    }
    world = createWorld({ storage })
    const tryOn = watched(world.room().tryOn(product))
    await world.until(tryOn, 'idle')
    slow = true
    const put = world.hold('PUT', '/photos')
    const post = world.hold('POST', '/generations', 'after')
    const word = tryOn.start(person)
    await spin()
    world.clock.advance(5_001)
    await word
    await put.reached
    landing.forEach((land) => land())
    await spin()
    put.release()
    await post.reached
    expect(JSON.parse(String(disk.getItem(recordKey)))).toMatchObject({ phase: 'claimed' })
    post.release()
  })

  it('whose reads and changes disagree is said to be unreadable, and is not asked for ever', async () => {
    let reads = 0
    const old = JSON.stringify({
      version: 1,
      savedAt: Date.UTC(2026, 10, 1) - 700_000,
      attemptId: 'a',
      startedAt: 0,
      phase: 'consented',
      productId: '1001',
      variantId: '2001',
      funnelIds: [12],
      photo: { id: 'p' },
    })
    const storage: FlowStorage = {
      ...lasting(),
      getItem: (key) => (key === recordKey ? (reads++, old) : disk.getItem(key)),
    }
    world = createWorld({ storage })
    const { problem } = await world.until(world.room().tryOn(product), 'idle')
    expect([problem?.kind, reads]).toEqual(['storageUnreadable', 1])
  })

  it('listed for what has expired keeps what was begun meanwhile', async () => {
    world = createWorld({ storage: lasting() })
    const tryOn = watched(world.room().tryOn(product))
    await tryOn.start(person)
    await world.until(tryOn, 'final')
    world.clock.advance(86_400_001)
    let letGo = () => {}
    let slow = true
    const late: FlowStorage = {
      ...lasting(),
      getItem(key) {
        const value = disk.getItem(key)
        return key === recordKey && slow ? new Promise((resolve) => (letGo = () => resolve(value))) : value
      },
    }
    const listing = world.room({ storage: late }).list()
    await spin()
    const post = world.hold('POST', '/generations', 'after')
    await tryOn.retry(person)
    await post.reached
    slow = false
    letGo()
    await listing
    expect(JSON.parse(String(disk.getItem(recordKey)))).toMatchObject({ phase: 'claimed' })
    post.release()
  })
})

describe('an e-mail address that the service repeats in its refusal', () => {
  const repeated = answers(400, { error: 'ada@example.com is refused' })

  it('is neither kept nor shown', async () => {
    world = createWorld({ storage: lasting() })
    world.fault('POST', '/generations', [repeated])
    const inspected: string[] = []
    const room = world.room({ inspect: (event) => inspected.push(JSON.stringify('event' in event && event.event)) })
    const tryOn = watched(room.tryOn(product))
    await tryOn.start(person, { customerEmail: 'ada@example.com' })
    const { problem } = await world.until(tryOn, 'rejected')
    expect(problem).toMatchObject({ error: '[e-mail] is refused' })
    expect(String(disk.getItem(recordKey))).not.toContain('ada@example.com')
    expect(inspected.join()).not.toContain('ada@example.com')
  })
})
