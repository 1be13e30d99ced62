import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FittingRoomOptions, PhotoStore, StoredPhoto, TryOn, TryOnView } from 'fitting-room'
import { mockRoom } from 'fitting-room/testing'
import { any, isRecord, isWrite, refused, testStorage, type TestStorage } from './support/storage.ts'
import {
  answers,
  createWorld,
  dropped,
  product,
  refusesVariant,
  started,
  type Fault,
  type World,
} from './support/world.ts'

const day = 86_400_000

let world: World
let storage: TestStorage
beforeEach(() => {
  storage = testStorage()
  world = createWorld({ storage })
})
afterEach(() => world.close())

const gone = answers(404, 'no such picture')

async function final(tryOn: TryOn): Promise<TryOnView & { state: 'final' }> {
  await started(tryOn)
  return (await world.until(tryOn, 'final')) as TryOnView & { state: 'final' }
}

/** A try-on with its final picture, and where that is. */
async function finished(options: Partial<FittingRoomOptions> = {}) {
  const room = world.room(options)
  const tryOn = room.tryOn(product)
  const { result, attempt } = await final(tryOn)
  const path = new URL(result.imageUrl).pathname
  const polls = () => world.count('GET', `/generations/${attempt.jobId}`)
  return { room, tryOn, path, polls, address: result.imageUrl, before: polls() }
}

/** As `finished()`, and by now the picture's server has it no more. */
async function deserted() {
  const all = await finished()
  world.fault('GET', all.path, [gone], true)
  return all
}

/** The service answers with the picture at another address. */
const elsewhere =
  (address: string): Fault =>
  async (reach) => {
    const answer = (await (await reach()).json()) as { data: object }
    return Response.json({ ...answer, data: { ...answer.data, imageUrl: address, permanentUrl: address } })
  }

function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return [opened, () => open()] as const
}

/** A photo store that meets each picture on its way in. */
function storeOf(meet: () => unknown = () => {}): { photos: Map<string, StoredPhoto>; photoStore: PhotoStore } {
  const photos = new Map<string, StoredPhoto>()
  const photoStore: PhotoStore = {
    get: (key) => photos.get(key),
    async set(key, photo) {
      if (key.includes(':picture:')) await meet()
      photos.set(key, photo)
    },
    remove: (key) => void photos.delete(key),
  }
  return { photos, photoStore }
}

/** Pictures are asked for in vain, and nothing ends that. */
const mute: FittingRoomOptions['fetch'] = (input, init) =>
  new URL(String(input)).pathname.startsWith('/pictures/') ? new Promise(() => {}) : world.fetch(input, init)

const rejects = (reason: string) => ({ problem: { kind: 'picture', reason } })

describe('the picture of a try-on', () => {
  it('is what the view shows, as bytes, also through the door', async () => {
    const tryOn = world.door().tryOn(product)
    await expect(tryOn.picture()).rejects.toMatchObject(rejects('none'))
    await started(tryOn)
    const { preview } = await world.until(tryOn, 'preview')
    const asked = () => world.sent.map(({ path }) => path)
    expect((await tryOn.picture()).type).toMatch(/^image\//)
    expect(asked().at(-1)).toBe(new URL(preview!.imageUrl).pathname)
    const { result } = await world.until(tryOn, 'final')
    const picture = await tryOn.picture()
    expect(asked().at(-1)).toBe(new URL(result!.imageUrl).pathname)
    expect(picture.size).toBeGreaterThan(0)
    expect(world.sent.at(-1)!.headers.get('X-Service-SDK-Key')).toBeNull()
  })

  it('is asked for where the job says it is by now, where its address is dead, and the view follows', async () => {
    const { tryOn, path, polls, address, before } = await finished()
    world.fault('GET', path, [gone])
    world.fault('GET', '/generations/', [elsewhere(`${address}?anew`)])
    expect((await tryOn.picture()).type).toMatch(/^image\//)
    await world.settle()
    expect(tryOn.get().result?.imageUrl).toBe(`${address}?anew`)
    expect(polls()).toBe(before + 1)
    // and so it is after a reload
    const again = world.room().tryOn(product)
    expect((await world.until(again, 'final')).result?.imageUrl).toBe(`${address}?anew`)
  })

  it.each([403, 404, 410])(
    'is gone where it is answered with %i and the job knows no other address',
    async (status) => {
      const { tryOn, path, polls, before } = await finished()
      world.fault('GET', path, [answers(status, '')], true)
      await expect(tryOn.picture()).rejects.toMatchObject(rejects('gone'))
      expect(polls()).toBe(before + 1)
      expect(tryOn.get().problem).toBeNull()
    },
  )

  it.each([
    ['its server says no CORS, or is away', dropped],
    ['what comes is no picture', answers(200, '<p>please log in</p>', { 'Content-Type': 'text/html' })],
    ['what comes is empty', answers(200, '', { 'Content-Type': 'image/jpeg' })],
    ['its server fails', answers(503, '')],
  ])('cannot be read where %s, which is no reason to ask the job', async (_, fault) => {
    const { tryOn, path, polls, before } = await finished()
    world.fault('GET', path, [fault])
    await expect(tryOn.picture()).rejects.toMatchObject(rejects('unreadable'))
    expect(polls()).toBe(before)
  })
})

describe('a page that could not show the picture', () => {
  it.each(['room', 'door'] as const)('is shown another address, and every page is, of a %s', async (kind) => {
    const tryOn = world[kind]().tryOn(product)
    const { result } = await final(tryOn)
    const address = result.imageUrl
    const other = world.room().tryOn(product)
    await world.until(other, 'final')
    world.fault('GET', '/generations/', [elsewhere(`${address}?anew`)])
    await other.pictureFailed()
    await world.settle()
    for (const each of [tryOn, other])
      expect(each.get()).toMatchObject({ state: 'final', problem: null, result: { imageUrl: `${address}?anew` } })
  })

  it('hears that it is gone, from the view too, and asks once a minute at the most', async () => {
    const { tryOn, polls, before } = await deserted()
    await expect(tryOn.pictureFailed()).rejects.toMatchObject(rejects('gone'))
    expect(tryOn.get()).toMatchObject({ state: 'final', problem: { kind: 'picture', reason: 'gone' } })
    await expect(tryOn.pictureFailed()).rejects.toMatchObject(rejects('gone'))
    expect(polls()).toBe(before + 1)
    await world.pass(61_000)
    await expect(tryOn.pictureFailed()).rejects.toMatchObject(rejects('gone'))
    expect(polls()).toBe(before + 2)
  })

  it('is not told that what is there is gone: an image may fail for other reasons', async () => {
    const { tryOn, path } = await finished()
    await expect(tryOn.pictureFailed()).rejects.toMatchObject(rejects('unreadable'))
    expect(tryOn.get()).toMatchObject({ state: 'final', problem: { kind: 'picture', reason: 'unreadable' } })
    world.fault('GET', path, [dropped], true)
    await world.pass(61_000)
    await expect(tryOn.pictureFailed()).rejects.toMatchObject(rejects('unreadable'))
  })

  it('asks once a minute for an attempt, though each address that it hears of is another one, and as dead', async () => {
    const { tryOn, polls, address, before } = await deserted()
    let asked = 0
    world.fault('GET', '/generations/', [(...of) => elsewhere(`${address}?${++asked}`)(...of)], true)
    await tryOn.pictureFailed()
    expect(tryOn.get()).toMatchObject({ problem: null, result: { imageUrl: `${address}?1` } })
    await expect(tryOn.pictureFailed()).rejects.toMatchObject(rejects('gone'))
    expect(polls()).toBe(before + 1)
  })

  it('is unreadable after a minute where an own fetch hears of no end', async () => {
    const { tryOn } = await finished({ fetch: mute })
    const asked = expect(tryOn.picture()).rejects.toMatchObject(rejects('unreadable'))
    await world.pass(61_000)
    await asked
  })

  it('hears that it is gone where the service has forgotten the job', async () => {
    const { tryOn } = await finished()
    world.fault('GET', '/generations/', [answers(404, { error: 'Job not found' })])
    await expect(tryOn.pictureFailed()).rejects.toMatchObject(rejects('gone'))
    expect(tryOn.get().state).toBe('final')
  })

  it('alone hears that storage keeps it from asking, which is soon over', async () => {
    const { tryOn } = await finished()
    storage.meet(any, refused)
    await expect(tryOn.pictureFailed()).rejects.toMatchObject({ problem: { kind: 'storageUnreadable' } })
    expect(tryOn.get()).toMatchObject({ state: 'final', problem: null })
  })

  it('hears why its job could not be asked, and may ask again', async () => {
    const { tryOn, address, polls, before } = await finished()
    world.fault('GET', '/generations/', [answers(503, { error: 'Service unavailable' }), elsewhere(`${address}?anew`)])
    await expect(tryOn.pictureFailed()).rejects.toMatchObject({ problem: { kind: 'unavailable' } })
    await expect(tryOn.pictureFailed()).rejects.toMatchObject({ problem: { kind: 'unavailable' } })
    expect(polls()).toBe(before + 1)
    await world.pass(6_000)
    await tryOn.pictureFailed()
    await world.settle()
    expect(tryOn.get().result?.imageUrl).toBe(`${address}?anew`)
  })

  it('is meant by its address however a browser spells that, as an image gives it back', async () => {
    const { tryOn, address, polls, before } = await finished()
    const written = `${address.replace('http:', 'HTTP:')}?of=\u00e4`
    world.fault('GET', '/generations/', [elsewhere(written)])
    await tryOn.pictureFailed(address)
    expect(tryOn.get().result?.imageUrl).toBe(written)
    await world.pass(61_000)
    await tryOn.pictureFailed('/another')
    expect(polls()).toBe(before + 1)
    await tryOn.pictureFailed(new URL(written).href)
    expect([polls(), tryOn.get().result?.imageUrl]).toEqual([before + 2, address])
  })

  it('asks once for all who want to know, and not where the view has another picture by now', async () => {
    const { tryOn, address, polls, before } = await finished()
    world.fault('GET', '/generations/', [elsewhere(`${address}?anew`)])
    await Promise.all([tryOn.pictureFailed(), tryOn.pictureFailed(address)])
    await world.settle()
    await tryOn.pictureFailed(address)
    expect(polls()).toBe(before + 1)
    expect(tryOn.get()).toMatchObject({ problem: null, result: { imageUrl: `${address}?anew` } })
  })

  it('is shown the permanent address that the job names by now, whatever the temporary one is', async () => {
    const { tryOn, address } = await deserted()
    const changed =
      (temporary: string, permanent: string): Fault =>
      async (reach) => {
        const { data } = (await (await reach()).json()) as { data: object }
        return Response.json({ data: { ...data, imageUrl: temporary, permanentUrl: permanent } })
      }
    world.fault('GET', '/generations/', [changed(`${address}?signed`, address), changed(address, `${address}?anew`)])
    await expect(tryOn.pictureFailed()).rejects.toMatchObject(rejects('gone'))
    await world.pass(61_000)
    await tryOn.pictureFailed()
    await world.settle()
    expect(tryOn.get().result?.imageUrl).toBe(`${address}?anew`)
  })

  it('takes what it says of a picture along when it is left', async () => {
    const { tryOn } = await deserted()
    await tryOn.pictureFailed().catch(() => undefined)
    expect(tryOn.get().problem).toEqual({ kind: 'picture', reason: 'gone' })
    await tryOn.startOver()
    expect(tryOn.get()).toMatchObject({ state: 'idle', problem: null })
  })

  it('says so in vain where another problem is shown, and loads nothing where nothing is', async () => {
    const room = world.door()
    const idle = room.tryOn({ ...product, variantId: '2002' })
    idle.subscribe(() => {})
    await world.settle()
    await expect(idle.pictureFailed()).rejects.toMatchObject(rejects('none'))
    expect(idle.get()).toMatchObject({ state: 'idle', problem: null })
    world.fault('POST', '/generations', [refusesVariant])
    const tryOn = await started(room.tryOn(product))
    const { problem } = await world.until(tryOn, 'rejected')
    await expect(tryOn.pictureFailed()).rejects.toMatchObject(rejects('none'))
    expect(tryOn.get().problem).toEqual(problem)
  })

  it.each(['picture', 'pictureFailed', 'ticket'] as const)('and has gone by then is told so: %s()', async (what) => {
    const { room, tryOn, path } = await finished()
    const { reached, release } = world.hold('GET', what === 'picture' ? path : '/generations/', 'after')
    const said = tryOn[what]()
    if (what === 'ticket') await room.reset()
    else await reached.then(() => room.reset())
    release()
    await expect(said).rejects.toMatchObject({ problem: { kind: 'stopped', reason: 'startedOver' } })
    await world.settle()
    expect(tryOn.get().problem).toBeNull()
  })

  it('asks for nothing while the job goes on, which is looked at anyway, nor where there is none', async () => {
    const tryOn = world.room().tryOn(product)
    await expect(tryOn.pictureFailed()).rejects.toMatchObject(rejects('none'))
    await started(tryOn)
    await world.until(tryOn, 'preview')
    const before = world.sent.length
    await tryOn.pictureFailed()
    expect(world.sent.length).toBe(before)
  })

  it('leaves the picture of another attempt alone', async () => {
    const { room, tryOn, address } = await finished()
    const [reached, arrive] = gate()
    const [held, release] = gate()
    world.fault('GET', '/generations/', [
      async (...asked) => {
        arrive()
        await held
        return elsewhere(`${address}?anew`)(...asked)
      },
    ])
    const failed = tryOn.pictureFailed().catch(() => undefined)
    await reached
    await tryOn.startOver()
    release()
    await failed
    await world.settle()
    expect(tryOn.get()).toMatchObject({ state: 'idle', attempt: null })
    expect(await room.list()).toMatchObject([{ archived: true, result: { imageUrl: address } }])
  })
})

describe('pictures that are kept', () => {
  const keepPictures = true
  const kept = () => storage.another().photos!
  const keyOf = (attemptId: string, which: string) => `picture:${attemptId}:${which}`
  const keptKeys = async (room: { stored(): Promise<{ kind: string; key: string }[]> }) =>
    (await room.stored()).filter(({ kind }) => kind === 'picture').map(({ key }) => key)

  it('are preview and final, each asked for once, and need no network after a reload', async () => {
    const { room, tryOn, path } = await finished({ keepPictures })
    await world.settle()
    const { attempt } = tryOn.get()
    const keys = await keptKeys(room)
    expect(keys.map((key) => key.split(':').slice(-3).join(':'))).toEqual([
      keyOf(attempt!.id, 'preview'),
      keyOf(attempt!.id, 'final'),
    ])
    for (const key of keys) expect((await kept().get(key))?.type).toMatch(/^image\//)
    const before = world.sent.length
    const again = world.room({ keepPictures }).tryOn(product)
    await world.until(again, 'final')
    expect((await again.picture()).type).toMatch(/^image\//)
    expect(world.sent.length).toBe(before)
    expect(world.count('GET', path)).toBe(1)
  })

  it('are those of archived attempts, too', async () => {
    const { room, tryOn } = await finished({ keepPictures })
    await world.settle()
    await tryOn.startOver()
    const before = world.sent.length
    const [entry] = await room.list()
    const opened = entry!.open()
    opened.subscribe(() => {})
    await world.until(opened, 'final')
    expect((await opened.picture()).type).toMatch(/^image\//)
    expect(world.sent.length).toBe(before)
  })

  it('are gone where the page that discards them was closed before they were', async () => {
    const own = storage.another()
    const { room } = await finished({ keepPictures, storage: own })
    await world.settle()
    const other = world.room({ keepPictures })
    const waiting = other.tryOn(product)
    await world.until(waiting, 'final')
    own.meet(
      (call) => isRecord(call) && isWrite(call),
      async ({ land }) => {
        await land()
        room.close()
      },
    )
    const word = waiting.discard()
    await world.pass(10_000)
    await word
    expect(await keptKeys(other)).toEqual([])
    expect((await kept().keys!()).filter((key) => key.includes(':picture:'))).toEqual([])
  })

  it('are none where nobody asked for it', async () => {
    const { room, path } = await finished()
    await world.settle()
    expect(world.count('GET', path)).toBe(0)
    expect(await keptKeys(room)).toEqual([])
  })

  it('are none where their server lets no page read them, which is asked once for each', async () => {
    world.fault('GET', '/pictures/', [dropped], true)
    const { room, tryOn } = await finished({ keepPictures })
    await world.pass(10_000)
    expect(world.count('GET', '/pictures/')).toBe(2)
    expect(await keptKeys(room)).toEqual([])
    expect(tryOn.get()).toMatchObject({ state: 'final', problem: null })
  })

  it.each([
    ['reset()', async (room: { reset(): Promise<void> }) => room.reset()],
    ['discard()', async (_: unknown, tryOn: TryOn) => tryOn.discard()],
  ])('are gone after %s', async (_, forget) => {
    const { room, tryOn } = await finished({ keepPictures })
    await world.settle()
    const keys = await keptKeys(room)
    expect(keys).toHaveLength(2)
    await forget(room, tryOn)
    for (const key of keys) expect(await kept().get(key)).toBeUndefined()
    expect(await keptKeys(room)).toEqual([])
  })

  it('are gone after discard() in a room that keeps none, too', async () => {
    const { room } = await finished({ keepPictures })
    await world.settle()
    const keys = await keptKeys(room)
    room.close()
    const tryOn = world.room().tryOn(product)
    await tryOn.ready
    await tryOn.discard()
    for (const key of keys) expect(await kept().get(key)).toBeUndefined()
  })

  it('and discard() says so where one would not go, which goes as the next room opens', async () => {
    const { photos, photoStore } = storeOf()
    const { room, tryOn } = await finished({ keepPictures, photoStore })
    await world.settle()
    const remove = photoStore.remove.bind(photoStore)
    photoStore.remove = refused
    await expect(tryOn.discard()).rejects.toMatchObject({ kind: 'storage' })
    expect([tryOn.get().state, photos.size]).toEqual(['idle', 2])
    room.close()
    photoStore.remove = remove
    await world.room({ photoStore }).ready
    await world.settle()
    expect([...photos.keys()]).toEqual([])
  })

  it('are gone after discard() where it cannot be read whether there are any, too', async () => {
    const { room, tryOn } = await finished({ keepPictures })
    await world.settle()
    const keys = await keptKeys(room)
    const forgetting = storage.hold(({ type, key }) => type === 'update' && key.includes(':try-on:'), 'before')
    const discarded = tryOn.discard()
    await forgetting.reached
    storage.meet(({ type, key }) => type === 'get' && key.endsWith(':catalog'), refused)
    forgetting.release()
    await discarded
    storage.recover()
    for (const key of keys) expect(await kept().get(key)).toBeUndefined()
  })

  it('that come late and will not go are found by the next room', async () => {
    const [held, release] = gate()
    const { photos, photoStore } = storeOf(() => held)
    const { room, tryOn } = await finished({ keepPictures, photoStore })
    await world.settle()
    const remove = photoStore.remove.bind(photoStore)
    await tryOn.discard()
    photoStore.remove = refused
    release()
    await world.settle()
    expect(photos.size).toBeGreaterThan(0)
    photoStore.remove = remove
    room.close()
    await world.room({ photoStore }).ready
    await world.settle()
    expect([...photos.keys()]).toEqual([])
  })

  describe('and bytes that a killed page has left', () => {
    /** Bytes that land over their removal, and nobody is there any more to take them away again. */
    async function left() {
      const { room, tryOn } = await finished({ keepPictures })
      await tryOn.picture()
      await world.settle()
      const keys = await keptKeys(room)
      expect(keys).toHaveLength(2)
      const bytes = (await kept().get(keys[0]!)) as StoredPhoto
      await room.reset()
      room.close()
      for (const key of keys) await kept().set(key, bytes)
      return { keys, bytes }
    }
    async function opened(options: Partial<FittingRoomOptions> = {}) {
      await world.room({ keepPictures, ...options }).ready
      await world.settle()
    }

    it('are gone as the next room opens', async () => {
      await left()
      await opened()
      expect(await kept().keys!()).toEqual([])
    })

    it('stay where they are another room’s', async () => {
      const { keys, bytes } = await left()
      const others = keys.map((key) => key.replace(':default:', ':other:'))
      for (const key of others) await kept().set(key, bytes)
      await opened()
      expect(await kept().keys!()).toEqual(others)
    })

    it('stay where a newer version may know of them, or storage does not say', async () => {
      const { keys } = await left()
      storage.meet(({ type, key }) => type === 'get' && key.endsWith(':catalog'), refused)
      await opened()
      expect(await kept().keys!()).toEqual(keys)
      storage.recover()
      const [catalog] = [...storage.items.keys()].filter((key) => key.endsWith(':catalog'))
      storage.items.set(catalog!, '{"version":99}')
      await opened()
      expect(await kept().keys!()).toEqual(keys)
    })

    it('are gone as the next room opens where it was killed as it discarded them', async () => {
      const { photos, photoStore } = storeOf()
      const { room, tryOn } = await finished({ keepPictures, photoStore })
      await tryOn.picture()
      await world.settle()
      const [reached, arrive] = gate()
      const killed = { ...photoStore, remove: () => (arrive(), new Promise(() => {})) }
      room.close()
      const other = world.room({ keepPictures, photoStore: killed }).tryOn(product)
      await world.until(other, 'final')
      void other.discard().catch(() => undefined)
      await reached
      expect([tryOn.get().state, photos.size]).toEqual(['final', 2])
      await opened({ photoStore })
      expect([...photos.keys()]).toEqual([])
    })
  })

  it('wait for nothing once the room is closed', async () => {
    const timers = new Set<unknown>()
    const clock: FittingRoomOptions['clock'] = {
      ...world.clock,
      setTimeout(run, ms) {
        const timer = world.clock.setTimeout(() => (timers.delete(timer), run()), ms)
        timers.add(timer)
        return timer
      },
      clearTimeout(timer) {
        timers.delete(timer)
        world.clock.clearTimeout(timer)
      },
    }
    const { room } = await finished({ keepPictures, clock, fetch: mute })
    await world.settle()
    room.close()
    await world.settle()
    expect(timers.size).toBe(0)
  })

  it('are gone once they have expired', async () => {
    const { room } = await finished({ keepPictures, retentionMs: day })
    await world.settle()
    const keys = await keptKeys(room)
    room.close()
    world.clock.advance(day + 1)
    const later = world.room({ keepPictures, retentionMs: day })
    await later.ready
    await world.settle()
    for (const key of keys) expect(await kept().get(key)).toBeUndefined()
  })

  it('are not listed where they could not be stored', async () => {
    const { photoStore } = storeOf(refused)
    const { room } = await finished({ keepPictures, photoStore })
    await world.settle()
    expect(await keptKeys(room)).toEqual([])
  })

  it('are not of a shopper who has gone while one was on its way', async () => {
    const { reached, release } = world.hold('GET', '/pictures/', 'after')
    const room = world.room({ keepPictures })
    const tryOn = await started(room.tryOn(product))
    const preview = world.until(tryOn, 'preview')
    await Promise.all([preview, reached])
    await room.reset()
    release()
    await world.settle()
    expect(await keptKeys(room)).toEqual([])
  })
})

it('a picture that is written while its shopper goes is taken away again', async () => {
  const [reached, arrive] = gate()
  const [released, release] = gate()
  const { photos, photoStore } = storeOf(() => {
    arrive()
    return released
  })
  const room = world.room({ keepPictures: true, photoStore })
  const tryOn = await started(room.tryOn(product))
  await Promise.all([world.until(tryOn, 'preview'), reached])
  const wiped = room.reset()
  await world.settle()
  release()
  await wiped
  expect([...photos.keys()]).toEqual([])
})

it('a picture that lands after its store was given up is taken away again', async () => {
  const [released, release] = gate()
  const { photos, photoStore } = storeOf(() => released)
  const { room } = await finished({ keepPictures: true, photoStore })
  await world.pass(10_000)
  release()
  await world.settle()
  expect([...photos.keys()]).toEqual([])
  expect((await room.stored()).filter(({ kind }) => kind === 'picture')).toEqual([])
})

it('a picture is not kept where no later page could find it', async () => {
  const { photos, photoStore } = storeOf()
  const tryOn = await started(world.room({ keepPictures: true, photoStore }).tryOn(product))
  await world.until(tryOn, 'processing')
  storage.meet((call) => isWrite(call) && call.key.endsWith(':catalog'), refused)
  await world.until(tryOn, 'final')
  await world.settle()
  expect([...photos.keys()].filter((key) => key.includes(':picture:'))).toEqual([])
})

it('a room for the tests of screens has pictures where its views have', async () => {
  const room = mockRoom({ '1001/2001': 'final' })
  const tryOn = room.tryOn(product)
  expect((await tryOn.picture()).type).toBe('image/jpeg')
  await tryOn.pictureFailed()
  room.show('idle')
  await expect(tryOn.picture()).rejects.toMatchObject(rejects('none'))
})
