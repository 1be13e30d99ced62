import * as fc from 'fast-check'
import { faultsOf, type Place } from './network.ts'

/** Whether pages have the room itself, or its door. */
export type Front = 'core' | 'door'

/** How a storage behaves from a load on: a `full` one can be read; `hangThenLand` holds every call until the page's held calls land. */
export type Mode = 'ok' | 'fail' | 'full' | 'hang' | 'failThenOk' | 'hangThenLand'

/** Where a page can be stalled, and what can be held while it runs on. */
export type Step = 'near' | 'far' | 'apiKey' | 'read' | 'upload' | 'submission' | 'poll'

export type Injected = 'null' | 'junk' | 'old' | 'newer' | 'view' | 'answer' | 'reset'

/** How a world is made, and how it ends. */
export interface Setup {
  /** What its pages have; the room itself where nothing is said. */
  front?: Front
  /** Two atomic tiers in a chain, one atomic storage, or one without `update`. */
  storage: 'chain' | 'single' | 'plain'
  /** Web Locks, else a lease. */
  locks: boolean
  /** What one storage call takes, in ms. */
  slowMs: number
  /** What a second shopper's room in the same process keeps its records in. */
  second: 'memory' | 'own' | 'same'
  end: 'reach' | 'reset' | 'month'
}

/** A slow one is a file that takes a while to be read. */
export type Photo = 'file' | 'url' | 'again' | 'slow'

/** `page` 0, 1 and, where it is loaded, 3 are the pages of one shopper, page 2 is the other shopper's. */
export type Op =
  | { do: 'load'; page: number; modes: [Mode, Mode] }
  | { do: 'kill' | 'close' | 'wake' | 'land'; page: number }
  | { do: 'start' | 'retry'; page: number; photo: Photo; fails: boolean; product: number }
  | { do: 'startOver' | 'resume' | 'submitEmail' | 'discard' | 'reset'; page: number }
  | { do: 'stall'; page: number; at: Step | 'now' }
  | { do: 'hide' | 'freeze' | 'leave' | 'putAway' | 'use' | 'ask' | 'mute' | 'comeBack' | 'list'; page: number }
  | { do: 'refuseCore'; page: number; times: number }
  | { do: 'hold'; page: number; at: Step }
  | { do: 'mode'; page: number; tier: number; mode: Mode }
  | { do: 'killMidWrite' | 'stallMidWrite'; page: number; writes: number; applied: boolean }
  | { do: 'clear'; tier: 'near' | 'far' | 'all' | 'list' }
  | { do: 'wall' | 'age' | 'wait' | 'sleep'; ms: number }
  | { do: 'fault'; place: Place; fault: string }
  | { do: 'inject'; message: Injected }
  | { do: 'beside'; first: Op; second: Op; gap: number; ms?: number }

export interface Sequence {
  setup: Setup
  ops: Op[]
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const weighted = <T>(...given: [number, T][]) =>
  fc.oneof(...given.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) })))
const of = <T extends Op['do']>(name: T) => ({ do: fc.constant(name) })

const own = weighted([4, 0], [1, 1])
const anyPage = weighted([5, 0], [3, 1], [1, 2])
const mode: fc.Arbitrary<Mode> = weighted([5, 'ok'], [3, 'fail'], [2, 'hang'], [1, 'failThenOk'], [1, 'hangThenLand'])
const modes: fc.Arbitrary<[Mode, Mode]> = fc.oneof(
  { weight: 2, arbitrary: fc.constant<[Mode, Mode]>(['ok', 'ok']) },
  { weight: 3, arbitrary: fc.tuple(mode, fc.constant<Mode>('ok')) },
  { weight: 1, arbitrary: fc.tuple(mode, mode) },
)
const step: fc.Arbitrary<Step> = weighted<Step>(
  [3, 'near'],
  [1, 'far'],
  [1, 'apiKey'],
  [1, 'read'],
  [1, 'upload'],
  [3, 'submission'],
  [1, 'poll'],
)

const photo = weighted<Photo>([4, 'url'], [2, 'file'], [1, 'again'])
const word = (page = anyPage, product = weighted([5, 0], [1, 1])): fc.Arbitrary<Op> =>
  fc.record({
    do: fc.constantFrom('start' as const, 'start' as const, 'retry' as const),
    page,
    photo,
    fails: weighted([6, false], [1, true]),
    product,
  })
const say = (page = anyPage): fc.Arbitrary<Op> =>
  fc.record({
    do: weighted(
      [2, 'resume' as const],
      [2, 'startOver' as const],
      [1, 'submitEmail' as const],
      [2, 'discard' as const],
    ),
    page,
  })
const reset = (page = anyPage): fc.Arbitrary<Op> => fc.record({ ...of('reset'), page })
const wait: fc.Arbitrary<Op> = fc.record({
  ...of('wait'),
  ms: weighted([2, 300], [3, 1_500], [3, 3_000], [3, 7_000], [2, 12_000], [1, 22_000], [0, 65_000]),
})
const faults = (['submission', 'poll', 'read'] as const).map((place) =>
  fc.record({ ...of('fault'), place: fc.constant(place), fault: fc.constantFrom(...faultsOf[place]) }),
)
const throttled: fc.Arbitrary<Op> = fc.record({
  ...of('fault'),
  place: fc.constant<Place>('submission'),
  fault: fc.constantFrom('throttled', 'throttledShort'),
})
const fault: fc.Arbitrary<Op> = fc.oneof(
  { weight: 3, arbitrary: throttled },
  ...faults.map((arbitrary, at) => ({ weight: at === 0 ? 6 : 1, arbitrary })),
)
const load = (page = anyPage): fc.Arbitrary<Op> => fc.record({ ...of('load'), page, modes })
const age: fc.Arbitrary<Op> = fc.record({
  ...of('age'),
  ms: weighted([3, 12 * minute], [2, 23 * hour], [1, 25 * hour], [1, 31 * day]),
})
const wall: fc.Arbitrary<Op> = fc.record({
  ...of('wall'),
  ms: fc.oneof(
    fc.constantFrom(minute, 6 * minute, 2 * hour, 30 * day).chain((ms) => fc.constantFrom(ms, -ms)),
    fc.constantFrom(0.5, -0.25, 1_000.75),
  ),
})
const clear: fc.Arbitrary<Op> = fc.record({
  ...of('clear'),
  tier: weighted([3, 'all' as const], [1, 'near' as const], [1, 'far' as const]),
})
const inject: fc.Arbitrary<Op> = fc.record({
  ...of('inject'),
  message: fc.constantFrom<Injected>('null', 'junk', 'old', 'newer', 'view', 'answer', 'reset'),
})
const killMidWrite: fc.Arbitrary<Op> = fc.record({
  ...of('killMidWrite'),
  page: anyPage,
  writes: fc.nat({ max: 6 }),
  applied: fc.boolean(),
})
const setMode: fc.Arbitrary<Op> = fc.record({ ...of('mode'), page: anyPage, tier: weighted([2, 0], [1, 1]), mode })
const simple = (name: 'kill' | 'close' | 'wake' | 'land', page = anyPage): fc.Arbitrary<Op> =>
  fc.record({ ...of(name), page })
const stall = (page = anyPage, at: fc.Arbitrary<Step | 'now'> = step): fc.Arbitrary<Op> =>
  fc.record({ ...of('stall'), page, at })
const hold = (page = anyPage): fc.Arbitrary<Op> => fc.record({ ...of('hold'), page, at: step })
const sleep: fc.Arbitrary<Op> = fc.record({ ...of('sleep'), ms: weighted([2, 5_000], [1, 70_000], [1, 11 * minute]) })

const held: fc.Arbitrary<Op> = fc.record({
  ...of('fault'),
  place: fc.constant<Place>('registration'),
  fault: fc.constantFrom(...faultsOf.registration),
})
/** How long a page stands still: longer than its lease, or than a storage call may take, or for a while less. */
const standing: fc.Arbitrary<Op> = fc.record({
  ...of('wait'),
  ms: weighted([1, 1_500], [3, 3_000], [3, 7_000], [1, 12_000]),
})
const anyOf = (pages: number) => fc.nat({ max: pages - 1 })
const longWait: fc.Arbitrary<Op> = fc.record({ ...of('wait'), ms: fc.constantFrom(12_000, 35_000, 110_000) })

/** Any one operation. */
const single: fc.Arbitrary<Op> = fc.oneof(
  { weight: 5, arbitrary: word() },
  { weight: 4, arbitrary: say() },
  { weight: 2, arbitrary: reset() },
  { weight: 6, arbitrary: wait },
  { weight: 3, arbitrary: fault },
  { weight: 2, arbitrary: load() },
  { weight: 1, arbitrary: simple('kill') },
  { weight: 1, arbitrary: simple('close') },
  { weight: 1, arbitrary: wall },
  { weight: 1, arbitrary: age },
  { weight: 1, arbitrary: clear },
  { weight: 1, arbitrary: inject },
  { weight: 1, arbitrary: killMidWrite },
  { weight: 1, arbitrary: setMode },
  { weight: 1, arbitrary: sleep },
)

const steps = (each: fc.Arbitrary<Op>, maxLength: number) => fc.array(each, { maxLength })
const flat = (...parts: fc.Arbitrary<Op[]>[]) => fc.tuple(...parts).map((found) => found.flat())
const one = (each: fc.Arbitrary<Op>) => each.map((op) => [op])
const maybe = (each: fc.Arbitrary<Op>) => fc.option(each, { nil: null }).map((op) => (op ? [op] : []))

/** A page's life from load to load; a storage that fails, works and fails again is several of them. */
const life = flat(
  one(load(own)),
  maybe(fault),
  maybe(fc.oneof({ weight: 3, arbitrary: word(own) }, { weight: 1, arbitrary: say(own) })),
  maybe(wait),
  steps(single, 1),
)
const lives = fc.array(life, { minLength: 2, maxLength: 4 }).map((found) => found.flat())

/** While one page sleeps, or one of its steps is held, others go on. */
const whileStalled = own.chain((page) =>
  flat(
    one(word(fc.constant(page), fc.constant(0))),
    maybe(wait),
    one(fc.oneof(stall(fc.constant(page)), stall(fc.constant(page), fc.constant('now')))),
    maybe(word(fc.constant(page))),
    one(wait),
    steps(fc.oneof(say(fc.constant(1 - page)), word(fc.constant(1 - page)), reset(fc.constant(1 - page)), wait), 3),
    one(simple('wake', fc.constant(page))),
    one(wait),
  ),
)
const whileHeld = anyPage.chain((page) =>
  flat(
    maybe(word(fc.constant(page))),
    one(hold(fc.constant(page))),
    maybe(word(fc.constant(page))),
    steps(fc.oneof(say(), word(), reset(), wait, inject, clear), 4),
    one(simple('land', fc.constant(page))),
    one(wait),
  ),
)
/** A page waits to submit while its storage takes nothing; what it wanted to write then lands late. */
const lateWrite = own.chain((page) =>
  flat(
    maybe(fc.constant<Op>({ do: 'load', page: 1 - page, modes: ['ok', 'ok'] })),
    one(throttled),
    one(word(fc.constant(page), fc.constant(0))),
    maybe(wait),
    one(fc.record({ ...of('hold'), page: fc.constant(page), at: weighted<Step>([3, 'near'], [1, 'far']) })),
    fc.array(wait, { minLength: 1, maxLength: 3 }),
    maybe(say(fc.constant(1 - page))),
    one(simple('land', fc.constant(page))),
    one(wait),
  ),
)
/** Storage is emptied while something is under way. */
const emptied = own.chain((page) =>
  flat(
    maybe(reset(fc.constant(page))),
    one(hold(fc.constant(page))),
    one(word(fc.constant(page), fc.constant(0))),
    maybe(wait),
    one(clear),
    one(simple('land', fc.constant(page))),
    one(wait),
  ),
)
/** An address is asked for, and its registration is held up while time goes on, awake, asleep or over a reload. */
const registered = own.chain((page) =>
  flat(
    maybe(load(fc.constant(1 - page))),
    fc.constant<Op[]>([{ do: 'fault', place: 'submission', fault: 'email' }]),
    one(word(fc.constant(page), fc.constant(0))),
    one(wait),
    fc.array(held, { minLength: 1, maxLength: 3 }),
    fc.constantFrom(0, 1).map((on): Op[] => [{ do: 'submitEmail', page: on }]),
    maybe(wait),
    one(fc.oneof(wall, sleep, longWait, fc.constant<Op>({ do: 'wall', ms: 2 * hour }))),
    one(longWait),
    maybe(throttled),
    one(load(own)),
    one(longWait),
  ),
)
/** A page waits to submit, and another one comes that can read that, and write nothing. */
const readOnly = own.chain((page) =>
  flat(
    one(throttled),
    one(word(fc.constant(page), fc.constant(0))),
    maybe(wait),
    one(
      fc.record({
        ...of('load'),
        page: fc.constant(1 - page),
        modes: fc.tuple(fc.constant<Mode>('full'), weighted<Mode>([2, 'full'], [1, 'ok'], [1, 'fail'])),
      }),
    ),
    maybe(fc.oneof(word(own, fc.constant(0)), say(own), simple('kill', own), stall(own, fc.constant('now')))),
    one(longWait),
    steps(fc.oneof(setMode, load(own), wait, say(own)), 3),
    one(longWait),
  ),
)
/** What waits for something is left while storage takes nothing, and everything works again by the next load. */
const leftUnwritten = own.chain((page) =>
  flat(
    maybe(load(fc.constant(page))),
    one(
      fc.record({
        ...of('fault'),
        place: fc.constant<Place>('submission'),
        fault: fc.constantFrom('key', 'email', 'limit', 'throttled', 'refused'),
      }),
    ),
    one(word(fc.constant(page), fc.constant(0))),
    one(wait),
    fc.array(fc.record({ ...of('mode'), page: fc.constant(page), tier: own, mode: fc.constant<Mode>('full') }), {
      minLength: 1,
      maxLength: 2,
    }),
    one(fc.oneof(say(fc.constant(page)), reset(fc.constant(page)))),
    maybe(wait),
    maybe(fc.record({ ...of('mode'), page: fc.constant(page), tier: own, mode: fc.constant<Mode>('ok') })),
    maybe(wait),
    fc.constant<Op[]>([{ do: 'load', page, modes: ['ok', 'ok'] }]),
    one(longWait),
  ),
)
/** The list of what is kept is lost between two pages, and nothing else; then the shopper goes. */
const unlisted = own.chain((page) =>
  flat(
    maybe(fault),
    one(word(fc.constant(page), fc.constant(0))),
    one(wait),
    fc.constant<Op[]>([
      { do: 'kill', page: 0 },
      { do: 'kill', page: 1 },
      { do: 'clear', tier: 'list' },
      { do: 'load', page, modes: ['ok', 'ok'] },
    ]),
    maybe(wait),
    one(reset(fc.constant(page))),
    maybe(wait),
    steps(fc.oneof(load(own), word(own, fc.constant(0)), say(own)), 3),
    one(longWait),
  ),
)
/** A tier gets full beside what is under way; by a later load there is room again. */
const filled = own.chain((page) =>
  flat(
    maybe(load(fc.constant(page))),
    maybe(fault),
    maybe(word(fc.constant(page), fc.constant(0))),
    maybe(wait),
    one(fc.record({ ...of('mode'), page: fc.constant(page), tier: own, mode: fc.constant<Mode>('full') })),
    maybe(word(fc.constant(page), fc.constant(0))),
    steps(fc.oneof(wait, say(fc.constant(page)), fault), 3),
    maybe(simple('kill', fc.constant(page))),
    fc.constant<Op[]>([{ do: 'load', page, modes: ['ok', 'ok'] }]),
    maybe(wait),
    maybe(fc.oneof(say(own), reset(own), load(own))),
    one(longWait),
  ),
)
/** A shopper who does not wait for a photo to be read. */
const impatient = own.chain((page) =>
  flat(
    one(
      fc.record({
        ...of('fault'),
        place: fc.constant<Place>('submission'),
        fault: fc.constantFrom('error', 'lostAfter'),
      }),
    ),
    one(word(fc.constant(page), fc.constant(0))),
    one(wait),
    maybe(fault),
    fc.constant<Op[]>([{ do: 'retry', page, photo: 'slow', fails: false, product: 0 }]),
    maybe(wait),
    steps(fc.oneof(word(own, fc.constant(0)), say(own), wait), 3),
    one(longWait),
  ),
)
/** A word is passed on to a page that stands still; who said it carries it out, may leave it and may be gone as that page goes on. */
const overheard = own.chain((page) =>
  flat(
    fc.constant<Op[]>([
      { do: 'load', page, modes: ['ok', 'ok'] },
      { do: 'load', page: 1 - page, modes: ['ok', 'ok'] },
    ]),
    maybe(fault),
    one(fc.oneof(wait, word(fc.constant(page), fc.constant(0)))),
    one(stall(fc.constant(page), fc.constant('now'))),
    one(word(fc.constant(1 - page), fc.constant(0))),
    maybe(wait),
    one(fc.oneof({ weight: 3, arbitrary: say(fc.constant(1 - page)) }, word(fc.constant(1 - page), fc.constant(0)))),
    maybe(wait),
    one(fc.oneof(simple('close', fc.constant(1 - page)), simple('kill', fc.constant(1 - page)), wait)),
    maybe(wait),
    one(simple('wake', fc.constant(page))),
    maybe(fc.oneof(say(own), word(own, fc.constant(0)))),
    one(longWait),
  ),
)
/** A page stands still in one of its writes, before that lands or after; another one takes over, and the first goes on. */
const stoodInWrite = own.chain((page) =>
  flat(
    fc.constant<Op[]>([
      { do: 'load', page, modes: ['ok', 'ok'] },
      { do: 'load', page: 1 - page, modes: ['ok', 'ok'] },
    ]),
    maybe(fault),
    maybe(fc.oneof(word(fc.constant(page), fc.constant(0)), say(fc.constant(page)))),
    one(wait),
    maybe(fault),
    one(
      fc.record({
        ...of('stallMidWrite'),
        page: fc.constant(page),
        writes: fc.nat({ max: 14 }),
        applied: fc.boolean(),
      }),
    ),
    one(fc.oneof(word(anyOf(2), fc.constant(0)), say(anyOf(2)), reset(anyOf(2)))),
    one(standing),
    maybe(fc.oneof(say(fc.constant(1 - page)), word(fc.constant(1 - page), fc.constant(0)))),
    maybe(wait),
    maybe(fc.oneof(simple('close', fc.constant(1 - page)), simple('kill', fc.constant(1 - page)))),
    one(simple('wake', fc.constant(page))),
    maybe(fc.oneof(say(own), word(own, fc.constant(0)))),
    one(longWait),
  ),
)
/** A page is closed in the middle of what was said on it, beside another one that may have it. */
const closedInWord = own.chain((page) =>
  flat(
    fc.constant<Op[]>([
      { do: 'load', page, modes: ['ok', 'ok'] },
      { do: 'load', page: 1 - page, modes: ['ok', 'ok'] },
    ]),
    maybe(
      fc.record({
        ...of('fault'),
        place: fc.constant<Place>('submission'),
        fault: fc.constantFrom('key', 'email', 'throttled', 'refused'),
      }),
    ),
    maybe(word(own, fc.constant(0))),
    one(wait),
    one(
      fc.record({
        ...of('beside'),
        first: fc.oneof(say(fc.constant(page)), word(fc.constant(page), fc.constant(0))),
        second: simple('close', fc.constant(page)),
        gap: fc.nat({ max: 30 }),
      }),
    ),
    maybe(wait),
    maybe(fc.oneof(load(own), say(fc.constant(1 - page)))),
    one(longWait),
  ),
)
const setBoth = (page: number, to: fc.Arbitrary<Mode>) =>
  fc.tuple(to, to).map((modes) => modes.map((mode, tier): Op => ({ do: 'mode', page, tier, mode })))
const shortly = maybe(fc.record({ ...of('wait'), ms: fc.constantFrom(300, 1_500, 3_000) }))
/** A page has a try-on that it cannot write, or not any more. */
const unwrittenOn = (page: number) => {
  const broken = setBoth(page, fc.constantFrom<Mode>('full', 'fail'))
  const said = one(word(fc.constant(page), fc.constant(0)))
  return flat(
    fc.constant<Op[]>([{ do: 'load', page, modes: ['ok', 'ok'] }]),
    maybe(load(fc.constant(1 - page))),
    fc.oneof(flat(broken, said), flat(said, shortly, broken)),
    one(wait),
  )
}
/** A page goes that could not write what it knows of, as every storage works again, or just before. */
const unwritten = own.chain((page) =>
  flat(
    unwrittenOn(page),
    maybe(fc.oneof(say(fc.constant(page)), word(fc.constant(page), fc.constant(0)))),
    shortly,
    setBoth(page, fc.constant<Mode>('ok')),
    shortly,
    one(simple('close', fc.constant(page))),
    maybe(fc.oneof(load(own), say(fc.constant(1 - page)))),
    one(longWait),
  ),
)
/** The same in the middle of what was said on it. */
const unwrittenInWord = own.chain((page) =>
  flat(
    unwrittenOn(page),
    fc
      .tuple(
        fc.oneof(fc.constant<Op>({ do: 'startOver', page }), word(fc.constant(page), fc.constant(0))),
        fc.integer({ min: 40, max: 420 }),
      )
      .map(([first, gap]): Op[] => [{ do: 'beside', first, second: healedAndClosed(page), gap }]),
    maybe(fc.oneof(load(own), say(fc.constant(1 - page)))),
    one(longWait),
  ),
)
const healedAndClosed = (page: number): Op => {
  const heal = (tier: number): Op => ({ do: 'mode', page, tier, mode: 'ok' })
  const closed: Op = { do: 'beside', first: heal(1), second: { do: 'close', page }, gap: 0 }
  return { do: 'beside', first: heal(0), second: closed, gap: 0 }
}
/** A page that could not write what it knows of stands still, and another one goes on meanwhile. */
const stoodUnwritten = own.chain((page) =>
  flat(
    unwrittenOn(page),
    one(fc.record({ ...of('stall'), page: fc.constant(page), at: fc.constant('now' as const) })),
    one(fc.oneof(say(fc.constant(1 - page)), word(fc.constant(1 - page), fc.constant(0)))),
    one(wait),
    one(simple('wake', fc.constant(page))),
    shortly,
    setBoth(page, fc.constant<Mode>('ok')),
    one(longWait),
    one(simple('close', fc.constant(page))),
    one(longWait),
  ),
)
const nothing = fc.constant<Op[]>([])
const seldom = (each: fc.Arbitrary<Op>) =>
  fc.oneof({ weight: 2, arbitrary: nothing }, { weight: 1, arbitrary: one(each) })
const modesOf = (pages: readonly number[], mode: Mode): Op[] =>
  pages.flatMap((page) => [0, 1].map((tier): Op => ({ do: 'mode', page, tier, mode })))
/** Storage takes nothing of anybody, or only of one page. */
const brokenFor = fc
  .tuple(weighted([3, [0, 1]], [1, [0]], [1, [1]], [1, []]), weighted<Mode>([3, 'full'], [2, 'fail']))
  .map(([pages, mode]) => modesOf(pages, mode))
/** A page goes, and may come back, in the middle of what is said on it or passed on to it, whatever storage does. */
const awayInWord = own.chain((page) => {
  const [mine, other] = [fc.constant(page), fc.constant(1 - page)]
  const saidOn = (by: fc.Arbitrary<number>) =>
    fc.oneof({ weight: 3, arbitrary: word(by, fc.constant(0)) }, { weight: 1, arbitrary: say(by) })
  return flat(
    fc.constant<Op[]>([
      { do: 'load', page, modes: ['ok', 'ok'] },
      { do: 'load', page: 1 - page, modes: ['ok', 'ok'] },
    ]),
    one(wait),
    seldom(fault),
    seldom(word(own, fc.constant(0))),
    shortly,
    brokenFor,
    one(
      fc.record({
        ...of('beside'),
        first: fc.oneof({ weight: 1, arbitrary: saidOn(mine) }, { weight: 3, arbitrary: saidOn(other) }),
        second: fc.record({ do: fc.constantFrom('hide', 'freeze', 'leave'), page: mine }),
        gap: fc.nat({ max: 60 }),
        ms: fc.nat({ max: 25 }).map((calls) => calls * 20),
      }),
    ),
    seldom(saidOn(other)),
    one(standing),
    fc.oneof({ weight: 2, arbitrary: nothing }, { weight: 1, arbitrary: fc.constant(modesOf([page], 'ok')) }),
    one(simple('wake', mine)),
    shortly,
    maybe(fc.record({ do: fc.constantFrom('kill', 'close', 'leave'), page: other })),
    seldom(saidOn(own)),
    shortly,
    fc.constant(modesOf([0, 1], 'ok')),
    one(wait),
    one(simple('wake', other)),
    seldom(fc.oneof(simple('close', own), reset(own))),
    one(longWait),
  )
})
/** A page is put away, or left, and used all the same while another one has its try-on, which may end before it can write. */
const usedAway = own.chain((page) => {
  const [mine, other] = [fc.constant(page), fc.constant(1 - page)]
  return flat(
    fc
      .constantFrom([page, 1 - page], [1 - page, page])
      .map((order): Op[] => order.map((each) => ({ do: 'load', page: each, modes: ['ok', 'ok'] }))),
    one(wait),
    seldom(fault),
    seldom(word(own, fc.constant(0))),
    shortly,
    maybe(
      fc.record({ do: weighted([3, 'putAway' as const], [2, 'leave' as const], [1, 'hide' as const]), page: mine }),
    ),
    shortly,
    maybe(fc.record({ ...of('hold'), page: other, at: fc.constant<Step>('submission') })),
    one(fc.oneof({ weight: 2, arbitrary: word(other, fc.constant(0)) }, { weight: 1, arbitrary: say(other) })),
    shortly,
    maybe(fc.record({ do: fc.constantFrom('leave', 'putAway', 'hide'), page: other })),
    one(fc.record({ do: fc.constantFrom('use', 'ask'), page: mine })),
    shortly,
    fc.oneof({ weight: 1, arbitrary: nothing }, { weight: 2, arbitrary: brokenFor }),
    one(simple('land', other)),
    one(standing),
    maybe(fc.record({ do: fc.constantFrom('kill', 'leave'), page: other })),
    seldom(fc.oneof(word(mine, fc.constant(0)), say(mine))),
    fc.constant(modesOf([0, 1], 'ok')),
    one(wait),
    one(simple('wake', mine)),
    seldom(simple('kill', other)),
    one(longWait),
  )
})
const goneFrom = (page: fc.Arbitrary<number>): fc.Arbitrary<Op> =>
  fc.record({
    do: weighted([3, 'putAway' as const], [2, 'hide' as const], [1, 'leave' as const]),
    page,
  })
/** What waits for a rate limit cannot be written, and pages are put away and shown meanwhile. */
const waitsUnwritten = own.chain((page) => {
  const [mine, other] = [fc.constant(page), fc.constant(1 - page)]
  const bothWork = [page, 1 - page].map((each): Op => ({ do: 'load', page: each, modes: ['ok', 'ok'] }))
  return flat(
    fc.constant(bothWork),
    one(wait),
    seldom(word(own, fc.constant(0))),
    shortly,
    weighted<Mode>([3, 'full'], [1, 'fail']).map((mode) => modesOf([0, 1], mode)),
    one(throttled),
    one(word(mine, fc.constant(0))),
    shortly,
    one(fc.oneof({ weight: 3, arbitrary: goneFrom(mine) }, { weight: 1, arbitrary: goneFrom(other) })),
    // for longer than what was asked to wait, so that the other one has sent it
    one(fc.oneof(standing, longWait)),
    seldom(fc.oneof(word(other, fc.constant(0)), say(other))),
    fc.oneof({ weight: 2, arbitrary: one(goneFrom(other)) }, { weight: 1, arbitrary: nothing }),
    one(simple('wake', mine)),
    one(fc.oneof(standing, longWait)),
    seldom(goneFrom(own)),
    seldom(simple('wake', other)),
    one(longWait),
    fc.constant(modesOf([0, 1], 'ok')),
    shortly,
    seldom(goneFrom(own)),
    maybe(load(own)),
    one(longWait),
  )
})
/** A page that can read nothing is told to begin something, and is away as the other one resets the room, or begins something else. */
const awayBlind = own.chain((page) => {
  const [mine, other] = [fc.constant(page), fc.constant(1 - page)]
  const blind = weighted<Mode>([3, 'fail'], [2, 'hang'], [2, 'hangThenLand'], [1, 'full']).map((mode) => [mode, mode])
  return flat(
    one(load(other)),
    one(wait),
    one(fc.record({ ...of('load'), page: mine, modes: blind as fc.Arbitrary<[Mode, Mode]> })),
    seldom(fault),
    shortly,
    one(word(mine, fc.constant(0))),
    one(fc.oneof(standing, wait)),
    seldom(say(mine)),
    maybe(fc.oneof(goneFrom(mine), fc.record({ ...of('freeze'), page: mine }))),
    shortly,
    one(fc.oneof({ weight: 4, arbitrary: reset(other) }, { weight: 1, arbitrary: word(other, fc.constant(0)) })),
    one(wait),
    one(simple('wake', mine)),
    shortly,
    fc.constant(modesOf([0, 1], 'ok')),
    one(wait),
    seldom(fc.oneof(word(own, fc.constant(0)), load(own), simple('wake', own))),
    one(longWait),
  )
})
/** A page is away as another one resets the room, and is back, be it that it can read nothing, while a third one has begun something since. */
const awayOverReset = own.chain((page) => {
  const [mine, other, third] = [fc.constant(page), fc.constant(1 - page), fc.constant(3)]
  const blind = weighted<Mode>([1, 'fail'], [1, 'hang']).map((mode) => modesOf([page], mode))
  return flat(
    one(load(mine)),
    one(load(other)),
    maybe(word(own, fc.constant(0))),
    one(wait),
    one(
      fc.oneof(
        { weight: 3, arbitrary: goneFrom(mine) },
        { weight: 1, arbitrary: fc.record({ ...of('freeze'), page: mine }) },
      ),
    ),
    shortly,
    one(reset(other)),
    one(wait),
    maybe(fault),
    fc.constant<Op[]>([{ do: 'load', page: 3, modes: ['ok', 'ok'] }]),
    shortly,
    maybe(fc.record({ ...of('hold'), page: third, at: fc.constant<Step>('submission') })),
    one(word(third, weighted([1, 0], [2, 1]))),
    fc.oneof(shortly, one(wait)),
    seldom(fc.oneof(simple('kill', other), goneFrom(other), load(other))),
    fc.oneof({ weight: 2, arbitrary: nothing }, { weight: 1, arbitrary: blind }),
    one(simple('wake', mine)),
    fc.oneof(shortly, one(wait)),
    seldom(fc.oneof(say(anyOf(4)), word(own, fc.constant(0)), reset(own))),
    one(simple('land', third)),
    one(wait),
    fc.constant(modesOf([0, 1], 'ok')),
    one(longWait),
  )
})
/** Words are said on pages that cannot read what there is, one of which may have read it before. */
const saidBlind = own.chain((page) => {
  const [mine, other] = [fc.constant(page), fc.constant(1 - page)]
  const blind = weighted<[Mode, Mode]>([3, ['fail', 'fail']], [1, ['fail', 'full']], [1, ['hang', 'fail']])
  const loadBlind = (on: fc.Arbitrary<number>): fc.Arbitrary<Op> => fc.record({ ...of('load'), page: on, modes: blind })
  const saidOn = word(anyOf(2), fc.constant(0))
  return flat(
    seldom(word(mine, fc.constant(0))),
    maybe(wait),
    one(loadBlind(mine)),
    one(fc.oneof(loadBlind(other), load(other))),
    shortly,
    seldom(fault),
    fc.array(fc.tuple(saidOn, wait), { minLength: 1, maxLength: 3 }).map((said) => said.flat()),
    seldom(fc.oneof(goneFrom(own), reset(own))),
    fc.constant(modesOf([0, 1], 'ok')),
    one(wait),
    seldom(fc.oneof(saidOn, goneFrom(own), load(own))),
    one(longWait),
  )
})
/** What is still made ready is left, over what was there before. */
const leftInHand = own.chain((page) => {
  const [mine, other] = [fc.constant(page), fc.constant(1 - page)]
  const leave = fc.record({
    do: weighted([3, 'discard' as const], [1, 'startOver' as const]),
    page: weighted([3, page], [1, 1 - page]),
  })
  return flat(
    one(word(mine, fc.constant(0))),
    one(longWait),
    seldom(load(other)),
    fc.constant<Op[]>([{ do: 'retry', page, photo: 'slow', fails: false, product: 0 }]),
    shortly,
    one(leave),
    seldom(fc.oneof(leave, fault, goneFrom(own), load(own))),
    one(wait),
    seldom(word(mine, fc.constant(0))),
    one(longWait),
  )
})
/** A page shows that there is nothing, hears of nothing that another one begins, and says something all the same. */
const unheard = own.chain((page) => {
  const [mine, other] = [fc.constant(page), fc.constant(1 - page)]
  const saidUnheard = fc.record({
    do: weighted([3, 'discard' as const], [1, 'startOver' as const], [1, 'resume' as const]),
    page: mine,
  })
  return flat(
    one(load(mine)),
    shortly,
    one(fc.record({ ...of('mute'), page: mine })),
    one(word(other, fc.constant(0))),
    one(fc.oneof(standing, longWait)),
    seldom(fc.oneof(simple('kill', other), goneFrom(other), load(other))),
    shortly,
    one(fc.oneof({ weight: 4, arbitrary: saidUnheard }, { weight: 1, arbitrary: word(mine, fc.constant(0)) })),
    seldom(fc.oneof(saidUnheard, fault, goneFrom(own))),
    one(wait),
    seldom(fc.oneof(load(own), word(own, fc.constant(0)))),
    one(longWait),
  )
})
/** What happens in one turn, or a few turns after each other. */
const burst = (...each: [fc.Arbitrary<Op>, ...fc.Arbitrary<Op>[]]): fc.Arbitrary<Op> =>
  each.reduceRight((second, first) =>
    fc.record({ ...of('beside'), first, second, gap: weighted([3, 0], [1, 1], [1, 7]) }),
  )
/** The same, some calls of a slow storage after each other. */
const slowBurst = (...each: [fc.Arbitrary<Op>, ...fc.Arbitrary<Op>[]]): fc.Arbitrary<Op> =>
  each.reduceRight((second, first) =>
    fc.record({
      ...of('beside'),
      first,
      second,
      gap: fc.constant(0),
      ms: fc.nat({ max: 15 }).map((calls) => calls * 20),
    }),
  )
const modesThatWork: [Mode, Mode] = ['ok', 'ok']
/** A room is closed and used again by what is said next, its core may be refused, and words come faster than they are carried out. */
const hasty = own.chain((page) => {
  const [mine, other] = [fc.constant(page), fc.constant(1 - page)]
  const left = (by: fc.Arbitrary<number>) =>
    fc.record({ do: fc.constantFrom('startOver' as const, 'discard' as const), page: by })
  // with the photo again nothing may be said at all
  const begin = (by: fc.Arbitrary<number>): fc.Arbitrary<Op> =>
    fc.record({
      do: fc.constantFrom('start' as const, 'start' as const, 'retry' as const),
      page: by,
      photo: weighted<Photo>([2, 'url'], [1, 'file']),
      fails: fc.constant(false),
      product: fc.constant(0),
    })
  const any = (by: fc.Arbitrary<number>) =>
    fc.oneof(
      { weight: 3, arbitrary: begin(by) },
      { weight: 3, arbitrary: left(by) },
      { weight: 1, arbitrary: fc.oneof(say(by), reset(by), fc.record({ ...of('list'), page: by })) },
    )
  const leave = fc.record({ ...of('leave'), page: mine })
  const comeBack = fc.record({ ...of('comeBack'), page: mine })
  const both = [page, 1 - page].map((each): Op => ({ do: 'load', page: each, modes: modesThatWork }))
  const refused = fc.record({ ...of('refuseCore'), page: mine, times: weighted([2, 1], [1, 2], [1, 99]) })
  return flat(
    fc.oneof(
      { weight: 2, arbitrary: one(refused) },
      { weight: 2, arbitrary: fc.constant(both) },
      { weight: 1, arbitrary: fc.constant(both.toReversed()) },
      { weight: 1, arbitrary: nothing },
    ),
    shortly,
    maybe(begin(own)),
    maybe(wait),
    one(
      fc.oneof(
        burst(any(mine), any(mine)),
        burst(any(mine), any(mine), any(mine)),
        burst(leave, comeBack, any(mine)),
        burst(any(mine), leave, comeBack, any(mine)),
        burst(any(mine), leave),
        slowBurst(begin(mine), left(mine), leave),
        slowBurst(begin(mine), left(mine), any(mine)),
        slowBurst(begin(other), begin(mine), left(other), left(mine)),
        burst(begin(other), begin(mine), left(other), left(mine)),
        burst(
          fc.record({ ...of('load'), page: mine, modes: fc.constant(modesThatWork) }),
          refused,
          leave,
          comeBack,
          any(mine),
        ),
      ),
    ),
    shortly,
    seldom(fc.oneof(any(mine), any(other), load(mine))),
    one(longWait),
  )
})
/** Storage takes nothing from the start, of one page or of both, and each is given a word. */
const fullFromStart = own.chain((page) => {
  const takesNothing = fc.constantFrom<[Mode, Mode]>(['full', 'full'], ['full', 'fail'], ['full', 'ok'], ['ok', 'full'])
  const loaded = (at: number) => one(fc.record({ ...of('load'), page: fc.constant(at), modes: takesNothing }))
  const said = (at: number) => one(word(fc.constant(at), fc.constant(0)))
  return flat(
    loaded(page),
    maybe(fault),
    said(page),
    maybe(wait),
    loaded(1 - page),
    shortly,
    said(1 - page),
    one(longWait),
    seldom(fc.oneof(say(own), setMode, load(own))),
    one(longWait),
  )
})
const beside: fc.Arbitrary<Op[]> = fc
  .record({
    ...of('beside'),
    first: fc.oneof(reset(), say(), word()),
    second: fc.oneof(word(), reset(), say()),
    gap: fc.nat({ max: 30 }),
  })
  .map((op) => [op])
const aged = flat(one(age), one(load(own)), one(wait))

const block = fc.oneof(
  { weight: 4, arbitrary: steps(single, 5) },
  { weight: 3, arbitrary: lives },
  { weight: 2, arbitrary: whileStalled },
  { weight: 2, arbitrary: whileHeld },
  { weight: 2, arbitrary: lateWrite },
  { weight: 1, arbitrary: emptied },
  { weight: 1, arbitrary: beside },
  { weight: 1, arbitrary: aged },
)

const setup: fc.Arbitrary<Setup> = fc.record({
  storage: weighted([4, 'chain' as const], [4, 'single' as const], [1, 'plain' as const]),
  locks: fc.boolean(),
  slowMs: weighted([4, 0], [1, 20]),
  second: fc.constantFrom('memory', 'own', 'same'),
  end: weighted([3, 'reach' as const], [1, 'reset' as const], [1, 'month' as const]),
})

const blocksOf = (each: fc.Arbitrary<Op[]>) =>
  fc.array(each, { minLength: 1, maxLength: 3 }).map((found) => found.flat())

/** A world and what happens in it. */
const sequencesOf = (each: fc.Arbitrary<Op[]>, of = setup): fc.Arbitrary<Sequence> =>
  fc.record({ setup: of, ops: flat(maybe(load()), maybe(fault), maybe(word()), blocksOf(each)) })
const common = sequencesOf(block)
/** What the model has learned since its first findings were numbered, which keep their numbers. */
const later = sequencesOf(
  fc.oneof(
    { weight: 2, arbitrary: registered },
    { weight: 2, arbitrary: impatient },
    { weight: 2, arbitrary: readOnly },
    { weight: 2, arbitrary: leftUnwritten },
    { weight: 2, arbitrary: unlisted },
    { weight: 2, arbitrary: filled },
    { weight: 1, arbitrary: block },
  ),
)

const latest = sequencesOf(
  fc.oneof(
    { weight: 3, arbitrary: overheard },
    { weight: 1, arbitrary: whileStalled },
    { weight: 1, arbitrary: block },
  ),
)

const newest = sequencesOf(
  fc.oneof(
    { weight: 3, arbitrary: stoodInWrite },
    { weight: 1, arbitrary: overheard },
    { weight: 1, arbitrary: block },
  ),
)

const leaving = sequencesOf(
  fc.oneof(
    { weight: 3, arbitrary: unwritten },
    { weight: 1, arbitrary: closedInWord },
    { weight: 1, arbitrary: block },
  ),
)

/** Where each call of a storage takes its time, a moment can be met between two of them. */
const slowly = fc.tuple(setup, weighted([1, 0], [3, 20])).map(([drawn, slowMs]) => ({ ...drawn, slowMs }))
const broken = sequencesOf(
  fc.oneof(
    { weight: 4, arbitrary: awayInWord },
    { weight: 1, arbitrary: unwrittenInWord },
    { weight: 1, arbitrary: stoodUnwritten },
  ),
  slowly,
)

const away = sequencesOf(usedAway, slowly)
const unkept = sequencesOf(
  fc.oneof(
    { weight: 2, arbitrary: waitsUnwritten },
    { weight: 1, arbitrary: saidBlind },
    { weight: 1, arbitrary: leftInHand },
  ),
  slowly,
)

const unseeing = sequencesOf(awayBlind, slowly)
const third = sequencesOf(awayOverReset, slowly)
const mute = sequencesOf(fc.oneof({ weight: 3, arbitrary: unheard }, { weight: 1, arbitrary: leftInHand }), slowly)

const closing = sequencesOf(
  fc.oneof(
    { weight: 3, arbitrary: closedInWord },
    { weight: 1, arbitrary: stoodInWrite },
    { weight: 1, arbitrary: block },
  ),
)

const hastily = fc.record({ setup: fc.oneof(setup, slowly), ops: hasty })

const full = fc.record({ setup: fc.oneof(setup, slowly), ops: fullFromStart })

const byLastDigit = (number: number) =>
  ({ 1: leaving, 3: broken, 5: closing, 7: newest, 8: latest, 9: later })[number % 10] ?? common

/** What the sequence of that number is drawn from. */
export const sequencesAt = (number: number) =>
  number % 100 === 12
    ? full
    : ({ 0: away, 2: unseeing, 4: mute, 6: third, 10: unkept, 14: hastily }[number % 20] ?? byLastDigit(number))
