import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { TryOnError } from 'fitting-room'
import {
  answers,
  createWorld,
  dropped,
  lost,
  person,
  product,
  refuses,
  started,
  type Fault,
  type World,
} from './support/world.ts'

let world: World
beforeEach(() => void (world = createWorld()))
afterEach(() => world.close())

const message = 'Come back tomorrow!'
const submissions = () => world.count('POST', '/generations')
const polls = () => world.count('GET', '/generations')
/** Long enough for anything that would repeat by itself. */
const anHour = async () => {
  for (let minute = 0; minute < 60; minute++) {
    world.clock.advance(60_000)
    await world.settle()
  }
}

const submitted = () => started(world.room().tryOn(product))

describe('client behaviour required by the contract (contract §7)', () => {
  it.each(['GET /funnel', 'POST /uploads', 'POST /generations'])(
    'rule 1: %s answered 400 is not repeated unchanged',
    async (request) => {
      const [method = '', path = ''] = request.split(' ')
      world.fault(method, path, [answers(400, { error: 'Invalid request' })], true)
      await world.until(await submitted(), 'rejected')
      await anHour()
      expect(world.count(method, path)).toBe(1)
    },
  )

  it('rule 2: a poll without an answer or with a 5xx is retried with bounded backoff on the same job', async () => {
    // the pauses are drawn at random, up to a bound that doubles
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    const at: number[] = []
    const failing =
      (fault: Fault): Fault =>
      (reach, request) => (at.push(world.clock.now()), fault(reach, request))
    const faults = [dropped, lost, answers(500, {}), answers(503, {}), dropped, dropped, dropped, dropped]
    world.fault('GET', '/generations', faults.map(failing))
    await world.until(await submitted(), 'final')
    const waits = at.slice(1).map((time, after) => time - (at[after] ?? 0))
    expect(waits.length).toBe(7)
    vi.restoreAllMocks()
    expect(Math.max(...waits)).toBeLessThanOrEqual(30_000)
    expect(waits[4]).toBeGreaterThan(waits[0] ?? 0)
    expect(
      new Set(world.sent.filter((each) => each.path.startsWith('/generations/')).map((each) => each.path)).size,
    ).toBe(1)
    expect(submissions()).toBe(1)
  })

  it('rule 3: a poll with the IP limit waits for Retry-After, within the deadline, and creates no new job', async () => {
    world.fault('GET', '/generations', [refuses('rateLimitExceeded', { retryAfter: 20 })])
    const tryOn = await submitted()
    const { waitingUntil } = await world.until(tryOn, (view) => view.waitingUntil !== null)
    expect(waitingUntil).toBe(world.clock.now() + 20_000)
    world.clock.advance(19_000)
    await world.settle()
    expect(polls()).toBe(1)
    await world.until(tryOn, 'final')
    expect(submissions()).toBe(1)
  })

  it('rule 3: a Retry-After beyond the deadline stalls', async () => {
    world.fault('GET', '/generations', [refuses('rateLimitExceeded', { retryAfter: 600 })])
    const tryOn = await submitted()
    await world.until(tryOn, 'stalled')
    expect(submissions()).toBe(1)
  })

  it('rule 4: a throttled submission waits, then the same attempt is sent again', async () => {
    world.fault('POST', '/generations', [refuses('rateLimitExceeded', { retryAfter: 20 })])
    const tryOn = await submitted()
    const waiting = await world.until(tryOn, (view) => view.waitingUntil !== null)
    world.clock.advance(19_000)
    await world.settle()
    expect(submissions()).toBe(1)
    const { attempt } = await world.until(tryOn, 'final')
    expect(attempt?.id).toBe(waiting.attempt?.id)
    expect(submissions()).toBe(2)
  })

  it.each<[string, Fault]>([
    ['without an answer', dropped],
    ['with a lost answer', lost],
    ['with a 5xx', refuses('couldNotCreateGeneration')],
  ])('rule 5: a submission %s is unknown and not sent again', async (_, fault) => {
    world.fault('POST', '/generations', [fault])
    await world.until(await submitted(), 'outcomeUnknown')
    await anHour()
    expect(submissions()).toBe(1)
  })

  it('rule 6: a job that ended in ERROR is polled no more, and only the shopper starts another', async () => {
    const tryOn = world.room().tryOn({ ...product, variantId: '2003' })
    await tryOn.start(person)
    await world.until(tryOn, 'failed')
    const before = polls()
    await anHour()
    expect([polls(), submissions()]).toEqual([before, 1])
    await tryOn.retry(person)
    await world.until(tryOn, 'failed')
    expect(submissions()).toBe(2)
  })

  it('rule 7: the try-on limit shows its message and is not retried, whatever its Retry-After says', async () => {
    world.fault('POST', '/generations', [refuses('tryOnLimitReached', { message, retryAfter: 1 })], true)
    const view = await world.until(await submitted(), 'limitReached')
    expect([view.message, view.waitingUntil]).toEqual(['Come back tomorrow!', null])
    await anHour()
    expect(submissions()).toBe(1)
  })

  it('rule 8: a malformed success stops with a protocol problem; no job ID is inferred', async () => {
    world.fault('POST', '/generations', [answers(200, { data: { jobId: 'job-1', etaSeconds: 40 } })])
    const view = await world.until(await submitted(), 'protocolError')
    expect([view.attempt?.jobId, view.problem?.kind]).toEqual([null, 'protocol'])
    await anHour()
    expect([submissions(), polls()]).toEqual([1, 0])
  })

  it('rule 8: a malformed result stops with a protocol problem; no picture is inferred', async () => {
    world.fault('GET', '/generations', [answers(200, { data: { status: 'SUCCESS', imageUrl: 'https://api.test/p' } })])
    const view = await world.until(await submitted(), 'protocolError')
    expect([view.result, view.preview, view.problem?.kind]).toEqual([null, null, 'protocol'])
    expect(view.attempt?.jobId).not.toBeNull()
  })

  it('rule 9: a deadline is no failure, and the known job is resumed', async () => {
    world.fault('GET', '/generations', [answers(200, { data: { status: 'PROCESSING' } })], true)
    const tryOn = await submitted()
    const stalled = await world.until(tryOn, 'stalled')
    await expect(tryOn.result()).rejects.toMatchObject({ jobId: stalled.attempt?.jobId })
    await expect(tryOn.result()).rejects.toBeInstanceOf(TryOnError)
    expect(stalled.can.resume).toBe(true)
    await tryOn.resume()
    const { attempt } = await world.until(tryOn, 'processing')
    expect(attempt?.jobId).toBe(stalled.attempt?.jobId)
    expect(submissions()).toBe(1)
  })
})
