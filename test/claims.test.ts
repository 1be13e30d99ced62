import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createActor, fromPromise } from 'xstate'
import type { PageLife } from 'fitting-room'
import { tryOnMachine, tryOnView, type TryOnContext, type Written } from 'fitting-room/machines'
import { steadyClock } from '../src/platform/clock.ts'
import type { AttemptRecord } from '../src/rules/record.ts'
import { deferred } from '../src/platform/deferred.ts'
import {
  full,
  hung,
  isRecord,
  isWrite,
  recordKey,
  refused,
  testStorage,
  type StorageCall,
  type TestStorage,
} from './support/storage.ts'
import { createWorld, person, product, refusesKey, refusesVariant, started, type World } from './support/world.ts'

let world: World
let storage: TestStorage
beforeEach(() => {
  storage = testStorage()
  world = createWorld({ storage })
})
afterEach(() => world.close())

const submissions = () => world.count('POST', '/generations')
const phaseKept = () => (JSON.parse(storage.items.get(recordKey) ?? '{}') as { phase?: string }).phase

const isClaim = ({ change }: StorageCall) => change?.()?.includes('"phase":"claimed"') === true
/** Lets what a dead page has left to its storage land. */
let unlanded = () => {}

describe('the order of writes', () => {
  it('the claim stands before the POST leaves, the job ID before the first poll', async () => {
    const updates = () => storage.calls.filter((call) => call.type === 'update' && isRecord(call)).length
    const log: [string, number][] = []
    world.fault('POST', '/generations', [async (reach) => (log.push(['POST', updates()]), reach())])
    world.fault('GET', '/generations', [async (reach) => (log.push(['poll', updates()]), reach())])
    const tryOn = await started(world.room().tryOn(product))
    await world.until(tryOn, 'processing')
    await world.settle()
    const claimed = log[0]?.[1] ?? 0
    expect(claimed).toBeGreaterThan(0)
    expect(log).toEqual([
      ['POST', claimed],
      ['poll', claimed + 1],
    ])
  })

  it('the index entry stands before the record that it names', async () => {
    await started(world.room().tryOn(product))
    const writes = storage.calls.filter(({ type }) => type === 'update')
    const index = writes.findIndex(({ key }) => key.endsWith(':catalog'))
    expect(index).toBeGreaterThanOrEqual(0)
    expect(index).toBeLessThan(writes.findIndex(isRecord))
  })

  it('a rejection replaces the claim by its own phase in one write', async () => {
    world.fault('POST', '/generations', [refusesVariant])
    await world.until(await started(world.room().tryOn(product)), 'rejected')
    expect(phaseKept()).toBe('rejected')
  })
})

describe('a claim that cannot be written', () => {
  /** The consent is the first write of the record, the claim the second. */
  const claimMeets = (how: typeof full | typeof refused) => {
    let records = 0
    storage.meet((call) => call.type === 'update' && isRecord(call) && ++records === 2, how)
  }

  it.each([
    ['is refused', refused],
    ['finds a full disk', full],
  ])('because it %s takes the consent back first and claims over nothing, without a loop', async (_, how) => {
    claimMeets(how)
    const found: unknown[] = []
    world.fault('POST', '/generations', [async (reach) => (found.push(storage.items.get(recordKey)), reach())])
    await world.until(await started(world.room().tryOn(product)), 'final')
    expect(submissions()).toBe(1)
    expect(found).toEqual([expect.stringContaining('"phase":"claimed"')])
    expect(world.count('GET', '/funnel')).toBe(1)
  })

  it('sends nothing when the consent cannot be taken back either', async () => {
    let records = 0
    storage.meet((call) => isWrite(call) && isRecord(call) && ++records >= 2, refused)
    const view = await world.until(await started(world.room().tryOn(product)), 'rejected')
    expect(view.problem).toEqual({ kind: 'storage' })
    expect(submissions()).toBe(0)
  })

  it('is not sent while the disk still holds the consent that a reload would go on with', async () => {
    const tryOn = world.room().tryOn(product)
    world.fault('GET', '/funnel', [
      async (reach, request) => {
        storage.meet((call) => isWrite(call) && isRecord(call), full)
        return refusesKey(reach, request)
      },
    ])
    await started(tryOn)
    await world.until(tryOn, 'unauthorized')
    await tryOn.resume()
    const view = await world.until(tryOn, 'rejected')
    expect(view.problem).toEqual({ kind: 'storage' })
    expect(submissions()).toBe(0)
  })
})

describe.each([
  ['under Web Locks', true],
  ['in lease mode', false],
])('a claim that only memory holds, %s,', (_, hasLocks) => {
  beforeEach(() => void (hasLocks && vi.stubGlobal('isSecureContext', true)))
  afterEach(() => void vi.unstubAllGlobals())

  it.each([
    ['has landed all the same', (call: StorageCall) => (call.land(), refused())],
    [
      'may land once the page is gone',
      ({ change, key }: StorageCall) => {
        const value = change?.() ?? null
        unlanded = () => void (value !== null && storage.items.set(key, value))
        return hung()
      },
    ],
  ])('is not sent where the consent %s, with which a reload would submit again', async (_how, meet) => {
    unlanded = () => {}
    const room = world.room()
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    await world.until(tryOn, 'idle')
    let records = 0
    storage.meet(
      (call) => call.type === 'update' && isRecord(call),
      (call) => (++records === 1 ? meet(call) : refused()),
    )
    void tryOn.start(person).catch(() => undefined)
    await world.pass(30_000)
    unlanded()
    room.close()
    storage.recover()
    const again = world.room().tryOn(product)
    again.subscribe(() => {})
    await world.pass(30_000)
    expect(submissions()).toBeLessThanOrEqual(1)
  })
})

it.each([
  ['the claim', (call: StorageCall) => call.type === 'update' && isRecord(call) && isClaim(call)],
  ['the last look', (call: StorageCall) => call.type === 'get' && isRecord(call) && phaseKept() === 'claimed'],
])('a page that slept over %s sends nothing for an old word', async (_, which) => {
  let sleptMs = 0
  const now = () => world.clock.now() + sleptMs
  const monotonic = () => world.clock.monotonic() + sleptMs
  const tryOn = world.room({ clock: { ...world.clock, now, monotonic } }).tryOn(product)
  const held = storage.hold(which)
  await started(tryOn)
  await held.reached
  // as on a laptop that is shut: nothing falls due before what was held goes on
  sleptMs = 8 * 3_600_000
  held.release()
  await world.settle()
  await world.pass(30_000)
  expect(submissions()).toBe(0)
})

it('a claim whose room is closed before it lands is none, and the next page goes on with the consent', async () => {
  const claim = storage.hold(isClaim)
  const room = world.room()
  await room.tryOn(product).start(person)
  await claim.reached
  room.close()
  claim.release()
  await world.settle()
  expect([phaseKept(), submissions()]).toEqual(['consented', 0])
  await world.until(world.room().tryOn(product), 'final')
  expect(submissions()).toBe(1)
})

it('a claim that has landed as its room is closed is taken back, and the next page goes on with the consent', async () => {
  const landed = deferred()
  const told = deferred()
  storage.meet(isClaim, async (call) => {
    await call.land()
    landed.resolve()
    await told.promise
  })
  const room = world.room()
  await room.tryOn(product).start(person)
  await landed.promise
  storage.recover()
  room.close()
  told.resolve()
  await world.settle()
  expect([phaseKept(), submissions()]).toEqual(['consented', 0])
  await world.until(world.room().tryOn(product), 'final')
  expect(submissions()).toBe(1)
})

it('a consent that was taken away for a claim, which storage refuses once its page was left, stands again', async () => {
  let life: PageLife | undefined
  const tryOn = world.room({ pageLife: (told) => ((life = told), () => {}) }).tryOn(product)
  tryOn.subscribe(() => {})
  storage.meet(isClaim, refused)
  const removal = storage.hold((call) => isRecord(call) && call.change?.() === null)
  await tryOn.start(person)
  await removal.reached
  life?.onHide(false)
  removal.release()
  await world.settle()
  expect([phaseKept(), submissions()]).toEqual(['consented', 0])
  storage.recover()
  life?.onShow()
  await world.until(tryOn, 'final')
  expect(submissions()).toBe(1)
})

it('a consent that cannot be changed any more is asked for once', async () => {
  const tryOn = world.room().tryOn(product)
  // writes nothing and says so to nobody
  storage.meet(
    (call) => isRecord(call) && phaseKept() === 'consented' && isWrite(call),
    () => undefined,
  )
  await started(tryOn)
  await world.pass(30_000)
  expect([tryOn.get().problem, world.count('GET', '/funnel'), submissions()]).toEqual([{ kind: 'storage' }, 1, 0])
})

it('a claim that lands once its page has said that nothing was sent is none', async () => {
  vi.stubGlobal('navigator', undefined)
  onTestFinished(() => void vi.unstubAllGlobals())
  const tryOn = world.room().tryOn(product)
  const claim = storage.hold(isClaim, 'midway')
  await started(tryOn)
  await claim.reached
  storage.meet((call) => isRecord(call) && isWrite(call), refused)
  for (let limits = 0; limits < 4; limits++) {
    world.clock.advance(5_001)
    await world.settle()
  }
  expect(tryOn.get()).toMatchObject({ state: 'rejected', problem: { kind: 'storage' } })
  storage.recover()
  claim.release()
  await world.settle()
  expect([phaseKept(), submissions()]).toEqual([undefined, 0])
})

it('storage that takes longer than its limit over the consent holds no consent while the submission is out', async () => {
  const tryOn = world.room().tryOn(product)
  tryOn.subscribe(() => {})
  await world.until(tryOn, 'idle')
  const consent = storage.hold((call) => call.type === 'update' && isRecord(call), 'midway')
  const put = world.hold('PUT', '/photos')
  const post = world.hold('POST', '/generations', 'after')
  const word = started(tryOn)
  await consent.reached
  world.clock.advance(5_001)
  await word
  await put.reached
  consent.release()
  await world.settle()
  put.release()
  await post.reached
  expect(phaseKept()).toBe('claimed')
  post.release()
})

it('a claim whose submission breaks unforeseen is outcomeUnknown, and resume() is not permitted', async () => {
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
  const given = { nextLookMs: () => 1, deadlineMs: 1, askVisitorFirst: false, exclusive: true, archived: false }
  const own = createActor(machine, { input: { ...given, clock: steadyClock(clock) }, clock })
  own.start()
  await world.settle()
  clock.advance(1)
  await world.settle()
  expect(tryOnView(own.getSnapshot())).toMatchObject({ state: 'outcomeUnknown', can: { resume: false } })
  own.stop()
})
