import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFittingRoom, TryOnError, type FittingRoom, type TryOn, type TryOnState } from 'fitting-room'
import { columnOf, meanings, type Requested, type Situation } from '../../src/rules/outcome.ts'
import { scaledClock } from '../support/scaled-clock.ts'
import { person, product } from '../support/world.ts'
import { faultyService, type FaultyService } from './faulty-service.ts'
import { wireFaults } from './wire-faults.ts'

let service: FaultyService
let room: FittingRoom | null = null
let tryOn: TryOn
let clock: ReturnType<typeof scaledClock>
beforeEach(async () => {
  clock = scaledClock(times)
  service = await faultyService(() => clock.skip(limitMs))
})
afterEach(async () => {
  room?.close()
  await service.close()
})

/** How fast time goes; what waits is skipped. */
const times = 5
/** What a request has, by that clock: over at once where no answer comes, a minute away from the machine elsewhere. */
const limitMs = 60_000 * times

/** A room with a deadline by that clock. */
function open(operation: Requested | 'getContext', deadlineMs: number): FittingRoom {
  const opened = createFittingRoom({
    baseUrl: service.url,
    apiKey: 'main-key',
    clock,
    timing: {
      requestTimeoutMs: limitMs,
      submitTimeoutMs: limitMs,
      uploadTimeoutMs: limitMs,
      deadlineMs,
      pollIntervalMs: 100,
    },
    askVisitorFirst: true,
  })
  room = opened
  tryOn = opened.tryOn({ ...product, variantId: operation === 'registerCustomer' ? '2009' : '2001' })
  return opened
}

const submissions = () => service.reached.filter((each) => each === 'POST /generations').length

/** The operations of a flow, as they go over the wire. */
const operations: [Requested, string][] = [
  ['getFunnel', 'GET /funnel'],
  ['createUpload', 'POST /uploads'],
  ['putPhoto', 'PUT /photos'],
  ['getRequestsLeft', 'GET /requests-left'],
  ['registerCustomer', 'POST /customer-register'],
  ['createGeneration', 'POST /generations'],
  ['getGeneration', 'GET /generations'],
]

/** Where a flow stops, or `final` where it goes on. */
const stops: TryOnState[] = [
  'final',
  'needsEmail',
  'unauthorized',
  'rejected',
  'failed',
  'limitReached',
  'protocolError',
  'outcomeUnknown',
  'stalled',
]

/** Where a try-on with a photo of its own comes to rest; where it must be, it is asked for an address and gets one. */
async function end(operation: Requested): Promise<TryOnState> {
  await rest(() => tryOn.start(person))
  if (operation !== 'registerCustomer') return tryOn.get().state
  expect(tryOn.get().state).toBe('needsEmail')
  await rest(() => tryOn.submitEmail({ email: 'ada@example.com' }))
  return tryOn.get().state
}

async function rest(intent: () => Promise<void>): Promise<void> {
  await intent()
  await new Promise<void>((resolve) => {
    const look = () => {
      const { state, can, waitingUntil } = tryOn.get()
      if (waitingUntil !== null) setImmediate(() => clock.skip(Math.max(0, waitingUntil - clock.now())))
      if (!stops.includes(state) || (state === 'needsEmail' && !can.submitEmail)) return
      subscription.unsubscribe()
      resolve()
    }
    const subscription = tryOn.subscribe(look)
    look()
  })
}

/** What the table says of one fault in a flow that is served well otherwise. */
function expectedEnd(operation: Requested, situation: Situation): TryOnState {
  // where the visitor can not be asked first, the submission decides
  if (operation === 'getRequestsLeft') return 'final'
  // a target that takes no photo but says so fails the job; its answer has no body to misfit, and it knows no key
  if (operation === 'putPhoto' && situation === 'misfit') return 'failed'
  if (operation === 'putPhoto' && situation === 'keyRefused') return 'rejected'
  const meaning = meanings[situation][columnOf(operation)]
  // a refused address is asked for again
  if (operation === 'registerCustomer' && !['unavailable', 'throttled', 'rejected.key'].includes(meaning))
    return 'needsEmail'
  if (meaning === 'rejected.email') return 'needsEmail'
  if (meaning === 'rejected.key') return 'unauthorized'
  if (meaning === 'rejected.request') return 'rejected'
  if (meaning === 'limitReached' || meaning === 'protocolError' || meaning === 'outcomeUnknown') return meaning
  return 'final'
}

const cells = operations.flatMap(([operation, request]) =>
  Object.entries(wireFaults).flatMap(([situation, wires]) =>
    wires.map(([how, fault]) => ({ operation, request, situation: situation as Situation, how, fault })),
  ),
)
it('comes in as many ways as the README says', () => {
  const ways = Object.values(wireFaults).flat().length
  expect(readFileSync(new URL('../../README.md', import.meta.url), 'utf8')).toContain(`in ${ways} ways at the socket`)
})

const totals = { faults: 0, paidTwice: 0, lost: 0, untrue: 0 }
afterAll(() => console.log(`at the socket: ${JSON.stringify(totals)}`))

/** No more than one submission whose outcome is not a rejection, and never another one after it. */
function checkPromises(operation: Requested, situation: Situation): void {
  const { attempt, state } = tryOn.get()
  totals.faults++
  if (service.jobs.size > 1) totals.paidTwice++
  if (state === 'final' && !service.jobs.has(attempt?.jobId ?? '')) totals.untrue++
  if (operation === 'getGeneration' && attempt?.jobId == null) totals.lost++
  expect(totals).toMatchObject({ paidTwice: 0, lost: 0, untrue: 0 })
  const meaning = meanings[situation].submission
  if (operation === 'createGeneration' && ['outcomeUnknown', 'protocolError'].includes(meaning)) {
    expect(submissions()).toBe(1)
  }
}

describe.each(operations)('%s at the socket', (operation, request) => {
  const own = cells.filter((cell) => cell.operation === operation)

  it.each(own.map((cell) => [`${cell.situation}: ${cell.how}`, cell] as const))('%s, once', async (_, cell) => {
    open(operation, 3 * limitMs)
    service.plan(request, cell.fault, 'once')
    expect(await end(operation)).toBe(expectedEnd(operation, cell.situation))
    checkPromises(operation, cell.situation)
  })

  it.each(own.map((cell) => [`${cell.situation}: ${cell.how}`, cell] as const))('%s, always', async (_, cell) => {
    open(operation, 500 * times)
    service.plan(request, cell.fault, 'always')
    await end(operation)
    checkPromises(operation, cell.situation)
    const error = await tryOn.result({ rejectOnInput: true }).catch((reason: unknown) => reason)
    if (tryOn.get().state === 'final') return
    expect(error).toBeInstanceOf(TryOnError)
    expect((error as TryOnError).jobId).toBe(tryOn.get().attempt?.jobId ?? null)
    if (operation === 'getGeneration') expect(service.jobs.has((error as TryOnError).jobId ?? '')).toBe(true)
  })
})

describe('getContext at the socket', () => {
  it.each(
    Object.entries(wireFaults).flatMap(([situation, ways]) =>
      ways.map(([how, fault]) => [`${situation}: ${how}`, situation as Situation, how, fault] as const),
    ),
  )('%s', async (_, situation, how, fault) => {
    const { client } = open('getContext', limitMs)
    service.plan('GET /context', fault, 'always')
    const meaning = meanings[situation].read
    const { kind } = await client.getContext()
    expect(kind).toBe(meaning.split('.')[0])
    // after a 421 fetch itself asks once more for what has no body, on another connection
    expect(service.reached).toHaveLength(how === '421' ? 2 : 1)
    totals.faults++
  })
})
