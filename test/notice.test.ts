import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FittingRoomOptions } from 'fitting-room'
import { testStorage, type TestStorage } from './support/storage.ts'
import { answers, createWorld, person, product, started, type World } from './support/world.ts'

const notice = { version: '2026-11' }
const consent = { notice: '2026-11' }

let world: World
let storage: TestStorage
beforeEach(() => {
  storage = testStorage()
  world = createWorld({ storage })
})
afterEach(() => world.close())

describe('a room with a notice', () => {
  it.each([
    ['none', undefined],
    ['another version', { notice: '2025-01' }],
    ['no version', {}],
    ['no text', { notice: 7 }],
    ['nothing that is one', 'yes'],
  ])('sends nothing for a consent that names %s, and says which is valid', async (_, given) => {
    const tryOn = world.room({ notice }).tryOn(product)
    await expect(tryOn.start(person, { consent: given as typeof consent })).rejects.toMatchObject({
      problem: { kind: 'input', at: 'consent.notice', valid: '2026-11' },
    })
    expect(tryOn.get()).toMatchObject({ state: 'idle', problem: { kind: 'input', at: 'consent.notice' } })
    expect(world.sent).toEqual([])
  })

  it('keeps with the attempt what was agreed to and when, through a reload and into the archive', async () => {
    const room = world.room({ notice })
    const at = world.clock.now()
    const tryOn = room.tryOn(product)
    await tryOn.start(person, { consent })
    await world.until(tryOn, 'final')
    room.close()
    const again = world.room({ notice: { version: 'another' } })
    const later = again.tryOn(product)
    await later.ready
    await expect(later.retry(undefined, { consent })).rejects.toMatchObject({ kind: 'input' })
    await later.retry(undefined, { consent: { notice: 'another' } })
    expect((await again.list()).map((entry) => entry.notice)).toEqual(['another', '2026-11'])
    expect((await again.list())[1]?.startedAt).toBe(at)
  })

  it('goes by what the page has shown on which it was agreed to, whichever runs the try-on', async () => {
    const old = world.room({ notice: { version: 'old' } })
    await world.until(old.tryOn(product), 'idle')
    const page = world.room({ notice, storage: storage.another() })
    const tryOn = page.tryOn(product)
    tryOn.subscribe(() => {})
    await world.settle()
    await expect(tryOn.start(person, { consent: { notice: 'old' } })).rejects.toMatchObject({
      problem: { kind: 'input', at: 'consent.notice', valid: '2026-11' },
    })
    expect(world.count('POST', '/generations')).toBe(0)
    const bytes = new Uint8Array(await person.arrayBuffer())
    await tryOn.start({ bytes, type: 'image/png' }, { consent })
    await world.until(tryOn, 'final')
    expect(await page.list()).toMatchObject([{ notice: '2026-11' }])
    await expect(tryOn.retry({ bytes, type: 'image/png' }, {})).rejects.toMatchObject({ kind: 'input' })
  })

  it('leaves what was agreed to before, where a later word names none', async () => {
    const asked = world.hold('GET', '/funnel')
    const tryOn = world.room({ notice }).tryOn(product)
    tryOn.subscribe(() => {})
    await tryOn.start(person, { consent })
    await asked.reached
    await expect(tryOn.start(person)).rejects.toMatchObject({ kind: 'input' })
    expect(tryOn.get()).toMatchObject({ state: 'preparing' })
    asked.release()
    await world.until(tryOn, 'final')
  })

  it('keeps it through an e-mail form', async () => {
    world.fault('POST', '/generations', [answers(403, { error: 'email_required', code: 'EMAIL_REQUIRED' })])
    const room = world.room({ notice })
    const tryOn = room.tryOn(product)
    await tryOn.start(person, { consent })
    await world.until(tryOn, 'needsEmail')
    await tryOn.submitEmail({ email: 'someone@example.com' })
    await world.until(tryOn, 'final')
    expect((await room.list()).map((entry) => entry.notice)).toEqual(['2026-11'])
  })

  it('asks for it wherever a consent is carried out', async () => {
    const [one, other] = [world.room({ notice }), world.room({ notice })]
    await one.tryOn(product).ready
    const passed = other.tryOn(product)
    await expect(passed.start(person)).rejects.toMatchObject({ problem: { at: 'consent.notice' } })
    await passed.start(person, { consent })
    expect((await one.list())[0]?.notice).toBe('2026-11')
  })

  it.each([['text'], [{}], [{ version: '' }], [{ version: 3 }], [null]])('cannot be made of %j', (given) => {
    expect(() => world.door({ notice: given } as unknown as Partial<FittingRoomOptions>)).toThrow(/"notice.version"/)
  })
})

describe('a room without a notice', () => {
  it('keeps none, or the one that a consent names all the same', async () => {
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'final')
    await tryOn.retry(person, { consent })
    await world.until(tryOn, 'final')
    expect((await room.list()).map((entry) => entry.notice)).toEqual(['2026-11', null])
    await expect(tryOn.retry(person, { consent: { notice: '' } })).rejects.toMatchObject({ kind: 'input' })
  })
})

describe('what is stored', () => {
  const retentionMs = 86_400_000
  const kinds = (found: readonly { kind: string }[]) => found.map(({ kind }) => kind).sort()

  it('is nothing before anybody has begun, and nothing after a reset()', async () => {
    const room = world.room()
    expect(await room.stored()).toEqual([])
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'final')
    await room.reset()
    expect(await room.stored()).toEqual([])
  })

  it('is the attempt, the photo or its address, and the visitor, each with its end', async () => {
    const room = world.room()
    const begun = world.clock.now()
    const held = world.hold('POST', '/uploads', 'before')
    const tryOn = await started(room.tryOn(product))
    await held.reached
    expect(kinds(await room.stored())).toEqual(['attempt', 'photo', 'shopper'])
    held.release()
    await world.until(tryOn, 'final')
    const found = await room.stored()
    expect(kinds(found)).toEqual(['attempt', 'shopper', 'shopper'])
    for (const { until, key } of found) {
      expect(until).toBeGreaterThanOrEqual(begun + retentionMs)
      expect(storage.items.has(key)).toBe(true)
    }
  })

  it('is no attempt that was left or discarded', async () => {
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'final')
    await tryOn.startOver()
    expect(kinds(await room.stored())).toEqual(['attempt', 'shopper', 'shopper'])
    for (const entry of await room.list()) await entry.open().discard()
    expect(kinds(await room.stored())).toEqual(['shopper', 'shopper'])
    world.fault('POST', '/generations', [answers(400, { error: 'no' })])
    await started(tryOn)
    await world.until(tryOn, 'rejected')
    expect(kinds(await room.stored())).toEqual(['attempt', 'shopper', 'shopper'])
    await tryOn.discard()
    expect(kinds(await room.stored())).toEqual(['shopper', 'shopper'])
  })

  it('is asked for through the door, too', async () => {
    const room = world.door()
    const tryOn = await started(room.tryOn(product))
    await world.until(tryOn, 'final')
    expect(kinds(await room.stored())).toContain('attempt')
  })

  it('is what only the page remembers where storage takes nothing', async () => {
    storage.meet(
      ({ type }) => type !== 'get',
      () => Promise.reject(new Error('full')),
    )
    const room = world.room()
    const tryOn = await started(room.tryOn(product))
    expect((await world.until(tryOn, 'final')).durable).toBe(false)
    expect(kinds(await room.stored())).toContain('attempt')
    expect(storage.items.size).toBe(0)
  })

  it('cannot be told where storage cannot be read', async () => {
    const room = world.room()
    await started(room.tryOn(product))
    storage.meet(
      () => true,
      () => Promise.reject(new Error('closed')),
    )
    await expect(room.stored()).rejects.toMatchObject({ kind: 'storageUnreadable' })
  })
})
