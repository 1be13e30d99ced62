import type { InspectedRequest, InspectEvent } from 'fitting-room'
import { afterEach, expect, it, vi } from 'vitest'
import { answers, createWorld, dropped, person, product, refuses } from './support/world.ts'

afterEach(() => void vi.unstubAllGlobals())

it('inspect tells each event of a try-on and where it stands since then, in words of its own', async () => {
  const world = createWorld()
  const told: InspectEvent[] = []
  const tryOn = world.room({ inspect: (event) => told.push(event) }).tryOn(product)
  await tryOn.start(person)
  await world.until(tryOn, 'final')
  expect(told.map(({ type }) => type)).toContain('start')
  expect(told.flatMap(({ states }) => states)).toEqual(
    expect.arrayContaining(['restoring', 'preparing.gathering.photo.uploading', 'submitting.sending', 'final']),
  )
  expect(told.filter(({ type }) => type.includes('.'))).toEqual([])
  expect(told.map(({ state }) => state)).toEqual(
    expect.arrayContaining(['submitting', 'processing', 'preview', 'final']),
  )
  for (const each of told) expect(each).toMatchObject({ productId: '1001', variantId: '2001' })
  // the next look at the job is known while it goes on, and none is once there is its picture
  const following = told.filter(({ states, nextAt }) => states[0]?.startsWith('following') && nextAt !== null)
  expect(following.length).toBeGreaterThan(0)
  for (const { nextAt } of following) expect(nextAt).toBeGreaterThan(world.clock.now() - 60_000)
  expect(told.at(-1)).toMatchObject({ states: ['final'], nextAt: null })
  await world.close()
})

it('inspectRequests tells what each request has come to, also one that was never sent, and nothing private', async () => {
  const world = createWorld()
  const told: InspectedRequest[] = []
  world.fault('GET', '/funnel', [answers(503, { error: 'Service unavailable' }), dropped])
  world.fault('POST', '/generations', [refuses('emailRequired')])
  const room = world.room({ uniqueUserId: 'me', inspectRequests: (request) => told.push(request) })
  const tryOn = room.tryOn(product)
  await tryOn.start(person)
  await world.until(tryOn, 'needsEmail')
  await tryOn.submitEmail({ email: 'me@example.com' })
  await world.until(tryOn, 'final')
  const of = (operation: string) => told.filter((each) => each.operation === operation)
  expect(of('getFunnel')).toMatchObject([
    { situation: 'serverError', outcome: 'unavailable', status: 503 },
    { situation: 'lost', outcome: 'unavailable', status: null },
    { situation: 'fits', outcome: 'accepted', status: 200 },
  ])
  expect(of('putPhoto')).toMatchObject([{ situation: 'fits', status: 200, price: 0 }])
  expect(of('createGeneration')).toMatchObject([
    { situation: 'emailRequired', outcome: 'rejected', status: 403 },
    { situation: 'fits', outcome: 'accepted' },
  ])
  expect(of('getGeneration').length).toBe(world.count('GET', '/generations/'))
  vi.stubGlobal('navigator', { onLine: false })
  const photo = { bytes: new ArrayBuffer(1), type: 'image/png' }
  await room.client.putPhoto('https://uploads.test/a', photo)
  await room.client.putPhoto('nowhere', photo)
  expect(of('putPhoto').slice(1)).toMatchObject([
    { situation: 'offline', outcome: 'unavailable', status: null },
    { situation: 'invalid', outcome: 'rejected', status: null },
  ])
  for (const { at, tookMs } of told) expect([Number.isFinite(at), tookMs >= 0]).toEqual([true, true])
  expect(JSON.stringify(told)).not.toMatch(/me@example|"me"|main-key|https?:/)
  await world.close()
})
