import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FittingRoomOptions, RoomEvent, TryOn } from 'fitting-room'
import { mockRoom } from 'fitting-room/testing'
import { attemptIdOf } from '../src/afterwards/claim.ts'
import { markOf, readTicket, ticketOf } from '../src/afterwards/ticket.ts'
import { full, isRead, testStorage, type TestStorage } from './support/storage.ts'
import { answers, createWorld, person, product, started, type World } from './support/world.ts'

const hour = 3_600_000

/** A store's kiosk with a try-on, and a shopper's phone that has another storage. */
let world: World
let phone: TestStorage
beforeEach(() => {
  phone = testStorage()
  world = createWorld({ storage: testStorage() })
})
afterEach(() => world.close())

const phoneRoom = (options: Partial<FittingRoomOptions> = {}) => world.room({ storage: phone, ...options })

async function atKiosk(options: Partial<FittingRoomOptions> = {}) {
  const room = world.room({ uniqueUserId: 'kiosk-shopper', ...options })
  const tryOn = await started(room.tryOn(product))
  return { room, tryOn }
}

async function ticketOfFinal(): Promise<string> {
  const { tryOn } = await atKiosk()
  await world.until(tryOn, 'final')
  return tryOn.ticket()
}

describe('a ticket', () => {
  it('is claimed nowhere without a usable address, which its claim alone says', async () => {
    const room = world.door({ baseUrl: () => 'nowhere' })
    await expect(room.claim('1.1')).rejects.toMatchObject({ kind: 'input' })
  })

  it('is not lost with the page that claims it where storage takes nothing at first', async () => {
    const ticket = await ticketOfFinal()
    phone.meet((call) => !isRead(call), full)
    const room = phoneRoom()
    await room.claim(ticket)
    await world.pass(6_000)
    phone.recover()
    await world.pass(12_000)
    room.close()
    expect(await phoneRoom().list()).toHaveLength(1)
  })

  it('that is kept only later is known to another tab by then', async () => {
    const ticket = await ticketOfFinal()
    const beside = world.room({ storage: phone.another() })
    beside.history.subscribe(() => {})
    phone.meet((call) => !isRead(call), full)
    await phoneRoom().claim(ticket)
    await world.pass(6_000)
    expect(beside.history.get()).toEqual([])
    phone.recover()
    await world.pass(12_000)
    expect(beside.history.get()).toHaveLength(1)
  })

  it('brings an attempt of its own for each job', () => {
    const jobs = Array.from({ length: 200_000 }, (_, at) => createHash('sha1').update(`${at}`).digest('hex'))
    expect(new Set(jobs.map(attemptIdOf)).size).toBe(jobs.length)
  })

  it('is short, and tells a job, a product and its time, but nothing of the shopper', async () => {
    const { tryOn } = await atKiosk()
    const { attempt } = await world.until(tryOn, 'final')
    const ticket = await tryOn.ticket()
    expect(ticket).toMatch(/^1\.[0-9a-z]+\.1001\.2001\.[0-9a-f]{32}\.[0-9a-z]+\.[0-9a-z]{3}$/)
    expect(ticket.length).toBeLessThan(80)
    expect(ticket).toContain(attempt!.jobId!.replaceAll('-', ''))
    expect(ticket).not.toMatch(/kiosk-shopper/)
  })

  it('can be had as soon as a job is known, also through the door, and costs no request', async () => {
    const room = world.door()
    const tryOn = room.tryOn(product)
    await expect(tryOn.ticket()).rejects.toMatchObject({ problem: { kind: 'ticket', reason: 'noJob' } })
    await started(tryOn)
    await world.until(tryOn, 'processing')
    const before = world.sent.length
    expect(await tryOn.ticket()).toMatch(/^1\./)
    expect(world.sent.length).toBe(before)
  })

  it('has 60 to 85 characters, however long the IDs of a shop are', () => {
    const lengths = ['1001', '41234567890123'].map((id) => {
      const told = { productId: id, variantId: id, jobId: crypto.randomUUID(), startedAt: Date.UTC(2026, 10, 26) }
      return ticketOf('fitting-room:https_3A_2F_2Fapi.example:default', told).length
    })
    for (const length of lengths) expect(length).toBeGreaterThanOrEqual(60)
    for (const length of lengths) expect(length).toBeLessThanOrEqual(85)
  })

  it('is whole where its service writes IDs in upper case', () => {
    const told = { productId: '1', variantId: '2', jobId: 'ABCDEF00-1234-4234-8234-ABCDEFABCDEF', startedAt: 1_000 }
    expect(readTicket('room', ticketOf('room', told))).toEqual({ ...told, jobId: told.jobId.toLowerCase() })
  })

  it('is none where a submission’s outcome is unknown', async () => {
    world.fault('POST', '/generations', [() => Promise.reject(new TypeError('lost'))])
    const { tryOn } = await atKiosk()
    await world.until(tryOn, 'outcomeUnknown')
    await expect(tryOn.ticket()).rejects.toMatchObject({ problem: { reason: 'noJob' } })
  })
})

describe('a ticket that is claimed', () => {
  it('is nobody’s who has gone meanwhile, and one whatever its letters', async () => {
    const ticket = await ticketOfFinal()
    for (const room of [phoneRoom(), world.door({ storage: phone })]) {
      const claiming = room.claim(ticket)
      const gone = expect(claiming).rejects.toMatchObject({ problem: { kind: 'stopped', reason: 'startedOver' } })
      await room.reset()
      await gone
      expect(await room.list()).toEqual([])
    }
    const [other, slow] = [phoneRoom(), phone.another()]
    await other.ready
    let looks = 0
    const opening = slow.hold(({ key }) => key.endsWith(':catalog') && ++looks === 2)
    const claiming = world.door({ storage: slow }).claim(ticket)
    const gone = expect(claiming).rejects.toMatchObject({ problem: { kind: 'stopped', reason: 'startedOver' } })
    await opening.reached
    await other.reset()
    opening.release()
    await gone
    expect(await other.list()).toEqual([])
    const room = phoneRoom()
    const inCapitals = ticket.replace(/[0-9a-f]{32}/, (job) => job.toUpperCase())
    await room.claim(inCapitals)
    await expect(room.claim(ticket)).rejects.toMatchObject({ problem: { reason: 'repeated' } })
  })

  it('has events of what happens here alone, which do not name its job', async () => {
    const { tryOn } = await atKiosk()
    const { attempt } = await world.until(tryOn, 'processing')
    const room = phoneRoom()
    const events: RoomEvent[] = []
    room.on((event) => events.push(event))
    const claimed = await room.claim(await tryOn.ticket())
    claimed.subscribe(() => {})
    await world.until(claimed, 'final')
    await world.settle()
    expect(events.map(({ type }) => type)).toEqual(['preview', 'final', 'seen'])
    expect(JSON.stringify(events)).not.toContain(attempt!.jobId!)
  })

  it('opens the try-on there, with one paid job, to its picture', async () => {
    const { tryOn } = await atKiosk()
    await world.until(tryOn, 'processing')
    const room = phoneRoom()
    const claimed = await room.claim(await tryOn.ticket())
    claimed.subscribe(() => {})
    const { result } = await world.until(claimed, 'final')
    expect(result?.imageUrl).toBe((await world.until(tryOn, 'final')).result?.imageUrl)
    expect(world.count('POST', '/generations')).toBe(1)
    expect(await room.list()).toMatchObject([{ archived: true, state: 'final', productId: '1001', variantId: '2001' }])
    expect(room.tryOn(product).get().state).not.toBe('final')
  })

  it('outlives a reload, and asks for nothing once it is final', async () => {
    const first = phoneRoom()
    const claimed = await first.claim(await ticketOfFinal())
    claimed.subscribe(() => {})
    await world.until(claimed, 'final')
    first.close()
    const before = world.sent.length
    const [entry] = await phoneRoom().list()
    const again = entry!.open()
    again.subscribe(() => {})
    expect((await again.ready).state).toBe('final')
    await world.settle()
    expect(world.sent.length).toBe(before)
  })

  it('teaches this room no visitor ID, and tells the service none', async () => {
    const ticket = await ticketOfFinal()
    const before = world.sent.length
    const room = phoneRoom({ uniqueUserId: 'of-the-phone' })
    const other = world.room({ storage: testStorage() })
    for (const each of [room, other]) {
      const claimed = await each.claim(ticket)
      claimed.subscribe(() => {})
      const { result } = await world.until(claimed, 'final')
      expect(result?.uniqueUserId).toBe(null)
    }
    expect(other.visitor.get().uniqueUserId).toBe(null)
    for (const { path } of world.sent.slice(before)) expect(path).not.toMatch(/uniqueUserId/)
    expect(JSON.stringify([...phone.items])).not.toContain('kiosk-shopper')
  })

  it('is followed by a device whose clock is ahead', async () => {
    const { tryOn } = await atKiosk()
    await world.until(tryOn, 'processing')
    const ahead = { ...world.clock, now: () => world.clock.now() + hour / 2 }
    const claimed = await phoneRoom({ clock: ahead }).claim(await tryOn.ticket())
    claimed.subscribe(() => {})
    await world.until(claimed, 'final')
  })

  it('is one try-on after a reset: what is held from before that is over, and the next reset ends this one', async () => {
    const ticket = await ticketOfFinal()
    const room = phoneRoom()
    const before = await room.claim(ticket)
    await room.reset()
    const claimed = await room.claim(ticket)
    claimed.subscribe(() => {})
    await world.until(claimed, 'final')
    expect((await before.ready).state).toBe('idle')
    await expect(before.startOver()).rejects.toMatchObject({ problem: { kind: 'stopped', reason: 'startedOver' } })
    expect(claimed.get().state).toBe('final')
    await room.reset()
    await world.settle()
    expect([before.get().state, claimed.get().state]).toEqual(['idle', 'idle'])
  })

  it('is shown in the history of the other tabs', async () => {
    const [one, other] = [phoneRoom(), phoneRoom()]
    const seen: number[] = []
    other.history.subscribe((entries) => seen.push(entries.length))
    await other.ready
    await one.claim(await ticketOfFinal())
    await world.settle()
    expect(seen.at(-1)).toBe(1)
  })

  it('can be discarded, and handed on to a third device', async () => {
    const room = phoneRoom()
    const claimed = await room.claim(await ticketOfFinal())
    claimed.subscribe(() => {})
    await world.until(claimed, 'final')
    const third = world.room({ storage: testStorage() })
    await third.claim(await claimed.ticket())
    await claimed.discard()
    expect(await room.list()).toEqual([])
    expect((await third.list()).length).toBe(1)
  })

  it('is no way to pay: it can be retried nowhere but from the product’s own try-on', async () => {
    const claimed = await phoneRoom().claim(await ticketOfFinal())
    claimed.subscribe(() => {})
    expect((await world.until(claimed, 'final')).can).toMatchObject({ start: false, retry: false, startOver: false })
    await expect(claimed.retry(person)).rejects.toMatchObject({ kind: 'notAllowed' })
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('says by its state what became of a job that ended, or that is not there any more', async () => {
    const ticket = await ticketOfFinal()
    world.fault('GET', '/generations', [answers(404, { error: 'Not found' })])
    const claimed = await phoneRoom().claim(ticket)
    claimed.subscribe(() => {})
    const view = await world.until(claimed, ({ group }) => group === 'stopped')
    expect(view.problem).toMatchObject({ operation: 'getGeneration', status: 404 })
  })

  it('is claimed through the door, too', async () => {
    const ticket = await ticketOfFinal()
    const room = world.door({ storage: phone })
    const claimed: TryOn = await room.claim(ticket)
    claimed.subscribe(() => {})
    await world.until(claimed, 'final')
  })
})

describe('a ticket that cannot be claimed', () => {
  /** As a ticket is, whatever it tells. */
  const checked = (told: string) => `${told}.${markOf(told).slice(-3)}`
  const job = '00000000000040008000000000000000'
  const whole = checked(`1.abc.1001.2001.${job}.s3k1ab`)

  it.each([
    ['nothing', ''],
    ['text', 'hello'],
    ['a part of one', whole.slice(0, -8)],
    ['one with more behind it', `${whole}.x`],
    ['one of a later version', checked(`2.abc.1001.2001.${job}.s3k1ab`)],
    ['one whose product is no number', checked(`1.abc.../...2001.${job}.s3k1ab`)],
    ['one whose job is no ID', checked(`1.abc.1001.2001.${job.replaceAll('0', 'x')}.s3k1ab`)],
    ['one whose time is none', checked(`1.abc.1001.2001.${job}.-1`)],
    ['one that was mistyped', whole.replace('s3k1ab', 's3k1ac')],
    ['something else', { ticket: whole }],
    ['none at all', undefined],
    ['what is no text in any way', Object.create(null)],
  ])('as it is %s is broken', async (_, given) => {
    await expect(phoneRoom().claim(given as string)).rejects.toMatchObject({
      problem: { kind: 'ticket', reason: 'broken' },
    })
    expect([phone.items.size > 1, world.sent]).toEqual([false, []])
  })

  it('as it was cut short, wherever that was, is broken', async () => {
    const ticket = await ticketOfFinal()
    const room = phoneRoom()
    for (let length = 0; length < ticket.length; length++)
      await expect(room.claim(ticket.slice(0, length))).rejects.toMatchObject({ problem: { reason: 'broken' } })
  })

  it('as it is of another service, or of another namespace of it, is foreign', async () => {
    const ticket = await ticketOfFinal()
    for (const options of [{ baseUrl: 'https://other.test' }, { namespace: 'other' }])
      await expect(phoneRoom(options).claim(ticket)).rejects.toMatchObject({
        problem: { kind: 'ticket', reason: 'foreign' },
      })
  })

  it('as it is older than what is kept here, or from far ahead, is old', async () => {
    const ticket = await ticketOfFinal()
    const later = (Math.floor(world.clock.now() / 1000) + 2 * 86_400).toString(36)
    const ahead = checked(ticket.replace(/[^.]+\.[^.]+$/, later))
    await expect(phoneRoom().claim(ahead)).rejects.toMatchObject({
      problem: { reason: 'old' },
    })
    await world.pass(2 * hour)
    await expect(phoneRoom({ retentionMs: hour }).claim(ticket)).rejects.toMatchObject({ problem: { reason: 'old' } })
  })

  it('as it was claimed before, in any tab or before a reload, is repeated', async () => {
    const ticket = await ticketOfFinal()
    const [one, other] = [phoneRoom(), phoneRoom()]
    const both = await Promise.allSettled([one.claim(ticket), other.claim(ticket)])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await expect(phoneRoom().claim(ticket)).rejects.toMatchObject({
      problem: { kind: 'ticket', reason: 'repeated' },
      message: expect.stringContaining('history has its try-on'),
    })
    expect((await one.list()).length).toBe(1)
  })

  it('whose place holds what this version cannot read is not said to be in history', async () => {
    const ticket = await ticketOfFinal()
    const { key } = (
      await phoneRoom()
        .claim(ticket)
        .then(() => phoneRoom().stored())
    ).find(({ kind }) => kind === 'attempt')!
    phone.items.set(key, '{"version":9}')
    await expect(phoneRoom().claim(ticket)).rejects.toMatchObject({ problem: { kind: 'recordUnreadable' } })
    expect(phone.items.get(key)).toBe('{"version":9}')
  })

  it('on the device that it came from is repeated, too', async () => {
    const { room, tryOn } = await atKiosk()
    await world.until(tryOn, 'final')
    await expect(room.claim(await tryOn.ticket())).rejects.toMatchObject({ problem: { reason: 'repeated' } })
  })

  it('after it was discarded stays discarded', async () => {
    const ticket = await ticketOfFinal()
    const room = phoneRoom()
    const claimed = await room.claim(ticket)
    claimed.subscribe(() => {})
    await world.until(claimed, 'final')
    await claimed.discard()
    await expect(room.claim(ticket)).rejects.toMatchObject({ problem: { reason: 'repeated' } })
    expect(await room.list()).toEqual([])
  })

  it('as storage cannot be read says so, and keeps nothing', async () => {
    const ticket = await ticketOfFinal()
    const room = phoneRoom()
    await room.ready
    phone.meet(
      () => true,
      () => Promise.reject(new Error('closed')),
    )
    await expect(room.claim(ticket)).rejects.toMatchObject({ kind: 'storageUnreadable' })
  })
})

describe('a ticket where storage takes nothing', () => {
  it('is claimed for as long as the page lives, and says so', async () => {
    const ticket = await ticketOfFinal()
    phone.meet(
      ({ type }) => type !== 'get',
      () => Promise.reject(new Error('full')),
    )
    const claimed = await phoneRoom().claim(ticket)
    claimed.subscribe(() => {})
    expect((await world.until(claimed, 'final')).durable).toBe(false)
  })
})

describe('a mock room', () => {
  it('gives tickets of what it shows, and claims them', async () => {
    const room = mockRoom({ '1001/2001': 'final' })
    const tryOn = room.tryOn(product)
    expect(await room.claim(await tryOn.ticket())).toBe(tryOn)
    room.show('idle')
    await expect(tryOn.ticket()).rejects.toMatchObject({ problem: { reason: 'noJob' } })
  })
})
