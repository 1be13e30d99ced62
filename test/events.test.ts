import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { FittingRoom, FittingRoomOptions, RoomEvent } from 'fitting-room'
import { mockRoom } from 'fitting-room/testing'
import { full, hung, refused, testStorage, type TestStorage } from './support/storage.ts'
import { answers, createWorld, person, product, refuses, refusesVariant, started, type World } from './support/world.ts'

/** What is loaded with the first event is there: no time of a test's own clock passes until it is. */
beforeAll(() => import('../src/afterwards/afterwards.ts'))

let world: World
beforeEach(() => void (world = createWorld({ storage: testStorage() })))
afterEach(() => {
  vi.unstubAllGlobals()
  return world.close()
})

/** A room, and what it tells. */
function told(options: Partial<FittingRoomOptions> = {}, room: FittingRoom = world.room(options)) {
  const events: RoomEvent[] = []
  const { unsubscribe } = room.on((event) => events.push(event))
  return { room, events, unsubscribe, types: () => events.map(({ type }) => type) }
}

/** A try-on whose picture is there on a page that is hidden. */
async function unseen(storage: TestStorage) {
  const page = { visibilityState: 'hidden' }
  vi.stubGlobal('document', page)
  const heard = told({ storage })
  const tryOn = heard.room.tryOn(product)
  tryOn.subscribe(() => {})
  await started(tryOn)
  await world.until(tryOn, 'final')
  await world.settle()
  return { ...heard, tryOn, page }
}

const whole = ['photoChosen', 'consented', 'submitted', 'preview', 'final', 'seen']

describe('a room tells', () => {
  it('of an attempt from its photo to the picture that was seen, once each, and nothing personal', async () => {
    const { room, events, types } = told({ uniqueUserId: 'shopper-7' })
    const tryOn = await started(room.tryOn({ ...product, productId: 'gid://platform/Product/1001' }))
    const view = await world.until(tryOn, 'final')
    await world.settle()
    expect(types().filter((type) => type !== 'seen')).toEqual(whole.slice(0, -1))
    tryOn.subscribe(() => {})
    await world.settle()
    expect(types()).toEqual(whole)
    expect(new Set(events.map(({ key }) => key)).size).toBe(whole.length)
    for (const event of events)
      expect(event).toMatchObject({ attemptId: view.attempt!.id, productId: '1001', variantId: '2001' })
    expect(events[4]!.at).toBeGreaterThan(events[1]!.at)
    expect(events[4]!.sinceMs).toBe(events[4]!.at - view.attempt!.startedAt)
    const text = JSON.stringify(events)
    for (const personal of ['shopper-7', view.attempt!.jobId!, view.result!.imageUrl])
      expect(text).not.toContain(personal)
  })

  it('the same through the door, which loads nothing for who only listens', async () => {
    const room = world.door()
    const { types } = told({}, room)
    await world.settle()
    expect(world.sent).toEqual([])
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    await started(tryOn)
    await world.until(tryOn, 'final')
    await world.settle()
    expect(types()).toEqual(whole)
  })

  it('of a picture as seen only while its page is visible', async () => {
    const page = { visibilityState: 'hidden' }
    Object.assign(globalThis, { document: page })
    let wake = () => {}
    const pageLife: FittingRoomOptions['pageLife'] = (life) => {
      wake = life.onWake
      return () => {}
    }
    try {
      const { room, types } = told({ pageLife })
      const tryOn = room.tryOn(product)
      tryOn.subscribe(() => {})
      await started(tryOn)
      await world.until(tryOn, 'final')
      await world.settle()
      expect(types()).not.toContain('seen')
      page.visibilityState = 'visible'
      wake()
      await world.settle()
      expect(types().at(-1)).toBe('seen')
    } finally {
      Reflect.deleteProperty(globalThis, 'document')
    }
  })

  it('of no picture as seen to who only asks for it', async () => {
    const { room, types } = told()
    const tryOn = room.tryOn(product)
    await tryOn.start(person)
    const result = tryOn.result()
    await world.pass(20_000)
    await result
    for (const ask of [() => tryOn.result(), () => tryOn.ticket(), () => tryOn.picture(), () => tryOn.ready]) {
      await ask()
      await world.settle()
    }
    expect(types()).toEqual(whole.slice(0, -1))
  })

  it('of an address that is asked for and given, in between', async () => {
    const { room, types } = told()
    world.fault('POST', '/generations', [refuses('emailRequired')])
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'needsEmail')
    await tryOn.submitEmail({ email: 'a@example.com' })
    await world.until(tryOn, 'final')
    await world.settle()
    expect(types().filter((type) => type !== 'seen')).toEqual([
      'photoChosen',
      'consented',
      'submitted',
      'emailAsked',
      'emailGiven',
      'preview',
      'final',
    ])
  })

  it.each([
    ['limited', refuses('tryOnLimitReached'), 'limitReached', undefined],
    ['failed', refusesVariant, 'rejected', 'refused'],
    ['unknown', () => Promise.reject(new TypeError('lost')), 'outcomeUnknown', undefined],
  ] as const)('that it is %s', async (type, fault, state, problem) => {
    world.fault('POST', '/generations', [fault])
    const { room, events } = told()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, state)
    await world.settle()
    const [found] = events.filter((event) => event.type === type)
    expect(found).toBeDefined()
    if (problem) expect(found).toMatchObject({ problem })
  })

  it('of another attempt in its place, with the photo that was chosen before', async () => {
    const { room, events } = told()
    const tryOn = await started(room.tryOn(product))
    const first = await world.until(tryOn, 'final')
    await tryOn.retry()
    const second = await world.until(tryOn, (view) => view.state === 'final' && view.attempt?.id !== first.attempt?.id)
    await world.settle()
    const typesOf = (id: string) => events.filter(({ attemptId }) => attemptId === id).map(({ type }) => type)
    expect(typesOf(second.attempt!.id)).toEqual(['consented', 'retried', 'submitted', 'preview', 'final', 'seen'])
    expect(typesOf(first.attempt!.id)).toContain('photoChosen')
  })

  it('that one is discarded', async () => {
    const { room, events } = told()
    const tryOn = await started(room.tryOn(product))
    const { attempt } = await world.until(tryOn, 'final')
    await world.pass(60_000)
    await tryOn.discard()
    await world.settle()
    const at = world.clock.now()
    expect(events.at(-1)).toMatchObject({ type: 'discarded', at, sinceMs: at - attempt!.startedAt })
  })
})

describe('each thing is told once', () => {
  it('across reloads', async () => {
    const first = told()
    const tryOn = await started(first.room.tryOn(product))
    await world.until(tryOn, 'processing')
    await world.settle()
    first.room.close()
    const second = told()
    const again = second.room.tryOn(product)
    again.subscribe(() => {})
    await world.until(again, 'final')
    await world.settle()
    expect([...first.types(), ...second.types()]).toEqual(whole)
  })

  it('across tabs, by the page that runs the try-on, and the picture by the first that shows it', async () => {
    const pages = [told(), told()]
    const [one, other] = pages.map(({ room }) => room.tryOn(product))
    one!.subscribe(() => {})
    other!.subscribe(() => {})
    await started(one!)
    await world.until(other!, 'final')
    await world.settle()
    expect(pages.flatMap(({ types }) => types()).toSorted()).toEqual(whole.toSorted())
  })

  it('once somebody listens, however long nobody did', async () => {
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'final')
    room.close()
    const { room: later, events, types } = told()
    later.tryOn(product).subscribe(() => {})
    await world.until(later.tryOn(product), 'final')
    await world.settle()
    expect(types()).toEqual(whole)
    // the record has one time
    expect(events[3]!.at).toBe(events[4]!.at)
  })

  it('once somebody listens, of what has passed meanwhile', async () => {
    const room = world.room()
    world.fault('POST', '/generations', [refuses('emailRequired')])
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'needsEmail')
    await tryOn.submitEmail({ email: 'a@example.com' })
    await world.until(tryOn, 'final')
    room.close()
    const { room: later, types } = told()
    await world.until(later.tryOn(product), 'final')
    await world.settle()
    expect(types()).toEqual([...whole.slice(0, 3), 'emailAsked', 'emailGiven', ...whole.slice(3)])
  })

  it('once somebody listens, of a failure that is over, and of what came before one', async () => {
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'processing')
    world.fault('GET', '/generations', [answers(200, { nothing: 'that is known' })])
    await world.until(tryOn, 'protocolError')
    await tryOn.resume()
    await world.until(tryOn, 'preview')
    world.fault('GET', '/generations', [answers(200, { nothing: 'that is known' })])
    await world.until(tryOn, 'protocolError')
    room.close()
    const { room: later, events, types } = told()
    await world.until(later.tryOn(product), 'protocolError')
    await world.settle()
    expect(types()).toEqual(['photoChosen', 'consented', 'submitted', 'failed', 'preview'])
    expect(events[3]).toMatchObject({ problem: 'protocol' })
  })

  it('once somebody listens again, of what has passed though it stands as it stood', async () => {
    const { room, types, unsubscribe } = told()
    world.fault('POST', '/generations', [refuses('emailRequired'), refuses('emailRequired')])
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'needsEmail')
    await world.settle()
    unsubscribe()
    await tryOn.submitEmail({ email: 'a@example.com' })
    await world.until(tryOn, 'needsEmail')
    expect(types()).not.toContain('emailGiven')
    const again = told({}, room)
    await world.settle()
    expect(again.types()).toEqual(['emailGiven'])
  })

  it('to a listener that comes and goes as it hears, and to none twice', async () => {
    const room = world.room()
    const heard: string[] = []
    let last = { unsubscribe: () => {} }
    const listen = ({ key }: RoomEvent) => {
      heard.push(key)
      last.unsubscribe()
      last = room.on(listen)
    }
    last = room.on(listen)
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'final')
    await world.settle()
    expect(heard).toEqual([...new Set(heard)])
    expect(heard.length).toBe(whole.length)
  })

  it('to each listener as it is, whatever another one makes of it', async () => {
    const room = world.room()
    room.on((event) => void Object.assign(event, { type: 'changed', key: 'changed' }))
    const heard: string[] = []
    room.on(({ key }) => heard.push(key))
    await world.until(await started(room.tryOn(product)), 'final')
    await world.settle()
    expect(heard.length).toBe(whole.length)
    expect(heard).not.toContain('changed')
  })

  it('that a picture was seen, though who listened left as that was about to be told', async () => {
    const storage = testStorage()
    const { room, unsubscribe, page, tryOn } = await unseen(storage)
    page.visibilityState = 'visible'
    const claiming = storage.hold(({ type, key }) => type === 'update' && key.endsWith(':told'))
    tryOn.subscribe(() => {})
    await world.settle()
    await claiming.reached
    unsubscribe()
    claiming.release()
    await world.settle()
    const again = told({}, room)
    await world.pass(30_000)
    expect(again.types()).toEqual(['seen'])
  })

  it('that a picture was seen by another page, where the one that was about to tell it has ended', async () => {
    const storage = testStorage()
    const { room, events, page } = await unseen(storage)
    let updates = 0
    storage.meet(({ type, key }) => type === 'update' && key.endsWith(':told') && ++updates > 1, hung)
    page.visibilityState = 'visible'
    const onlooker = told({ storage: storage.another() })
    const [one, other] = [room, onlooker.room].map((each) => each.tryOn(product))
    one!.subscribe(() => {})
    await world.settle()
    other!.subscribe(() => {})
    await world.settle()
    expect(onlooker.types()).toEqual([])
    await world.pass(20_000)
    expect(onlooker.events).toEqual([expect.objectContaining({ type: 'seen', key: `${events[0]!.attemptId}:seen` })])
  })

  it('though storage took no note of it for a while', async () => {
    const storage = testStorage()
    const { room, types } = told({ storage })
    storage.meet(({ type, key }) => type === 'update' && key.endsWith(':told'), full)
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'final')
    await world.settle()
    expect(types()).toEqual(whole)
    storage.recover()
    await world.pass(10_000)
    room.close()
    const next = told({ storage: storage.another() })
    next.room.tryOn(product).subscribe(() => {})
    await world.pass(20_000)
    expect(next.types()).toEqual([])
  })

  it('though storage took a note of it only as the room was closed', async () => {
    const storage = testStorage()
    const { room, types } = told({ storage })
    storage.meet(({ type, key }) => type === 'update' && key.endsWith(':told'), full)
    await world.until(await started(room.tryOn(product)), 'final')
    await world.settle()
    expect(types()).toEqual(whole)
    storage.recover()
    room.close()
    await world.settle()
    const next = told({ storage: storage.another() })
    next.room.tryOn(product).subscribe(() => {})
    await world.pass(20_000)
    expect(next.types()).toEqual([])
  })

  it('once somebody else listens, where who did has gone before it could be told', async () => {
    const { room, unsubscribe } = told()
    unsubscribe()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'final')
    const first = told({}, room)
    first.unsubscribe()
    await world.settle()
    const second = told({}, room)
    await world.settle()
    expect([first.types(), second.types()]).toEqual([[], whole])
  })

  it('and keeps no other page waiting for long that it is noted, where storage hangs', async () => {
    const storage = testStorage()
    const one = told({ storage })
    storage.meet(({ key }) => key.endsWith(':told'), hung)
    const variants = ['2001', '2002', '2003'].map((variantId) => one.room.tryOn({ ...product, variantId }))
    for (const each of variants) await started(each)
    const other = world.room({ storage: storage.another() }).tryOn(product)
    other.subscribe(() => {})
    await world.pass(500)
    one.room.close()
    await world.pass(15_000)
    expect(other.get().state).toBe('final')
  })

  it('and to nobody who has gone', async () => {
    const { room, events, unsubscribe } = told()
    unsubscribe()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'final')
    await world.settle()
    expect(events).toEqual([])
  })

  it('what could not be told, as nobody knew whether it was, a while later', async () => {
    const storage = testStorage()
    const { room, types } = told({ storage })
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'preview')
    await world.settle()
    storage.meet(({ type, key }) => type === 'get' && key.endsWith(':told'), refused)
    await world.until(tryOn, 'final')
    await world.settle()
    expect(types()).not.toContain('final')
    storage.recover()
    await world.pass(10_000)
    expect(types()).toEqual(whole)
  })

  it('nothing again that was not noted, though another page has noted something else since', async () => {
    const storage = testStorage()
    const page = { visibilityState: 'visible' }
    vi.stubGlobal('document', page)
    let wake = () => {}
    const pageLife: FittingRoomOptions['pageLife'] = (life) => ((wake = life.onWake), () => {})
    const { room, types } = told({ storage, pageLife })
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    await started(tryOn)
    await world.until(tryOn, 'preview')
    await world.settle()
    storage.meet(({ type, key }) => type !== 'get' && key.endsWith(':told'), refused)
    await world.until(tryOn, 'final')
    await world.settle()
    storage.recover()
    const other = told({ storage: storage.another() }).room.tryOn({ ...product, variantId: '2002' })
    await world.until(await started(other), 'final')
    for (const visibilityState of ['hidden', 'visible']) {
      page.visibilityState = visibilityState
      wake()
      await world.settle()
    }
    expect(types().filter((type) => type === 'final' || type === 'seen')).toEqual(['final', 'seen'])
  })

  it('nothing again where a reset comes before it is noted that it was told', async () => {
    const storage = testStorage()
    const noting = storage.hold(({ type, key }) => type === 'update' && key.endsWith(':told'))
    const one = told({ storage })
    await started(one.room.tryOn(product))
    await world.pass(1_000)
    await noting.reached
    const other = told({ storage: storage.another() })
    other.room.tryOn(product).subscribe(() => {})
    await world.settle()
    const counting = storage.hold(({ type, key }) => type === 'update' && key.endsWith(':catalog'))
    const reset = one.room.reset()
    await world.pass(1_000)
    noting.release()
    await world.pass(1_000)
    counting.release()
    await reset
    await world.settle()
    const keys = [...one.events, ...other.events].map(({ key }) => key)
    expect(keys.length).toBeGreaterThan(0)
    expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([])
  })

  it('and a reset stops what is yet to be sent, whatever is yet to be noted', async () => {
    const storage = testStorage()
    const noting = storage.hold(({ type, key }) => type === 'update' && key.endsWith(':told'))
    const asked = world.hold('GET', '/funnel')
    const { room } = told({ storage })
    await started(room.tryOn(product))
    await Promise.all([noting.reached, asked.reached])
    const reset = room.reset()
    await world.settle()
    asked.release()
    await world.pass(2_000)
    noting.release()
    await reset
    await world.pass(2_000)
    expect(world.count('POST', '/generations')).toBe(0)
  })

  it('nor is anything told again by the next page where one is closed before that is noted', async () => {
    const storage = testStorage()
    const noting = storage.hold(({ type, key }) => type === 'update' && key.endsWith(':told'))
    const one = told({ storage })
    await started(one.room.tryOn(product))
    await noting.reached
    one.room.close()
    const other = told({ storage: storage.another() })
    const tryOn = other.room.tryOn(product)
    tryOn.subscribe(() => {})
    await world.settle()
    noting.release()
    await world.until(tryOn, 'final')
    await world.settle()
    expect([...one.types(), ...other.types()].toSorted()).toEqual(whole.toSorted())
  })

  it('again with the same key, where a page crashes between telling and noting it', async () => {
    const storage = testStorage()
    const noting = storage.hold(({ type, key }) => type === 'update' && key.endsWith(':told'))
    const one = told({ storage })
    await started(one.room.tryOn(product))
    await noting.reached
    // what it still writes never lands
    storage.meet(() => true, hung)
    one.room.close()
    const other = told({ storage: storage.another() })
    const tryOn = other.room.tryOn(product)
    tryOn.subscribe(() => {})
    await world.until(tryOn, 'final')
    await world.pass(2_000)
    const keys = other.events.map(({ key }) => key)
    expect(one.events).not.toEqual([])
    expect(keys).toEqual(expect.arrayContaining(one.events.map(({ key }) => key)))
    expect(other.types()).toEqual(whole)
  })

  it('nor of a shopper whose reset no page could say here', async () => {
    vi.stubGlobal('BroadcastChannel', undefined)
    const [room, another] = [world.room(), world.room()]
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'final')
    await another.reset()
    const { types } = told({}, room)
    await world.settle()
    expect(types()).toEqual([])
  })

  it('and is forgotten with its shopper', async () => {
    const storage = testStorage()
    const { room } = told({ storage })
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'final')
    await world.settle()
    expect([...storage.items.keys()].some((key) => key.endsWith(':told'))).toBe(true)
    await room.reset()
    expect([...storage.items.keys()].some((key) => key.endsWith(':told'))).toBe(false)
  })
})

it('a mock room tells what a test says', () => {
  const room = mockRoom()
  const heard: RoomEvent[] = []
  room.on((event) => heard.push(event))
  const event: RoomEvent = {
    type: 'consented',
    key: 'a:consented',
    attemptId: 'a',
    productId: '1001',
    variantId: '2001',
    at: 0,
    sinceMs: 0,
  }
  room.tell(event)
  expect(heard).toEqual([event])
})
