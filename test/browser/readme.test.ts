import { afterEach, expect, inject, it, vi } from 'vitest'
import { createFittingRoom, type FittingRoom } from 'fitting-room'
import { mockRoom } from 'fitting-room/testing'
import guide from '../../docs/after-the-picture.md?raw'
import readme from '../../README.md?raw'
import photoUrl from '../../examples/sample/person.png'

let room: FittingRoom | undefined
afterEach(async () => {
  await room?.reset()
  room?.close()
})

/** Carries a page's own text out, with what it finds around itself. */
function run(text: string, around: Record<string, unknown>): void {
  // oxlint-disable-next-line typescript/no-implied-eval -- the text of a page is what is tested
  new Function(...Object.keys(around), text)(...Object.values(around))
}

it('the guide’s adapters for events measure who permits it, and nobody else', () => {
  const lines = /```ts\n(room\.on[\s\S]*?)```/.exec(guide)?.[1] ?? ''
  const around = { room: mockRoom(), mayMeasure: vi.fn(() => false), dataLayer: [], navigator: { sendBeacon: vi.fn() } }
  run(lines, around)
  const event = { key: 'one:final', attemptId: 'one', productId: '1001', variantId: '2001', at: 5, sinceMs: 3 }
  around.room.tell({ ...event, type: 'final' })
  expect(around.mayMeasure).toHaveBeenCalledTimes(2)
  expect([around.dataLayer, around.navigator.sendBeacon.mock.calls]).toEqual([[], []])
  around.mayMeasure.mockReturnValue(true)
  around.room.tell({ ...event, type: 'final' })
  const pushed = { event: 'try_on', type: 'final', key: 'one:final', productId: '1001', sinceMs: 3 }
  const sent = JSON.stringify({ ...event, type: 'final' })
  expect([around.dataLayer, around.navigator.sendBeacon.mock.calls]).toEqual([[pushed], [['/try-ons', sent]]])
})

it('the README’s lines are a working screen', async () => {
  const lines = /```ts\nimport [^\n]+\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
  const fileInput = document.createElement('input')
  fileInput.type = 'file'
  const caption = document.createElement('p')
  const picture = document.createElement('img')
  const settings = { baseUrl: inject('baseUrl'), apiKey: 'sandbox-key' }
  const create: typeof createFittingRoom = (options) => (room = createFittingRoom(options))
  run(lines, { createFittingRoom: create, settings, fileInput, caption, picture })
  await expect.poll(() => caption.textContent).toBe('idle')
  const transfer = new DataTransfer()
  transfer.items.add(new File([await (await fetch(photoUrl)).blob()], 'me.png'))
  fileInput.files = transfer.files
  fileInput.dispatchEvent(new Event('change'))
  await expect.poll(() => caption.textContent).toBe('final')
  await picture.decode()
  expect(picture.naturalWidth).toBe(512)
})
