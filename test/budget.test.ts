import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Budget, FittingRoomOptions, MaybePromise, TryOn } from 'fitting-room'
import { manualClock } from 'fitting-room/testing'
import { boundedBudget } from '../src/budget/bounded.ts'
import { createBudget } from '../src/budget/budget.ts'
import { deferred } from '../src/platform/deferred.ts'
import { weightOf, weightUpTo, withObserved, type Histogram } from '../src/budget/durations.ts'
import { nextLookMs, noTimes, type JobTimes } from '../src/budget/look.ts'
import {
  freePace,
  isForgotten,
  paceOfMany,
  priceAt,
  refusedIn,
  sentIn,
  waitFor,
  widened,
  type Asked,
  type Pace,
} from '../src/budget/pace.ts'
import type { Operation } from '../src/contract/endpoints.ts'
import { paceCodec, timesCodec } from '../src/records/learnt.ts'
import { refusal } from './support/answers.ts'
import {
  hung,
  isNobodys,
  isRecord,
  isWrite,
  refused as storageRefuses,
  testStorage,
  type TestStorage,
} from './support/storage.ts'
import { answers, createWorld, person, product, type World } from './support/world.ts'

const now = 1_000_000
const refused = { refusedMs: 20_000, hadPassed: false, random: 0.5 }

describe('the pace of one device', () => {
  it('lets everything through while nothing was refused, and no more than what the service takes', () => {
    let pace = freePace
    for (let count = 0; count < 120; count += 1) {
      expect(waitFor(pace, 'createGeneration', { begins: false }, now)).toBe(0)
      pace = sentIn(pace, true, now)
    }
    expect(waitFor(pace, 'createGeneration', { begins: false }, now)).toBe(60_000)
    expect(waitFor(pace, 'getGeneration', { begins: false }, now)).toBe(0)
    expect(waitFor(pace, 'createGeneration', { begins: false }, now + 60_000)).toBe(0)
  })

  it('lets what was begun go before what begins, and the last look at a job before other looks', () => {
    const sent = (count: number) => ({ ...freePace, sent: Array.from({ length: count }, () => now) })
    const isOut = (count: number, ...[operation, asked]: [Operation, Asked]) =>
      waitFor(sent(count), operation, asked, now) === 0
    expect([isOut(107, 'createUpload', { begins: true }), isOut(108, 'createUpload', { begins: true })]).toEqual([
      true,
      false,
    ])
    expect([
      isOut(119, 'createGeneration', { begins: false }),
      isOut(120, 'createGeneration', { begins: false }),
    ]).toEqual([true, false])
    expect([isOut(159, 'getGeneration', { begins: false }), isOut(160, 'getGeneration', { begins: false })]).toEqual([
      true,
      false,
    ])
    expect(isOut(239, 'getGeneration', { begins: false, isUrgent: true })).toBe(true)
    const beside = { begins: false, isConsentAwaited: true }
    expect([isOut(95, 'getGeneration', beside), isOut(96, 'getGeneration', beside)]).toEqual([true, false])
  })

  it('has its price where a device sends much itself', () => {
    const sent = (count: number) => ({ ...freePace, sent: Array.from({ length: count }, () => now) })
    expect([0, 60, 120].map((count) => priceAt(sent(count), now))).toEqual([0, 0, 1])
    expect(priceAt(sent(120), now + 60_000)).toBe(0)
  })

  it('after a refusal comes back after the wait and some more, and begins less often', () => {
    const pace = refusedIn(freePace, 'createUpload', refused, now)
    expect(pace.gapMs).toBe(45_000)
    const waitMs = waitFor(pace, 'createUpload', { begins: true }, now)
    expect(waitMs).toBe(20_000 + 0.5 * 45_000)
    const begun = sentIn(pace, true, now + waitMs)
    expect(waitFor(begun, 'createUpload', { begins: true }, now + waitMs)).toBe(45_000)
    // what has begun goes on
    expect(waitFor(begun, 'createGeneration', { begins: false }, now + waitMs)).toBe(0)
  })

  it('of a try-on that has begun waits little longer than it was told', () => {
    const pace = refusedIn(freePace, 'createGeneration', { ...refused, hadPassed: true }, now)
    expect([pace.gapMs, waitFor(pace, 'createGeneration', { begins: false }, now)]).toEqual([0, 23_000])
  })

  it('that may not begin lets what has begun go on soon after the wait', () => {
    const pace = refusedIn({ ...freePace, gapMs: 3_600_000 }, 'getFunnel', { ...refused, random: 0.9 }, now)
    expect(waitFor(pace, 'getFunnel', { begins: true }, now)).toBeGreaterThan(1_000_000)
    expect(waitFor(pace, 'createGeneration', { begins: false }, now)).toBeLessThan(26_000)
  })

  it('begins more often with every try-on that is let in, until nobody else seems to be there', () => {
    let pace = refusedIn(freePace, 'createUpload', refused, now)
    const gaps = []
    while (pace.gapMs > 0) {
      gaps.push(pace.gapMs)
      pace = widened(pace)
    }
    expect(gaps).toEqual([...gaps].sort((a, b) => b - a))
    expect(gaps.length).toBeGreaterThan(5)
  })

  it('by a clock that was set back waits no longer than it was told', () => {
    const pace = sentIn(refusedIn(freePace, 'createUpload', refused, now), true, now)
    expect(waitFor(pace, 'createUpload', { begins: true }, now - 30_000)).toBe(45_000)
    expect(waitFor(pace, 'createUpload', { begins: true }, now - 3_600_000)).toBe(0)
  })

  it('forgets, and closes for no longer than the window of the service', () => {
    const pace = refusedIn(freePace, 'createGeneration', { ...refused, refusedMs: 86_400_000, hadPassed: true }, now)
    expect(waitFor(pace, 'createGeneration', { begins: false }, now)).toBe(63_000)
    const begun = sentIn(refusedIn(freePace, 'createUpload', refused, now), true, now)
    expect(waitFor({ ...begun, gapMs: 3_600_000 }, 'createUpload', { begins: true }, now + 1_800_000)).toBe(1_800_000)
    expect([isForgotten(begun, now + 43_200_000), isForgotten(begun, now + 43_200_001)]).toEqual([false, true])
  })

  it('learns once from what was refused at one time', () => {
    const first = refusedIn(freePace, 'createUpload', refused, now)
    const all = [100, 200, 19_999].reduce((pace, ms) => refusedIn(pace, 'createUpload', refused, now + ms), first)
    expect(all).toEqual(first)
    // by then it was let in again
    expect(refusedIn(first, 'createUpload', refused, now + 20_000).gapMs).toBeGreaterThan(first.gapMs)
    // of a lower threshold it says nothing
    expect(refusedIn(first, 'registerCustomer', refused, now).price).toBeGreaterThan(first.price)
  })

  it('of one of many that know of each other begins at a time of its own', () => {
    expect(paceOfMany(4, 0.5, now)).toEqual({ ...freePace, pricedAt: now })
    const pace = paceOfMany(1_000, 0.25, now)
    expect(waitFor(pace, 'createUpload', { begins: true }, now)).toBe(0.75 * 2_300_000)
    expect(waitFor(pace, 'getGeneration', { begins: false }, now)).toBe(0)
    expect(paceCodec.read({ ...paceOfMany(1e9, 0, now) })).toMatchObject({ gapMs: 3_600_000 })
  })

  it('that waits for a poll waits for all that has no higher threshold', () => {
    const pace = refusedIn(freePace, 'getGeneration', refused, now)
    expect(waitFor(pace, 'createUpload', { begins: true }, now)).toBe(23_000)
    expect(pace.gapMs).toBe(0)
  })
})

describe('what was learnt of how long jobs take', () => {
  it('fades, and weighs what was seen last most', () => {
    let seen: Histogram = {}
    for (let count = 0; count < 100; count += 1) seen = withObserved(seen, 10_000, 10_500)
    for (let count = 0; count < 20; count += 1) seen = withObserved(seen, 90_000, 91_000)
    expect(weightUpTo(seen, 20_000) / weightOf(seen)).toBeLessThan(0.3)
    expect(weightOf(seen)).toBeLessThan(15)
    expect(Object.keys(seen).length).toBeLessThan(40)
  })

  const look = { etaMs: 40_000, lookedMs: 0, previewMs: null, price: 0 }
  const known = (previewMs: number, finalMs: number): JobTimes => {
    let times = noTimes
    for (let count = 0; count < 10; count += 1)
      times = {
        preview: withObserved(times.preview, previewMs, previewMs + 500),
        final: withObserved(times.final, finalMs, finalMs + 500),
        ratio: withObserved(times.ratio, finalMs / previewMs, (finalMs + 500) / previewMs),
      }
    return times
  }

  it('without it looks by the estimate of the service, and not only there', () => {
    const first = nextLookMs(noTimes, look)
    expect(first).toBeGreaterThan(2_000)
    expect(first).toBeLessThan(24_000)
  })

  it('without it takes the preview for what it tells: a job that is far quicker than estimated is seen soon', () => {
    expect(nextLookMs(noTimes, { ...look, lookedMs: 5_500, previewMs: 5_500 })).toBeLessThan(3_000)
    expect(nextLookMs(noTimes, { ...look, lookedMs: 1, previewMs: 0 })).toBeGreaterThan(0)
  })

  it('looks when what it waits for is most likely there', () => {
    const times = known(24_000, 40_000)
    expect(nextLookMs(times, { ...look, lookedMs: 20_000 })).toBeGreaterThan(2_500)
    expect(nextLookMs(times, { ...look, lookedMs: 24_000 })).toBeLessThan(1_500)
    const afterPreview = nextLookMs(times, { ...look, lookedMs: 24_500, previewMs: 24_250 })
    expect(24_500 + afterPreview).toBeGreaterThan(36_000)
    expect(24_500 + afterPreview).toBeLessThan(42_500)
  })

  it('in a crowd looks for no preview, later, and seldom', () => {
    const times = known(24_000, 40_000)
    expect(nextLookMs(times, { ...look, price: 1, lookedMs: 20_000 })).toBeGreaterThan(18_000)
    expect(nextLookMs(times, { ...look, price: 1, lookedMs: 41_000 })).toBeGreaterThanOrEqual(2_800)
  })
})

describe('a budget', () => {
  const throws = (): number => {
    throw new Error('it threw')
  }

  it('lets the other requests of a try-on wait for the answer to its first one', async () => {
    const budget = createBudget(manualClock())
    const first = { operation: 'getFunnel', turn: 'one' } as const
    const second = { operation: 'createUpload', turn: 'one' } as const
    expect(await budget.ask(first)).toBe(0)
    const asked = budget.ask(second)
    await budget.learn(first, 30_000)
    expect(await asked).toBeGreaterThanOrEqual(30_000)
  })

  it('after a refusal of who has no turn, and waits for none, begins no less often', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    onTestFinished(() => void vi.restoreAllMocks())
    const budget = createBudget(manualClock())
    budget.learn({ operation: 'createUpload' }, 30_000)
    const [asked, begins] = [
      await budget.ask({ operation: 'createUpload' }),
      await budget.ask({ operation: 'createUpload', turn: 'new' }),
    ]
    expect([asked, begins]).toEqual([33_000, 33_000])
  })

  it('of more try-ons than it knows, or whose first request is never answered, holds none for good', async () => {
    const clock = manualClock()
    const budget = createBudget(clock)
    const first = budget.ask({ operation: 'getFunnel', turn: 'one' })
    const second = budget.ask({ operation: 'createUpload', turn: 'one' })
    await first
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(15_000)
    expect(await second).toBe(0)
    const turns = Array.from({ length: 300 }, (_, index) => ({ operation: 'createUpload', turn: `${index}` }) as const)
    expect(await Promise.all(turns.map(async (each) => budget.ask(each)))).toHaveLength(300)
  })

  it.each([
    ['breaks', () => Promise.reject(new Error('it broke')), 0],
    ['throws', throws, 0],
    ['says -1', () => -1, 0],
    ['says NaN', () => NaN, 0],
    ['says for ever', () => Infinity, 600_000],
    ['says 1 ms, again and again', () => 1, 200],
    ['waits', () => 5_000, 5_000],
  ] satisfies [string, () => MaybePromise<number>, number][])(
    'of an application that %s stands between nothing',
    async (_, ask, waitMs) => {
      const reported = vi.fn()
      const budget = boundedBudget({ ask, learn: throws, price: () => NaN }, manualClock(), reported)
      expect(await budget.ask({ operation: 'createUpload' })).toBe(waitMs)
      expect(() => budget.learn({ operation: 'createUpload' }, 0)).not.toThrow()
      expect(budget.price()).toBe(0)
      await vi.waitFor(() => expect(reported).toHaveBeenCalled())
    },
  )

  it.each<[string, () => number, number]>([
    ['breaks', throws, 0],
    ['is below none', () => -1, 0],
    ['is for ever', () => Infinity, 10],
    ['is 2', () => 2, 2],
  ])('of an application whose price %s lets polls be planned', (_, price, planned) => {
    const reported = vi.fn()
    const budget = boundedBudget({ ask: () => 0, learn() {}, price }, manualClock(), reported)
    expect(budget.price()).toBe(planned)
    expect(reported).toHaveBeenCalledTimes(price === throws ? 1 : 0)
  })

  it('of an application that hangs is asked again later', async () => {
    const clock = manualClock()
    const ask = vi.fn(() => new Promise<number>(() => {}))
    const budget = boundedBudget({ ask, learn() {}, price: () => 0 }, clock, () => {})
    const first = budget.ask({ operation: 'createUpload' })
    await Promise.resolve()
    clock.advance(3_000)
    expect([await first, await budget.ask({ operation: 'createUpload' })]).toEqual([0, 0])
    expect(ask).toHaveBeenCalledOnce()
    clock.advance(60_000)
    void budget.ask({ operation: 'createUpload' })
    await new Promise((resolve) => setImmediate(resolve))
    expect(ask).toHaveBeenCalledTimes(2)
  })

  it('of one of many goes by that again where what it learnt is forgotten', async () => {
    const clock = manualClock()
    let stored: Pace | null = null
    const kept = { update: async (change: (old: Pace | null) => Pace) => (stored = change(stored)) }
    await createBudget(clock, kept, 1_000).ask({ operation: 'getGeneration' })
    stored = { ...stored!, gapMs: 0 }
    clock.advance(12 * 3_600_000 + 1)
    await createBudget(clock, kept, 1_000).ask({ operation: 'getGeneration' })
    expect(stored.gapMs).toBe(2_300_000)
  })

  it('believes no junk that it finds', () => {
    const good = { ...freePace, gapMs: 45_000 }
    expect(paceCodec.read(good)).toEqual(good)
    for (const junk of [
      { gapMs: 1e300 },
      { price: -5 },
      { price: 1e308 },
      { closed: { 120: { from: 0, until: 1e18 } } },
    ])
      expect([junk, paceCodec.read({ ...good, ...junk })]).toEqual([junk, null])
    const times = { preview: {}, final: { 80: 1 }, ratio: {} }
    expect(timesCodec.read({ a: times })).toEqual({ a: times })
    for (const final of [{ abc: 1 }, { 80: -1 }]) expect(timesCodec.read({ a: { ...times, final } })).toBe(null)
  })

  it('is for all pages that keep it in one place, and goes by what it knows where that hangs', async () => {
    const clock = manualClock()
    let stored: Parameters<Parameters<NonNullable<Parameters<typeof createBudget>[1]>['update']>[0]>[0] = null
    const kept = {
      update: async (change: (old: typeof stored) => NonNullable<typeof stored>) => (stored = change(stored)),
    }
    const [one, other] = [createBudget(clock, kept), createBudget(clock, kept)]
    await one.ask({ operation: 'createUpload', turn: 'a' })
    await one.learn({ operation: 'createUpload', turn: 'a' }, 10_000)
    expect(await other.ask({ operation: 'createUpload', turn: 'b' })).toBeGreaterThanOrEqual(10_000)
    expect([one.price(), other.price()]).toEqual([0.6, 0.6])

    const alone = createBudget(clock, { update: hung })
    const asked = alone.ask({ operation: 'createUpload', turn: 'c' })
    await Promise.resolve()
    clock.advance(1_000)
    expect(await asked).toBe(0)
    // it is done without for a while
    expect(await alone.ask({ operation: 'getGeneration' })).toBe(0)
  })

  it('lets a try-on begin whose turn is known, but written late', async () => {
    const clock = manualClock()
    let write = () => {}
    const slow = {
      update: (change: (old: null) => unknown) => {
        change(null)
        return new Promise<void>((resolve) => (write = resolve))
      },
    }
    const budget = createBudget(clock, slow, 1_000)
    clock.advance(3_600_000)
    const asked = budget.ask({ operation: 'createUpload', turn: 'a' })
    await Promise.resolve()
    clock.advance(1_000)
    expect(await asked).toBe(0)
    write()
  })

  it('lets who asks urgently go as soon as the service does, before all others', async () => {
    const budget = createBudget(manualClock())
    await budget.learn({ operation: 'getGeneration' }, 10_000)
    expect(await budget.ask({ operation: 'getGeneration', urgent: true })).toBe(10_000)
    expect(await budget.ask({ operation: 'getGeneration' })).toBeGreaterThan(10_000)
  })
})

describe('a room', () => {
  let world: World
  let storage: TestStorage
  beforeEach(() => {
    storage = testStorage()
    world = createWorld({ storage, gated: false })
  })
  afterEach(() => world.close())

  /** As applications get it. */
  const open = (options: Partial<FittingRoomOptions> = {}) =>
    world.room({ budget: undefined, ...options, timing: { pollIntervalMs: undefined, ...options.timing } })
  const watched = (tryOn: TryOn) => {
    tryOn.subscribe(() => {})
    return tryOn
  }
  /** Storage takes a consent, and no claim. */
  function refusesClaims() {
    let records = 0
    storage.meet((call) => isWrite(call) && isRecord(call) && ++records >= 2, storageRefuses)
    return {}
  }
  const tooMany = (seconds: number) =>
    answers(429, { error: 'Rate limit exceeded', message: 'Too many requests' }, { 'Retry-After': String(seconds) })

  it('asks once for a funnel that two try-ons want at once', async () => {
    const room = open()
    const tryOns = ['2001', '2002'].map((variantId) => watched(room.tryOn({ ...product, variantId })))
    await Promise.all(tryOns.map((tryOn) => tryOn.start(person)))
    for (const tryOn of tryOns) await world.until(tryOn, 'final')
    expect(world.count('GET', '/funnel')).toBe(1)
  })

  it('asks for a funnel once, and again after a 404', async () => {
    const room = open()
    const ids = ['2001', '2002']
    for (const variantId of ids) {
      const tryOn = watched(room.tryOn({ ...product, variantId }))
      await tryOn.start(person)
      await world.until(tryOn, 'final')
    }
    expect(world.count('GET', '/funnel')).toBe(1)
    world.fault('POST', '/generations', [answers(404, { error: 'Not found' })])
    const tryOn = room.tryOn(product)
    await tryOn.retry()
    await world.until(tryOn, 'rejected')
    await tryOn.retry()
    await world.until(tryOn, 'final')
    expect(world.count('GET', '/funnel')).toBe(2)
  })

  it('needs fewer looks once it knows how long jobs take, after a reload and a reset(), too', async () => {
    const polls = async (room = open()) => {
      const before = world.count('GET', '/generations')
      const tryOn = watched(room.tryOn(product))
      await world.until(tryOn, ({ state }) => state !== 'restoring')
      await tryOn.start(person)
      await world.until(tryOn, 'final')
      await room.reset()
      room.close()
      return world.count('GET', '/generations') - before
    }
    const counts = []
    for (let count = 0; count < 6; count += 1) counts.push(await polls())
    expect(counts.at(-1)).toBeLessThanOrEqual(6)
    expect([...storage.items.keys()].filter((key) => !isNobodys(key))).toEqual([])
    const learnt = [...storage.items].filter(([key]) => /:(?:pace|times)$/.test(key)).map(([, text]) => text)
    expect(learnt.join()).toMatch(/^[\s\d\w{}:",.[\]-]*$/)
    expect(learnt).toHaveLength(2)
  })

  it('waits in line with its place told, never rejected, and goes on by itself', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    world.fault('POST', '/uploads', [tooMany(20), tooMany(30)])
    const room = open()
    const tryOn = watched(room.tryOn(product))
    const seen = new Set<string>()
    tryOn.subscribe(({ state }) => seen.add(state))
    await tryOn.start(person)
    const { state, trouble } = await world.until(tryOn, (view) => view.trouble !== null)
    expect([state, trouble?.kind]).toEqual(['preparing', 'throttled'])
    expect(trouble?.nextTryAt).toBeGreaterThan(world.clock.now())
    await world.until(tryOn, 'final')
    expect([...seen]).not.toContain('rejected')
    expect(world.count('POST', '/generations')).toBe(1)
    vi.restoreAllMocks()
  })

  it('may be left while it waits in line', async () => {
    world.fault('POST', '/uploads', [tooMany(20)])
    const tryOn = watched(open().tryOn(product))
    await tryOn.start(person)
    await world.until(tryOn, (view) => view.trouble !== null)
    await tryOn.startOver()
    await world.pass(120_000)
    expect([tryOn.get().state, world.count('POST', '/generations')]).toEqual(['idle', 0])
  })

  it('keeps its turn where its submission is refused, or wants an e-mail first', async () => {
    const room = open()
    const { body, status, headers } = refusal('rateLimitExceeded', { retryAfter: 5 })
    const email = refusal('emailRequired')
    // another try-on was refused before, so that the next ones begin an hour apart
    const budget = createBudget(world.clock, undefined, 1_700)
    await world.pass(3_600_000)
    world.fault('POST', '/generations', [answers(status, body, headers), answers(email.status, email.body)])
    const tryOn = watched(world.room({ budget }).tryOn(product))
    await tryOn.start(person)
    await world.until(tryOn, 'needsEmail')
    await tryOn.submitEmail({ email: 'ada@example.com' })
    await world.until(tryOn, ({ state, trouble }) => state === 'processing' || trouble !== null)
    expect(tryOn.get().state).toBe('processing')
    room.close()
  })

  it('is not stalled before its deadline where the service wants no look until after it', async () => {
    world.fault('GET', '/generations', [tooMany(60)], true)
    const tryOn = watched(open({ timing: { deadlineMs: 50_000 } }).tryOn(product))
    await tryOn.start(person)
    await world.until(tryOn, ({ trouble }) => trouble !== null)
    const [before, acceptedAt] = [world.count('GET', '/generations'), world.clock.now()]
    await world.pass(20_000)
    expect(tryOn.get()).toMatchObject({ state: 'processing', trouble: { kind: 'throttled' } })
    await world.until(tryOn, 'stalled')
    expect(world.clock.now() - acceptedAt).toBeGreaterThan(30_000)
    expect(world.count('GET', '/generations')).toBe(before)
  })

  it('claims nothing while the submission waits, so that a crash is never of unknown outcome', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    const held = { operation: 'createGeneration' }
    const budget = {
      ask: vi.fn(({ operation }: { operation: string }) => (operation === held.operation ? 8_000 : 0)),
      learn: () => {},
      price: () => 0,
    }
    const room = open({ budget })
    const tryOn = watched(room.tryOn(product))
    await tryOn.start(person)
    await world.until(tryOn, ({ waitingUntil }) => waitingUntil !== null)
    expect([...storage.items.values()].some((text) => text.includes('"claimed"'))).toBe(false)
    room.close()
    const again = watched(open().tryOn(product))
    await world.until(again, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
    vi.restoreAllMocks()
  })

  const reached = { limit: 'perShopper', nextAt: null } as const
  it.each([
    ['sent', () => ({}), 'final', 0],
    ['stopped by the device’s limit', () => ({ limit: { take: () => reached, giveBack() {} } }), 'rejected', null],
    ['kept from its claim', refusesClaims, 'rejected', null],
  ] as const)(
    'hears once of each request that it has let go: of a submission that is %s',
    async (_, withWhat, ends, heard) => {
      const asked: string[] = []
      const learnt: [string, number | null][] = []
      const budget: Budget = {
        ask: ({ operation }) => (asked.push(operation), 0),
        learn: ({ operation }, refusedMs) => learnt.push([operation, refusedMs]),
        price: () => 0,
      }
      const tryOn = watched(open({ budget, ...withWhat() }).tryOn(product))
      await tryOn.start(person)
      await world.until(tryOn, ends)
      await world.settle()
      expect(learnt.map(([operation]) => operation).sort()).toEqual(asked.sort())
      expect(learnt.filter(([operation]) => operation === 'createGeneration')).toEqual([['createGeneration', heard]])
    },
  )

  it.each(['startOver', 'discard'] as const)(
    'hears of what it lets go for a word that %s() has left meanwhile',
    async (leave) => {
      const thinks = deferred()
      const learnt: string[] = []
      const budget: Budget = {
        ask: ({ operation }) => (operation === 'createGeneration' ? thinks.promise.then(() => 0) : 0),
        learn: ({ operation }, refusedMs) => learnt.push(`${operation} ${refusedMs}`),
        price: () => 0,
      }
      const tryOn = watched(open({ budget }).tryOn(product))
      await tryOn.start(person)
      await world.until(tryOn, 'submitting')
      await tryOn[leave]()
      thinks.resolve()
      await world.settle()
      expect([
        learnt.filter((each) => each.startsWith('createGeneration')),
        world.count('POST', '/generations'),
      ]).toEqual([['createGeneration null'], 0])
    },
  )

  it('looks before its deadline, and where the shopper asks for it, though all others go first', async () => {
    const urgent: boolean[] = []
    const budget: FittingRoomOptions['budget'] = {
      ask(request) {
        if (request.operation !== 'getGeneration') return 0
        urgent.push(request.urgent === true)
        return request.urgent ? 0 : 600_000
      },
      learn() {},
      price: () => 0,
    }
    const tryOn = watched(open({ budget, timing: { pollIntervalMs: 2_000, deadlineMs: 6_000 } }).tryOn(product))
    await tryOn.start(person)
    const { state } = await world.until(tryOn, (view) => view.state === 'preview' || view.state === 'stalled')
    // which a look one second before the deadline has found
    expect([state, urgent]).toEqual(['preview', [false, true]])
    await world.until(tryOn, 'stalled')
    const before = urgent.length
    await tryOn.resume()
    await world.settle()
    expect(urgent.slice(before)).toEqual([true])
  })

  it('looks at its deadline, whatever has come of the looks before', async () => {
    world.fault('GET', '/generations', [answers(500, { error: 'busy' })], true)
    const at: number[] = []
    const budget: FittingRoomOptions['budget'] = {
      ask: ({ operation }) => (operation === 'getGeneration' && at.push(world.clock.now()), 0),
      learn() {},
      price: () => 0,
    }
    const tryOn = watched(open({ budget, timing: { deadlineMs: 60_000 } }).tryOn(product))
    await tryOn.start(person)
    await world.until(tryOn, 'processing')
    const acceptedAt = world.clock.now()
    await world.until(tryOn, 'stalled')
    expect((at.at(-1) ?? 0) - acceptedAt).toBeGreaterThan(58_000)
    expect((at.at(-1) ?? 0) - acceptedAt).toBeLessThan(62_000)
  })

  it('looks once where a page is shown and online at once', async () => {
    const events: { wake?: () => void } = {}
    const pageLife: FittingRoomOptions['pageLife'] = ({ onWake }) => {
      events.wake = onWake
      return () => {}
    }
    const tryOn = watched(open({ pageLife, timing: { pollIntervalMs: 60_000 } }).tryOn(product))
    await tryOn.start(person)
    await world.until(tryOn, 'processing')
    await world.pass(2_000)
    const before = world.count('GET', '/generations')
    for (let count = 0; count < 3; count += 1) {
      events.wake?.()
      await world.settle()
    }
    expect(world.count('GET', '/generations') - before).toBe(1)
  })

  it('looks once more before the deadline, and resume() looks at once after it', async () => {
    const room = open({ timing: { pollIntervalMs: 50_000, deadlineMs: 20_000 } })
    world.fault('GET', '/generations', [answers(500, {})], true)
    const tryOn = watched(room.tryOn(product))
    await tryOn.start(person)
    await world.until(tryOn, 'stalled')
    expect(world.count('GET', '/generations')).toBeGreaterThanOrEqual(2)
  })
})
