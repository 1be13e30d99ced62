import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type TryOn } from 'fitting-room'
import { storageChain } from 'fitting-room/storage/chain'
import { webStorage } from 'fitting-room/storage/local-storage'
import { manualClock } from 'fitting-room/testing'
import { mapArea } from './storage/map-area.ts'
import { reported } from './support/reported.ts'
import { collectGarbage } from './support/collect-garbage.ts'
import { any, refused, testStorage, type StorageCall, type TestStorage } from './support/storage.ts'
import {
  answers,
  createWorld,
  dropped,
  lost,
  person,
  product,
  refuses,
  refusesKey,
  started,
  type World,
} from './support/world.ts'

let world: World
let storage: TestStorage
beforeEach(() => {
  storage = testStorage()
  world = createWorld({ storage })
})
afterEach(() => world.close())

/** A browser's two, of which the first never opens. */
function brokenThenWeb() {
  const first = testStorage()
  first.meet(any, refused)
  const area = mapArea()
  return storageChain([first, webStorage(() => area)])
}

/** A photo that takes for ever to be read. */
class Slow extends Blob {
  override arrayBuffer = () => new Promise<never>(() => {})
}

describe('an intent', () => {
  it('to discard what has been left meanwhile is refused: its job is in the archive', async () => {
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'processing')
    const left = tryOn.startOver()
    await expect(tryOn.discard({ abandonPaidJob: true })).rejects.toMatchObject({ kind: 'notAllowed' })
    await left
    expect(await room.list()).toHaveLength(1)
  })

  it.each(['preview', 'final'] as const)('leaves a job of which it is being written that it is %s', async (phase) => {
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    const isWritten = ({ change }: StorageCall) => change?.()?.includes(`"phase":"${phase}"`) === true
    const writing = storage.hold(isWritten)
    let isReached = false
    void writing.reached.then(() => (isReached = true))
    for (; !isReached; world.clock.advanceToNext()) await world.settle()
    const left = tryOn.startOver()
    await world.settle()
    writing.release()
    await left
    expect(tryOn.get()).toMatchObject({ state: 'idle', problem: null })
    expect(await room.list()).toMatchObject([{ archived: true, jobId: expect.any(String) }])
  })

  it('to discard what has been left meanwhile is refused, too, where a consent that was refused came between', async () => {
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'processing')
    const left = tryOn.startOver()
    const refused = expect(tryOn.retry(person)).rejects.toMatchObject({ kind: 'notAllowed' })
    await expect(tryOn.discard({ abandonPaidJob: true })).rejects.toMatchObject({ kind: 'notAllowed' })
    await Promise.all([left, refused])
    expect(await room.list()).toHaveLength(1)
  })

  it.each([false, true])(
    'to discard what is made ready leaves the picture that was there before in the list: abandonPaidJob %s',
    async (abandonPaidJob) => {
      const room = world.room()
      const tryOn = await started(room.tryOn(product))
      await world.until(tryOn, 'final')
      const retried = tryOn.retry(new Slow(['photo'], { type: 'image/png' }))
      await world.until(tryOn, 'preparing')
      expect(tryOn.get().attempt).toBe(null)
      await tryOn.discard({ abandonPaidJob })
      await expect(retried).rejects.toMatchObject({ kind: 'stopped' })
      expect(tryOn.get().state).toBe('idle')
      expect(await room.list()).toMatchObject([{ state: 'final', archived: true }])
    },
  )

  it.each(['the page that runs it', 'a page that waits'])(
    'to discard right after a retry() is for that one, and leaves the picture that was there in the list: on %s',
    async (where) => {
      const first = await started(world.room().tryOn(product))
      await world.until(first, 'final')
      const room = world.room({ storage: storage.another() })
      const second = room.tryOn(product)
      second.subscribe(() => {})
      await world.until(second, 'final')
      const tryOn = where === 'a page that waits' ? second : first
      // it may have been begun before it is left
      const retried = tryOn.retry(person).catch(() => undefined)
      await tryOn.discard({ abandonPaidJob: true })
      await retried
      expect(await room.list()).toMatchObject([{ state: 'final', archived: true }])
    },
  )

  it('to discard twice what is made ready forgets nothing that its shopper has not seen', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    world.fault('POST', '/generations', [lost])
    await started(tryOn)
    await world.until(tryOn, 'outcomeUnknown')
    const retried = tryOn.retry(new Slow(['photo'], { type: 'image/png' }))
    const stopped = expect(retried).rejects.toMatchObject({ kind: 'stopped' })
    await world.until(tryOn, 'preparing')
    const first = tryOn.discard()
    const second = expect(tryOn.discard({ abandonPaidJob: true })).rejects.toMatchObject({ kind: 'notAllowed' })
    await first
    await Promise.all([stopped, second])
    expect(await room.list()).toMatchObject([{ state: 'outcomeUnknown' }])
  })

  it('waits for storage to be read', async () => {
    const tryOn = world.room().tryOn(product)
    expect(tryOn.get().state).toBe('restoring')
    await tryOn.start(person)
    expect(tryOn.get().state).toBe('preparing')
  })

  it('refuses a consent to more looks that is neither yes nor no, and sends nothing', async () => {
    const tryOn = world.room().tryOn(product)
    const moreLooksConsent = 'yes' as unknown as boolean
    await expect(tryOn.start(person, { moreLooksConsent })).rejects.toMatchObject({
      problem: { kind: 'input', at: 'moreLooksConsent' },
    })
    expect(world.sent).toEqual([])
  })

  it('startOver keeps the photo, so that start() needs none', async () => {
    const tryOn = await started(world.room().tryOn(product))
    await world.until(tryOn, 'final')
    await tryOn.startOver()
    await tryOn.start()
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/uploads')).toBe(1)
    expect(world.count('POST', '/generations')).toBe(2)
  })

  it('discard({ abandonPaidJob }) forgets a running job, and its late answer writes nothing', async () => {
    const held = world.hold('POST', '/generations', 'after')
    const room = world.room()
    const tryOn = room.tryOn(product)
    void tryOn.start(person)
    await held.reached
    await tryOn.discard({ abandonPaidJob: true })
    expect(tryOn.get().state).toBe('idle')
    held.release()
    await world.settle()
    expect(await room.list()).toEqual([])
  })

  it('retry archives the attempt before it, with its job', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    await tryOn.start(person)
    const first = await world.until(tryOn, 'final')
    await tryOn.retry()
    const second = await world.until(tryOn, 'final')
    expect(second.attempt?.jobId).not.toBe(first.attempt?.jobId)
    const archived = (await room.list()).filter((each) => each.archived)
    expect(archived.map(({ jobId }) => jobId)).toEqual([first.attempt?.jobId])
    const view = await world.until(archived[0]?.open() as TryOn, 'final')
    expect([view.attempt, view.result]).toEqual([first.attempt, first.result])
  })

  it('startOver archives a running job, which goes on from the list', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    await tryOn.start(person)
    const first = await world.until(tryOn, 'preview')
    await tryOn.startOver()
    const [archived] = await room.list()
    expect(archived).toMatchObject({ jobId: first.attempt?.jobId, archived: true })
    const view = await world.until(archived?.open() as TryOn, 'final')
    expect(view.attempt?.jobId).toBe(first.attempt?.jobId)
    expect(view.can).toMatchObject({ start: false, retry: false })
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('a retry of an archived attempt is not permitted, one of a listed current attempt is a new one', async () => {
    const room = world.room()
    await started(room.tryOn(product))
    const { attempt } = await world.until(room.tryOn(product), 'final')
    const [listed] = await world.room().list()
    const tryOn = listed?.open() as TryOn
    await world.until(tryOn, 'final')
    await tryOn.retry()
    const again = await world.until(tryOn, 'final')
    expect(again.attempt?.jobId).not.toBe(attempt?.jobId)
    const before = world.sent.length
    const archived = (await world.room().list()).find((each) => each.archived)?.open() as TryOn
    const view = await world.until(archived, 'final')
    expect(view.attempt).toEqual(attempt)
    await expect(archived.retry()).rejects.toMatchObject({ problem: { kind: 'notAllowed', intent: 'retry' } })
    expect(world.sent.length).toBe(before)
  })

  it('a resumed job that gets no answer backs off, and does not fall back to its old stop', async () => {
    const tryOn = world.room().tryOn(product)
    world.fault('GET', '/generations', [answers(200, { data: { status: 'DONE' } }), answers(503, {}), answers(503, {})])
    await started(tryOn)
    await world.until(tryOn, 'protocolError')
    await tryOn.resume()
    await world.settle()
    expect(tryOn.get().state).toBe('processing')
    await world.until(tryOn, 'final')
  })

  it('a resumed attempt knows nothing of the refusal that stopped it', async () => {
    const tryOn = world.room({ askVisitorFirst: true }).tryOn(product)
    world.fault('GET', '/funnel', [refusesKey])
    await started(tryOn)
    await world.until(tryOn, 'unauthorized')
    await tryOn.resume()
    await world.settle()
    expect([tryOn.get().state, tryOn.get().problem]).toEqual(['processing', null])
  })

  it('a registration that has to wait for a day can be left', async () => {
    const tryOn = await started(world.room().tryOn({ ...product, variantId: '2009' }))
    await world.until(tryOn, 'needsEmail')
    world.fault('POST', '/customer-register', [refuses('rateLimitExceeded', { retryAfter: 86_400 })])
    await expect(tryOn.submitEmail({ email: 'ada@example.com' })).rejects.toMatchObject({ kind: 'throttled' })
    expect(tryOn.get().can.startOver).toBe(true)
    await tryOn.startOver()
    expect(tryOn.get().state).toBe('idle')
  })
})

describe('bad input', () => {
  it.each([
    ['an empty file', new Blob([]), 'photo'],
    ['a file that is no picture', new Blob(['hello']), 'photo'],
    ['a bad URL', { imageUrl: 'photo.png' }, 'photo'],
    ['no photo at all', undefined, 'photo'],
  ])('%s rejects with its problem, shows it, and loses nothing', async (_, photo, kind) => {
    const tryOn = world.room().tryOn(product)
    await expect(tryOn.start(photo as Blob)).rejects.toMatchObject({ kind })
    expect(tryOn.get()).toMatchObject({ state: 'idle', problem: { kind } })
    expect(world.sent).toEqual([])
    await tryOn.start(person)
    await world.until(tryOn, 'final')
  })

  it.each([
    [{ customerEmail: 'nobody' }, 'customerEmail'],
    [{ customKey: '../x' }, 'customKey'],
  ])('start with %o names the field', async (options, at) => {
    const tryOn = world.room().tryOn(product)
    await expect(tryOn.start(person, options)).rejects.toMatchObject({ problem: { kind: 'input', at } })
  })

  it.each([
    [{ ...product, productId: 0 }, 'productId'],
    [{ ...product, variantId: 'x' }, 'variantId'],
    [{ ...product, funnelIds: [] }, 'funnelIds'],
  ])('a try-on of %o throws and names the field', (bad, at) => {
    expect(() => world.room().tryOn(bad)).toThrow(
      expect.objectContaining({ problem: expect.objectContaining({ kind: 'input', at }) as unknown }),
    )
  })

  it('a base URL that is none is told at the first use', async () => {
    const tryOn = world.room({ baseUrl: 'api.test' }).tryOn(product)
    expect(tryOn.get().state).toBe('restoring')
    expect(() => tryOn.subscribe(() => {})).toThrow(expect.objectContaining({ kind: 'input' }))
    await expect(tryOn.start(person)).rejects.toMatchObject({ kind: 'input', problem: { at: 'baseUrl' } })
  })

  it('a refused address stays in needsEmail with its problem', async () => {
    const tryOn = await started(world.room().tryOn({ ...product, variantId: '2009' }))
    await world.until(tryOn, 'needsEmail')
    await expect(tryOn.submitEmail({ email: 'nobody' })).rejects.toMatchObject({ kind: 'input' })
    world.fault('POST', '/customer-register', [answers(400, { error: 'Registration failed' })])
    await expect(tryOn.submitEmail({ email: 'ada@example.com' })).rejects.toMatchObject({ kind: 'refused' })
    expect(tryOn.get()).toMatchObject({ state: 'needsEmail', problem: { kind: 'refused' } })
    // an empty field of a form is no name
    await tryOn.submitEmail({ email: 'ada@example.com', name: '' })
    await world.until(tryOn, 'final')
  })

  it('an empty visitor ID is refused at once', () => {
    expect(() => world.door({ uniqueUserId: '' })).toThrow(expect.objectContaining({ kind: 'input' }))
  })
})

describe('a consent', () => {
  /** A page whose photo is on its way. */
  async function heldPhoto() {
    const held = world.hold('PUT', '/photos')
    const room = world.room()
    await started(room.tryOn(product))
    await held.reached
    await world.settle()
    return room
  }

  it('goes on after a reload while it is under ten minutes old', async () => {
    const room = await heldPhoto()
    room.close()
    world.clock.advance(599_000)
    await world.until(world.room().tryOn(product), 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('is idle with the photo kept when it is older', async () => {
    const gone = await heldPhoto()
    const photo = gone.photo.get()
    gone.close()
    const sent = world.sent.length
    world.clock.advance(601_000)
    const room = world.room()
    const late = room.tryOn(product)
    const view = await world.until(late, 'idle')
    expect(view.problem).toEqual({ kind: 'consentExpired' })
    expect(world.sent.length).toBe(sent)
    expect(photo).not.toBeNull()
    expect(room.photo.get()).toEqual(photo)
    await late.start()
    await world.until(late, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it.each([
    ['has no atomic update', () => testStorage({ atomic: false })],
    ['may be older than what was written', () => ({ ...testStorage(), isExclusive: () => false })],
    ['has localStorage alone, as its IndexedDB never opens', brokenThenWeb],
  ])('without a lock nothing is submitted by itself after a reload where storage %s', async (_, storage) => {
    await world.close()
    world = createWorld({ storage: storage() })
    const gone = await heldPhoto()
    gone.close()
    const sent = world.sent.length
    const view = await world.until(world.room().tryOn(product), 'idle')
    await world.settle()
    expect(view.exclusive).toBe(false)
    expect(world.sent.length).toBe(sent)
  })

  it('is taken from its page by no other one that is open, where nothing is submitted by itself', async () => {
    const localStorage = (of: TestStorage) => Object.assign(of, { isExclusive: () => false })
    await world.close()
    world = createWorld({ storage: localStorage(storage) })
    const held = world.hold('PUT', '/photos')
    const tryOn = await started(world.room().tryOn(product))
    await held.reached
    const other = world.room({ storage: localStorage(storage.another()) }).tryOn(product)
    other.subscribe(() => {})
    await world.pass(3_000)
    held.release()
    await world.until(other, 'final')
    expect(tryOn.get().state).toBe('final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('a new consent knows nothing of what stopped the one before', async () => {
    const room = world.room({ askVisitorFirst: true })
    const tryOn = room.tryOn(product)
    world.fault('GET', '/funnel', [answers(404, { error: 'Funnel not found' })])
    await started(tryOn)
    await world.until(tryOn, 'rejected')
    const visitor = { requestsLeft: 0, totalRequests: 2, uniqueUserId: 'v' }
    world.fault('GET', '/requests-left', [answers(200, { data: visitor })])
    await tryOn.retry()
    await world.until(tryOn, 'needsEmail')
  })
})

describe('a discarded attempt', () => {
  it('never returns, not by the answer that a page gets which slept meanwhile', async () => {
    const sleepy = manualClock()
    const held = world.hold('POST', '/generations', 'after')
    await started(world.room({ clock: sleepy }).tryOn(product))
    await held.reached
    const awake = world.room().tryOn(product)
    awake.subscribe(() => {})
    await world.pass(6_000)
    expect(awake.get().state).toBe('outcomeUnknown')
    await awake.discard({ abandonPaidJob: true })
    held.release()
    await world.settle()
    await world.pass(1_000, sleepy)
    expect(await world.room().list()).toEqual([])
    expect(awake.get().state).toBe('idle')
    expect((await world.until(world.room().tryOn(product), 'idle')).attempt).toBeNull()
  })
})

describe('an e-mail form', () => {
  it('stays in sight while its address is being registered and refused', async () => {
    const tryOn = await started(world.room().tryOn({ ...product, variantId: '2009' }))
    await world.until(tryOn, 'needsEmail')
    world.fault('POST', '/customer-register', [answers(400, { error: 'Registration failed' })])
    const states: string[] = []
    tryOn.subscribe(({ state }) => states.push(state))
    await expect(tryOn.submitEmail({ email: 'ada@example.com' })).rejects.toMatchObject({ kind: 'refused' })
    expect([...new Set(states)]).toEqual(['needsEmail'])
  })
})

describe('what an application does meanwhile', () => {
  it('an intent settles whose subscriber closes the room', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    await world.until(tryOn, 'idle')
    tryOn.subscribe(({ state }) => state === 'preparing' && room.close())
    const word = tryOn.start(person).catch((error: unknown) => error)
    await world.pass(1_000)
    expect(await Promise.race([word, Promise.resolve('pending')])).not.toBe('pending')
  })

  it('an inspect that throws stops nothing', async () => {
    const { told, end } = reported()
    const bugs: Error[] = []
    const inspect = () => {
      bugs.push(new Error('a bug of the page'))
      throw bugs.at(-1)
    }
    const room = world.room({ inspect })
    await world.until(await started(room.tryOn(product)), 'final')
    room.close()
    await vi.waitFor(() => expect(told).toHaveLength(bugs.length), { timeout: 15_000 })
    end()
    expect(told).toEqual(bugs)
  })

  it('result() that close() has ended hears nothing more', async () => {
    const { signal } = new AbortController()
    const room = world.room()
    const tryOn = room.tryOn(product)
    const ended = tryOn.result({ signal }).catch((error: unknown) => error)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    room.close()
    expect(await ended).toMatchObject({ problem: { kind: 'stopped', reason: 'closed' } })
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('what it passes on from another page may be reactive', async () => {
    const owner = world.room().tryOn(product)
    owner.subscribe(() => {})
    await world.until(owner, 'idle')
    const other = world.room().tryOn(product)
    other.subscribe(() => {})
    await world.until(other, 'idle')
    const photo = new Proxy({ imageUrl: 'https://photos.test/p.png' }, {})
    const options = new Proxy({ moreLooksConsent: true, customKey: 'look' }, {})
    await other.start(photo, options)
    await world.until(owner, ({ attempt }) => attempt?.jobId != null)
    const submission = world.sent.find(({ method, path }) => method === 'POST' && path === '/generations')
    expect(submission?.body).toMatchObject({ imageUrl: photo.imageUrl, moreLooksConsent: true })
  })

  it('a try-on that was opened from the list takes the funnels that the page gives now', async () => {
    const before = world.room()
    await world.until(await started(before.tryOn(product)), 'final')
    before.close()
    const room = world.room()
    const [listed] = await room.list()
    await world.until(listed?.open() as TryOn, 'final')
    const asked: (string | null)[] = []
    world.fault('GET', '/funnel', [
      async (reach, request) => (asked.push(new URL(request.url).searchParams.get('funnelIds')), reach()),
    ])
    await room.tryOn({ ...product, funnelIds: [13, 12] }).retry(person)
    await world.settle()
    expect(asked).toEqual(['13,12'])
  })

  it('a photo that cannot be read to its end is refused in the end', async () => {
    const tryOn = world.room().tryOn(product)
    await world.until(tryOn, 'idle')
    const word = tryOn.start(new Slow(['photo']))
    const refused = expect(word).rejects.toMatchObject({ problem: { kind: 'photo', reason: 'unreadable' } })
    await world.pass(31_000)
    await refused
  })

  it('a photo that another try-on has still to upload stays when its own is discarded', async () => {
    world.fault('PUT', '/photos', [dropped, dropped, dropped])
    const room = world.room()
    const own = await started(room.tryOn(product))
    const other = room.tryOn({ ...product, variantId: '2002' })
    other.subscribe(() => {})
    await other.start()
    // the room has another photo by now
    await room
      .tryOn({ productId: '1002', variantId: '2101', funnelIds: [12] })
      .start({ imageUrl: 'https://photos.test/p.png' })
    await own.discard()
    await world.until(other, 'final')
  })

  // nobody can fetch these photos, which makes no difference here
  it('a photo that is chosen while a try-on is opened stays the chosen one', async () => {
    await world.close()
    world = createWorld({ storage, gated: false })
    vi.stubGlobal('isSecureContext', true)
    const room = world.room()
    const tryOn = room.tryOn(product)
    await tryOn.start({ imageUrl: 'https://photos.test/old.png' })
    await world.until(tryOn, 'failed')
    const chosen = { imageUrl: 'https://photos.test/new.png' }
    const shown: (string | null | undefined)[] = []
    room.photo.subscribe((photo) => shown.push(photo?.imageUrl))
    for (let turns = 0; turns < 40; turns++) {
      const word = tryOn.retry(chosen)
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      room.tryOn({ ...product, variantId: String(3000 + turns) }).subscribe(() => {})
      await word
      await world.until(tryOn, 'failed')
    }
    vi.unstubAllGlobals()
    expect([...new Set(shown)]).toEqual([chosen.imageUrl])
  })

  it('photos that were refused do not stay in memory', async () => {
    const bytes: WeakRef<ArrayBuffer>[] = []
    class Tracked extends Blob {
      override async arrayBuffer() {
        const read = await super.arrayBuffer()
        bytes.push(new WeakRef(read))
        return read
      }
    }
    world.fault('PUT', '/photos', [answers(403, { error: 'Forbidden' })], true)
    // what is made of a photo is what is kept, and not its file
    const tryOn = world.room({ photos: false }).tryOn(product)
    await tryOn.start(new Tracked([person]))
    for (let count = 0; count < 4; count++) {
      await world.until(tryOn, 'rejected')
      await tryOn.retry(new Tracked([person]))
    }
    await world.until(tryOn, 'rejected')
    await world.settle()
    await collectGarbage()
    const left = bytes.filter((each) => each.deref() !== undefined)
    // the last one is the room's photo
    expect([bytes.length, left.length]).toEqual([5, 1])
  })

  it('nor does what intents were refused with', async () => {
    const tryOn = world.room().tryOn(product)
    const refusals: WeakRef<object>[] = []
    const refused = () => tryOn.resume().catch((error: object) => void refusals.push(new WeakRef(error)))
    for (let count = 0; count < 5; count++) await refused()
    await world.settle()
    await collectGarbage()
    expect(refusals.map((each) => each.deref())).toEqual(Array.from({ length: 5 }))
  })
})

describe('the room’s photo', () => {
  it('whose bytes another page has still to upload stays when a page takes another', async () => {
    const put = world.hold('PUT', '/photos')
    const first = world.room()
    await started(first.tryOn(product))
    await put.reached
    const second = world.room()
    await second.ready
    expect(second.photo.get()).toEqual(first.photo.get())
    await second.tryOn({ ...product, variantId: '2002' }).start(person)
    await world.settle()
    first.close()
    const again = world.room().tryOn(product)
    await world.until(again, 'final')
    expect(world.count('POST', '/generations')).toBeGreaterThan(0)
  })
})
