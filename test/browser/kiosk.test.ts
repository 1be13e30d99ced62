import { commands } from 'vitest/browser'
import { expect, inject, it, onTestFinished } from 'vitest'
import { createFittingRoom } from 'fitting-room'
import { createSession, newShopperId } from 'fitting-room/kiosk'
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
  ['touch', 'click'],
  ['key', 'keyup'],
  ['wheel', 'wheel'],
] as const)('a session of a page is kept by what its shopper does: %s', async (act, last) => {
  const { clock, button, state } = await kiosk()
  button.focus()
  clock.advance(times.idleMs - times.warnMs - 1)
  const isHeard = new Promise((resolve) => window.addEventListener(last, resolve, { once: true }))
  await commands.act(act, '#pressed')
  await isHeard
  clock.advance(2)
  expect(state()).toBe('active')
  clock.advance(times.idleMs - times.warnMs - 3)
  expect(state()).toBe('active')
  clock.advance(2)
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

it('a page does not hear a touch that comes once its session is over', async () => {
  const { clock, button, sleep, state } = await kiosk()
  let heard = 0
  button.addEventListener('click', () => heard++)
  await commands.act('touch', '#pressed')
  expect(heard).toBe(1)
  sleep(times.idleMs)
  await commands.act('touch', '#pressed')
  expect(heard).toBe(1)
  clock.advance(times.idleMs)
  await expect.poll(state).toBe('ready')
  await commands.act('touch', '#pressed')
  expect(heard).toBe(2)
})
