import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TryOnError } from 'fitting-room'
import { meanings, type Requested, type Situation } from '../../src/rules/outcome.ts'
import { expectedEnd, limitMs, openFlow, times, type Flow, type Way } from './flow.ts'
import { wireFaults } from './wire-faults.ts'

let flow: Flow
const openBefore = (way: Way) => {
  beforeEach(async () => {
    flow = await openFlow(way)
  })
  afterEach(() => flow.close())
}

const ways: Way[] = ['directly', 'through the proxy']

/** What no answer, or one that a browser would follow or say again, is behind the proxy. */
const proxied: Partial<Record<Situation, Situation>> = {
  lost: 'serverError',
  timeout: 'serverError',
  redirected: 'serverError',
  serverTimeout: 'serverError',
}
function seen(way: Way, operation: Requested | 'getContext', situation: Situation): Situation {
  if (way === 'directly') return situation
  // no shopper can mend the key of a server
  if (situation === 'keyRefused') return operation === 'createGeneration' ? 'otherTooMany' : 'serverError'
  return proxied[situation] ?? situation
}

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

const cells = operations.flatMap(([operation, request]) =>
  Object.entries(wireFaults).flatMap(([situation, wires]) =>
    wires.map(([how, fault]) => ({ operation, request, situation: situation as Situation, how, fault })),
  ),
)
it('comes in as many ways as the guide says', () => {
  const ways = Object.values(wireFaults).flat().length
  expect(readFileSync(new URL('../../docs/proof.md', import.meta.url), 'utf8')).toContain(
    `in ${ways} ways at the socket`,
  )
})

const totals = { faults: 0, paidTwice: 0, lost: 0, untrue: 0 }
afterAll(() => console.log(`at the socket: ${JSON.stringify(totals)}`))

/** No more than one submission whose outcome is not a rejection, and never another one after it. */
function checkPromises(operation: Requested, situation: Situation): void {
  const { service, submissions, tryOn } = flow
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

/** Each operation that goes that way; the photo goes straight to its target. */
const journeys = ways.flatMap((way) =>
  operations
    .filter(([operation]) => way === 'directly' || operation !== 'putPhoto')
    .map(([operation, request]) => [operation, way, request] as const),
)

describe.each(journeys)('%s at the socket, %s', (operation, way, request) => {
  openBefore(way)
  const own = cells.filter((cell) => cell.operation === operation)

  it.each(own.map((cell) => [`${cell.situation}: ${cell.how}`, cell] as const))('%s, once', async (_, cell) => {
    flow.open(operation, 3 * limitMs)
    flow.service.plan(request, cell.fault, 'once')
    expect(await flow.end(operation)).toBe(expectedEnd(operation, seen(way, operation, cell.situation)))
    checkPromises(operation, cell.situation)
  })

  it.each(own.map((cell) => [`${cell.situation}: ${cell.how}`, cell] as const))('%s, always', async (_, cell) => {
    flow.open(operation, 500 * times)
    const { service, tryOn } = flow
    service.plan(request, cell.fault, 'always')
    await flow.end(operation)
    checkPromises(operation, cell.situation)
    const error = await tryOn.result({ rejectOnInput: true }).catch((reason: unknown) => reason)
    if (tryOn.get().state === 'final') return
    expect(error).toBeInstanceOf(TryOnError)
    expect((error as TryOnError).jobId).toBe(tryOn.get().attempt?.jobId ?? null)
    if (operation === 'getGeneration') expect(service.jobs.has((error as TryOnError).jobId ?? '')).toBe(true)
  })
})

describe.each(ways)('getContext at the socket, %s', (way) => {
  openBefore(way)

  it.each(
    Object.entries(wireFaults).flatMap(([situation, ways]) =>
      ways.map(([how, fault]) => [`${situation}: ${how}`, situation as Situation, how, fault] as const),
    ),
  )('%s', async (_, situation, how, fault) => {
    const { client } = flow.open('getContext', limitMs)
    flow.service.plan('GET /context', fault, 'always')
    const meaning = meanings[seen(way, 'getContext', situation)].read
    const { kind } = await client.getContext()
    expect(kind).toBe(meaning.split('.')[0])
    // after a 421 fetch itself asks once more for what has no body, on another connection
    expect(flow.service.reached).toHaveLength(how === '421' ? 2 : 1)
    totals.faults++
  })
})
