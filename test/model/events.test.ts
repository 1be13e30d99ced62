import { beforeAll, expect, it } from 'vitest'
import type { FittingRoom, RoomEvent, RoomEventType, TryOn, TryOnState } from 'fitting-room'
import { testStorage } from '../support/storage.ts'
import { answers, createWorld, person, product, refuses, refusesVariant, type World } from '../support/world.ts'
import { seededChance } from './platform.ts'

/** What is loaded with the first event is there: no time of a world's own clock passes until it is. */
beforeAll(() => import('../../src/afterwards/afterwards.ts'))

const sequences = 1_000
const steps = 12

interface Page {
  room: FittingRoom
  tryOn: TryOn
  /** What ends its listening, if it does. */
  heard?: { unsubscribe(): void } | undefined
}

type Step = (world: Stage) => Promise<unknown> | void

/** Some pages of one shopper, and all that they tell. */
interface Stage {
  world: World
  pages: Page[]
  told: RoomEvent[]
  /** The keys of what somebody has looked at, whether or not anybody heard of it. */
  stood: Set<string>
  pick: <T>(of: readonly T[]) => T | undefined
}

const eventOfState: Partial<Record<TryOnState, RoomEventType>> = {
  needsEmail: 'emailAsked',
  limitReached: 'limited',
  outcomeUnknown: 'unknown',
  rejected: 'failed',
  failed: 'failed',
  protocolError: 'failed',
  processing: 'submitted',
  preview: 'preview',
  final: 'final',
}

function openDeaf({ world, pages, stood }: Stage): Page | undefined {
  if (pages.length === 2) return undefined
  const room = world.room()
  const tryOn = room.tryOn(product)
  tryOn.subscribe(({ state, attempt }) => {
    const type = eventOfState[state]
    if (type && attempt) stood.add(`${attempt.id}:${type}`)
  })
  pages.push({ room, tryOn })
  return pages.at(-1)
}

function listen(page: Page | undefined, { told }: Stage): void {
  if (page) page.heard ??= page.room.on((event) => told.push(event))
}

const open = (stage: Stage): void => listen(openDeaf(stage), stage)

/** Who listens goes, and who does not begins. */
function turn(stage: Stage): void {
  const page = stage.pick(stage.pages)
  if (!page?.heard) return listen(page, stage)
  page.heard.unsubscribe()
  page.heard = undefined
}

function close({ pages, pick }: Stage): void {
  const page = pick(pages)
  if (!page) return
  page.room.close()
  pages.splice(pages.indexOf(page), 1)
}

const say =
  (how: (tryOn: TryOn) => Promise<unknown>): Step =>
  async ({ pages, pick, world }) => {
    const page = pick(pages)
    if (!page) return
    // what is not permitted is refused, and some of it takes time that is yet to pass
    how(page.tryOn).catch(() => undefined)
    await world.settle()
  }

const withOutcome = (fault: Parameters<World['fault']>[2][number]): Step => {
  const start = say((tryOn) => tryOn.start(person))
  return (stage) => {
    stage.world.fault('POST', '/generations', [fault])
    return start(stage)
  }
}

const operations: readonly Step[] = [
  open,
  open,
  async (stage) => void openDeaf(stage),
  close,
  turn,
  ({ world }) => world.fault('GET', '/generations', [answers(200, { nothing: 'that is known' })]),
  say((tryOn) => tryOn.start(person)),
  say((tryOn) => tryOn.start(person)),
  say((tryOn) => tryOn.retry()),
  say((tryOn) => tryOn.resume()),
  say((tryOn) => tryOn.startOver()),
  say((tryOn) => tryOn.discard()),
  say((tryOn) => tryOn.submitEmail({ email: 'a@example.com' })),
  withOutcome(refuses('emailRequired')),
  withOutcome(refuses('tryOnLimitReached')),
  withOutcome(refusesVariant),
  withOutcome(() => Promise.reject(new TypeError('lost'))),
  async ({ pages, pick, world }) => {
    const resetting = pick(pages)?.room.reset()
    resetting?.catch(() => undefined)
    await world.settle()
  },
  ({ world }) => world.pass(1_000),
  ({ world }) => world.pass(8_000),
]

const usual = ['consented', 'submitted', 'final', 'seen']

it(`tells each thing once of each attempt in ${sequences} sequences with tabs and reloads`, async () => {
  let events = 0
  let finals = 0
  for (let seed = 1; seed <= sequences; seed += 1) {
    const chance = seededChance(seed)
    const world = createWorld({ storage: testStorage(), gated: false })
    const pick = <T>(of: readonly T[]) => of[Math.floor(chance() * of.length)]
    const stage: Stage = { world, pages: [], told: [], stood: new Set(), pick }
    open(stage)
    for (let step = 0; step < steps; step += 1) await pick(operations)!(stage)
    // somebody listens at last, to the page that has the attempt
    while (stage.pages.length > 0) close(stage)
    open(stage)
    await world.pass(30_000)
    const keys = stage.told.map(({ key }) => key)
    expect([seed, keys.filter((key, at) => keys.indexOf(key) !== at)]).toEqual([seed, []])
    for (const { attemptId, state, archived } of await stage.pages[0]!.room.list()) {
      if (archived) continue
      const due = [...stage.stood].filter((key) => key.startsWith(attemptId))
      expect([seed, keys]).toEqual([seed, expect.arrayContaining(due)])
      // what stands as it ended was told of from its beginning
      if (state !== 'final') continue
      finals += 1
      const types = stage.told.filter((event) => event.attemptId === attemptId).map(({ type }) => type)
      expect([seed, types]).toEqual([seed, expect.arrayContaining(usual)])
    }
    events += keys.length
    await world.close()
  }
  console.log(`events: ${events} in ${sequences} sequences, ${finals} final pictures, 0 told twice`)
  expect(finals).toBeGreaterThan(sequences / 10)
})
