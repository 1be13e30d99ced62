import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TryOnError, type Intent, type TryOn, type TryOnGroup, type TryOnView } from 'fitting-room'
import { views } from 'fitting-room/testing'
import {
  answers,
  createWorld,
  lost,
  person,
  product,
  refuses,
  refusesKey,
  refusesVariant,
  started,
  type World,
} from './support/world.ts'

let world: World
beforeEach(() => void (world = createWorld()))
afterEach(() => world.close())

const message = 'Come back tomorrow!'

const unavailable = answers(503, { error: 'Service unavailable' })

interface Reached {
  tryOn: TryOn
  view: TryOnView
}

/** How a try-on gets into each state, and which intents that state permits (design: the state table). */
interface Row {
  name: string
  reach: () => Promise<Reached>
  can: Intent[]
  /** The state after a reload, before time passes. */
  reloaded: TryOnView['state']
  /** What the reload may send by itself. */
  sends?: string[]
}

async function reached(
  expected: TryOnView['state'] | ((view: TryOnView) => boolean),
  variantId = '2001',
): Promise<Reached> {
  const tryOn = await started(world.room().tryOn({ ...product, variantId }))
  return { tryOn, view: await world.until(tryOn, expected) }
}

async function heldAt(method: string, path: string): Promise<Reached> {
  const held = world.hold(method, path)
  const tryOn = world.room().tryOn(product)
  tryOn.subscribe(() => {})
  void tryOn.start(person)
  await held.reached
  await world.settle()
  return { tryOn, view: tryOn.get() }
}

async function stalledNow(): Promise<Reached> {
  world.fault('GET', '/generations', [answers(200, { data: { status: 'PROCESSING' } })], true)
  return reached('stalled')
}

const rows: Row[] = [
  {
    name: 'idle',
    reach: async () => {
      const tryOn = world.room().tryOn(product)
      return { tryOn, view: await world.until(tryOn, 'idle') }
    },
    can: ['start', 'discard'],
    reloaded: 'idle',
  },
  {
    name: 'preparing',
    reach: () => heldAt('PUT', '/photos'),
    can: ['start', 'startOver', 'discard'],
    reloaded: 'preparing',
    sends: ['GET /funnel', 'POST /uploads', 'PUT /photos', 'POST /generations', 'GET /generations'],
  },
  {
    name: 'submitting',
    reach: () => heldAt('POST', '/generations'),
    can: [],
    reloaded: 'outcomeUnknown',
  },
  {
    name: 'submitting, throttled',
    reach: () => {
      world.fault('POST', '/generations', [refuses('rateLimitExceeded', { retryAfter: 20 })])
      return reached((view) => view.state === 'submitting' && view.waitingUntil !== null)
    },
    can: ['startOver', 'discard'],
    reloaded: 'submitting',
    sends: ['POST /generations', 'GET /generations'],
  },
  {
    name: 'needsEmail',
    reach: () => reached('needsEmail', '2009'),
    can: ['submitEmail', 'startOver', 'discard'],
    reloaded: 'needsEmail',
  },
  {
    name: 'processing',
    reach: () => reached('processing'),
    can: ['startOver'],
    reloaded: 'processing',
    sends: ['GET /generations'],
  },
  {
    name: 'preview',
    reach: () => reached('preview'),
    can: ['startOver'],
    reloaded: 'preview',
    sends: ['GET /generations'],
  },
  {
    name: 'stalled',
    reach: stalledNow,
    can: ['resume', 'retry', 'startOver'],
    reloaded: 'stalled',
    sends: ['GET /generations'],
  },
  {
    name: 'preparing, held up',
    reach: () => {
      world.fault('GET', '/funnel', [unavailable], true)
      return reached(({ trouble }) => trouble !== null)
    },
    can: ['start', 'startOver', 'discard'],
    reloaded: 'preparing',
    sends: ['GET /funnel', 'POST /uploads', 'PUT /photos'],
  },
  {
    name: 'stalled, nothing sent',
    reach: () => {
      world.fault('GET', '/funnel', [unavailable], true)
      return reached('stalled')
    },
    can: ['resume', 'retry', 'startOver', 'discard'],
    reloaded: 'stalled',
  },
  {
    name: 'unauthorized',
    reach: () => {
      world.fault('POST', '/generations', [refusesKey])
      return reached('unauthorized')
    },
    can: ['resume', 'retry', 'startOver', 'discard'],
    reloaded: 'unauthorized',
  },
  {
    name: 'final',
    reach: () => reached('final'),
    can: ['retry', 'startOver', 'discard'],
    reloaded: 'final',
  },
  {
    name: 'failed',
    reach: () => reached('failed', '2003'),
    can: ['retry', 'startOver', 'discard'],
    reloaded: 'failed',
  },
  {
    name: 'outcomeUnknown',
    reach: () => {
      world.fault('POST', '/generations', [lost])
      return reached('outcomeUnknown')
    },
    can: ['retry', 'startOver'],
    reloaded: 'outcomeUnknown',
  },
  {
    name: 'limitReached',
    reach: () => {
      world.fault('POST', '/generations', [refuses('tryOnLimitReached', { message })])
      return reached('limitReached')
    },
    can: ['retry', 'startOver', 'discard'],
    reloaded: 'limitReached',
  },
  {
    name: 'rejected',
    reach: () => {
      world.fault('POST', '/generations', [refusesVariant])
      return reached('rejected')
    },
    can: ['retry', 'startOver', 'discard'],
    reloaded: 'rejected',
  },
  {
    name: 'protocolError without a job',
    reach: () => {
      world.fault('POST', '/generations', [answers(200, { data: { jobId: 7 } })])
      return reached('protocolError')
    },
    can: ['retry', 'startOver'],
    reloaded: 'protocolError',
  },
  {
    name: 'protocolError with a job',
    reach: () => {
      world.fault('GET', '/generations', [answers(200, { data: { status: 'DONE' } })])
      return reached('protocolError')
    },
    can: ['resume', 'retry', 'startOver'],
    reloaded: 'protocolError',
  },
]
const intents: Intent[] = ['start', 'submitEmail', 'resume', 'retry', 'startOver', 'discard']
const stateOf = ({ name }: Row) => name.split(/[ ,]/)[0] as TryOnView['state']

describe.each(rows)('$name', (row) => {
  it('is reached, and permits exactly its intents', async () => {
    const { view } = await row.reach()
    expect([view.state, view.group]).toEqual([stateOf(row), groupOf[stateOf(row)]])
    expect(intents.filter((intent) => view.can[intent])).toEqual(row.can)
  })

  it.each(intents)('%s does what the table says, or rejects with notAllowed and sends nothing', async (intent) => {
    const { tryOn } = await row.reach()
    const before = world.sent.length
    const ask = {
      start: () => tryOn.start(person),
      submitEmail: () => tryOn.submitEmail({ email: 'ada@example.com' }),
      resume: () => tryOn.resume(),
      retry: () => tryOn.retry(person),
      startOver: () => tryOn.startOver(),
      discard: () => tryOn.discard(),
    }[intent]
    if (row.can.includes(intent)) {
      await ask()
      expect(tryOn.get().state).toBe(after[intent](stateOf(row), tryOn))
      return
    }
    const refused = await ask().then(
      () => null,
      (error: unknown) => error,
    )
    expect(refused).toBeInstanceOf(TryOnError)
    expect((refused as TryOnError).kind).toBe(intent === 'discard' ? 'paidJob' : 'notAllowed')
    expect(world.sent.length).toBe(before)
  })

  it(`is ${row.reloaded} after a reload, and sends by itself only what it may`, async () => {
    const { view } = await row.reach()
    const before = world.sent.length
    const jobId = view.attempt?.jobId ?? null
    const again = world.room().tryOn({ ...product, variantId: variantOf(row) })
    const states: string[] = []
    again.subscribe(({ state, attempt }) => {
      if (state !== 'restoring') states.push(state)
      expect(
        state === 'restoring' || (attempt?.jobId ?? jobId) === jobId || row.sends?.includes('POST /generations'),
      ).toBe(true)
    })
    await world.settle()
    expect(row.name === 'stalled' ? ['processing', 'stalled'] : [row.reloaded]).toContain(states[0])
    for (let turn = 0; turn < 5; turn++) {
      world.clock.advance(2_000)
      await world.settle()
    }
    const sent = new Set(world.sent.slice(before).map(({ method, path }) => `${method} /${path.split('/')[1]}`))
    expect([...sent].filter((each) => !(row.sends ?? []).includes(each))).toEqual([])
  })
})

const shown = rows.filter((row) => row.name === stateOf(row) || row.name === 'protocolError without a job')

it.each(shown)('$name is shown to a test as a room shows it', async (row) => {
  const { view } = await row.reach()
  expect(shapeOf(views[stateOf(row)])).toEqual(shapeOf(view))
})

/** What of a view is the same for every product, photo and moment. */
function shapeOf(view: TryOnView) {
  const { attempt, progress, preview, result, trouble, problem, etaSeconds, funnel, durable: _, ...rest } = view
  const given = { attempt, preview, result, trouble, etaSeconds, funnel, jobId: attempt?.jobId ?? null }
  const present = Object.entries(given).flatMap(([name, value]) => (value === null ? [] : [name]))
  return { ...rest, present, phase: progress?.phase ?? null, problem: problem?.kind ?? null }
}

const variantOf = ({ name }: Row) => (name === 'needsEmail' ? '2009' : name === 'failed' ? '2003' : '2001')

const groupOf: Record<TryOnView['state'], TryOnGroup> = {
  restoring: 'waiting',
  idle: 'ready',
  preparing: 'busy',
  submitting: 'busy',
  processing: 'busy',
  preview: 'busy',
  needsEmail: 'asks',
  final: 'done',
  stalled: 'stopped',
  unauthorized: 'stopped',
  failed: 'stopped',
  outcomeUnknown: 'stopped',
  limitReached: 'stopped',
  rejected: 'stopped',
  protocolError: 'stopped',
}

/** Where an intent leads at once. */
const after: Record<Intent, (from: TryOnView['state'], tryOn: TryOn) => TryOnView['state']> = {
  start: () => 'preparing',
  submitEmail: () => 'submitting',
  resume: (from, tryOn) => {
    if (tryOn.get().attempt?.jobId) return 'processing'
    return from === 'unauthorized' ? 'submitting' : 'preparing'
  },
  retry: () => 'preparing',
  startOver: () => 'idle',
  discard: () => 'idle',
}
