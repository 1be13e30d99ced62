import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { FittingRoom, FittingRoomOptions, PageLife, TryOn, TryOnError } from 'fitting-room'
import { storageChain } from 'fitting-room/storage/chain'
import { deferred } from '../src/platform/deferred.ts'
import type { Clock } from '../src/ports.ts'
import {
  any,
  full,
  hung,
  isRead,
  isRecord,
  isWrite,
  recordKey,
  refused,
  testStorage,
  type StorageCall,
  type TestStorage,
} from './support/storage.ts'
import {
  answers,
  createWorld,
  dropped,
  lost,
  person,
  product,
  refuses,
  refusesKey,
  started,
  type World,
} from './support/world.ts'

/** Pages beside each other of which not every one can read and write what the others can. */

let world: World
let storage: TestStorage
beforeEach(() => {
  storage = testStorage()
  world = createWorld({ storage, gated: false })
})
afterEach(async () => {
  vi.unstubAllGlobals()
  await world.close()
})

const submissions = () => world.count('POST', '/generations')
const watched = (tryOn: TryOn) => {
  tryOn.subscribe(() => {})
  return tryOn
}
const useLocks = () => vi.stubGlobal('isSecureContext', true)
const isLease = ({ key }: StorageCall) => key.endsWith(':lease')

/** A page whose storage may begin to fail, but for what `works` is true for. */
function troubled(works: (call: StorageCall) => boolean = () => false) {
  const own = storage.another()
  const room = world.room({ storage: own })
  return { room, own, fail: () => own.meet((call) => !works(call), refused) }
}

/** A page that runs the flow, and may stop for a while as one does behind an alert(): what it hears then it hears late. */
async function freezing(own = storage, clock: Clock = world.clock) {
  let isFrozen = false
  const late: (() => void)[] = []
  const orLater = (run: () => void) => (isFrozen ? void late.push(run) : run())
  const Channel = BroadcastChannel
  class LateChannel extends Channel {
    override addEventListener(type: string, listener: unknown) {
      const hear = listener as (event: unknown) => void
      super.addEventListener(type, (event: unknown) => orLater(() => hear(event)))
    }
  }
  const stopping = { ...clock, setTimeout: (run: () => void, ms: number) => clock.setTimeout(() => orLater(run), ms) }
  vi.stubGlobal('BroadcastChannel', LateChannel)
  const room = world.room({ clock: stopping, storage: own })
  const first = watched(room.tryOn(product))
  await world.until(first, 'idle')
  vi.stubGlobal('BroadcastChannel', Channel)
  const thaw = () => {
    isFrozen = false
    for (const run of late.splice(0)) run()
  }
  return { room, first, freeze: () => void (isFrozen = true), thaw }
}

/** The life of a page that the browser freezes once it is asked to. */
function freezable() {
  let onFreeze = () => {}
  const pageLife: NonNullable<FittingRoomOptions['pageLife']> = ({ onHide }) => {
    onFreeze = () => onHide(true)
    return () => {}
  }
  return { pageLife, freeze: () => onFreeze() }
}

/** Another page takes the lease, and dies. */
const takeLease = () =>
  storage.items.set(`${recordKey}:lease`, JSON.stringify({ owner: 'another', until: world.clock.now() + 2_000 }))

async function jobIds(room: FittingRoom) {
  return (await room.list()).map(({ jobId }) => jobId)
}

it.each(['core', 'door'] as const)(
  'what is discarded before it is sent is not sent, however long that takes: %s',
  async (front) => {
    const own = storage.another()
    const room = front === 'core' ? world.room({ storage: own }) : world.door({ storage: own })
    const tryOn = watched(room.tryOn(product))
    await world.until(tryOn, 'idle')
    const claimed = () => storage.items.get(recordKey)?.includes('"claimed"') === true
    const renewal = own.hold((call) => call.type === 'update' && isLease(call) && claimed())
    void tryOn.start({ imageUrl: 'https://photos.test/p.png' })
    await renewal.reached
    await tryOn.discard({ abandonPaidJob: true })
    renewal.release()
    await world.pass(20_000)
    expect([submissions(), tryOn.get().state]).toEqual([0, 'idle'])
  },
)

describe('a word that is passed on', () => {
  it('has its turn before what was said after it, once this page has taken over', async () => {
    useLocks()
    const { room, first, freeze } = await freezing()
    await world.until(await started(first), 'processing')
    const own = storage.another()
    const tryOn = watched(world.room({ storage: own }).tryOn(product))
    await world.until(tryOn, 'processing')
    freeze()
    const word = tryOn.start({ imageUrl: 'https://photos.test/p.png' }).catch((error: unknown) => error)
    await world.settle()
    const look = own.hold((call) => call.type === 'get' && isRecord(call))
    room.close()
    await look.reached
    const after = tryOn.startOver()
    await world.settle()
    look.release()
    await after
    await world.pass(20_000)
    expect([await word, tryOn.get().state]).toMatchObject([{ kind: 'notAllowed' }, 'idle'])
    expect(submissions()).toBe(1)
  })

  it('is carried out once where pages wait at different places, as each can read another tier', async () => {
    useLocks()
    const disks = [testStorage(), testStorage()] as const
    const load = (failing: number | null) => {
      const tiers = disks.map((disk, index) => {
        const tier = disk.another()
        if (index === failing) tier.meet(any, refused)
        return tier
      })
      return watched(world.room({ storage: storageChain(tiers, world.clock) }).tryOn(product))
    }
    const pages = [load(1), load(0), load(null)]
    await world.pass(5_000)
    void pages[2]?.start({ imageUrl: 'https://photos.test/p.png' }).catch(() => undefined)
    await world.pass(20_000)
    expect(submissions()).toBeLessThanOrEqual(1)
  })

  it.each([
    ['nobody answers', 0],
    ['nobody answers, though the clock is set back then', 3_600_000],
  ])('is carried out by nobody once its shopper was told that %s', async (_name, backMs) => {
    useLocks()
    let isSetBack = false
    const clock = { ...world.clock, now: () => world.clock.now() - (isSetBack ? backMs : 0) }
    const { freeze, thaw } = await freezing(storage, clock)
    const second = watched(world.room({ clock }).tryOn(product))
    await world.until(second, 'idle')
    await world.settle()
    freeze()
    const word = second.start({ imageUrl: 'https://photos.test/p.png' })
    const refusal = expect(word).rejects.toMatchObject({ problem: { kind: 'stopped', reason: 'unanswered' } })
    await world.pass(31_000)
    await refusal
    isSetBack = true
    thaw()
    await world.pass(20_000)
    expect([second.get().state, submissions()]).toEqual(['idle', 0])
  })

  it('is carried out by nobody once its shopper was told so who waited for a page that stood still since', async () => {
    useLocks()
    const { first, freeze, thaw } = await freezing()
    await started(first)
    await world.until(first, 'final')
    const second = watched(world.room().tryOn(product))
    await world.until(second, 'final')
    await world.settle()
    const channel = new BroadcastChannel('fitting-room:https_3A_2F_2Fapi.test:default')
    channel.onmessage = ({ data }: MessageEvent<unknown>) => void (JSON.stringify(data).includes('"come"') && freeze())
    const unanswered = { problem: { reason: 'unanswered' } }
    // of the second one it is told before it is passed the first
    const words = [second.retry({ imageUrl: 'https://photos.test/p.png' }), second.startOver()]
    const refusals = words.map((word) => expect(word).rejects.toMatchObject(unanswered))
    await world.settle()
    channel.close()
    await world.pass(620_000)
    await Promise.all(refusals)
    thaw()
    await world.pass(20_000)
    expect(submissions()).toBe(1)
    expect(second.get().state).toBe('final')
  })

  it('resolves where the page that carried it out was closed before it could say so', async () => {
    const { room, own } = troubled()
    const first = watched(room.tryOn(product))
    await world.until(first, 'idle')
    const second = watched(world.room().tryOn(product))
    await world.until(second, 'idle')
    await world.settle()
    const closes = async (call: StorageCall) => {
      await call.land()
      room.close()
    }
    own.meet((call) => isRecord(call) && isWrite(call), closes)
    const word = second.start(person)
    await world.pass(10_000)
    await word
    await world.until(second, 'final')
    expect(submissions()).toBe(1)
  })

  it.each(['startOver', 'discard'] as const)(
    '%s() resolves where the page that carried it out was closed before it could say so',
    async (intent) => {
      const { room, own } = troubled()
      await world.until(await started(room.tryOn(product)), 'final')
      const second = watched(world.room().tryOn(product))
      await world.until(second, 'final')
      await world.settle()
      own.meet(
        (call) => isRecord(call) && isWrite(call),
        async (call) => {
          await call.land()
          room.close()
        },
      )
      const word = second[intent]({ abandonPaidJob: true })
      await world.pass(10_000)
      await word
      expect(second.get().state).toBe('idle')
    },
  )

  it.each(['startOver', 'discard'] as const)('%s() resolves so where a third page takes over', async (intent) => {
    useLocks()
    const { room, own } = troubled()
    await world.until(await started(room.tryOn(product)), 'final')
    const [second, third] = [watched(world.room().tryOn(product)), watched(world.room().tryOn(product))]
    for (const tryOn of [second, third]) await world.until(tryOn, 'final')
    await world.settle()
    const isGone = async (call: StorageCall) => {
      await call.land()
      room.close()
    }
    own.meet((call) => isRecord(call) && isWrite(call), isGone)
    const word = third[intent]({ abandonPaidJob: true })
    await world.pass(10_000)
    await word
    expect(third.get().state).toBe('idle')
  })

  it('startOver() rejects where the page that was asked has gone, and what is there cannot be read', async () => {
    const asked = world.hold('GET', '/funnel')
    const room = world.room()
    const first = watched(room.tryOn(product))
    void first.start({ imageUrl: 'https://photos.test/p.png' }).catch(() => undefined)
    await asked.reached
    const { room: other, own } = troubled()
    const second = watched(other.tryOn(product))
    await world.until(second, 'preparing')
    const carried = storage.hold((call) => isRecord(call) && isWrite(call))
    const word = expect(second.startOver()).rejects.toMatchObject({ kind: 'storageUnreadable' })
    await carried.reached
    own.meet((call) => isRecord(call), refused)
    room.close()
    // what it writes is waited for
    await world.pass(10_000)
    await word
    asked.release()
    carried.release()
  })

  it('is waited for while it is being carried out, however long that takes', async () => {
    world.fault('POST', '/generations', [refuses('emailRequired')])
    const first = await started(world.room().tryOn(product))
    const second = watched(world.room().tryOn(product))
    await world.until(second, 'needsEmail')
    world.fault('POST', '/customer-register', [refuses('rateLimitExceeded', { retryAfter: 45 })])
    const word = second.submitEmail({ email: 'ada@example.com' })
    await world.pass(40_000)
    expect([first.get().state, submissions()]).toEqual(['needsEmail', 1])
    await world.pass(10_000)
    await word
    await world.until(second, 'final')
    expect(submissions()).toBe(2)
  })

  it('makes its photo the room’s on the page where it was said', async () => {
    await world.until(watched(world.room().tryOn(product)), 'idle')
    const room = world.room()
    const second = watched(room.tryOn(product))
    await world.until(second, 'idle')
    await second.start(person)
    expect(room.photo.get()).toMatchObject({ id: expect.any(String) })
    await world.until(second, 'final')
    await second.retry()
    await world.until(second, 'final')
    expect(submissions()).toBe(2)
  })

  it('is carried out once where its first owner froze and hears of it late', async () => {
    const { first, freeze, thaw } = await freezing()
    const second = watched(world.room().tryOn(product))
    const third = watched(world.room().tryOn(product))
    await world.pass(2_000)
    freeze()
    const word = third.start({ imageUrl: 'https://photos.test/p.png' })
    await world.pass(8_000)
    await word
    await third.startOver()
    thaw()
    await world.pass(10_000)
    for (const tryOn of [first, second, third]) expect(tryOn.get().state).toBe('idle')
    expect(submissions()).toBe(1)
  })

  it('is carried out once where who said it left it, and has gone by the time that its first owner goes on', async () => {
    const { first, freeze, thaw } = await freezing()
    const room = world.room()
    const second = watched(room.tryOn(product))
    await world.pass(2_000)
    freeze()
    const word = second.start({ imageUrl: 'https://photos.test/p.png' })
    await world.pass(8_000)
    await word
    await second.startOver()
    room.close()
    await world.pass(3_000)
    thaw()
    await world.pass(20_000)
    expect([first.get().state, submissions()]).toEqual(['idle', 1])
    expect(await jobIds(world.room())).toHaveLength(1)
  })

  it('is not carried out where it was left before anything was sent, and its first owner hears of it later', async () => {
    const { first, freeze, thaw } = await freezing()
    const room = world.room()
    const second = watched(room.tryOn(product))
    await world.pass(2_000)
    const looked = world.hold('GET', '/funnel')
    freeze()
    const word = second.start({ imageUrl: 'https://photos.test/p.png' })
    await world.pass(8_000)
    await looked.reached
    await word
    await second.startOver()
    room.close()
    await world.pass(3_000)
    thaw()
    looked.release()
    await world.pass(20_000)
    expect([first.get().state, submissions()]).toEqual(['idle', 0])
  })

  it('is left by what is said right after it', async () => {
    const first = watched(world.room().tryOn(product))
    await world.until(first, 'idle')
    const second = watched(world.room({ storage: storage.another() }).tryOn(product))
    await world.until(second, 'idle')
    await Promise.all([second.start(person), second.startOver()])
    await world.pass(20_000)
    expect([first.get().state, second.get().state]).toEqual(['idle', 'idle'])
  })

  it('of this page is what a discard() right after it forgets', async () => {
    const first = watched(world.room().tryOn(product))
    await world.until(first, 'idle')
    const writing = storage.hold((call) => call.type === 'update' && call.key.includes(':try-on:'))
    const begun = first.start(person).catch(() => undefined)
    await writing.reached
    const forgotten = first.discard()
    writing.release()
    await Promise.all([begun, forgotten])
    await world.pass(20_000)
    expect([first.get().state, submissions()]).toEqual(['idle', 0])
  })

  it('is begun before what was passed on after it, also by a page that has to look first whether it may', async () => {
    const slow = storage.another()
    const { freeze, thaw } = await freezing(slow)
    const own = storage.another()
    const second = watched(world.room({ storage: own }).tryOn(product))
    await world.until(second, 'idle')
    await world.settle()
    // it does not take over meanwhile
    own.meet(
      (call) => isLease(call),
      () => new Promise(() => {}),
    )
    freeze()
    await world.pass(2_500)
    const words = [second.start({ imageUrl: 'https://photos.test/p.png' }), second.startOver()]
    const settled = Promise.allSettled(words)
    await world.settle()
    const renewal = slow.hold((call) => call.type === 'update' && isLease(call))
    const look = slow.hold((call) => call.type === 'get' && isLease(call))
    thaw()
    await look.reached
    await world.settle()
    look.release()
    renewal.release()
    await world.pass(20_000)
    expect((await settled)[1]).toMatchObject({ status: 'fulfilled' })
    expect(submissions()).toBe(0)
  })

  it('is left by what was said after it, though the other page shows another attempt in place of it', async () => {
    const { room, own } = troubled()
    await world.until(await started(room.tryOn(product)), 'final')
    const second = watched(world.room().tryOn(product))
    await world.until(second, 'final')
    await world.settle()
    const reading = own.hold(({ type, key }) => type === 'update' && key.endsWith(':catalog'))
    const word = second.retry(person).catch((error: unknown) => error)
    const leaving = second.startOver()
    await reading.reached
    await world.settle()
    reading.release()
    await leaving
    expect(await word).toMatchObject({ problem: { kind: 'stopped', reason: 'startedOver' } })
    await world.pass(20_000)
    expect([second.get().state, submissions()]).toEqual(['idle', 1])
  })

  it('discard() does not resolve for what may be paid for, though something else was left by it', async () => {
    const { room, own } = troubled()
    world.fault('POST', '/generations', [lost])
    const first = await started(room.tryOn(product))
    const { attempt } = await world.until(first, 'outcomeUnknown')
    const second = watched(world.room().tryOn(product))
    await world.until(second, 'outcomeUnknown')
    await world.settle()
    const reading = own.hold(({ type, key }) => type === 'update' && key.endsWith(':catalog'))
    const word = first.retry(person).catch((error: unknown) => error)
    const leaving = expect(second.discard()).rejects.toMatchObject({ kind: 'paidJob' })
    await reading.reached
    await world.settle()
    reading.release()
    await leaving
    await word
    await world.settle()
    expect(second.get()).toMatchObject({ state: 'outcomeUnknown', attempt })
  })

  it('is not carried out once what was said after it has left it, though nobody came to say so', async () => {
    const { room, own } = troubled()
    await world.until(watched(room.tryOn(product)), 'idle')
    const second = watched(world.room().tryOn(product))
    await world.until(second, 'idle')
    await world.settle()
    const renewal = own.hold((call) => call.type === 'update' && isLease(call))
    const word = second.start({ imageUrl: 'https://photos.test/p.png' }).catch((error: unknown) => error)
    await renewal.reached
    await second.startOver()
    room.close()
    renewal.release()
    await world.pass(20_000)
    expect([await word, submissions()]).toMatchObject([{ problem: { kind: 'stopped', reason: 'startedOver' } }, 0])
  })

  it('that another page’s reset() ends as it is carried out ends for that', async () => {
    const { room, own } = troubled()
    const tryOn = watched(room.tryOn(product))
    await world.until(tryOn, 'idle')
    const write = own.hold((call) => isRecord(call) && isWrite(call))
    const word = expect(tryOn.start({ imageUrl: 'https://photos.test/p.png' })).rejects.toMatchObject({
      problem: { kind: 'stopped', reason: 'startedOver' },
    })
    await write.reached
    const other = world.room().reset()
    await world.settle()
    write.release()
    await other
    await word
  })

  it('is refused by nobody who ran the try-on once, and has stood still since', async () => {
    const slow = storage.another()
    const { freeze, thaw } = await freezing(slow)
    const own = storage.another()
    const second = watched(world.room({ storage: own }).tryOn(product))
    await world.pass(2_000)
    freeze()
    await world.pass(8_000)
    void second.start({ imageUrl: 'https://photos.test/p.png' })
    await world.until(second, 'failed')
    const third = watched(world.room().tryOn(product))
    await world.until(third, 'failed')
    const word = third.retry({ imageUrl: 'https://photos.test/q.png' })
    const write = own.hold((call) => isRecord(call) && isWrite(call))
    await write.reached
    // it does not hear first from the lease itself
    slow.meet(
      (call) => call.type === 'update' && isLease(call),
      () => new Promise(() => {}),
    )
    thaw()
    await world.settle()
    write.release()
    await word
    slow.recover()
    await world.pass(20_000)
    expect([third.get().state, submissions()]).toEqual(['failed', 2])
  })
})

describe('a page that ran the try-on, and has stood still since,', () => {
  it('shows nobody what it has shown before', async () => {
    const { first, freeze, thaw } = await freezing()
    await started(first)
    await world.until(first, 'final')
    const second = watched(world.room().tryOn(product))
    await world.pass(2_000)
    freeze()
    await world.pass(8_000)
    const third = watched(world.room().tryOn(product))
    await world.until(third, 'final')
    await third.retry({ imageUrl: 'https://photos.test/q.png' })
    const { attempt } = await world.until(third, 'processing')
    const shown = new Set<string | undefined>()
    third.subscribe((view) => shown.add(view.attempt?.id))
    const result = expect(third.result()).rejects.toMatchObject({ jobId: attempt?.jobId })
    thaw()
    await world.until(third, 'failed')
    await result
    expect([...shown]).toEqual([attempt?.id])
    expect(second.get().attempt).toEqual(attempt)
  })

  it('leaves a picture in the archive that its job has come to since', async () => {
    const { first, freeze, thaw } = await freezing()
    await started(first)
    await world.until(first, 'processing')
    const second = watched(world.room().tryOn(product))
    await world.until(second, 'processing')
    freeze()
    await world.until(second, 'final')
    await second.startOver()
    thaw()
    await world.pass(10_000)
    expect(await world.room().list()).toMatchObject([{ state: 'final', archived: true }])
  })

  it('keeps the paid job that storage has lost meanwhile', async () => {
    const { first, freeze, thaw } = await freezing()
    await started(first)
    const { attempt } = await world.until(first, 'processing')
    freeze()
    await world.pass(5_000)
    storage.items.clear()
    thaw()
    await world.pass(20_000)
    expect(first.get()).toMatchObject({ state: 'final', attempt })
    expect(await jobIds(world.room())).toEqual([attempt?.jobId])
  })
})

describe('a page that stands still in mid-write while another one takes over', () => {
  const isPhase = (phase: string) => (call: StorageCall) =>
    isRecord(call) && call.type === 'update' && String(call.change?.()).includes(`"phase":"${phase}"`)

  /** The next call of that kind lands, and is answered only once it goes on. */
  function unanswered(own: TestStorage, which: (call: StorageCall) => boolean) {
    let goOn = () => {}
    const landed = new Promise<void>((reached) => {
      own.meet(which, async (call) => {
        await call.land()
        own.recover()
        reached()
        await new Promise<void>((done) => (goOn = done))
      })
    })
    return { landed, goOn: () => goOn() }
  }

  async function standing(phase: string, ms: number, meanwhile: () => unknown = () => {}) {
    const own = storage.another()
    const { room, first, freeze, thaw } = await freezing(own)
    const other = world.room()
    const second = watched(other.tryOn(product))
    await world.until(second, 'idle')
    await world.settle()
    const write = own.hold(isPhase(phase))
    const word = first.start({ imageUrl: 'https://photos.test/p.png' }).then(
      () => null,
      (error: unknown) => error,
    )
    await write.reached
    freeze()
    meanwhile()
    await world.pass(ms)
    const renewal = own.hold((call) => call.type === 'update' && isLease(call))
    thaw()
    await world.settle()
    write.release()
    await world.settle()
    renewal.release()
    await world.pass(20_000)
    return { first, second, word, rooms: [room, other] }
  }

  it('rejects a start() that is sent by nobody then', async () => {
    const { first, second, word } = await standing('consented', 4_000)
    expect(await word).toMatchObject({ kind: 'stopped' })
    expect([first.get().state, second.get().state, submissions()]).toEqual(['idle', 'idle', 0])
    await second.start({ imageUrl: 'https://photos.test/q.png' })
    await world.until(second, 'processing')
    expect(submissions()).toBe(1)
  })

  it('takes back what it has to reject as it is frozen', async () => {
    useLocks()
    const own = storage.another()
    const { pageLife, freeze } = freezable()
    const first = watched(world.room({ storage: own, pageLife }).tryOn(product))
    await world.until(first, 'idle')
    const second = watched(world.room().tryOn(product))
    await world.until(second, 'idle')
    const write = own.hold(isPhase('consented'))
    const word = expect(first.start(person)).rejects.toMatchObject({ kind: 'stopped' })
    await write.reached
    freeze()
    await world.settle()
    write.release()
    await word
    await world.settle()
    await second.start(person)
    await world.until(second, 'final')
    expect(submissions()).toBe(1)
  })

  it.each([
    ['Web Locks', useLocks],
    ['a lease', () => {}],
  ])('keeps what it was writing as its room was closed, for the next page, with %s', async (_, begin) => {
    begin()
    const own = storage.another()
    const room = world.room({ storage: own })
    const first = watched(room.tryOn(product))
    await world.until(first, 'idle')
    const write = own.hold(isPhase('consented'))
    const word = first.start(person)
    await write.reached
    room.close()
    await world.settle()
    write.release()
    await word
    const second = watched(world.room().tryOn(product))
    await world.until(second, 'final')
    expect(submissions()).toBe(1)
  })

  /** A start() was passed on to a page that is writing it, as the room where it was said is closed. */
  async function passedOn() {
    const own = storage.another()
    const first = watched(world.room({ storage: own }).tryOn(product))
    await world.until(first, 'idle')
    const room = world.room()
    const second = watched(room.tryOn(product))
    await world.until(second, 'idle')
    await world.settle()
    const write = own.hold(isPhase('consented'))
    const word = second.start(person).then(
      () => 'resolved',
      ({ problem }: TryOnError) => problem,
    )
    await write.reached
    room.close()
    return { first, word, write }
  }

  it('resolves start() that was passed on, as its room was closed: it is carried out', async () => {
    const { first, word, write } = await passedOn()
    write.release()
    await world.until(first, 'final')
    expect([await word, submissions()]).toEqual(['resolved', 1])
  })

  it('takes start() back that was passed on, as its room was closed, and that nobody has begun', async () => {
    const { first, word, write } = await passedOn()
    await world.pass(2_000)
    expect(await word).toEqual({ kind: 'stopped', reason: 'closed' })
    write.release()
    await world.pass(20_000)
    expect([first.get().state, submissions()]).toEqual(['idle', 0])
  })

  it('rejects start() as its room was closed, where the page that was asked has refused it', async () => {
    const first = watched(world.room().tryOn(product))
    await world.until(first, 'idle')
    const room = world.room()
    const second = watched(room.tryOn(product))
    const held = world.hold('POST', '/generations', 'before')
    await world.until(await started(first), 'submitting')
    await held.reached
    await world.until(second, 'submitting')
    const word = second.start(person).catch((error: unknown) => error)
    room.close()
    await world.pass(2_000)
    expect(await word).toMatchObject({ problem: { kind: 'stopped', reason: 'closed' } })
    held.release()
    await world.until(first, 'final')
    expect(submissions()).toBe(1)
  })

  it.each([
    ['submitEmail', 'needsEmail', refuses('emailRequired')],
    ['resume', 'unauthorized', refusesKey],
  ] as const)(
    'resolves %s() that was passed on, as its room was closed: it is carried out',
    async (intent, state, fault) => {
      world.fault('POST', '/generations', [fault])
      const own = storage.another()
      const first = watched(world.room({ storage: own }).tryOn(product))
      await world.until(first, 'idle')
      await started(first)
      await world.until(first, state)
      const room = world.room()
      const second = watched(room.tryOn(product))
      await world.until(second, state)
      await world.settle()
      const write = own.hold(isWrite)
      const word = intent === 'resume' ? second.resume() : second.submitEmail({ email: 'ada@example.com' })
      await write.reached
      room.close()
      await word
      write.release()
      await world.until(first, 'final')
      expect(submissions()).toBe(2)
    },
  )

  it.each(['startOver', 'discard'] as const)(
    '%s() is not confirmed as its room is closed where the consent that it was to leave goes on',
    async (intent) => {
      const own = storage.another()
      const room = world.room({ storage: own })
      const first = await started(room.tryOn(product))
      await world.until(first, 'final')
      const write = own.hold(isPhase('consented'))
      void first.retry(person).catch(() => undefined)
      await write.reached
      const left = first[intent]().then(
        () => true,
        () => false,
      )
      await world.settle()
      room.close()
      await world.settle()
      write.release()
      const isConfirmed = await left
      const second = watched(world.room().tryOn(product))
      await world.pass(20_000)
      expect([isConfirmed, submissions(), second.get().state]).toEqual([false, 2, 'final'])
    },
  )

  it('keeps what was written as its room was closed, though it cannot be read again', async () => {
    const own = storage.another()
    const room = world.room({ storage: own })
    const first = watched(room.tryOn(product))
    await world.until(first, 'idle')
    const second = watched(world.room().tryOn(product))
    await world.until(second, 'idle')
    const write = own.hold(isPhase('consented'))
    const word = first.start(person)
    await write.reached
    room.close()
    own.meet((call) => isRecord(call) && !isWrite(call), refused)
    write.release()
    await word
    await world.until(second, 'final')
    expect(submissions()).toBe(1)
  })

  it('startOver() leaves a word that was written behind the back of the next one', async () => {
    useLocks()
    world.fault('POST', '/generations', [refusesKey])
    const { pageLife, freeze } = freezable()
    const own = storage.another()
    const first = watched(world.room({ storage: own, pageLife }).tryOn(product))
    await world.until(first, 'idle')
    await started(first)
    await world.until(first, 'unauthorized')
    const second = watched(world.room().tryOn(product))
    await world.until(second, 'unauthorized')
    await world.settle()
    const write = own.hold((call) => isRecord(call) && isWrite(call))
    void first.resume().catch(() => undefined)
    await write.reached
    freeze()
    await world.settle()
    write.release()
    await world.settle()
    await second.startOver()
    await world.pass(10_000)
    expect([second.get().state, submissions()]).toEqual(['idle', 1])
  })

  it.each(['startOver', 'discard'] as const)('resolves %s() that was done as its room was closed', async (intent) => {
    const own = storage.another()
    const room = world.room({ storage: own })
    const first = await started(room.tryOn(product))
    await world.until(first, 'final')
    const write = own.hold((call) => isRecord(call) && isWrite(call))
    const word = first[intent]({ abandonPaidJob: true })
    await write.reached
    room.close()
    await world.settle()
    write.release()
    await word
    const second = watched(world.room().tryOn(product))
    await world.until(second, 'idle')
  })

  it.each([11_000, 20_000])('goes on with a word that could not be taken back, after %i ms away', async (ms) => {
    let life: PageLife | undefined
    const own = storage.another()
    const room = world.room({ storage: own, pageLife: (told) => ((life = told), () => {}) })
    const tryOn = watched(room.tryOn(product))
    await world.until(tryOn, 'idle')
    const write = own.hold((call) => isRecord(call) && isWrite(call))
    const word = tryOn.start(person)
    await write.reached
    life?.onHide(true)
    await world.settle()
    own.meet(isWrite, hung)
    write.release()
    await world.pass(ms)
    own.recover()
    life?.onShow()
    await world.until(tryOn, 'final')
    await word
    expect(submissions()).toBe(1)
  })

  it('stays closed where a word could not be taken back', async () => {
    await world.close()
    storage = testStorage({ atomic: false })
    world = createWorld({ storage })
    const followed = new Set<object>()
    const own = storage.another()
    const room = world.room({ storage: own, pageLife: (told) => (followed.add(told), () => followed.delete(told)) })
    const tryOn = watched(room.tryOn(product))
    await world.until(tryOn, 'idle')
    const write = own.hold((call) => isRecord(call) && isWrite(call))
    void tryOn.start(person).catch(() => undefined)
    await write.reached
    room.close()
    own.meet(isWrite, refused)
    write.release()
    await world.pass(60_000)
    expect(followed.size).toBe(0)
  })

  it('stays closed as its page was about to look what it has missed', async () => {
    let life: PageLife | undefined
    const own = storage.another()
    const room = world.room({ storage: own, pageLife: (told) => ((life = told), () => {}) })
    world.fault('POST', '/generations', [answers(429, { error: 'Rate limit exceeded' }, { 'Retry-After': '20' })])
    const tryOn = await started(watched(room.tryOn(product)))
    await expect.poll(submissions).toBe(1)
    await world.settle()
    life?.onHide(false)
    const look = own.hold(({ key, type }) => type === 'get' && key.endsWith(':catalog'))
    life?.onShow()
    await look.reached
    room.close()
    look.release()
    await world.pass(60_000)
    expect([submissions(), tryOn.get().can.start]).toEqual([1, false])
  })

  it('stops where its lock is stolen, and goes on once it has it again, without another submission', async () => {
    useLocks()
    const room = world.room()
    const { release } = world.hold('POST', '/generations', 'after')
    const tryOn = await started(watched(room.tryOn(product)))
    const states: string[] = []
    tryOn.subscribe(({ state }) => states.push(state))
    await expect.poll(submissions).toBe(1)
    const [lock] = (await navigator.locks.query()).held ?? []
    const thief = deferred()
    const stolen = navigator.locks.request(lock!.name!, { steal: true }, () => thief.promise)
    await world.settle()
    expect((await navigator.locks.query()).held).toHaveLength(1)
    release()
    thief.resolve()
    await stolen
    await world.until(tryOn, 'final')
    expect([submissions(), states.includes('outcomeUnknown')]).toEqual([1, false])
  })

  it('lets go of what it is granted after its room was closed', async () => {
    useLocks()
    const first = world.room()
    await world.until(watched(first.tryOn(product)), 'idle')
    const { locks } = navigator
    const request = locks.request.bind(locks)
    const unasked = vi
      .spyOn(locks, 'request')
      .mockImplementation((name: string, { ifAvailable }: LockOptions, run: LockGrantedCallback<unknown>) =>
        request(name, ifAvailable ? { ifAvailable } : {}, run),
      )
    const second = world.room()
    watched(second.tryOn(product))
    await world.settle()
    unasked.mockRestore()
    second.close()
    first.close()
    await world.settle()
    expect((await locks.query()).held).toEqual([])
  })

  it('rejects what storage did not take as its room was closed, and has it sent by nobody', async () => {
    const own = storage.another()
    const room = world.room({ storage: own })
    const first = watched(room.tryOn(product))
    await world.until(first, 'idle')
    let refuse = () => {}
    const reached = new Promise<void>((arrived) => {
      own.meet(isPhase('consented'), async () => {
        arrived()
        await new Promise<void>((done) => (refuse = done))
        return refused()
      })
    })
    const word = expect(first.start(person)).rejects.toMatchObject({ kind: 'stopped' })
    await reached
    room.close()
    await world.settle()
    own.recover()
    refuse()
    await word
    const second = watched(world.room().tryOn(product))
    await world.until(second, 'idle')
    await world.pass(10_000)
    expect([second.get().state, submissions()]).toEqual(['idle', 0])
  })

  it('sends nothing where it hears too late that it still had its lease', async () => {
    const own = storage.another()
    const { first, freeze, thaw } = await freezing(own)
    const second = watched(world.room().tryOn(product))
    await world.until(second, 'idle')
    const isClaimed = () => Boolean(storage.items.get(recordKey)?.includes('"phase":"claimed"'))
    const { landed, goOn } = unanswered(own, (call) => isLease(call) && isWrite(call) && isClaimed())
    void first.start(person)
    await landed
    freeze()
    await world.until(second, 'outcomeUnknown')
    await second.startOver()
    // what it waited for comes before its clock tells how long that was
    goOn()
    await world.settle()
    thaw()
    await world.pass(10_000)
    expect(submissions()).toBe(0)
  })

  it('leaves a consent that the other page has gone on with', async () => {
    world.fault('POST', '/generations', [refuses('emailRequired')])
    const own = storage.another()
    const { first, freeze, thaw } = await freezing(own)
    const second = watched(world.room().tryOn(product))
    await world.until(second, 'idle')
    await world.settle()
    const { landed, goOn } = unanswered(own, isPhase('consented'))
    const word = first.start(person)
    await landed
    freeze()
    await world.until(second, 'needsEmail')
    thaw()
    goOn()
    await world.pass(5_000)
    await word
    await second.submitEmail({ email: 'ada@example.com' })
    await world.until(second, 'final')
  })

  it.each(['said there', 'passed on'])(
    'has done what was %s, though it was closed before it could say so',
    async (how) => {
      world.fault('POST', '/generations', [refusesKey])
      const own = storage.another()
      const room = world.room({ storage: own })
      const first = watched(room.tryOn(product))
      await world.until(first, 'idle')
      const second = watched(world.room().tryOn(product))
      await world.until(second, 'idle')
      await first.start(person)
      await world.until(second, 'unauthorized')
      const { landed, goOn } = unanswered(own, isPhase('consented'))
      const word = (how === 'passed on' ? second : first).resume()
      await landed
      room.close()
      await world.settle()
      goOn()
      await world.until(second, 'final')
      await word
      expect(submissions()).toBe(2)
    },
  )

  it('does not take the claim of the other page for its own', async () => {
    const { first, rooms } = await standing('claimed', 6_000, () => world.fault('POST', '/generations', [lost]))
    await world.until(first, 'outcomeUnknown')
    for (const room of rooms) room.close()
    const { problem } = await world.until(watched(world.room().tryOn(product)), 'outcomeUnknown')
    // what came of it is known, too
    expect(problem?.kind).toBe('outcomeUnknown')
    expect(submissions()).toBe(1)
  })

  it('is waited for where its room was closed: what it writes is found', async () => {
    useLocks()
    const own = storage.another()
    const room = world.room({ storage: own })
    const first = watched(room.tryOn(product))
    await world.until(first, 'idle')
    const second = watched(world.room().tryOn(product))
    await world.until(second, 'idle')
    const write = own.hold(isPhase('consented'))
    void first.start(person).catch(() => undefined)
    await write.reached
    room.close()
    await world.settle()
    write.release()
    await world.until(second, 'final')
    expect(submissions()).toBe(1)
  })

  it('has discarded what storage was slow to say that it is', async () => {
    const own = storage.another()
    const room = world.room({ storage: own })
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'processing')
    const isMark = ({ type, key }: StorageCall) => type === 'update' && key.endsWith(':catalog')
    own.meet(isMark, async (call) => {
      await call.land()
      own.recover()
      await new Promise<void>((done) => void world.clock.setTimeout(done, 6_000))
    })
    const word = tryOn.discard({ abandonPaidJob: true })
    await world.pass(10_000)
    await word
    await world.pass(20_000)
    expect([tryOn.get().state, await world.room().list()]).toEqual(['idle', []])
  })
})

describe('a page behind one that cannot read storage', () => {
  it.each([
    ['under Web Locks', true],
    ['in lease mode', false],
  ])('follows the paid job that stands there, %s, without a storm of messages', async (_, hasLocks) => {
    if (hasLocks) useLocks()
    const before = world.room()
    const { attempt } = await world.until(await started(before.tryOn(product)), 'processing')
    before.close()
    const blind = troubled(isLease)
    await blind.room.ready
    blind.fail()
    await world.until(blind.room.tryOn(product), ({ problem }) => problem?.kind === 'storageUnreadable')
    watched(blind.room.tryOn(product))
    await world.settle()
    const post = vi.spyOn(BroadcastChannel.prototype, 'postMessage')
    const sighted = watched(world.room().tryOn(product))
    await world.pass(15_000)
    expect([sighted.get().state, sighted.get().attempt]).toEqual(['final', attempt])
    // the world's own messages count the turns
    const said = post.mock.calls.filter(([message]) => message !== null)
    expect(said.length).toBeLessThan(100)
    post.mockRestore()
  })

  it('shows what only its own memory holds as not durable', async () => {
    const { room, own } = troubled()
    const tryOn = watched(room.tryOn(product))
    await world.until(tryOn, 'idle')
    world.fault('POST', '/generations', [
      async (reach) => {
        own.meet((call) => isRecord(call) && isWrite(call), full)
        return reach()
      },
    ])
    await tryOn.start(person)
    await world.until(tryOn, 'processing')
    takeLease()
    vi.stubGlobal('BroadcastChannel', undefined)
    const shown: [string, boolean][] = []
    tryOn.subscribe(({ attempt, durable }) => void (attempt?.jobId && shown.push([attempt.jobId, durable])))
    await world.pass(1_600)
    expect(shown.filter(([, durable]) => durable)).toEqual([])
  })
})

it('a page that opens is shown at once what the owner shows, though storage has stopped answering that one', async () => {
  const { room, own } = troubled()
  await world.until(await started(room.tryOn(product)), 'processing')
  own.meet((call) => !isLease(call), hung)
  const tryOn = watched(world.room().tryOn(product))
  await world.settle()
  expect(tryOn.get().state).toBe('processing')
})

it('pages that were open before there was a visitor are one visitor', async () => {
  const [one, other] = [world.room(), world.room()]
  const [first, second] = [one.tryOn(product), other.tryOn({ ...product, variantId: '2002' })]
  await world.until(first, 'idle')
  await world.until(second, 'idle')
  await world.until(await started(first), 'processing')
  await world.until(await started(second), 'processing')
  const bodies = world.sent.filter(({ method, path }) => method === 'POST' && path === '/generations')
  expect(bodies.map(({ body }) => body.uniqueUserId)).toEqual([undefined, one.visitor.get().uniqueUserId])
})

it('a page that can read no storage hears of a reset() all the same', async () => {
  const put = world.hold('PUT', '/photos')
  const blind = troubled()
  blind.fail()
  const tryOn = await started(blind.room.tryOn(product))
  await put.reached
  await world.room().reset()
  await world.settle()
  put.release()
  await world.pass(20_000)
  expect([tryOn.get().attempt, blind.room.photo.get(), submissions()]).toEqual([null, null, 0])
})

describe.each(['startOver', 'discard'] as const)('%s()', (intent) => {
  it.each([
    ['no write', isWrite],
    ['no call', any],
  ])('rejects where storage takes %s, as a reload would go on with the attempt', async (_, which) => {
    const funnel = world.hold('GET', '/funnel')
    const { room, own } = troubled()
    const tryOn = await started(room.tryOn(product))
    await funnel.reached
    own.meet(which, refused)
    await expect(tryOn[intent]()).rejects.toMatchObject({ kind: 'storage' })
    funnel.release()
    await world.pass(20_000)
    expect([tryOn.get().state, submissions()]).toEqual(['rejected', 0])
  })

  it('said of what the shopper sees does nothing to what storage turns out to hold', async () => {
    const first = world.room()
    const { attempt } = await world.until(await started(first.tryOn(product)), 'final')
    first.close()
    const { room, own, fail } = troubled()
    fail()
    const tryOn = watched(room.tryOn(product))
    await world.until(tryOn, ({ problem }) => problem?.kind === 'storageUnreadable')
    own.recover()
    await expect(tryOn[intent]()).rejects.toMatchObject({ kind: 'notAllowed' })
    expect(await jobIds(world.room())).toEqual([attempt?.jobId])
  })

  it('in a room that is used again after close() is not for what another page has begun since', async () => {
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'final')
    room.close()
    const other = world.room()
    const again = watched(other.tryOn(product))
    await world.until(again, 'final')
    await again.retry()
    const { attempt } = await world.until(again, 'final')
    other.close()
    await expect(tryOn[intent]()).rejects.toMatchObject({ kind: 'notAllowed' })
    expect(await jobIds(world.room())).toContain(attempt?.jobId)
  })
})

it('a start() in place of an attempt that a reload would go on with sends nothing', async () => {
  const funnel = world.hold('GET', '/funnel')
  const { room, own } = troubled()
  const tryOn = await started(room.tryOn(product))
  await funnel.reached
  own.meet((call) => isWrite(call) && !isLease(call), refused)
  await expect(tryOn.start({ imageUrl: 'https://photos.test/p.png' })).rejects.toMatchObject({ kind: 'storage' })
  funnel.release()
  await world.pass(20_000)
  expect([tryOn.get().state, submissions()]).toEqual(['rejected', 0])
})

it('a retry() whose photo takes long to read is not for what another one has begun meanwhile', async () => {
  world.fault('POST', '/generations', [dropped, dropped])
  const tryOn = await started(world.room().tryOn(product))
  await world.until(tryOn, 'outcomeUnknown')
  let read = () => {}
  const slow = person.slice()
  const isRead = new Promise<void>((resolve) => (read = resolve))
  slow.arrayBuffer = async () => {
    await isRead
    return person.arrayBuffer()
  }
  const word = expect(tryOn.retry(slow)).rejects.toMatchObject({ problem: { kind: 'stopped', reason: 'startedOver' } })
  await tryOn.retry({ imageUrl: 'https://photos.test/p.png' })
  await world.until(tryOn, 'outcomeUnknown')
  read()
  await word
  await world.pass(10_000)
  expect([tryOn.get().state, submissions()]).toEqual(['outcomeUnknown', 2])
})

it('a start() during which the machine slept is one of before', async () => {
  const clock = { ...world.clock, ahead: 0, now: () => world.clock.now() + clock.ahead }
  const tryOn = watched(world.room({ clock }).tryOn(product))
  await world.until(tryOn, 'idle')
  const renewal = storage.hold((call) => isLease(call) && isWrite(call))
  const word = expect(tryOn.start(person)).rejects.toMatchObject({ kind: 'consentExpired' })
  await renewal.reached
  clock.ahead = 9 * 3_600_000
  renewal.release()
  await word
  await world.pass(20_000)
  expect(submissions()).toBe(0)
})

it('result() goes on where its page loses the lease and takes it again', async () => {
  const tryOn = await started(world.room().tryOn(product))
  await world.until(tryOn, 'processing')
  const result = tryOn.result()
  takeLease()
  await world.until(tryOn, 'final')
  expect(await result).toEqual(tryOn.get().result)
})

it('a write that is confirmed after its limit takes nothing back that another page has listed', async () => {
  const { room, own } = troubled()
  const one = watched(room.tryOn({ ...product, variantId: '2002' }))
  await world.until(one, 'idle')
  const two = await started(world.room().tryOn(product))
  const { attempt } = await world.until(two, 'final')
  await two.startOver()
  const later = (ms: number) => new Promise<void>((resolve) => void world.clock.setTimeout(resolve, ms))
  let isFirst = true
  own.meet(isWrite, async ({ key, land }) => {
    const isSlow = isFirst && key.endsWith(':catalog')
    if (isSlow) isFirst = false
    await later(20)
    await land()
    if (isSlow) await later(4_990)
  })
  void one.start(person).catch(() => undefined)
  for (let passed = 0; passed < 8_000; passed += 10) {
    world.clock.advance(10)
    await world.settle()
  }
  expect(await jobIds(world.room())).toContain(attempt?.jobId)
})

it('what was discarded while a tier took no write is in no list', async () => {
  const disks = [testStorage(), testStorage()] as const
  const load = (...hows: (((call: StorageCall) => unknown) | null)[]) => {
    const tiers = disks.map((disk, index) => {
      const tier = disk.another()
      const how = hows[index]
      if (how) tier.meet(any, how)
      return tier
    })
    return world.room({ storage: storageChain(tiers, world.clock) })
  }
  const first = load(refused)
  await world.until(await started(first.tryOn(product)), 'processing')
  first.close()
  const second = load(null, (call) => (isWrite(call) ? refused() : call.land()))
  const tryOn = watched(second.tryOn(product))
  await world.until(tryOn, 'final')
  const isDone = await tryOn.discard().then(
    () => true,
    () => false,
  )
  second.close()
  expect((await jobIds(load())).length).toBe(isDone ? 0 : 1)
})

it('an answer that comes to a page that waits by then, and whose storage takes nothing, is written once it does', async () => {
  const { room, own, fail } = troubled((call) => !isWrite(call))
  const tryOn = watched(room.tryOn(product))
  await world.until(tryOn, 'idle')
  const held = world.hold('POST', '/generations', 'after')
  await started(tryOn)
  await held.reached
  takeLease()
  await world.pass(1_500)
  fail()
  held.release()
  await world.settle()
  own.recover()
  room.close()
  await world.pass(12_000)
  expect(await jobIds(world.room())).toEqual([expect.any(String)])
})

it('a picture that only the memory of a page had stays with the one that takes over, though a page opens meanwhile', async () => {
  useLocks()
  const [one, other] = [troubled(isRead), troubled(isRead)]
  const first = watched(one.room.tryOn(product))
  await world.until(first, 'idle')
  const second = watched(other.room.tryOn(product))
  await world.until(second, 'idle')
  one.fail()
  other.fail()
  await world.until(await started(first), 'final')
  await world.until(second, 'final')
  const reading = other.own.hold((call) => isRead(call) && isRecord(call))
  one.room.close()
  await reading.reached
  const third = world.room().tryOn(product)
  const shown = new Set<string>()
  third.subscribe(({ state }) => shown.add(state))
  await world.settle()
  reading.release()
  await world.until(third, 'final')
  await world.pass(10_000)
  expect([[...shown], second.get().state, submissions()]).toEqual([['final'], 'final', 1])
})

it('a picture that only the memory of a page had is in the archive once that page has read what stands there', async () => {
  const older = await started(watched(world.room().tryOn(product)))
  await world.until(older, 'final')
  const { room, own, fail } = troubled()
  fail()
  const tryOn = watched(room.tryOn(product))
  await world.until(tryOn, ({ problem }) => problem?.kind === 'storageUnreadable')
  await tryOn.start(person)
  const { attempt } = await world.until(tryOn, 'final')
  own.recover()
  await world.pass(20_000)
  expect((await world.room().list()).map(({ jobId }) => jobId)).toContain(attempt?.jobId)
})
