import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { entryOf, manualClock, mockRoom, problems, viewOf, views } from 'fitting-room/testing'
import { intents, tryOnStates } from '../src/rules/words.ts'
import { TryOnError } from 'fitting-room'
import { person, product } from './support/world.ts'

const product1 = '1001/2001'

describe('the views for tests', () => {
  it.each(tryOnStates)('%s is one that a page would believe', (state) => {
    expect(views[state].state).toBe(state)
    expect(Object.keys(views[state]).sort()).toEqual(Object.keys(views.restoring).sort())
    expect(Object.keys(views[state].can)).toEqual([...intents])
  })

  it('take changes, and stay what they were', () => {
    const held = viewOf('rejected', { problem: problems.unavailable, durable: false })
    expect(held).toMatchObject({
      state: 'rejected',
      group: 'stopped',
      problem: { kind: 'unavailable' },
      durable: false,
    })
    expect(views.rejected).toMatchObject({ problem: { kind: 'refused' }, durable: true })
  })

  it('are of states, and have parts, that there are', () => {
    expect(() => viewOf('done' as 'final')).toThrow('and "done" is none')
    expect(() => entryOf('done' as 'final')).toThrow('and "done" is none')
    expect(() => viewOf('final', { reslt: 1 } as object)).toThrow('and "reslt" is none')
  })
})

describe('the entries for tests', () => {
  it.each(tryOnStates)('show %s as a view of it does, and so does what they open', (state) => {
    const entry = entryOf(state)
    const { preview, result, attempt } = views[state]
    expect(entry).toMatchObject({ state, preview, result, jobId: attempt?.jobId ?? null, archived: false })
    expect(entry.open().get()).toBe(views[state])
  })

  it('take changes, and are what a mock room lists', async () => {
    const variantId = 'gid://shopify/ProductVariant/2002'
    const entry = entryOf('final', { variantId, archived: true })
    expect([entry.variantId, entry.archived, entry.open().get().state]).toEqual([variantId, true, 'final'])
    const ids = [entry, entryOf('final'), entryOf('failed')].map(({ attemptId }) => attemptId)
    expect(new Set(ids).size).toBe(3)
    const room = mockRoom({}, { history: [entry] })
    expect([room.history.get(), await room.list()]).toEqual([[entry], [entry]])
    const seen: unknown[] = []
    room.history.subscribe((entries) => void seen.push(entries))
    room.showHistory([])
    expect([seen, await room.list()]).toEqual([[[]], []])
  })
})

describe('a mock room', () => {
  afterEach(() => void vi.useRealTimers())

  it('forgets what it has heard, and shows what it showed', () => {
    const room = mockRoom({ [product1]: 'final' })
    void room.tryOn(product).retry()
    expect(room.heard).toHaveLength(1)
    room.forget()
    expect([room.heard, room.tryOn(product).get().state]).toEqual([[], 'final'])
  })

  it('shows what it is told, to whoever listens, by any spelling of an ID', () => {
    const room = mockRoom({ [product1]: 'needsEmail' })
    const tryOn = room.tryOn({ ...product, productId: 'gid://shopify/Product/1001', variantId: '2001' })
    expect([tryOn.get().state, room.tryOn({ ...product, variantId: '2' }).get().state]).toEqual(['needsEmail', 'idle'])
    const seen: string[] = []
    const { unsubscribe } = tryOn.subscribe(({ state }) => seen.push(state))
    room.show('processing', product1)
    room.show(viewOf('stalled', { problem: problems.consentExpired }))
    unsubscribe()
    room.show('final')
    expect(seen).toEqual(['processing', 'stalled'])
    expect(tryOn.get()).toBe(views.final)
    expect(room.tryOn(product)).toBe(tryOn)
  })

  it('remembers every intent, and refuses what the view does not permit as a room does', async () => {
    const room = mockRoom()
    const tryOn = room.tryOn(product)
    await tryOn.start(person, { moreLooksConsent: true })
    await expect(tryOn.resume()).rejects.toBeInstanceOf(TryOnError)
    await expect(tryOn.retry()).rejects.toMatchObject({
      problem: { kind: 'notAllowed', intent: 'retry', state: 'idle' },
    })
    expect(room.heard).toEqual([
      { product: product1, intent: 'start', given: [person, { moreLooksConsent: true }] },
      { product: product1, intent: 'resume', given: [] },
      { product: product1, intent: 'retry', given: [] },
    ])
    expect(tryOn.get().state).toBe('idle')
  })

  it('hears an intent while storage is read, and answers it by what is shown then', async () => {
    const room = mockRoom({ [product1]: 'restoring' })
    const tryOn = room.tryOn(product)
    const [started, resumed] = [tryOn.start(person), tryOn.resume()]
    expect(room.heard.map(({ intent }) => intent)).toEqual(['start', 'resume'])
    room.show('idle')
    await started
    await expect(resumed).rejects.toMatchObject({ problem: { kind: 'notAllowed', intent: 'resume', state: 'idle' } })
  })

  it('refuses as a room does what is no product, no ticket, and no picture', async () => {
    const room = mockRoom()
    expect(() => room.tryOn({ ...product, productId: 'tee' })).toThrow(
      expect.objectContaining({ kind: 'input', problem: expect.objectContaining({ at: 'productId' }) }),
    )
    await expect(room.claim('nonsense')).rejects.toMatchObject({ problem: { kind: 'ticket', reason: 'broken' } })
    await expect(room.tryOn(product).pictureFailed()).rejects.toMatchObject({ problem: { reason: 'none' } })
    room.show('final')
    await room.tryOn(product).pictureFailed()
    const ticket = await room.tryOn(product).ticket()
    expect(await room.claim(ticket)).toBe(room.tryOn(product))
  })

  it('goes on where a listener throws, and tells of it', () => {
    const told = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => told.mockRestore())
    const room = mockRoom()
    const [broken, states] = [new Error('a bug of the page'), [] as string[]]
    room.tryOn(product).subscribe(() => {
      throw broken
    })
    room.tryOn(product).subscribe(({ state }) => states.push(state))
    room.show('final')
    expect(states).toEqual(['final'])
    expect(told).toHaveBeenCalledWith(broken)
  })

  it('settles ready and result() as it shows what they wait for', async () => {
    const room = mockRoom({ [product1]: 'restoring' })
    const tryOn = room.tryOn(product)
    const { ready } = tryOn
    const [done, failed] = [
      tryOn.result(),
      mockRoom({ [product1]: 'failed' })
        .tryOn(product)
        .result(),
    ]
    room.show('processing')
    expect((await ready).state).toBe('processing')
    room.show('final')
    expect(await done).toBe(views.final.result)
    await expect(failed).rejects.toMatchObject({ kind: 'jobFailed', jobId: views.failed.attempt.jobId })
  })

  it('ends result() as a room does: by its signal, where a person is needed, and by what is left', async () => {
    const room = mockRoom({ '1/2': 'needsEmail', '1/3': 'unauthorized', '1/4': 'processing' })
    const of = (variantId: string) => room.tryOn({ productId: 1, variantId, funnelIds: [1] })
    const stopped = (reason: string) => ({ problem: { kind: 'stopped', reason } })
    await expect(of('2').result({ rejectOnInput: true })).rejects.toMatchObject({ kind: 'emailRequired' })
    await expect(of('4').result({ signal: AbortSignal.abort() })).rejects.toMatchObject(stopped('aborted'))
    const [waits, left] = [of('3').result(), of('4').result()]
    await room.ready
    room.show('idle', '1/4')
    await expect(left).rejects.toMatchObject(stopped('startedOver'))
    room.show('final', '1/3')
    expect(await waits).toBe(views.final.result)
    const over = mockRoom({ [product1]: viewOf('idle', { problem: problems.consentExpired }) }).tryOn(product)
    await expect(over.result()).rejects.toMatchObject({ kind: 'consentExpired' })
  })

  it('forgets what may be paid for where that is said, and shows what it was told to before a try-on was asked for', async () => {
    const room = mockRoom({ [product1]: 'processing' })
    const tryOn = room.tryOn(product)
    await expect(tryOn.discard()).rejects.toMatchObject({ kind: 'paidJob' })
    await expect(tryOn.discard({ abandonPaidJob: true })).resolves.toBeUndefined()
    const other = mockRoom()
    other.show('final')
    expect(other.tryOn(product).get().state).toBe('final')
  })

  it('says what is wrong with the names and states that it is given', () => {
    expect(() => mockRoom({ ['10012001' as '1/2']: 'idle' })).toThrow("names products as '1001/2001'")
    const room = mockRoom({ [product1]: 'needEmail' as 'needsEmail' })
    expect(() => room.tryOn(product)).toThrow('"needEmail" is none')
  })

  it('leaves nobody to listen to what was refused, and a timer that moves time moves it on', async () => {
    const unheard = vi.fn<() => void>()
    process.once('unhandledRejection', unheard)
    void mockRoom().tryOn(product).resume()
    await new Promise((resolve) => setImmediate(resolve))
    expect(unheard).not.toHaveBeenCalled()
    process.off('unhandledRejection', unheard)
    const clock = manualClock()
    clock.setTimeout(() => clock.advance(5_000), 500)
    clock.advance(1_000)
    expect(clock.monotonic()).toBe(5_500)
  })

  it('has the visitor and the photo that it was given, lists nothing, and says that it talks to nobody', async () => {
    const photo = { id: 'photo-1', imageUrl: null }
    const room = mockRoom({}, { photo, visitor: { requestsLeft: 2 } })
    expect(room.photo.get()).toBe(photo)
    expect(room.visitor.get()).toEqual({ uniqueUserId: null, requestsLeft: 2, totalRequests: null })
    await room.ready
    expect(await room.list()).toEqual([])
    await expect(room.client.getContext()).rejects.toThrow('no service')
    const tryOn = room.tryOn(product)
    room.show('final')
    room.showHistory([entryOf('final')])
    await room.reset()
    expect(tryOn.get().state).toBe('idle')
    expect([room.photo.get(), room.history.get()]).toEqual([null, []])
    expect(room.visitor.get().requestsLeft).toBeNull()
    room.close()
  })
})
