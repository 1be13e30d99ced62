import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { FittingRoomOptions, TryOn } from 'fitting-room'
import { createRoom } from 'fitting-room/core'
import { memoryStorage } from 'fitting-room/storage/memory'
import { namesOf } from '../src/records/names.ts'
import { deferred } from '../src/platform/deferred.ts'
import { any, isRead, isWrite, refused, testStorage, type TestStorage } from './support/storage.ts'
import { createWorld, person, product, type World } from './support/world.ts'

let world: World
let storage: TestStorage
beforeEach(() => {
  storage = testStorage()
  world = createWorld({ storage })
})
afterEach(() => world.close())

const ready = async () => ({ createRoom })
const left = { problem: { kind: 'stopped', reason: 'startedOver' } }
const submissions = () => world.count('POST', '/generations')
/** The service can not fetch it, so that its job fails. */
const photo = { imageUrl: 'https://photos.test/a.png' }
const isCatalog = ({ key }: { key: string }) => key.endsWith(':catalog')

/** A room whose core comes when a test says so. */
function heldRoom(options: Partial<FittingRoomOptions> = {}) {
  const { promise, resolve } = deferred()
  const core = async () => {
    await promise
    return { createRoom }
  }
  return { room: world.door({ core, ...options }), open: resolve }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve()
}

describe('a word that follows another one at once', () => {
  const later = {
    discard: (tryOn: TryOn) => tryOn.discard(),
    startOver: (tryOn: TryOn) => tryOn.startOver(),
    start: (tryOn: TryOn) => tryOn.start({ imageUrl: 'https://photos.test/b.png' }),
  }
  it.each(['discard', 'startOver', 'start'] as const)('%s leaves a start() that nobody watches', async (intent) => {
    for (const count of [0, 1, 2, 3, 5, 8, 13, 21, 34, 55]) {
      const before = world.sent.length
      const room = world.door({ core: ready, namespace: `${intent}-${count}` })
      await room.ready
      const tryOn = room.tryOn(product)
      const first = tryOn.start(photo)
      await turns(count)
      const word = later[intent](tryOn)
      const [one] = await Promise.allSettled([first, word])
      await world.pass(2_000)
      const sent = world.sent.slice(before).filter(({ path }) => path === '/generations')
      // what was sent before it was said was not left, and what is said of it is true
      if (one?.status === 'fulfilled') continue
      expect([count, sent.map(({ body }) => body.imageUrl)]).toEqual([
        count,
        intent === 'start' ? ['https://photos.test/b.png'] : [],
      ])
    }
  })

  it('of a leaving word a start() is the next one', async () => {
    const room = world.door({ core: ready })
    await room.ready
    const tryOn = room.tryOn(product)
    void tryOn.discard()
    await tryOn.start(photo)
    await world.until(tryOn, 'failed')
  })
})

describe('what a shopper has said before a reset()', () => {
  it.each(['retry', 'submitEmail', 'discard', 'startOver', 'resume', 'result', 'ready'] as const)(
    'is not done for the next one, however long storage takes to be read: %s',
    async (intent) => {
      const look = storage.hold((call) => isCatalog(call) && isRead(call))
      const room = world.door({ core: ready })
      const tryOn = room.tryOn(product)
      tryOn.subscribe(() => {})
      await look.reached
      const said = {
        retry: () => tryOn.retry(photo),
        submitEmail: () => tryOn.submitEmail({ email: 'a@former.example' }),
        discard: () => tryOn.discard({ abandonPaidJob: true }),
        startOver: () => tryOn.startOver(),
        resume: () => tryOn.resume(),
        result: () => tryOn.result(),
        ready: () => tryOn.ready,
      }
      const word = expect(said[intent]()).rejects.toMatchObject(left)
      await room.reset()
      await tryOn.start({ imageUrl: 'https://photos.test/b.png' })
      look.release()
      await world.until(tryOn, 'failed')
      await word
      expect(world.sent.filter(({ path }) => path === '/generations').map(({ body }) => body.imageUrl)).toEqual([
        'https://photos.test/b.png',
      ])
    },
  )

  it('in another tab is left, while this page’s own reset() waits for the core', async () => {
    const { room, open } = heldRoom()
    const own = room.reset()
    const word = expect(room.tryOn(product).start(photo)).rejects.toMatchObject(left)
    const other = world.door({ core: ready })
    const channel = new BroadcastChannel(namesOf('https://api.test').room)
    const heard = new Promise((resolve) => (channel.onmessage = resolve))
    await other.reset()
    // the door's channel is older, and hears it first
    await heard
    channel.close()
    open()
    await Promise.all([own, word])
    await world.pass(5_000)
    expect(submissions()).toBe(0)
  })

  it('in another process is left, where the first look had failed and nobody is heard', async () => {
    vi.stubGlobal('BroadcastChannel', undefined)
    let looks = 0
    const disk = storage.another()
    disk.meet((call) => isCatalog(call) && isRead(call) && looks++ === 0, refused)
    const { room, open } = heldRoom({ storage: disk })
    const word = expect(room.tryOn(product).start(photo)).rejects.toMatchObject(left)
    await world.settle()
    await world.door({ core: ready }).reset()
    open()
    await word
    await world.pass(5_000)
    expect(submissions()).toBe(0)
    vi.unstubAllGlobals()
  })
})

describe('the first word of a product after reset()', () => {
  it.each([
    ['without storage', undefined],
    ['with one that takes no write', 'full'],
    ['with one that works', 'works'],
  ] as const)('is the next shopper’s, %s', async (_, kind) => {
    const disk = storage.another()
    if (kind === 'full') disk.meet(isWrite, refused)
    const room = world.door({ core: ready, storage: kind && disk })
    const resets = room.reset().catch(() => undefined)
    const before = room.tryOn({ ...product, variantId: '2002' })
    const first = before.start(photo)
    await Promise.all([resets, first])
    const tryOn = room.tryOn(product)
    await tryOn.ready
    await tryOn.start(photo)
    await world.until(tryOn, 'failed')
  })

  it('is not taken for one before, when the room hears of itself', async () => {
    let calls = 0
    const slow = storage.another()
    slow.meet(any, async ({ land }) => {
      calls++
      await new Promise((resolve) => setImmediate(resolve))
      return land()
    })
    const room = world.door({ core: ready, storage: slow })
    await room.ready
    const resets = room.reset()
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    await tryOn.start(photo)
    await resets
    await world.until(tryOn, 'failed')
    expect(calls).toBeGreaterThan(0)
  })
})

describe('close()', () => {
  it('opens nothing again for what was said before it', async () => {
    for (let count = 0; count < 40; count += 1) {
      const room = world.door({ core: ready, namespace: `closed-${count}` })
      await room.ready
      const tryOn = room.tryOn(product)
      const before = world.sent.length
      const word = tryOn.start(person)
      await turns(count)
      room.close()
      await expect(word).rejects.toMatchObject({ problem: { kind: 'stopped', reason: 'closed' } })
      await world.pass(3_000)
      expect([count, world.sent.length - before]).toEqual([count, 0])
    }
  })
})

describe('a consent that is kept as the core could not be loaded', () => {
  it('gives way to what storage holds once the core is there', async () => {
    const other = world.room().tryOn(product)
    let fails = true
    const core = async () => {
      if (fails) throw new TypeError('Failed to fetch dynamically imported module')
      return { createRoom }
    }
    const room = world.door({ core })
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    await expect(tryOn.start(photo)).rejects.toMatchObject({ kind: 'core' })
    other.subscribe(() => {})
    await other.start(photo)
    await world.until(other, 'processing')
    fails = false
    await room.list()
    await world.until(tryOn, 'processing')
    await expect(tryOn.discard()).rejects.toMatchObject({ kind: 'paidJob' })
    await tryOn.startOver()
    expect([tryOn.get().state, submissions()]).toEqual(['idle', 1])
  })
})

it('an address that is there later is used then', async () => {
  let baseUrl = ''
  const room = world.door({ core: ready, baseUrl: () => baseUrl, storage: memoryStorage() })
  const tryOn = room.tryOn(product)
  for (const word of [tryOn.start(photo), tryOn.ready, tryOn.result(), room.reset()])
    await expect(word).rejects.toMatchObject({ kind: 'input' })
  baseUrl = 'https://api.test'
  tryOn.subscribe(() => {})
  await world.until(tryOn, 'idle')
  await tryOn.start(photo)
  await world.until(tryOn, 'failed')
})
