import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { memoryStorage } from 'fitting-room/storage/memory'
import { testStorage, recordKey } from './support/storage.ts'
import { reported } from './support/reported.ts'
import { answers, createWorld, person, product, started, type World } from './support/world.ts'

let world: World
beforeEach(() => void (world = createWorld({ storage: testStorage() })))
afterEach(() => world.close())

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
    await world.until(await started(world.room().tryOn(product)), 'final')
    const room = world.room()
    await room.ready
    expect(room.visitor.get()).toMatchObject({ requestsLeft: 1, totalRequests: 1, uniqueUserId: expect.any(String) })
  })

  it('an empty visitor ID is none: it is not kept, and stops no poll', async () => {
    world.fault('POST', '/generations', [
      async (reach) => {
        const { data } = (await (await reach()).json()) as { data: object }
        return Response.json({ data: { ...data, uniqueUserId: '' } })
      },
    ])
    const room = world.room()
    await world.until(await started(room.tryOn(product)), 'final')
    expect(room.visitor.get().uniqueUserId).not.toBe('')
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

  it('shares nothing with a room of another namespace, in the same storage and of the same service', async () => {
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'final')
    const other = world.room({ namespace: 'other' })
    await world.until(other.tryOn(product), 'idle')
    expect([await other.list(), other.photo.get(), other.visitor.get().uniqueUserId]).toEqual([[], null, null])
    await other.reset()
    await world.settle()
    expect(tryOn.get().state).toBe('final')
    expect(await room.list()).toHaveLength(1)
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

  it.each([false, true])(
    'close() while requests wait for their key: they are not sent any more',
    async (askVisitorFirst) => {
      const waiting: ((key: string) => void)[] = []
      let isSlow = true
      const apiKey = () =>
        isSlow ? new Promise<string>((resolve) => waiting.push(resolve)) : Promise.resolve(world.apiKey.current)
      const room = world.room({ askVisitorFirst, apiKey })
      const tryOn = await started(room.tryOn(product))
      await world.settle()
      // the funnel, the upload target, and the visitor where that is asked for first
      expect(waiting).toHaveLength(askVisitorFirst ? 3 : 2)
      room.close()
      for (const read of waiting) read(world.apiKey.current)
      await world.settle()
      expect(world.sent).toEqual([])
      isSlow = false
      await world.until(tryOn, 'final')
    },
  )

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

  it.each([
    [
      'throws',
      (bug: Error) => {
        throw bug
      },
    ],
    ['rejects', (bug: Error) => Promise.reject(bug)],
  ])('a subscriber that %s stops nothing, nor the process', async (_, breaks) => {
    const { told, end } = reported()
    const room = world.room()
    const tryOn = room.tryOn(product)
    let thrown = false
    room.visitor.subscribe(() => {
      if (thrown) return undefined
      thrown = true
      return breaks(new Error('a bug of the page')) as unknown as undefined
    })
    await started(tryOn)
    await world.until(tryOn, 'final')
    await vi.waitFor(() => expect(told).toEqual([new Error('a bug of the page')]), { timeout: 15_000 })
    end()
  })

  it('an intent of a room that is closed meanwhile rejects, and so does result()', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    const result = tryOn.result().catch((error: unknown) => error)
    const intent = tryOn.start(person).catch((error: unknown) => error)
    room.close()
    expect(await result).toMatchObject({ problem: { kind: 'stopped', reason: 'closed' } })
    expect(await intent).toMatchObject({ problem: { kind: 'stopped', reason: 'closed' } })
  })
})

describe('a base URL', () => {
  it('that changes sends nothing to the new installation', async () => {
    let base = 'https://api.test'
    const room = world.room({ baseUrl: () => base })
    const tryOn = room.tryOn(product)
    const held = world.hold('PUT', '/photos')
    await started(tryOn)
    await held.reached
    base = 'https://elsewhere.test'
    held.release()
    expect((await world.until(tryOn, 'rejected')).problem).toMatchObject({ situation: 'moved' })
    expect(world.count('POST', '/generations')).toBe(0)
  })

  it('that changes gets no e-mail address', async () => {
    let base = 'https://api.test'
    const tryOn = world.room({ baseUrl: () => base, askVisitorFirst: true }).tryOn(product)
    world.fault('GET', '/requests-left', [
      answers(200, { data: { requestsLeft: 0, totalRequests: 2, uniqueUserId: 'v' } }),
    ])
    await world.until(await started(tryOn), 'needsEmail')
    base = 'https://elsewhere.test'
    await tryOn.submitEmail({ email: 'ada@example.com' })
    expect((await world.until(tryOn, 'rejected')).problem).toMatchObject({ situation: 'moved' })
    expect(world.count('POST', '/customer-register')).toBe(0)
  })

  it('that is missing for a moment does not end the try-on', async () => {
    let base = 'https://api.test'
    const tryOn = world.room({ baseUrl: () => base }).tryOn(product)
    await started(tryOn)
    await world.until(tryOn, 'processing')
    base = ''
    world.clock.advance(5_000)
    await world.settle()
    base = 'https://api.test'
    await world.until(tryOn, 'final')
  })
})

it('a room that cannot be opened yet follows its page’s life once, and not any more once it is closed', async () => {
  let base = ''
  const followed = new Set<object>()
  const room = world.room({
    baseUrl: () => base,
    storage: memoryStorage(),
    pageLife(life) {
      followed.add(life)
      return () => {
        if (!followed.delete(life)) throw new Error('it had ended')
      }
    },
  })
  for (let tries = 0; tries < 3; tries++) await expect(room.ready).rejects.toMatchObject({ problem: { at: 'baseUrl' } })
  base = 'https://api.test'
  await room.ready
  expect(followed.size).toBe(1)
  room.close()
  expect(followed.size).toBe(0)
})

it('an e-mail address that the service repeats in its refusal is neither kept nor shown', async () => {
  const storage = testStorage()
  await world.close()
  world = createWorld({ storage })
  world.fault('POST', '/generations', [answers(400, { error: 'ada@example.com is refused' })])
  const inspected: string[] = []
  const room = world.room({ inspect: (event) => inspected.push(JSON.stringify(event)) })
  const tryOn = room.tryOn(product)
  tryOn.subscribe(() => {})
  await tryOn.start(person, { customerEmail: 'ada@example.com' })
  const { problem } = await world.until(tryOn, 'rejected')
  expect(problem).toMatchObject({ error: '[e-mail] is refused' })
  expect(storage.items.get(recordKey)).not.toContain('ada@example.com')
  expect(inspected.join()).toContain('submitting')
  expect(inspected.join()).not.toContain('ada@example.com')
})
