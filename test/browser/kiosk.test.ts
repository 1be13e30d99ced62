import { commands, server } from 'vitest/browser'
import { expect, inject, it, onTestFinished } from 'vitest'
import { createFittingRoom } from 'fitting-room'
import { createSession, deviceLimits, newShopperId } from 'fitting-room/kiosk'
import { indexedDbStorage } from 'fitting-room/storage/indexed-db'
import { memoryStorage } from 'fitting-room/storage/memory'
import { manualClock } from 'fitting-room/testing'

const times = { idleMs: 60_000, warnMs: 15_000 }

/** A session of this very page, and a button in it. */
async function kiosk() {
  const manual = manualClock()
  let sleptMs = 0
  // a device that sleeps runs no timers meanwhile
  const clock = { ...manual, now: () => manual.now() + sleptMs, monotonic: () => manual.monotonic() + sleptMs }
  const sleep = (ms: number) => void (sleptMs += ms)
  const room = createFittingRoom({
    baseUrl: inject('baseUrl'),
    apiKey: 'sandbox-key',
    storage: memoryStorage(),
    uniqueUserId: newShopperId,
  })
  const session = createSession(room, { ...times, clock, storage: memoryStorage(), keepAwake: false })
  const button = document.body.appendChild(document.createElement('button'))
  button.id = 'pressed'
  button.textContent = 'Press'
  onTestFinished(() => {
    session.close()
    room.close()
    button.remove()
  })
  const state = () => session.get().state
  await expect.poll(state).toBe('ready')
  session.begin()
  return { clock, button, sleep, state }
}

it.each([
  ['touch', 'click', ['down', 'up']],
  ['key', 'keyup', ['key down', 'key up']],
  ['wheel', 'wheel', ['wheel']],
] as const)('a session of a page is kept by what its shopper does: %s', async (_, last, acts) => {
  const { clock, button, state } = await kiosk()
  button.focus()
  clock.advance(times.idleMs - times.warnMs - 1)
  const isHeard = new Promise((resolve) => window.addEventListener(last, resolve, { once: true }))
  for (const act of acts) await commands.act(act, '#pressed')
  await isHeard
  clock.advance(2)
  expect(state()).toBe('active')
  clock.advance(times.idleMs - times.warnMs - 3)
  expect(state()).toBe('active')
  clock.advance(2)
  expect(state()).toBe('warning')
})

it.each(['button', 'input'])('a session of a page is not kept by a key that is held in its %s', async (name) => {
  const { clock, state } = await kiosk()
  const field = document.body.appendChild(document.createElement(name))
  onTestFinished(() => field.remove())
  let heard = 0
  field.addEventListener('keydown', () => heard++)
  field.focus()
  await commands.act('key down', name)
  clock.advance(times.idleMs - times.warnMs - 1)
  await commands.act('key down', name)
  // the driver of WebKitGTK repeats none
  expect(heard).toBe(server.browser === 'webkitgtk' ? 1 : 2)
  clock.advance(2)
  expect(state()).toBe('warning')
  await commands.act('key up', name)
  expect(state()).toBe('warning')
})

it.each([
  new PointerEvent('pointerdown', { bubbles: true }),
  new MouseEvent('click', { bubbles: true }),
  new KeyboardEvent('keydown', { bubbles: true, key: 'a' }),
  new InputEvent('input', { bubbles: true }),
  new WheelEvent('wheel', { bubbles: true }),
  new Event('scroll'),
])('a session of a page is not kept by what that does by itself: $type', async (event) => {
  const { clock, button, sleep, state } = await kiosk()
  let heard = 0
  button.addEventListener(event.type, () => heard++)
  clock.advance(times.idleMs - times.warnMs - 1)
  button.dispatchEvent(event)
  clock.advance(2)
  expect(state()).toBe('warning')
  // nor is that kept from it once the session is over
  sleep(times.idleMs)
  button.dispatchEvent(event)
  expect(heard).toBe(2)
})

it.each([
  ['a touch', 'click', 'down', 'up'],
  ['a key', 'keydown', 'key down', 'key up'],
] as const)('a page does not hear %s that comes once its session is over, to its end', async (_, type, down, up) => {
  const { clock, button, sleep, state } = await kiosk()
  let heard = 0
  button.addEventListener(type, () => heard++)
  const once = async () => {
    await commands.act(down, '#pressed')
    await commands.act(up, '#pressed')
  }
  button.focus()
  await once()
  expect(heard).toBe(1)
  sleep(times.idleMs)
  await commands.act(down, '#pressed')
  clock.advance(times.idleMs)
  await expect.poll(state).toBe('ready')
  // a key that is held comes again and again
  if (type === 'keydown') await commands.act(down, '#pressed')
  await commands.act(up, '#pressed')
  expect(heard).toBe(1)
  await once()
  expect(heard).toBe(2)
})

it('what a device keeps for itself is in the database once it is taken, and not in what reaches the disk later', async () => {
  const tiers = () => Object.keys(localStorage).filter((key) => key.startsWith('fitting-room:tier'))
  // the tests before this one had rooms, which say where they keep their own
  localStorage.clear()
  const limits = deviceLimits({ name: 'display', perShopper: 2, perHour: 2 })
  await limits.take('first')
  expect(await indexedDbStorage('fitting-room-kiosk').getItem('fitting-room:kiosk:display:taken')).toContain('"first"')
  expect(Object.keys(localStorage).filter((key) => key.endsWith(':taken'))).toEqual([])
  // nor does it say anything of where a room keeps its own
  expect(tiers()).toEqual([])
  const next = deviceLimits({ name: 'display', perShopper: 2, perHour: 2 })
  expect(await next.take('second')).toBe(null)
  expect(await next.take('third')).toEqual({ limit: 'perShopper', nextAt: null })
})
