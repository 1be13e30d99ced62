import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { FittingRoomOptions, TryOn } from 'fitting-room'
import { createRoom } from 'fitting-room/core'
import { memoryStorage } from 'fitting-room/storage/memory'
import { namesOf } from '../src/records/names.ts'
import { deferred } from '../src/platform/deferred.ts'
import { any, isRead, isWrite, refused, testStorage, type TestStorage } from './support/storage.ts'
import { createWorld, person, product, started, type World } from './support/world.ts'

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
/** The service cannot fetch it, so that its job fails. */
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

/** Another page has come so far, and is gone. */
async function leftAt(state: 'processing' | 'final'): Promise<void> {
  const before = world.door({ core: ready })
  await before.tryOn(product).start(person)
  await world.until(before.tryOn(product), state)
  before.close()
}

/** The ticket of a picture that another device has. */
async function ticketOfAnother(): Promise<string> {
  const device = world.door({ core: ready, storage: testStorage() })
  const brought = device.tryOn({ ...product, variantId: '2002' })
  await brought.start(person)
  await world.until(brought, 'final')
  return brought.ticket()
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

  it('discard() comes after a start() that waits until it is known whose storage it is, though the core is open by then', async () => {
    const room = world.door({ core: ready })
    const tryOn = room.tryOn(product)
    await tryOn.ready
    room.close()
    const look = storage.hold((call) => isCatalog(call) && isRead(call))
    const word = expect(tryOn.start(photo)).rejects.toMatchObject(left)
    await look.reached
    await world.settle()
    const leaving = tryOn.discard()
    await world.settle()
    look.release()
    await leaving
    await word
    await world.pass(5_000)
    expect([tryOn.get().state, submissions()]).toEqual(['idle', 0])
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
      const reset = room.reset()
      // for as long as the door waits for its look
      await world.pass(2_000)
      await reset
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

  it('is left though its own look is late, and the core was quick', async () => {
    const disk = storage.another()
    const late = deferred()
    let looks = 0
    disk.meet(
      (call) => isCatalog(call) && isRead(call) && looks++ === 0,
      ({ land }) => late.promise.then(land),
    )
    const other = world.door({ core: ready })
    await other.ready
    const word = expect(world.door({ core: ready, storage: disk }).tryOn(product).start(photo)).rejects.toMatchObject(
      left,
    )
    await world.settle()
    await other.reset()
    await world.settle()
    late.resolve()
    await word
    await world.pass(5_000)
    expect(submissions()).toBe(0)
  })

  it.each(['open', 'closed', 'new'] as const)(
    'of another page is left, though it was said in the middle of an own one of a room that is %s',
    async (is) => {
      const other = world.door({ core: ready })
      await other.reset()
      const disk = storage.another()
      const room = world.door({ core: ready, storage: disk })
      if (is !== 'new') await room.ready
      if (is === 'closed') room.close()
      const slow = deferred()
      disk.meet(
        (call) => isCatalog(call) && !isRead(call),
        ({ land }) => slow.promise.then(land),
      )
      const own = room.reset()
      const word = expect(room.tryOn(product).start(photo)).rejects.toMatchObject(left)
      await world.settle()
      await other.reset()
      slow.resolve()
      await Promise.all([own, word])
      await world.pass(5_000)
      expect(submissions()).toBe(0)
    },
  )

  it.each(['start', 'claim'] as const)(
    'to a page that begins with a reset(), and is at it, is left by another page’s: %s',
    async (intent) => {
      const other = world.door({ core: ready })
      await other.reset()
      const ticket = await ticketOfAnother()
      const disk = storage.another()
      const room = world.door({ core: ready, storage: disk })
      const removal = disk.hold(({ key }) => key.endsWith(':visitor'))
      const own = room.reset()
      await removal.reached
      const said = intent === 'start' ? room.tryOn(product).start(photo) : room.claim(ticket)
      const word = expect(said).rejects.toMatchObject(left)
      await world.settle()
      await other.reset()
      await world.settle()
      removal.release()
      await Promise.all([own, word])
      await world.pass(5_000)
      expect([submissions(), await other.list()]).toEqual([1, []])
    },
  )

  it('is left by another page’s that was counted before this page’s own, where nothing was kept when it looked', async () => {
    const [mine, others] = [storage.another(), storage.another()]
    const { room, open } = heldRoom({ storage: mine })
    await world.until(room.tryOn(product), 'idle')
    const other = world.room({ storage: others })
    await world.until(other.tryOn(product), 'idle')
    const counted = deferred()
    mine.meet(
      (call) => isCatalog(call) && call.type === 'update',
      async ({ land }) => {
        await counted.promise
        return land()
      },
    )
    const own = room.reset()
    const word = expect(room.tryOn(product).start(photo)).rejects.toMatchObject(left)
    open()
    await world.settle()
    others.meet(
      (call) => isCatalog(call) && call.type === 'update',
      async ({ land }) => {
        await land()
        counted.resolve()
      },
    )
    const done = Promise.all([other.reset(), own])
    await world.pass(20_000)
    await done
    await word
    expect(submissions()).toBe(0)
  })

  it('while storage did not take this page’s reset() is left by another page’s', async () => {
    const disk = storage.another()
    const other = world.door({ core: ready })
    await other.reset()
    const room = world.door({ core: ready, storage: disk })
    await room.ready
    const refusal = deferred()
    disk.meet(
      (call) => isCatalog(call) && isWrite(call),
      () => refusal.promise.then(refused),
    )
    const own = expect(room.reset()).rejects.toMatchObject({ kind: 'storage' })
    const word = expect(room.tryOn(product).start(photo)).rejects.toMatchObject(left)
    await world.settle()
    await other.reset()
    await world.settle()
    refusal.resolve()
    await own
    disk.recover()
    await word
    await world.pass(5_000)
    expect(submissions()).toBe(0)
  })

  it('is not what the next one says while this page resets once more, which hears of its own first reset', async () => {
    const disk = storage.another()
    const room = world.door({ core: ready, storage: disk })
    await room.ready
    await room.reset()
    const count = deferred()
    disk.meet(
      (call) => isCatalog(call) && isWrite(call),
      ({ land }) => count.promise.then(land),
    )
    const own = room.reset()
    const word = room.tryOn(product).start(photo)
    await world.settle()
    count.resolve()
    await Promise.all([own, word])
    await world.pass(5_000)
    expect(submissions()).toBe(1)
  })

  it.each(['start', 'claim'])(
    'that was said before its page was put away is none where nobody can tell whether another one has reset the room: %s',
    async (intent) => {
      const ticket = await ticketOfAnother()
      const before = submissions()
      const other = world.door({ core: ready, storage: storage.another() })
      await other.ready
      await other.reset()
      const events = new EventTarget()
      vi.stubGlobal('addEventListener', events.addEventListener.bind(events))
      onTestFinished(() => void vi.unstubAllGlobals())
      const { room, open } = heldRoom()
      const tryOn = room.tryOn(product)
      await world.until(tryOn, 'idle')
      const word = expect(intent === 'start' ? tryOn.start(photo) : room.claim(ticket)).rejects.toMatchObject(left)
      await world.settle()
      events.dispatchEvent(new Event('pagehide'))
      await other.reset()
      storage.meet(any, refused)
      events.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))
      open()
      await world.pass(20_000)
      await word
      expect(submissions()).toBe(before)
    },
  )

  it('that was said where nothing could be read, before its page was put away, is not called left, which nobody has', async () => {
    const events = new EventTarget()
    vi.stubGlobal('addEventListener', events.addEventListener.bind(events))
    onTestFinished(() => void vi.unstubAllGlobals())
    storage.meet(any, refused)
    const { room, open } = heldRoom()
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    const closed = { problem: { kind: 'stopped', reason: 'closed' } }
    const word = expect(tryOn.start(photo)).rejects.toMatchObject(closed)
    await world.settle()
    events.dispatchEvent(new Event('pagehide'))
    storage.recover()
    events.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))
    open()
    await world.pass(20_000)
    await word
    expect(submissions()).toBe(0)
  })

  it('is not the first word of a page that hears nobody, and whose first look fails', async () => {
    vi.stubGlobal('BroadcastChannel', undefined)
    let looks = 0
    const disk = storage.another()
    disk.meet((call) => isCatalog(call) && isRead(call) && looks++ === 0, refused)
    await world.door({ core: ready, storage: disk }).tryOn(product).start(photo)
    vi.unstubAllGlobals()
    await world.pass(5_000)
    expect(submissions()).toBe(1)
  })
})

describe('what the application goes on with', () => {
  it.each(['before the core is there', 'after a reset()'])('its options, %s, are those of the word', async (when) => {
    const { room, open } = heldRoom()
    if (when === 'after a reset()') {
      open()
      await room.ready
      void room.reset()
    }
    const options = { moreLooksConsent: true }
    const started = room.tryOn(product).start(photo, options)
    options.moreLooksConsent = false
    open()
    await started
    await world.pass(1_000)
    expect(world.sent.find(({ path }) => path === '/generations')?.body.moreLooksConsent).toBe(true)
  })

  it('its buffer is not the photo of a word that follows a reset()', async () => {
    const room = world.door({ core: ready, photos: false })
    await room.ready
    void room.reset()
    const bytes = new Uint8Array(await person.arrayBuffer())
    const first = bytes.slice()
    const put: Uint8Array[] = []
    world.fault('PUT', '/', [
      async (reach, request) => {
        put.push(new Uint8Array(await request.clone().arrayBuffer()))
        return reach()
      },
    ])
    const started = room.tryOn(product).start({ bytes })
    bytes.fill(0)
    await started
    await world.pass(1_000)
    expect(put).toEqual([first])
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

describe('what waits for a core that does not come', () => {
  const closed = { problem: { kind: 'stopped', reason: 'closed' } }

  it('ends with close()', async () => {
    const { room } = heldRoom()
    const tryOn = room.tryOn(product)
    const all = [tryOn.start(photo), tryOn.ready, tryOn.result(), room.ready, room.list(), room.client.getContext()]
    await world.settle()
    room.close()
    for (const each of all) await expect(each).rejects.toMatchObject(closed)
  })

  it('is not asked for of a core that is there, either', async () => {
    const { room, open } = heldRoom()
    open()
    await room.ready
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    await tryOn.ready
    const all = [room.list(), room.ready, room.client.getContext()]
    room.close()
    for (const each of all) await expect(each).rejects.toMatchObject(closed)
    let calls = 0
    storage.meet(
      () => true,
      ({ land }) => (calls++, land()),
    )
    await world.pass(5_000)
    expect(calls).toBe(0)
  })

  it('is refused to who asks for a result of what is kept', async () => {
    const failing = { core: () => Promise.reject(new TypeError('blocked')) }
    const tryOn = world.door(failing).tryOn(product)
    await expect(tryOn.start(photo)).rejects.toMatchObject({ kind: 'core' })
    await expect(tryOn.result()).rejects.toMatchObject({ kind: 'core' })
  })

  it('ends with what leaves it, and with its signal', async () => {
    const { room } = heldRoom()
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    await world.settle()
    const started = tryOn.start(photo)
    const ends = new AbortController()
    const results = [tryOn.result({ signal: ends.signal }), tryOn.result({ signal: AbortSignal.abort() })]
    ends.abort()
    for (const each of results) await expect(each).rejects.toMatchObject({ problem: { reason: 'aborted' } })
    await tryOn.startOver()
    await expect(started).rejects.toMatchObject(left)
  })
})

describe('a reset() said twice', () => {
  it.each([true, false])('keeps nothing of the word after it (core there: %s)', async (isThere) => {
    const { room, open } = heldRoom()
    if (isThere) {
      open()
      await room.ready
    }
    room.tryOn(product).subscribe(() => {})
    await world.settle()
    void room.reset()
    void room.reset()
    const word = room.tryOn(product).start(photo)
    const shown = room.tryOn(product).ready
    open()
    await Promise.all([word, shown])
    await world.pass(2_000)
    expect(submissions()).toBe(1)
  })
})

describe('the shared stores', () => {
  it('do not show a former shopper’s photo once reset() was said', async () => {
    const before = world.door({ core: ready })
    await before.tryOn(product).start(photo)
    before.close()
    const { room, open } = heldRoom()
    const seen: unknown[] = []
    room.photo.subscribe((value) => seen.push(value))
    room.visitor.subscribe(({ uniqueUserId }) => seen.push(uniqueUserId))
    const wiped = room.reset()
    open()
    await wiped
    await world.settle()
    expect(seen.filter((value) => value !== null)).toEqual([])
  })
})

describe('what is kept below a word that waits', () => {
  /** A page on a job that runs, whose core comes later, and on which another consent was said. */
  async function waiting() {
    await leftAt('processing')
    const { room, open } = heldRoom()
    const tryOn = room.tryOn(product)
    void tryOn.start(photo)
    return { tryOn, open }
  }
  const listed = async () => (await world.door({ core: ready }).list()).map(({ archived }) => archived)

  it.each([undefined, { abandonPaidJob: true }])(
    'is archived, as nobody has seen it, though what waits is discarded: %o',
    async (options) => {
      const { tryOn, open } = await waiting()
      const discarded = tryOn.discard(options)
      open()
      await discarded
      expect(await listed()).toEqual([true])
    },
  )

  it('is archived, and not what a discard() right after it forgets', async () => {
    const { tryOn, open } = await waiting()
    const [left] = [tryOn.startOver(), tryOn.discard({ abandonPaidJob: true })]
    open()
    await left
    await world.settle()
    expect(await listed()).toEqual([true])
  })

  it('is archived, and a consent right after it goes out', async () => {
    const { tryOn, open } = await waiting()
    const said = [tryOn.startOver(), tryOn.start(photo)]
    open()
    await Promise.all(said)
    await world.pass(2_000)
    expect([submissions(), new Set(await listed())]).toEqual([2, new Set([false, true])])
  })

  it.each(['startOver', 'discard'] as const)('is left by %s(), and what is said after it is not', async (intent) => {
    const { room, open } = heldRoom()
    const tryOn = room.tryOn(product)
    const first = expect(tryOn.start(photo)).rejects.toMatchObject(left)
    const second = tryOn[intent]()
    const third = tryOn.start({ imageUrl: 'https://photos.test/b.png' })
    open()
    await Promise.all([first, second, third])
    await world.pass(2_000)
    const sent = world.sent.filter(({ path }) => path === '/generations')
    expect(sent.map(({ body }) => body?.imageUrl).filter(Boolean)).toEqual(['https://photos.test/b.png'])
  })

  it('is archived with it', async () => {
    const before = world.door({ core: ready })
    await before.tryOn(product).start(photo)
    await world.until(before.tryOn(product), 'failed')
    before.close()
    const { room, open } = heldRoom()
    const started = expect(room.tryOn(product).start(photo)).rejects.toMatchObject(left)
    await world.settle()
    const discarded = room.tryOn(product).discard()
    open()
    await Promise.all([started, discarded])
    expect((await room.tryOn(product).ready).state).toBe('idle')
    expect(await listed()).toEqual([true])
  })
})

describe('a picture that was never shown, as the core could not be loaded for it', () => {
  /** A card that says so, of a core that is there by the next word. */
  async function cardWithout() {
    await leftAt('final')
    let isAway = true
    const tryOn = world.door({ core: () => (isAway ? Promise.reject(new Error('away')) : ready()) }).tryOn(product)
    tryOn.subscribe(() => {})
    await world.until(tryOn, 'stalled')
    isAway = false
    return tryOn
  }

  it('is not forgotten', async () => {
    const tryOn = await cardWithout()
    await expect(tryOn.discard()).rejects.toMatchObject({ kind: 'notAllowed' })
    await world.until(tryOn, 'final')
  })

  it.each(['discard', 'startOver', 'retry'] as const)(
    'is not what a %s() means that follows another word while the core reads storage',
    async (intent) => {
      const tryOn = await cardWithout()
      const reading = storage.hold(({ type, key }) => type === 'get' && key.includes(':try-on:'))
      const first = tryOn.resume()
      await reading.reached
      expect(tryOn.get().problem?.kind).toBe('core')
      const second = expect(intent === 'retry' ? tryOn.retry(person) : tryOn[intent]()).rejects
      reading.release()
      await Promise.all([first, second.toMatchObject({ kind: 'notAllowed' })])
      await world.until(tryOn, 'final')
      expect([submissions(), await world.door({ core: ready }).list()]).toMatchObject([1, [{ archived: false }]])
    },
  )
})

it.each([false, true])(
  'a picture below a consent that is refused is not forgotten with that, once the core is told: %o',
  async (isOpen) => {
    await leftAt('final')
    const room = world.door({ core: ready })
    if (isOpen) await room.ready
    const tryOn = room.tryOn(product)
    const reading = storage.hold(({ type, key }) => type === 'get' && key.includes(':try-on:'))
    const started = tryOn.start(photo).catch(() => undefined)
    await reading.reached
    const discarded = tryOn.discard().catch(() => undefined)
    reading.release()
    await Promise.all([started, discarded])
    expect([submissions(), (await world.door({ core: ready }).list()).length]).toEqual([1, 1])
  },
)

describe('what another page has begun, which this one did not hear of', () => {
  it.each(['retry', 'startOver', 'discard'] as const)(
    'is not what %s() means on a card that shows nothing',
    async (intent) => {
      vi.stubGlobal('BroadcastChannel', undefined)
      onTestFinished(() => void vi.unstubAllGlobals())
      const tryOn = world.door({ core: ready }).tryOn(product)
      tryOn.subscribe(() => {})
      await world.settle()
      expect(tryOn.get().state).toBe('idle')
      const other = world.door({ core: ready })
      await other.tryOn(product).start(person)
      await world.until(other.tryOn(product), 'final')
      other.close()
      const said = {
        retry: () => tryOn.retry(person),
        startOver: () => tryOn.startOver(),
        discard: () => tryOn.discard({ abandonPaidJob: true }),
      }
      await expect(said[intent]()).rejects.toMatchObject({ kind: 'notAllowed' })
      await world.pass(2_000)
      expect(submissions()).toBe(1)
      expect((await world.door({ core: ready }).list()).map(({ archived }) => archived)).toEqual([false])
    },
  )
})

describe('close()', () => {
  it('after reset() in one turn takes nothing of it back', async () => {
    const before = world.door({ core: ready })
    await before.tryOn(product).start(photo)
    before.close()
    for (const isOpen of [false, true]) {
      const { room, open } = heldRoom()
      if (isOpen) {
        open()
        await room.ready
        room.tryOn(product).subscribe(() => {})
      }
      const wiped = room.reset()
      room.close()
      open()
      await wiped
      const next = world.door({ core: ready })
      expect([await next.list(), next.photo.get()]).toEqual([[], null])
      // it is the next page's own
      await next.tryOn(product).start(photo)
      expect(room.tryOn(product).get().attempt).toBeNull()
      next.close()
    }
  })

  it('after reset() in one turn leaves what is watched from then on as it is by then', async () => {
    const { room, open } = heldRoom()
    const wiped = room.reset()
    room.close()
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    await world.until(tryOn, 'idle')
    open()
    await wiped
    await world.until(tryOn, 'idle')
    await tryOn.start(person)
    await world.until(tryOn, 'final')
  })

  it.each(['list', 'ready', 'card'] as const)(
    'is over for what is watched once the room is used again: %s',
    async (use) => {
      for (const room of [world.room(), world.door({ core: ready, namespace: 'door' })]) {
        const tryOn = await started(room.tryOn(product))
        await world.until(tryOn, 'processing')
        room.close()
        await world.settle()
        if (use === 'card') room.tryOn({ ...product, variantId: '2002' }).subscribe(() => {})
        else await (use === 'list' ? room.list() : room.ready)
        await world.pass(20_000)
        expect(tryOn.get().state).toBe('final')
      }
    },
  )

  it.each(['reset', 'nothing'] as const)(
    'and a subscription beside %s leave no card without what there is by then',
    async (beside) => {
      const room = world.door({ core: ready })
      const tryOn = await started(room.tryOn(product))
      await world.until(tryOn, 'final')
      room.close()
      const wiped = beside === 'reset' ? room.reset() : null
      room.close()
      tryOn.subscribe(() => {})
      await wiped
      await world.pass(2_000)
      expect(tryOn.get().state).toBe(wiped ? 'idle' : 'final')
    },
  )

  it('leaves nothing open for a card that had only begun to look', async () => {
    const room = world.door({ core: ready })
    await world.until(await started(room.tryOn(product)), 'processing')
    room.close()
    await world.settle()
    const other = room.tryOn({ ...product, variantId: '2002' })
    const said = expect(other.start(person)).rejects.toMatchObject({ problem: { reason: 'closed' } })
    other.subscribe(() => {})
    room.close()
    await said
    await world.settle()
    const [reads, asked] = [storage.calls.length, world.sent.length]
    await world.pass(60_000)
    expect([storage.calls.length, world.sent.length]).toEqual([reads, asked])
  })

  it('has a card without a core look again as another one does', async () => {
    const room = world.door({ core: ready })
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    await world.until(tryOn, 'idle')
    room.close()
    const other = world.door({ core: ready })
    await started(other.tryOn(product))
    await world.until(other.tryOn(product), 'final')
    room.tryOn({ ...product, variantId: '2002' }).subscribe(() => {})
    await world.pass(2_000)
    expect(tryOn.get().state).toBe('final')
  })

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
  for (const word of [() => tryOn.start(photo), () => tryOn.ready, () => tryOn.result(), () => room.reset()])
    await expect(word()).rejects.toMatchObject({ kind: 'input' })
  baseUrl = 'https://api.test'
  tryOn.subscribe(() => {})
  await world.until(tryOn, 'idle')
  await tryOn.start(photo)
  await world.until(tryOn, 'failed')
})
