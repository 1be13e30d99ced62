import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { TryOn } from 'fitting-room'
import { isRead, isWrite, refused, testStorage, type TestStorage } from './support/storage.ts'
import { createWorld, person, product, started, type World } from './support/world.ts'

let world: World
let storage: TestStorage
beforeEach(() => {
  storage = testStorage()
  world = createWorld({ storage, gated: false })
})
afterEach(() => world.close())

const watched = (tryOn: TryOn) => {
  tryOn.subscribe(() => {})
  return tryOn
}
const pictureOf = (name: string) => ({ imageUrl: `https://photos.test/${name}.png` })
const submissions = () => world.sent.filter(({ method, path }) => method === 'POST' && path === '/generations')

it('a browser that lets a site have no channel lets it have a try-on', async () => {
  vi.stubGlobal('BroadcastChannel', function BroadcastChannel() {
    throw new DOMException('The operation is insecure.', 'SecurityError')
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  const room = world.room()
  await world.until(await started(room.tryOn(product)), 'final')
  await room.reset()
  expect(await room.list()).toEqual([])
})

describe.each([
  ['memory', false],
  ['a disk', true],
])('rooms of one process with %s each', (_, durable) => {
  const own = () => ({ storage: testStorage({ durable }) })

  it('show nothing of each other’s shoppers, not even while their storage is being read', async () => {
    const slow = own()
    const read = slow.storage.hold(isRead)
    const [one, other] = [world.room(own()), world.room(slow)]
    const states: string[] = []
    const idle = other.tryOn(product)
    idle.subscribe(({ state }) => states.push(state))
    await read.reached
    await world.until(await started(one.tryOn(product)), 'final')
    read.release()
    await world.until(idle, 'idle')
    await world.settle()
    expect([...new Set(states)]).toEqual(['idle'])
    expect([other.photo.get(), other.visitor.get().uniqueUserId]).toEqual([null, null])
  })

  it('get each their own picture', async () => {
    const tryOns = [world.room(own()), world.room(own())].map((room) => room.tryOn(product))
    const results = tryOns.map((tryOn) => tryOn.result())
    await Promise.all(tryOns.map((tryOn) => tryOn.start(person)))
    const views = [await world.until(tryOns[0] as TryOn, 'final'), await world.until(tryOns[1] as TryOn, 'final')]
    expect(await Promise.all(results)).toEqual(views.map(({ result }) => result))
    expect(views[0]?.attempt?.jobId).not.toBe(views[1]?.attempt?.jobId)
  })

  it('do not end each other’s try-ons with reset()', async () => {
    const [one, other] = [world.room(own()), world.room(own())]
    const held = world.hold('POST', '/generations', 'after')
    const tryOn = await started(other.tryOn(product))
    await held.reached
    await one.reset()
    await world.settle()
    expect(tryOn.get().state).toBe('submitting')
    held.release()
    await world.until(tryOn, 'final')
  })
})

describe('rooms on one disk', () => {
  it('come together though both were opened while it took nothing', async () => {
    vi.stubGlobal('isSecureContext', true)
    onTestFinished(() => void vi.unstubAllGlobals())
    const there = storage.another()
    for (const each of [storage, there]) each.meet(isWrite, refused)
    const one = watched(world.room().tryOn(product))
    const other = watched(world.room({ storage: there }).tryOn(product))
    for (const each of [one, other]) await world.until(each, 'idle')
    await other.start(person)
    await world.until(other, 'processing')
    await world.settle()
    for (const each of [storage, there]) each.recover()
    const { attempt } = await world.until(other, 'final')
    expect(await world.until(one, 'final')).toMatchObject({ attempt })
  })

  it('tell each other what they have, and come to an end, while one of them submits at a place of its own', async () => {
    vi.stubGlobal('isSecureContext', true)
    onTestFinished(() => void vi.unstubAllGlobals())
    const posted = vi.spyOn(BroadcastChannel.prototype, 'postMessage')
    onTestFinished(() => posted.mockRestore())
    const there = storage.another()
    const answered = world.hold('POST', '/generations', 'after')
    const one = watched(world.room().tryOn(product))
    await one.start(person)
    await answered.reached
    storage.meet(isWrite, refused)
    answered.release()
    await world.until(one, 'processing')
    there.meet(() => true, refused)
    const room = world.room({ storage: there })
    const other = watched(room.tryOn(product))
    await world.until(other, 'idle')
    const out = world.hold('POST', '/generations', 'after')
    await other.start(person)
    await out.reached
    there.meet(isWrite, refused)
    await room.list()
    const before = posted.mock.calls.length
    for (let second = 0; second < 5; second++) await world.pass(1_000)
    expect(posted.mock.calls.length - before).toBeLessThan(200)
    out.release()
  })

  it('come together where one of them was told to begin something while it could read nothing', async () => {
    vi.stubGlobal('isSecureContext', true)
    onTestFinished(() => void vi.unstubAllGlobals())
    const one = watched(world.room().tryOn(product))
    await world.until(await started(one), 'final')
    const there = storage.another()
    there.meet(() => true, refused)
    const other = watched(world.room({ storage: there }).tryOn(product))
    await world.until(other, 'idle')
    await other.start(person)
    await world.until(other, 'processing')
    there.recover()
    const { attempt } = await world.until(other, 'final')
    expect(await world.until(one, ({ attempt: shown }) => shown?.id === attempt?.id)).toMatchObject({ state: 'final' })
  })

  it('are one owner and one view', async () => {
    const owner = watched(world.room().tryOn(product))
    await world.until(owner, 'idle')
    const other = watched(world.room().tryOn(product))
    await world.until(other, 'idle')
    await other.start(person)
    const { attempt } = await world.until(owner, 'processing')
    expect(other.get().attempt).toEqual(attempt)
    expect(submissions()).toHaveLength(1)
  })

  it('a word without a photo is for the photo that its own page shows', async () => {
    const ownerRoom = world.room()
    const owner = ownerRoom.tryOn(product)
    await owner.start(pictureOf('first'))
    await world.until(watched(owner), 'processing')
    const room = world.room()
    const tryOn = watched(room.tryOn(product))
    await world.until(tryOn, 'processing')
    expect(room.photo.get()).toMatchObject(pictureOf('first'))
    await ownerRoom.tryOn({ ...product, variantId: '2002' }).start(pictureOf('second'))
    await world.until(ownerRoom.tryOn({ ...product, variantId: '2002' }), 'processing')
    expect(room.photo.get()).toMatchObject(pictureOf('first'))
    const before = submissions().length
    await world.until(tryOn, ({ can }) => can.retry)
    await tryOn.retry()
    await world.until(tryOn, 'processing')
    expect(submissions().slice(before)).toMatchObject([{ body: pictureOf('first') }])
  })
})

type Message = Record<string, unknown>

describe('what comes over the channel', () => {
  const kind = /.*"type":"(\w+)","name".*/
  const name = 'fitting-room:https_3A_2F_2Fapi.test:default'
  let channel: BroadcastChannel
  let uncaught: unknown[]
  const catches = (error: unknown) => void uncaught.push(error)
  beforeEach(() => {
    channel = new BroadcastChannel(name)
    uncaught = []
    process.on('uncaughtException', catches)
  })
  afterEach(() => {
    channel.close()
    process.off('uncaughtException', catches)
  })

  /** Two pages of one room, and a message of each kind that they tell each other. */
  async function talking() {
    const heard = new Map<string, Message>()
    channel.onmessage = ({ data }: MessageEvent<Message>) =>
      void heard.set(JSON.stringify(data).replace(kind, '$1'), data)
    const owner = await started(world.room().tryOn(product))
    await world.until(owner, 'processing')
    const other = watched(world.room().tryOn(product))
    await world.until(owner, 'final')
    await world.settle()
    await other.retry()
    await world.until(owner, 'final')
    await world.settle()
    channel.onmessage = null
    expect([...heard.keys()].sort()).toEqual(['answer', 'ask', 'come', 'hello', 'knock', 'lateAnswer', 'view'])
    return { owner, other, heard: [...heard.values()] }
  }

  /** What is none of these, and the value with each of its parts in turn replaced by that. */
  function broken(value: unknown): unknown[] {
    const none = { none: 'of these' }
    if (typeof value !== 'object' || value === null) return [none]
    const parts: [string, unknown][] = Object.entries(value)
    return [none, ...parts.flatMap(([key, part]) => broken(part).map((each) => ({ ...value, [key]: each })))]
  }

  it('as a view that lacks what its state promises is not shown', async () => {
    const heard: Message[] = []
    channel.onmessage = ({ data }: MessageEvent<Message>) => void heard.push(data)
    const owner = await started(world.room().tryOn(product))
    await world.until(owner, 'processing')
    const other = watched(world.room().tryOn(product))
    await world.settle()
    const [view] = heard.filter((each) => JSON.stringify(each).includes('"type":"view"')).slice(-1)
    channel.postMessage(JSON.parse(JSON.stringify(view).replace('"state":"processing"', '"state":"final"')))
    await world.settle()
    expect(other.get().state).toBe('processing')
  })

  it('in any broken form throws nothing, shows nothing and stops nobody', async () => {
    const { owner, other, heard } = await talking()
    let shown = 0
    for (const tryOn of [owner, other]) tryOn.subscribe(() => shown++)
    for (const message of [null, 'text', ...heard.flatMap(broken)]) channel.postMessage(message)
    await world.settle()
    expect([shown, uncaught]).toEqual([0, []])
    await other.retry()
    const { attempt } = await world.until(owner, 'final')
    expect((await world.until(other, 'final')).attempt).toEqual(attempt)
    expect(submissions()).toHaveLength(3)
  })
})
