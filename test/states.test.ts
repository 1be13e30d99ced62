import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TryOnError, type Intent, type TryOn, type TryOnView } from 'fitting-room'
import { memoryStorage } from 'fitting-room/storage/memory'
import { answers, createWorld, dropped, lost, person, product, type World } from './support/world.ts'

let world: World
beforeEach(() => void (world = createWorld()))
afterEach(() => world.close())

const limit = { error: 'try_on_limit_reached', code: 'TRY_ON_LIMIT_REACHED', message: 'Come back tomorrow!' }
const throttle = { error: 'Rate limit exceeded', message: 'Too many requests' }

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

async function started(
  expected: TryOnView['state'] | ((view: TryOnView) => boolean),
  variantId = '2001',
): Promise<Reached> {
  const tryOn = world.room().tryOn({ ...product, variantId })
  tryOn.subscribe(() => {})
  await tryOn.start(person)
  return { tryOn, view: await world.until(tryOn, expected) }
}

async function heldAt(method: string, path: string, where: 'before' | 'after' = 'before'): Promise<Reached> {
  const held = world.hold(method, path, where)
  const tryOn = world.room().tryOn(product)
  tryOn.subscribe(() => {})
  void tryOn.start(person)
  await held.reached
  await world.settle()
  return { tryOn, view: tryOn.get() }
}

async function stalledNow(): Promise<Reached> {
  world.fault('GET', '/generations', [answers(200, { data: { status: 'PROCESSING' } })], true)
  return started('stalled')
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
      world.fault('POST', '/generations', [answers(429, throttle, { 'Retry-After': '20' })])
      return started((view) => view.state === 'submitting' && view.waitingUntil !== null)
    },
    can: ['startOver', 'discard'],
    reloaded: 'submitting',
    sends: ['POST /generations', 'GET /generations'],
  },
  {
    name: 'needsEmail',
    reach: () => started('needsEmail', '2009'),
    can: ['submitEmail', 'startOver', 'discard'],
    reloaded: 'needsEmail',
  },
  {
    name: 'processing',
    reach: () => started('processing'),
    can: ['startOver'],
    reloaded: 'processing',
    sends: ['GET /generations'],
  },
  {
    name: 'preview',
    reach: () => started('preview'),
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
    name: 'unauthorized',
    reach: () => {
      world.fault('POST', '/generations', [answers(401, { error: 'Unauthorized' })])
      return started('unauthorized')
    },
    can: ['resume', 'retry', 'startOver', 'discard'],
    reloaded: 'unauthorized',
  },
  {
    name: 'final',
    reach: () => started('final'),
    can: ['retry', 'startOver', 'discard'],
    reloaded: 'final',
  },
  {
    name: 'failed',
    reach: () => started('failed', '2003'),
    can: ['retry', 'startOver', 'discard'],
    reloaded: 'failed',
  },
  {
    name: 'outcomeUnknown',
    reach: () => {
      world.fault('POST', '/generations', [lost])
      return started('outcomeUnknown')
    },
    can: ['retry', 'startOver'],
    reloaded: 'outcomeUnknown',
  },
  {
    name: 'limitReached',
    reach: () => {
      world.fault('POST', '/generations', [answers(429, limit)])
      return started('limitReached')
    },
    can: ['retry', 'startOver', 'discard'],
    reloaded: 'limitReached',
  },
  {
    name: 'rejected',
    reach: () => {
      world.fault('POST', '/generations', [answers(404, { error: 'Variant not found' })])
      return started('rejected')
    },
    can: ['retry', 'startOver', 'discard'],
    reloaded: 'rejected',
  },
  {
    name: 'protocolError without a job',
    reach: () => {
      world.fault('POST', '/generations', [answers(200, { data: { jobId: 7 } })])
      return started('protocolError')
    },
    can: ['retry', 'startOver', 'discard'],
    reloaded: 'protocolError',
  },
  {
    name: 'protocolError with a job',
    reach: () => {
      world.fault('GET', '/generations', [answers(200, { data: { status: 'DONE' } })])
      return started('protocolError')
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
    expect(view.state).toBe(stateOf(row))
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

const variantOf = ({ name }: Row) => (name === 'needsEmail' ? '2009' : name === 'failed' ? '2003' : '2001')

/** Where an intent leads at once. */
const after: Record<Intent, (from: TryOnView['state'], tryOn: TryOn) => TryOnView['state']> = {
  start: () => 'preparing',
  submitEmail: () => 'needsEmail',
  resume: (from) => (from === 'unauthorized' ? 'submitting' : 'processing'),
  retry: () => 'preparing',
  startOver: () => 'idle',
  discard: () => 'idle',
}

describe('an intent', () => {
  it('waits for storage to be read', async () => {
    const tryOn = world.room().tryOn(product)
    expect(tryOn.get().state).toBe('restoring')
    await tryOn.start(person)
    expect(tryOn.get().state).toBe('preparing')
  })

  it('startOver keeps the photo, so that start() needs none', async () => {
    const { tryOn } = await started('final')
    await tryOn.startOver()
    await tryOn.start()
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/uploads')).toBe(1)
    expect(world.count('POST', '/generations')).toBe(2)
  })

  it('discard({ abandonPaidJob }) forgets a running job, and its late answer writes nothing', async () => {
    const held = world.hold('POST', '/generations', 'after')
    const room = world.room()
    const tryOn = room.tryOn(product)
    void tryOn.start(person)
    await held.reached
    await tryOn.discard({ abandonPaidJob: true })
    expect(tryOn.get().state).toBe('idle')
    held.release()
    await world.settle()
    expect(await room.list()).toEqual([])
  })

  it('retry archives the attempt before it, with its job', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    await tryOn.start(person)
    const first = await world.until(tryOn, 'final')
    await tryOn.retry()
    const second = await world.until(tryOn, 'final')
    expect(second.attempt?.jobId).not.toBe(first.attempt?.jobId)
    const archived = (await room.list()).filter((each) => each.archived)
    expect(archived.map(({ jobId }) => jobId)).toEqual([first.attempt?.jobId])
    const view = await world.until(archived[0]?.open() as TryOn, 'final')
    expect([view.attempt, view.result]).toEqual([first.attempt, first.result])
  })

  it('startOver archives a running job, which goes on from the list', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    await tryOn.start(person)
    const first = await world.until(tryOn, 'preview')
    await tryOn.startOver()
    const [archived] = await room.list()
    expect(archived).toMatchObject({ jobId: first.attempt?.jobId, archived: true })
    const view = await world.until(archived?.open() as TryOn, 'final')
    expect(view.attempt?.jobId).toBe(first.attempt?.jobId)
    expect(view.can).toMatchObject({ start: false, retry: false })
    expect(world.count('POST', '/generations')).toBe(1)
  })
})

describe('bad input', () => {
  it.each([
    ['an empty file', new Blob([]), 'photo'],
    ['a file that is no picture', new Blob(['hello']), 'photo'],
    ['a bad URL', { imageUrl: 'photo.png' }, 'photo'],
    ['no photo at all', undefined, 'photo'],
  ])('%s rejects with its problem, shows it, and loses nothing', async (_, photo, kind) => {
    const tryOn = world.room().tryOn(product)
    await expect(tryOn.start(photo as Blob)).rejects.toMatchObject({ kind })
    expect(tryOn.get()).toMatchObject({ state: 'idle', problem: { kind } })
    expect(world.sent).toEqual([])
    await tryOn.start(person)
    await world.until(tryOn, 'final')
  })

  it.each([
    [{ customerEmail: 'nobody' }, 'customerEmail'],
    [{ customKey: '../x' }, 'customKey'],
  ])('start with %o names the field', async (options, at) => {
    const tryOn = world.room().tryOn(product)
    await expect(tryOn.start(person, options)).rejects.toMatchObject({ problem: { kind: 'input', at } })
  })

  it.each([
    [{ ...product, productId: 0 }, 'productId'],
    [{ ...product, variantId: 'x' }, 'variantId'],
    [{ ...product, funnelIds: [] }, 'funnelIds'],
  ])('a try-on of %o throws and names the field', (bad, at) => {
    const problem: unknown = expect.objectContaining({ kind: 'input', at })
    expect(() => world.room().tryOn(bad)).toThrow(expect.objectContaining({ problem }))
  })

  it('a base URL that is none throws at once', () => {
    expect(() => world.room({ baseUrl: 'api.test' })).toThrow(expect.objectContaining({ kind: 'input' }))
  })

  it('a refused address stays in needsEmail with its problem', async () => {
    const { tryOn } = await started('needsEmail', '2009')
    await expect(tryOn.submitEmail({ email: 'nobody' })).rejects.toMatchObject({ kind: 'input' })
    world.fault('POST', '/customer-register', [answers(400, { error: 'Registration failed' })])
    await tryOn.submitEmail({ email: 'ada@example.com' })
    const view = await world.until(tryOn, ({ problem }) => problem?.kind === 'refused')
    expect(view.state).toBe('needsEmail')
    await tryOn.submitEmail({ email: 'ada@example.com' })
    await world.until(tryOn, 'final')
  })
})

describe('a consent', () => {
  it('goes on after a reload while it is under ten minutes old', async () => {
    await heldAt('PUT', '/photos')
    world.clock.advance(599_000)
    await world.until(world.room().tryOn(product), 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('is idle with the photo kept when it is older', async () => {
    const held = world.hold('PUT', '/photos')
    const gone = world.room()
    const consented = gone.tryOn(product)
    consented.subscribe(() => {})
    await consented.start(person)
    await held.reached
    const photo = gone.photo.get()
    gone.close()
    const sent = world.sent.length
    world.clock.advance(601_000)
    const room = world.room()
    const late = room.tryOn(product)
    const view = await world.until(late, 'idle')
    expect(view.problem).toEqual({ kind: 'consentExpired' })
    expect(world.sent.length).toBe(sent)
    expect(photo).not.toBeNull()
    expect(room.photo.get()).toEqual(photo)
    await late.start()
    await world.until(late, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('without a lock or an atomic update nothing is submitted by itself after a reload', async () => {
    const { update: _update, durable: _durable, ...plain } = memoryStorage()
    world = createWorld({ storage: plain })
    await heldAt('PUT', '/photos')
    const sent = world.sent.length
    const view = await world.until(world.room().tryOn(product), 'idle')
    expect(view.exclusive).toBe(false)
    await world.settle()
    expect(world.sent.length).toBe(sent)
  })
})

describe('result()', () => {
  it('resolves at final with the picture', async () => {
    const tryOn = world.room().tryOn(product)
    const result = tryOn.result()
    await tryOn.start(person)
    await world.until(tryOn, 'final')
    expect((await result).imageUrl).toContain('/pictures/')
  })

  it('rejects at a stop with the problem and the job ID', async () => {
    const tryOn = world.room().tryOn({ ...product, variantId: '2003' })
    const result = tryOn.result().catch((error: unknown) => error)
    await tryOn.start(person)
    const view = await world.until(tryOn, 'failed')
    expect(await result).toMatchObject({ kind: 'jobFailed', jobId: view.attempt?.jobId })
    expect(view.attempt?.jobId).toBeTruthy()
  })

  it('waits for a person, unless told not to', async () => {
    const { tryOn } = await started('needsEmail', '2009')
    await expect(tryOn.result({ rejectOnInput: true })).rejects.toMatchObject({ kind: 'emailRequired' })
    const waiting = tryOn.result()
    await tryOn.submitEmail({ email: 'ada@example.com' })
    await world.until(tryOn, 'final')
    expect((await waiting).status).toBe('SUCCESS')
  })

  it('ends by its signal without ending the try-on', async () => {
    const { tryOn } = await started('processing')
    const stop = new AbortController()
    const result = tryOn.result({ signal: stop.signal }).catch((error: unknown) => error)
    stop.abort()
    expect(await result).toMatchObject({ problem: { kind: 'stopped', reason: 'aborted' } })
    await world.until(tryOn, 'final')
  })
})

describe('a lost answer', () => {
  it('that comes late after all is taken', async () => {
    const held = world.hold('POST', '/generations', 'after')
    const tryOn = world.room({ timing: { submitTimeoutMs: 5_000 } }).tryOn(product)
    await tryOn.start(person)
    await held.reached
    await world.until(tryOn, 'outcomeUnknown')
    held.release()
    const view = await world.until(tryOn, 'final')
    expect(view.attempt?.jobId).toBeTruthy()
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('of an attempt that was left goes to the archive', async () => {
    const held = world.hold('POST', '/generations', 'after')
    const room = world.room({ timing: { submitTimeoutMs: 5_000 } })
    const tryOn = room.tryOn(product)
    await tryOn.start(person)
    await held.reached
    await world.until(tryOn, 'outcomeUnknown')
    await tryOn.startOver()
    held.release()
    await world.settle()
    const [archived] = await room.list()
    expect(archived).toMatchObject({ archived: true, phase: 'accepted', jobId: expect.any(String) })
  })

  it('is never sent again by itself, whatever time passes', async () => {
    world.fault('POST', '/generations', [dropped])
    const { tryOn } = await started('outcomeUnknown')
    world.clock.advance(3_600_000)
    await world.settle()
    expect(tryOn.get().state).toBe('outcomeUnknown')
    expect(world.count('POST', '/generations')).toBe(1)
  })
})

describe('room', () => {
  it('does nothing before its first use, and answers the constant first view', async () => {
    const room = world.room()
    const views = ['2001', '2002'].map((variantId) => room.tryOn({ ...product, variantId }).get())
    expect(views[0]).toBe(views[1])
    expect(views[0]?.state).toBe('restoring')
    await world.settle()
    expect(world.sent).toEqual([])
  })

  it('knows one product by its number, its digits and its global ID', () => {
    const room = world.room()
    const one = room.tryOn({ ...product, productId: 1001 })
    expect(room.tryOn({ ...product, productId: 'gid://shopify/Product/1001' })).toBe(one)
    expect(room.tryOn(product)).toBe(one)
    expect(room.tryOn({ ...product, variantId: '2002' })).not.toBe(one)
  })

  it('shares the visitor that the service named, and keeps it over a reload', async () => {
    await started('final')
    const room = world.room()
    await room.ready
    expect(room.visitor.get()).toMatchObject({ requestsLeft: 1, totalRequests: 1, uniqueUserId: expect.any(String) })
  })

  it('reset() wipes everything and shows idle', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    await tryOn.start(person)
    await world.until(tryOn, 'final')
    await room.reset()
    expect((await world.until(tryOn, 'idle')).attempt).toBeNull()
    expect(room.visitor.get().uniqueUserId).toBeNull()
    expect(room.photo.get()).toBeNull()
    expect(await room.list()).toEqual([])
  })

  it('close() stops, and the next use goes on', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    await tryOn.start(person)
    await world.until(tryOn, 'processing')
    room.close()
    const sent = world.sent.length
    world.clock.advance(60_000)
    await world.settle()
    expect(world.sent.length).toBe(sent)
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('asks for the e-mail first when told to', async () => {
    const room = world.room({ askVisitorFirst: true })
    world.fault('GET', '/requests-left', [
      answers(200, { data: { requestsLeft: 0, totalRequests: 2, uniqueUserId: 'v' } }),
    ])
    const tryOn = room.tryOn(product)
    await tryOn.start(person)
    await world.until(tryOn, 'needsEmail')
    expect(world.count('POST', '/generations')).toBe(0)
    await tryOn.submitEmail({ email: 'ada@example.com', name: 'Ada' })
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('sends the customer’s e-mail with the submission and keeps it nowhere', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    await tryOn.start(person, { customerEmail: 'ada@example.com', moreLooksConsent: true, customKey: 'look' })
    await world.until(tryOn, 'final')
    const submission = world.sent.find(({ method, path }) => method === 'POST' && path === '/generations')
    expect(submission?.body).toMatchObject({ customerEmail: 'ada@example.com', moreLooksConsent: true })
    expect(submission?.body.imageUrl).toContain('look-')
  })
})
