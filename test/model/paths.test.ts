import { getAdjacencyMap, getShortestPaths } from '@xstate/graph'
import { describe, expect, it } from 'vitest'
import type { AnyEventObject, SnapshotFrom } from 'xstate'
import type { Intent } from 'fitting-room'
import { Private } from '../../machines/private.ts'
import { tryOnMachine } from '../../machines/xstate.ts'
import type { TryOnEvent, Written } from '../../machines/try-on.types.ts'
import { tryOnView } from '../../machines/try-on.view.ts'
import { steadyClock } from '../../src/platform/clock.ts'
import { generationStarted, polledJob, registeredVisitor } from '../../src/contract/resources.ts'
import { outcomeOf, type Exchange, type Outcome } from '../../src/rules/outcome.ts'
import { advance, recordOfPoll, recordOfStop, recordOfSubmission, type AttemptRecord } from '../../src/rules/record.ts'
import { manualClock } from 'fitting-room/testing'
import { consentedAt } from '../support/consented.ts'
import { answers, createWorld, lost, person, product, type Fault, type World } from '../support/world.ts'

type Snapshot = SnapshotFrom<typeof tryOnMachine>

/** One event of a path: what the machine is told, and what makes it come about in the world. */
type PathEvent = AnyEventObject & { in?: Place; fault?: Fault | null; intent?: Intent }
type Place = 'funnel' | 'upload' | 'register' | 'submission' | 'poll'

const clock = manualClock()
const now = clock.now()
const consent = { attemptId: 'one', photoId: 'photo' }
const consented = consentedAt(now)

/** An answer as the table reads it, and the fault that gives it. */
const refusal = (status: number, body: object, retryAfter: string | null = null): [Exchange, Fault] => [
  { came: 'answer', status, body, retryAfter },
  answers(status, body, retryAfter === null ? {} : { 'Retry-After': retryAfter }),
]
const tooMany = { error: 'Rate limit exceeded', message: 'Too many requests' }
const malformed: [Exchange, Fault] = refusal(200, { data: { jobId: 7, status: 'DONE' } })
const noAnswer: [Exchange, Fault] = [{ came: 'nothing', why: 'lost' }, lost]
const fits = (data: object): Exchange => ({ came: 'answer', status: 200, body: { data }, retryAfter: null })

const jobId = '00000000-0000-4000-8000-000000000001'
const success = {
  status: 'SUCCESS',
  imageUrl: 'https://api.test/p',
  requestsLeft: 1,
  totalRequests: 1,
  uniqueUserId: 'u',
}
const submissions: [Exchange, Fault | null][] = [
  [fits({ jobId, etaSeconds: 40, uniqueUserId: 'u' }), null],
  refusal(403, { error: 'email_required', code: 'EMAIL_REQUIRED' }),
  refusal(403, { error: 'Product is not assigned to this funnel' }),
  refusal(401, { error: 'Unauthorized' }),
  refusal(429, { error: 'try_on_limit_reached', code: 'TRY_ON_LIMIT_REACHED', message: 'Come back tomorrow!' }),
  refusal(429, tooMany, '5'),
  refusal(429, tooMany, '600'),
  refusal(500, { error: 'Could not create generation' }),
  malformed,
  noAnswer,
]
const polls: [Exchange, Fault | null][] = [
  [fits({ status: 'PROCESSING' }), null],
  [fits({ ...success, storageStatus: 'PENDING' }), null],
  [fits({ ...success, storageStatus: 'READY' }), null],
  [fits({ status: 'ERROR', error: 'failed' }), answers(200, { data: { status: 'ERROR', error: 'failed' } })],
  refusal(401, { error: 'Unauthorized' }),
  refusal(404, { error: 'Job not found' }),
  refusal(429, tooMany, '5'),
  malformed,
  noAnswer,
]
const reads: [Exchange, Fault | null][] = [
  refusal(404, { error: 'Not found' }),
  refusal(401, { error: 'Unauthorized' }),
]

/** What each actor of the machine may come to, given where the machine stands. */
function outputsOf(source: string, { context }: Snapshot): { output: unknown; in?: Place; fault?: Fault | null }[] {
  const record = context.record ?? consented
  const kept = (next: AttemptRecord | null): Written =>
    next ? { kind: 'stands', record: next, durable: true } : { kind: 'none', durable: true }
  const refused = (place: Place, operation: 'getFunnel' | 'createUpload' | 'registerCustomer') =>
    reads.map(([came, fault]) => ({ output: outcomeOf(operation, came, registeredVisitor), in: place, fault }))
  const given = (place: Place, data: unknown) => ({ output: { kind: 'accepted', data }, in: place, fault: null })
  switch (source) {
    case 'restore':
    case 'leave':
    case 'discard':
      return [{ output: kept(null) }]
    case 'consent':
      return [{ output: kept(consented) }]
    case 'probe':
      return [{ output: kept(context.record) }]
    case 'claim':
      return [{ output: kept(advance(record, now, { phase: 'claimed' })) }]
    case 'writeStop':
      return context.refusal ? [{ output: kept(recordOfStop(record, context.refusal, now)) }] : []
    case 'writeRegistration':
      return [{ output: kept(advance(record, now, { phase: 'emailRegistered' })) }]
    case 'renew':
      return [{ output: kept(advance(record, now, { phase: 'consented', consentedAt: now })) }]
    case 'keyChanged':
      return [{ output: false }]
    case 'lookUpFunnel':
      return [
        given('funnel', { id: 12, funnelType: 'upper_body', generationModel: 'SERVICE_FAST' }),
        ...refused('funnel', 'getFunnel'),
      ]
    case 'uploadPhoto':
      return [given('upload', { id: 'photo', imageUrl: 'https://api.test/p' }), ...refused('upload', 'createUpload')]
    case 'register':
      return [given('register', { requestsLeft: -1 }), ...refused('register', 'registerCustomer')]
    case 'submit':
      return submissions.map(([came, fault]) => {
        const outcome = outcomeOf('createGeneration', came, generationStarted)
        return { output: kept(recordOfSubmission(record, outcome, now, 0)), in: 'submission', fault }
      })
    case 'poll':
      return polls.map(([came, fault]) => {
        const outcome = outcomeOf('getGeneration', came, polledJob)
        return { output: { ...kept(polled(record, outcome)), outcome }, in: 'poll', fault }
      })
    default:
      return []
  }
}

function polled(record: AttemptRecord, outcome: ReturnType<typeof outcomeOf<unknown>>): AttemptRecord {
  if (outcome.kind === 'accepted') return recordOfPoll(record, (outcome as Outcome<never> & { data: never }).data, now)
  return outcome.kind === 'unavailable' || outcome.kind === 'throttled' ? record : recordOfStop(record, outcome, now)
}

const intents: (TryOnEvent & { intent: Intent })[] = [
  { type: 'start', consent, intent: 'start' },
  { type: 'retry', consent, intent: 'retry' },
  { type: 'submitEmail', form: new Private({ email: 'ada@example.com' }), intent: 'submitEmail' },
  { type: 'resume', intent: 'resume' },
  { type: 'startOver', intent: 'startOver' },
  { type: 'discard', abandonPaidJob: true, intent: 'discard' },
]

/** Every event that the machine can take where it stands: intents, what its actors come to, and its delays. */
function eventsAt(snapshot: Snapshot): PathEvent[] {
  const done = snapshot._nodes.flatMap((node) =>
    node.invoke.flatMap(({ id, src }) =>
      outputsOf(String(src), snapshot).map((came) => ({ type: `xstate.done.actor.${id}`, actorId: id, ...came })),
    ),
  )
  const delays = snapshot._nodes.flatMap((node) => node.after.map(({ eventType }) => ({ type: eventType })))
  const isTick = ({ type }: PathEvent) => type.includes('after.tick')
  return [...intents.filter((event) => snapshot.can(event)), ...done, ...delays.filter((each) => !isTick(each))]
}

const options = {
  events: eventsAt as never,
  input: {
    clock: steadyClock(clock),
    nextLookMs: () => 2_000,
    deadlineMs: 180_000,
    askVisitorFirst: false,
    exclusive: true,
    archived: false,
  },
  serializeState: (snapshot: Snapshot) =>
    JSON.stringify([snapshot.value, snapshot.context.record?.phase, snapshot.context.refusal?.situation]),
  serializeEvent: (event: PathEvent) => JSON.stringify(event),
}

interface Path {
  events: PathEvent[]
  /** Where the machine stands before the first event, and after each one. */
  states: Snapshot[]
}

/** A path to every state of the machine, and on from there by every event that it can take. */
function allPaths(): Path[] {
  const adjacency = getAdjacencyMap(tryOnMachine, options as never)
  return getShortestPaths(tryOnMachine, options as never).flatMap(({ state, steps }) => {
    const events = steps.slice(1).map(({ event }) => event as PathEvent)
    const states: Snapshot[] = [...steps.slice(0, -1).map((each) => each.state), state]
    const found = adjacency[options.serializeState(state) as never] as { transitions: object }
    const onwards = Object.values(found.transitions) as { event: PathEvent; state: Snapshot }[]
    return onwards.map((next) => ({ events: [...events, next.event], states: [...states, next.state] }))
  })
}

/** What the machine waits for where it stands; a test holds that back to find it there. */
function pendingAt(state: Snapshot): [string, string][] {
  const at = JSON.stringify(state.value)
  return [
    ...(at.includes('"asking"') && at.includes('gathering') ? [['GET', '/funnel'] as [string, string]] : []),
    ...(at.includes('"uploading"') ? [['PUT', '/photos'] as [string, string]] : []),
    ...(at.includes('"sending"') ? [['POST', '/generations'] as [string, string]] : []),
    ...(at.includes('"registering"') ? [['POST', '/customer-register'] as [string, string]] : []),
  ]
}

const endpointOf: Record<Place, [string, string]> = {
  funnel: ['GET', '/funnel'],
  upload: ['POST', '/uploads'],
  register: ['POST', '/customer-register'],
  submission: ['POST', '/generations'],
  poll: ['GET', '/generations'],
}
const passes: Fault = (reach) => reach()
const nothing = () => {}

/** Lets the real room and the real service take the same path, and compares where both arrive. */
async function follow(world: World, { events, states }: Path): Promise<void> {
  const tryOn = world.room().tryOn(product)
  tryOn.subscribe(nothing)
  let release = nothing

  /** The view is that of the machine's own state; a wait is a state of its own. */
  const arrive = async (at: number) => {
    const wanted = tryOnView(states[at]!)
    await world.until(
      tryOn,
      ({ state, waitingUntil }) =>
        state === wanted.state &&
        (state !== 'submitting' || (waitingUntil === null) === (wanted.waitingUntil === null)),
    )
  }

  /** Everything up to the shopper's next word goes by itself, so its faults are laid out now. */
  const layOut = (from: number) => {
    const next = events.findIndex((event, at) => at >= from && event.intent !== undefined)
    const end = next === -1 ? events.length : next
    for (const [at, { in: place, fault }] of events.entries()) {
      if (at < from || at >= end || place === undefined || place === 'poll') continue
      world.fault(...endpointOf[place], [fault ?? passes])
      // what goes on beside a refused request has not come back by then
      const beside = place === 'funnel' && fault ? pendingAt(states[at]!).filter(([method]) => method === 'PUT') : []
      for (const endpoint of beside) world.hold(...endpoint)
    }
    const held = pendingAt(states[end]!).map((endpoint) => world.hold(...endpoint))
    release = () => held.forEach((each) => each.release())
  }

  const given: Record<Intent, () => Promise<void>> = {
    start: () => tryOn.start(person),
    retry: () => tryOn.retry(person),
    submitEmail: () => tryOn.submitEmail({ email: 'ada@example.com' }),
    resume: () => tryOn.resume(),
    startOver: () => tryOn.startOver(),
    discard: () => tryOn.discard({ abandonPaidJob: true }),
  }

  for (const [at, { intent, in: place, fault }] of events.entries()) {
    if (intent !== undefined) {
      await arrive(at)
      // what the service asked to wait for is over by the shopper's next word
      if (tryOn.get().problem?.kind === 'throttled') world.clock.advance(600_000)
      const letGo = release
      layOut(at + 1)
      const word = given[intent]()
      // it is carried out where the path says that it is
      await world.settle()
      letGo()
      await world.settle()
      // a registration is answered, or refused, where the path says so
      if (intent === 'submitEmail') word.catch(nothing)
      else await word
    }
    if (place === 'poll') {
      await arrive(at)
      if (fault) world.fault(...endpointOf.poll, [fault])
    }
  }
  await arrive(events.length)
  release()
}

/** In Node a submission goes out plainly, so that nothing can be held while it is probed. */
const isPassing = (state: Snapshot) => state.hasTag('busy') || JSON.stringify(state.value).includes('"probing"')
const ends = allPaths().filter(
  ({ states, events }) =>
    !isPassing(states.at(-1)!) && !events.some(({ intent }, at) => intent !== undefined && isPassing(states[at]!)),
)
const nameOf = ({ events, states }: Path) => {
  const told = events.map(
    ({ type, intent, output }) => intent ?? `${type.split('.').at(-1)} ${meaningOf(output)}`.trim(),
  )
  return `${told.slice(1).join(', ')}: ${tryOnView(states.at(-1)!).state}`
}
const meaningOf = (output: { kind?: string; record?: AttemptRecord; outcome?: { kind: string } } | undefined) =>
  output?.outcome?.kind ?? output?.kind ?? output?.record?.phase ?? ''

describe(`${ends.length} paths through the machine, followed by a room and the service`, () => {
  it.each(ends.map((path) => [nameOf(path), path] as const))('%s', async (_, path) => {
    const world = createWorld({ gated: false })
    try {
      await follow(world, path)
      const submitted = path.events.filter((event) => event.in === 'submission').length
      const out = pendingAt(path.states.at(-1)!).some(([, endpoint]) => endpoint === '/generations') ? 1 : 0
      const given = path.events.filter(
        (event, at) => event.intent && pendingAt(path.states[at]!)[0]?.[1] === '/generations',
      )
      expect(world.count('POST', '/generations')).toBe(submitted + out + given.length)
    } finally {
      await world.close()
    }
  })
})
