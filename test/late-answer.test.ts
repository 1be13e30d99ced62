import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { FittingRoomOptions } from 'fitting-room'
import { isWrite, refused, testStorage } from './support/storage.ts'
import { answers, createWorld, dropped, person, product, started, type World } from './support/world.ts'

let world: World
beforeEach(() => void (world = createWorld({ storage: testStorage() })))
afterEach(() => world.close())

/** An attempt that was left before its answer has come. */
async function left() {
  const held = world.hold('POST', '/generations', 'after')
  const room = world.room({ timing: { submitTimeoutMs: 5_000 } })
  const tryOn = room.tryOn(product)
  await tryOn.start(person)
  await held.reached
  await world.until(tryOn, 'outcomeUnknown')
  await tryOn.startOver()
  return { room, tryOn, held }
}

it('what was answered with success and against the contract is archived, and discarded on the word for it alone', async () => {
  world.fault('POST', '/generations', [answers(200, { data: { jobId: 7 } })])
  const room = world.room()
  const tryOn = await started(room.tryOn(product))
  const { attempt } = await world.until(tryOn, 'protocolError')
  await expect(tryOn.discard()).rejects.toMatchObject({ kind: 'paidJob' })
  await tryOn.startOver()
  expect(await room.list()).toMatchObject([{ attemptId: attempt?.id, state: 'protocolError', archived: true }])
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

  it('that comes after a discard() which storage refused is taken', async () => {
    const storage = testStorage()
    const held = world.hold('POST', '/generations', 'after')
    const tryOn = await started(world.room({ storage, timing: { submitTimeoutMs: 5_000 } }).tryOn(product))
    tryOn.subscribe(() => {})
    await held.reached
    await world.until(tryOn, 'outcomeUnknown')
    storage.meet(isWrite, refused)
    await expect(tryOn.discard({ abandonPaidJob: true })).rejects.toMatchObject({ kind: 'storage' })
    storage.recover()
    held.release()
    const { attempt } = await world.until(tryOn, 'final')
    const listed = await world.room({ storage: storage.another() }).list()
    expect(listed).toMatchObject([{ state: 'final', jobId: attempt?.jobId }])
  })

  it('to a room that was closed meanwhile is told to the page that has gone on with it', async () => {
    const held = world.hold('POST', '/generations', 'after')
    const room = world.room()
    await room.tryOn(product).start(person)
    await held.reached
    room.close()
    const other = world.room().tryOn(product)
    other.subscribe(() => {})
    await world.until(other, 'outcomeUnknown')
    held.release()
    await world.until(other, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('is kept by a page that has heard of it, though nothing can be written before who was answered has gone', async () => {
    const storage = testStorage()
    const there = storage.another()
    const held = world.hold('POST', '/generations', 'after')
    const room = world.room({ storage })
    await started(room.tryOn(product))
    await held.reached
    room.close()
    const other = world.room({ storage: there }).tryOn(product)
    other.subscribe(() => {})
    await world.until(other, 'outcomeUnknown')
    // nothing is written in the room that was closed any more
    storage.meet(isWrite, refused)
    there.meet(isWrite, refused)
    held.release()
    const seen = new Set<string>()
    other.subscribe(({ state }) => seen.add(state))
    const { attempt } = await world.until(other, 'final')
    expect(seen).not.toContain('outcomeUnknown')
    there.recover()
    await world.pass(10_000)
    const listed = await world.room({ storage: there.another() }).list()
    expect(listed).toMatchObject([{ state: 'final', jobId: attempt?.jobId }])
  })

  it.each([
    ['a picture', '2001', 'final'],
    ['a refusal', '2999', 'rejected'],
  ] as const)('that is %s is found in storage by a page that hears nobody', async (_, variantId, state) => {
    vi.stubGlobal('BroadcastChannel', undefined)
    onTestFinished(() => void vi.unstubAllGlobals())
    const asked = { ...product, variantId }
    const held = world.hold('POST', '/generations', 'after')
    const room = world.room()
    await started(room.tryOn(asked))
    await held.reached
    room.close()
    const other = world.room().tryOn(asked)
    await world.until(other, 'outcomeUnknown')
    held.release()
    await world.until(other, state)
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('is told to a page that was put away and is used all the same', async () => {
    let life: Parameters<NonNullable<FittingRoomOptions['pageLife']>>[0] | undefined
    const away = world.room({ pageLife: (told) => ((life = told), () => {}) }).tryOn(product)
    away.subscribe(() => {})
    await world.settle()
    life?.onHide(false)
    const held = world.hold('POST', '/generations', 'after')
    const room = world.room()
    await started(room.tryOn(product))
    await held.reached
    room.close()
    away.subscribe(() => {})
    await world.until(away, 'outcomeUnknown')
    held.release()
    await world.until(away, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('of an attempt that was left is told to whoever has opened it from the archive', async () => {
    const { room, tryOn, held } = await left()
    const opened = (await room.list())[0]?.open()
    opened?.subscribe(() => {})
    await world.until(opened!, 'outcomeUnknown')
    held.release()
    await world.until(opened!, 'final')
    expect(tryOn.get().state).toBe('idle')
  })

  it('of an attempt that was left goes to the archive', async () => {
    const { room, held } = await left()
    held.release()
    await world.settle()
    const [archived] = await room.list()
    expect(archived).toMatchObject({ archived: true, phase: 'accepted', jobId: expect.any(String) })
  })

  it('makes an attempt unknown in the list as in the view, for good, and in other pages as well', async () => {
    world.fault('POST', '/generations', [dropped])
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'outcomeUnknown')
    const states = async () => (await room.list()).map(({ state }) => state)
    expect(await states()).toEqual(['outcomeUnknown'])
    await tryOn.retry()
    await world.until(tryOn, 'final')
    const elsewhere = (await world.room().list()).map(({ state }) => state)
    expect([(await states()).toSorted(), elsewhere.toSorted()]).toEqual([
      ['final', 'outcomeUnknown'],
      ['final', 'outcomeUnknown'],
    ])
  })

  it('of a page that is gone is one that is out, until it can be no more', async () => {
    const held = world.hold('POST', '/generations')
    await started(world.room().tryOn(product))
    await held.reached
    const states = async () => (await world.room().list()).map(({ state }) => state)
    expect(await states()).toEqual(['submitting'])
    world.clock.advance(700_000)
    expect(await states()).toEqual(['outcomeUnknown'])
    held.release()
  })

  it('is never sent again by itself, whatever time passes', async () => {
    world.fault('POST', '/generations', [dropped])
    const tryOn = await started(world.room().tryOn(product))
    await world.until(tryOn, 'outcomeUnknown')
    world.clock.advance(3_600_000)
    await world.settle()
    expect(tryOn.get().state).toBe('outcomeUnknown')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('that comes late is taken by whoever runs the try-on by then', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    const held = world.hold('POST', '/generations', 'after')
    await started(tryOn)
    await held.reached
    room.close()
    await world.until(tryOn, 'outcomeUnknown')
    held.release()
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('that comes late is kept when another try-on was discarded meanwhile', async () => {
    const room = world.room({ timing: { submitTimeoutMs: 5_000 } })
    const [one, two] = [room.tryOn(product), room.tryOn({ ...product, variantId: '2002' })]
    const held = world.hold('POST', '/generations', 'after')
    await started(one)
    await held.reached
    await world.until(one, 'outcomeUnknown')
    await one.startOver()
    await started(two)
    await world.until(two, 'processing')
    await two.discard({ abandonPaidJob: true })
    held.release()
    await world.settle()
    expect((await room.list()).map(({ jobId }) => jobId)).toEqual([expect.any(String)])
  })

  it('is learned by a page that runs the same try-on, since nothing keeps it out, wherever that stands', async () => {
    const storage = testStorage({ atomic: false })
    world.fault('POST', '/generations', [answers(401, { error: 'Unauthorized' })])
    const submits = await started(world.room({ storage }).tryOn(product))
    await world.until(submits, 'unauthorized')
    const lags = world.room({ storage: storage.another() }).tryOn(product)
    await world.until(lags, 'unauthorized')
    await submits.resume()
    const { attempt } = await world.until(submits, 'processing')
    expect(await world.until(lags, 'processing')).toMatchObject({ attempt })
    expect(world.count('POST', '/generations')).toBe(2)
  })

  it('that comes after storage was emptied is followed by a page that has seen nothing there since', async () => {
    const storage = testStorage()
    const held = world.hold('POST', '/generations', 'after')
    const room = world.room({ storage })
    const tryOn = room.tryOn(product)
    await tryOn.start(person)
    await held.reached
    room.close()
    storage.items.clear()
    tryOn.subscribe(() => {})
    await world.until(tryOn, 'idle')
    held.release()
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('of which nobody knows anything is one in every page that hears nobody', async () => {
    vi.stubGlobal('BroadcastChannel', undefined)
    onTestFinished(() => void vi.unstubAllGlobals())
    world.fault('POST', '/generations', [answers(500, { error: 'Could not create generation' })])
    const tryOn = await started(world.room().tryOn(product))
    await world.until(tryOn, 'outcomeUnknown')
    const other = world.room().tryOn(product)
    await world.until(other, 'outcomeUnknown')
    await expect(other.result()).rejects.toMatchObject({ kind: 'outcomeUnknown' })
  })
})
