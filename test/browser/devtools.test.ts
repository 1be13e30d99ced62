import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { createFittingRoom, type FittingRoom } from 'fitting-room'
import { createDevtools } from 'fitting-room/devtools'
import photoUrl from '../../examples/sample/person.png'

const product = { productId: '1001', variantId: '2001', funnelIds: [11] }

let room: FittingRoom
let panel: { close(): void }
beforeEach(() => {
  const devtools = createDevtools()
  room = createFittingRoom({
    baseUrl: inject('baseUrl'),
    apiKey: 'sandbox-key',
    namespace: `devtools ${crypto.randomUUID()}`,
    uniqueUserId: 'shopper-of-the-devtools',
    timing: { pollIntervalMs: 400 },
    ...devtools.options,
  })
  panel = devtools.open(room)
})
afterEach(async () => {
  await room.reset()
  panel.close()
  room.close()
})

const root = () => document.querySelector('fitting-room-devtools')!.shadowRoot!
const section = (name: string) => root().querySelector<HTMLElement>(`[aria-label="${name}"]`)!

describe('the panel', () => {
  it('shows where a try-on stands, its requests, what is kept and which page runs it', async () => {
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    await tryOn.start(new File([await (await fetch(photoUrl)).blob()], 'person.png', { type: 'image/png' }))
    await expect.poll(() => section('Try-ons').textContent).toMatch(/goes on by itself at \d\d:\d\d:\d\d UTC/)
    await tryOn.result()
    await expect.poll(() => section('Try-ons').querySelector('[aria-current]')?.textContent).toBe('final')
    expect(section('Try-ons').querySelector('h3')?.textContent).toBe('1001 / 2001')
    expect(section('Try-ons').querySelector('.way')?.textContent).toMatch(/→ final.*start → preparing/)
    // on a machine that is slow some were refused before they were accepted
    const accepted = [...section('Requests').querySelectorAll('tbody tr')]
      .filter((row) => row.querySelector('.good'))
      .map((row) => row.children[1]?.textContent)
    expect(new Set(accepted)).toEqual(
      new Set(['getFunnel', 'createUpload', 'putPhoto', 'createGeneration', 'getGeneration']),
    )
    await expect.poll(() => section('History').textContent).toContain('final')
    expect(section('Requests').textContent).toMatch(/costs the others behind this address \d\.\d\d/)
    await expect.poll(() => section('Storage').textContent).toContain('try-on:1001:2001')
    // it may be another day
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
    expect(section('Storage').textContent).toContain(tomorrow)
    const isSecure = globalThis.isSecureContext
    await expect.poll(() => section('Pages').textContent).toMatch(isSecure ? /this page/ : /by leases/)
  })

  it('tells nothing of who the shopper is, and asks the service for nothing', async () => {
    await expect.poll(() => section('History').textContent).toContain('Empty.')
    expect(section('Requests').textContent).toContain('None yet.')
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    await tryOn.ready
    await expect.poll(() => section('Try-ons').textContent).toContain('idle')
    expect(root().textContent).not.toContain('shopper-of-the-devtools')
    expect(section('Requests').textContent).toContain('None yet.')
  })

  it('goes as it is closed', () => {
    panel.close()
    expect(document.querySelector('fitting-room-devtools')).toBeNull()
  })
})
