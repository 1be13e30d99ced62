import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { any, isRead, refused, testStorage } from './support/storage.ts'
import { answers, createWorld, person, product, started, type World } from './support/world.ts'

let world: World
beforeEach(() => void (world = createWorld()))
afterEach(() => world.close())

describe('result()', () => {
  it('resolves at final with the picture', async () => {
    const tryOn = world.room().tryOn(product)
    const result = tryOn.result()
    await tryOn.start(person)
    await world.until(tryOn, 'final')
    expect((await result).imageUrl).toContain('/pictures/')
  })

  it('rejects at a stop with the problem and the job ID', async () => {
    const tryOn = world.room().tryOn({ ...product, variantId: '2003' })
    const result = tryOn.result().catch((error: unknown) => error)
    await tryOn.start(person)
    const view = await world.until(tryOn, 'failed')
    expect(await result).toMatchObject({ kind: 'jobFailed', jobId: view.attempt?.jobId })
    expect(view.attempt?.jobId).toBeTruthy()
  })

  it('waits for a person, unless told not to', async () => {
    const tryOn = await started(world.room().tryOn({ ...product, variantId: '2009' }))
    await world.until(tryOn, 'needsEmail')
    await expect(tryOn.result({ rejectOnInput: true })).rejects.toMatchObject({ kind: 'emailRequired' })
    const waiting = tryOn.result()
    await tryOn.submitEmail({ email: 'ada@example.com' })
    await world.until(tryOn, 'final')
    expect((await waiting).status).toBe('SUCCESS')
  })

  it('is not needed to hear what was wrong: an intent that nobody listens to rejects in silence', async () => {
    const uncaught: unknown[] = []
    const hear = (error: unknown) => void uncaught.push(error)
    process.on('unhandledRejection', hear)
    const tryOn = world.room().tryOn(product)
    void tryOn.start()
    void tryOn.retry()
    void tryOn.result()
    await world.until(tryOn, ({ problem }) => problem?.kind === 'photo')
    await world.settle()
    process.off('unhandledRejection', hear)
    expect(uncaught).toEqual([])
  })

  it('of an intent that was just said is that of the new attempt', async () => {
    const tryOn = await started(world.room().tryOn(product))
    const before = await world.until(tryOn, 'final')
    const word = tryOn.retry()
    const result = tryOn.result()
    await word
    const after = await world.until(tryOn, 'final')
    expect(await result).toEqual(after.result)
    expect(after.result).not.toEqual(before.result)
  })

  it('rejects with what was wrong with the last word, where nothing has come of it', async () => {
    const tryOn = world.room().tryOn(product)
    await expect(tryOn.start({ imageUrl: 'nowhere' })).rejects.toMatchObject({ kind: 'photo' })
    await expect(tryOn.result()).rejects.toMatchObject({ kind: 'photo' })
    void tryOn.start(person)
    const next = tryOn.result()
    await world.until(tryOn, 'final')
    expect((await next).imageUrl).toMatch(/^https:/)
  })

  it('of a retry() that was refused is not the picture of before', async () => {
    const tryOn = await started(world.room().tryOn(product))
    await world.until(tryOn, 'final')
    await expect(tryOn.retry({ imageUrl: 'no address' })).rejects.toMatchObject({ kind: 'photo' })
    await expect(tryOn.result()).rejects.toMatchObject({ kind: 'photo' })
    await tryOn.retry(person)
    const result = tryOn.result()
    await world.until(tryOn, 'final')
    expect(await result).toEqual(tryOn.get().result)
  })

  it('is that of the one word that counts, where it was said twice', async () => {
    const tryOn = world.room().tryOn(product)
    const word = tryOn.start(person)
    await world.until(tryOn, 'processing')
    await word
    await expect(tryOn.start(person)).rejects.toMatchObject({ kind: 'notAllowed' })
    const result = tryOn.result()
    await world.until(tryOn, 'final')
    expect(await result).toEqual(tryOn.get().result)
    expect(await tryOn.result()).toEqual(tryOn.get().result)
  })

  it('of after a reset() is not rejected for what was refused before', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    await expect(tryOn.start({ imageUrl: 'no address' })).rejects.toMatchObject({ kind: 'photo' })
    await room.reset()
    const result = tryOn.result()
    await tryOn.start(person)
    await world.until(tryOn, 'final')
    expect(await result).toEqual(tryOn.get().result)
  })

  it('is not that of an earlier attempt that storage could not tell of at first', async () => {
    const storage = testStorage()
    const before = world.room({ storage })
    const earlier = await world.until(await started(before.tryOn(product)), 'final')
    before.close()
    const own = storage.another()
    own.meet(any, refused)
    const tryOn = world.room({ storage: own }).tryOn(product)
    tryOn.subscribe(() => {})
    await world.until(tryOn, ({ problem }) => problem?.kind === 'storageUnreadable')
    await tryOn.start(person)
    const result = tryOn.result()
    await world.until(tryOn, 'processing')
    own.recover()
    const { result: shown } = await world.until(tryOn, 'final')
    expect(await result).toEqual(shown)
    expect(shown?.imageUrl).not.toBe(earlier.result?.imageUrl)
  })

  it('ends by its signal without ending the try-on', async () => {
    const tryOn = await started(world.room().tryOn(product))
    await world.until(tryOn, 'processing')
    const stop = new AbortController()
    const result = tryOn.result({ signal: stop.signal }).catch((error: unknown) => error)
    stop.abort()
    expect(await result).toMatchObject({ problem: { kind: 'stopped', reason: 'aborted' } })
    await world.until(tryOn, 'final')
  })
})

describe('ready', () => {
  it('is the first view that storage was read for, at once where it was', async () => {
    const tryOn = world.room().tryOn(product)
    expect(tryOn.get().state).toBe('restoring')
    expect((await tryOn.ready).state).toBe('idle')
    const again = await started(world.room().tryOn(product))
    await world.until(again, 'processing')
    expect(await again.ready).toBe(again.get())
  })

  it('rejects where the room is closed before, or its base URL is none', async () => {
    const room = world.room()
    const { ready } = room.tryOn(product)
    room.close()
    await expect(ready).rejects.toMatchObject({ problem: { kind: 'stopped', reason: 'closed' } })
    await expect(world.room({ baseUrl: 'api.test' }).tryOn(product).ready).rejects.toMatchObject({ kind: 'input' })
  })
})

describe('the preview', () => {
  it('stays in final, after a reload too, and goes with the next attempt', async () => {
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    const { preview } = await world.until(tryOn, 'preview')
    const view = await world.until(tryOn, 'final')
    expect([view.preview, view.result?.storageStatus]).toEqual([preview, 'READY'])
    room.close()
    const again = world.room().tryOn(product)
    expect((await world.until(again, 'final')).preview).toEqual(preview)
    again.subscribe(() => {})
    await again.retry()
    expect(again.get().preview).toBeNull()
  })
})

it('that an address is wanted is no problem before one was refused', async () => {
  const tryOn = await started(world.room().tryOn({ ...product, variantId: '2009' }))
  expect((await world.until(tryOn, 'needsEmail')).problem).toBeNull()
  world.fault('POST', '/customer-register', [answers(400, { error: 'Registration failed' })])
  void tryOn.submitEmail({ email: 'ada@example.com' })
  const view = await world.until(tryOn, ({ problem }) => problem?.kind === 'refused')
  expect(view.state).toBe('needsEmail')
})

it('ready and result() outlive a while in which the browser keeps their page without running it', async () => {
  const window = new EventTarget()
  vi.stubGlobal('window', window)
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }))
  onTestFinished(() => void vi.unstubAllGlobals())
  const keepAndShow = async () => {
    for (const type of ['pagehide', 'pageshow']) {
      window.dispatchEvent(Object.assign(new Event(type), { persisted: true }))
      await world.settle()
    }
  }
  const storage = testStorage()
  const read = storage.hold(isRead)
  const tryOn = world.room({ storage }).tryOn(product)
  const { ready } = tryOn
  await read.reached
  await keepAndShow()
  read.release()
  expect((await ready).state).toBe('idle')
  const result = tryOn.result()
  await started(tryOn)
  await world.until(tryOn, 'processing')
  await keepAndShow()
  await world.until(tryOn, 'final')
  expect((await result).imageUrl).toContain('/pictures/')
})

it('result() is never the next shopper’s, whoever has reset the room, and while its page was kept', async () => {
  const window = new EventTarget()
  vi.stubGlobal('window', window)
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }))
  onTestFinished(() => void vi.unstubAllGlobals())
  const storage = testStorage()
  const kept = world.room({ storage: storage.another() }).tryOn(product)
  await world.until(kept, 'idle')
  const result = expect(kept.result()).rejects.toMatchObject({ problem: { kind: 'stopped', reason: 'startedOver' } })
  window.dispatchEvent(Object.assign(new Event('pagehide'), { persisted: true }))
  vi.unstubAllGlobals()
  const other = world.room({ storage })
  await other.reset()
  await world.until(await started(other.tryOn(product)), 'final')
  window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))
  await world.until(kept, 'final')
  await result
})
