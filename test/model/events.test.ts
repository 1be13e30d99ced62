import { expect, it } from 'vitest'
import type { FittingRoom, RoomEvent, TryOn } from 'fitting-room'
import { testStorage } from '../support/storage.ts'
import { createWorld, person, product, refuses, refusesVariant, type World } from '../support/world.ts'
import { seededChance } from './platform.ts'

const sequences = 1_000
const steps = 12

interface Page {
  room: FittingRoom
  tryOn: TryOn
}

type Step = (world: Stage) => Promise<unknown> | void

/** Some pages of one shopper, and all that they tell. */
interface Stage {
  world: World
  pages: Page[]
  told: RoomEvent[]
  pick: <T>(of: readonly T[]) => T | undefined
}

function open({ world, pages, told }: Stage): void {
  if (pages.length === 2) return
  const room = world.room()
  room.on((event) => told.push(event))
  const tryOn = room.tryOn(product)
  tryOn.subscribe(() => {})
  pages.push({ room, tryOn })
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
  ({ pages, pick }) => {
    const page = pick(pages)
    if (!page) return
    page.room.close()
    pages.splice(pages.indexOf(page), 1)
  },
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
    const stage: Stage = { world, pages: [], told: [], pick }
    open(stage)
    for (let step = 0; step < steps; step += 1) await pick(operations)!(stage)
    open(stage)
    await world.pass(10_000)
    const keys = stage.told.map(({ key }) => key)
    expect([seed, keys.filter((key, at) => keys.indexOf(key) !== at)]).toEqual([seed, []])
    // what stands as it ended was told of from its beginning
    for (const { attemptId, state, archived } of await stage.pages[0]!.room.list()) {
      if (archived || state !== 'final') continue
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
