import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { createFittingRoom, type FittingRoom, type TryOn, type TryOnView } from 'fitting-room'
import { TryOnElement } from 'fitting-room/element'
import { indexedDbStorage } from 'fitting-room/storage/indexed-db'
import { memoryStorage } from 'fitting-room/storage/memory'
import { mockRoom, viewOf, views } from 'fitting-room/testing'
import photoUrl from '../../examples/sample/person.png'
import { tryOnsSuite } from './bindings.suite.ts'

tryOnsSuite('element', (place, tryOns) => {
  const elements = tryOns.map(({ room, variantId }) => {
    const element = document.createElement('fitting-room-try-on')
    element.innerHTML = Object.keys(views)
      .map((state) => `<p slot="${state}">${state}</p>`)
      .join('')
    element.dataset['view'] = ''
    element.setAttribute('product-id', '1001')
    element.setAttribute('variant-id', variantId)
    element.setAttribute('funnel-ids', '11')
    element.room = room
    return element
  })
  place.append(...elements)
  return () => elements.forEach((element) => element.remove())
})

/** A field of a theme's own, as component libraries bring them. */
class OwnField extends HTMLElement {
  static readonly formAssociated = true
  value = ''
  formResetCallback(): void {
    this.value = ''
  }
}
customElements.define('own-field', OwnField)

let room: FittingRoom
let element: TryOnElement

const markup = `
  <fitting-room-try-on product-id="1001" variant-id="2001" funnel-ids="11">
    <h2>Breton tee</h2>
    <label slot="ready">Your photo <input type="file" data-intent="start"></label>
    <button slot="nowhere" data-intent="start" data-despite-advice>Use it all the same</button>
    <p slot="busy">One moment</p>
    <form slot="asks" data-intent="submitEmail"><input name="email"><button>Go on</button></form>
    <label slot="nowhere">Another <input type="file" data-intent="retry"></label>
    <button slot="nowhere" data-intent="retry" data-despite-advice>Use it all the same</button>
    <figure slot="final"><img data-picture alt="You in the Breton tee"></figure>
    <button slot="final" data-intent="startOver">Another photo</button>
    <p slot="done">never beside the final one</p>
  </fitting-room-try-on>`

beforeEach(() => {
  room = createFittingRoom({
    baseUrl: inject('baseUrl'),
    apiKey: 'sandbox-key',
    storage: memoryStorage(),
    timing: { pollIntervalMs: 400 },
  })
  const template = document.createElement('template')
  template.innerHTML = markup
  element = document.importNode(template.content, true).querySelector('fitting-room-try-on') as TryOnElement
  element.room = room
  document.body.append(element)
})
afterEach(() => {
  element.remove()
  room.close()
})

/** Which of the element's children are shown. */
const shown = () =>
  [...element.children].filter((child) => child.getClientRects().length > 0).map(({ localName }) => localName)

describe('<fitting-room-try-on>', () => {
  it('says its state and group, and shows what is in the slots of the two', async () => {
    expect(element).toBeInstanceOf(TryOnElement)
    await expect.poll(() => ({ ...element.dataset })).toEqual({ state: 'idle', group: 'ready' })
    expect(shown()).toEqual(['h2', 'label'])
  })

  it('carries a chosen photo to the picture, tells each view, and starts over', async () => {
    await expect.poll(() => element.dataset['state']).toBe('idle')
    const views: TryOnView[] = []
    element.addEventListener('view', ({ detail }) => views.push(detail))
    const input = element.querySelector('input[type=file]') as HTMLInputElement
    const files = new DataTransfer()
    files.items.add(new File([await (await fetch(photoUrl)).blob()], 'person.png', { type: 'image/png' }))
    input.files = files.files
    input.dispatchEvent(new Event('change', { bubbles: true }))
    await expect.poll(() => element.dataset['state']).toBe('final')
    expect(shown()).toEqual(['h2', 'figure', 'button'])
    expect(element.querySelector('img')?.src).toMatch(/^http/)
    expect(new Set(views.map(({ group }) => group))).toEqual(new Set(['busy', 'done']))
    element.querySelector('button[data-intent=startOver]')?.dispatchEvent(new Event('click', { bubbles: true }))
    await expect.poll(() => element.dataset['state']).toBe('idle')
    expect(element.querySelector('img')?.hasAttribute('src')).toBe(false)
  })

  it('shows the picture in what comes after its view, and what is for the state in place of what is for its group', async () => {
    await element.tryOn?.start(await (await fetch(photoUrl)).blob())
    const figure = element.querySelector('figure') as HTMLElement
    figure.remove()
    await expect.poll(() => element.dataset['state']).toBe('final')
    expect(shown()).toEqual(['h2', 'button'])
    element.querySelector('button[slot=final]')?.remove()
    await expect.poll(shown).toEqual(['h2', 'p'])
    element.append(figure)
    await expect.poll(() => figure.querySelector('img')?.src).toBe(element.tryOn?.get().result?.imageUrl)
    expect(shown()).toEqual(['h2', 'figure'])
    figure.slot = 'nowhere'
    await expect.poll(shown).toEqual(['h2', 'p'])
  })

  it('shows the merchant’s text as text', async () => {
    const merchants = mockRoom()
    element.insertAdjacentHTML('beforeend', '<p slot="limitReached" data-message></p>')
    element.room = merchants
    merchants.show(viewOf('limitReached', { message: 'That was <b>all</b> for today.' }))
    await expect.poll(() => element.querySelector('[data-message]')?.textContent).toBe('That was <b>all</b> for today.')
    merchants.show('idle')
    await expect.poll(() => element.querySelector('[data-message]')?.textContent).toBe('')
  })

  it('shows the next shopper nothing of what was typed and chosen', async () => {
    await expect.poll(() => element.dataset['state']).toBe('idle')
    const input = element.querySelector('input[type=file]') as HTMLInputElement
    const files = new DataTransfer()
    files.items.add(new File([await (await fetch(photoUrl)).blob()], 'person.png', { type: 'image/png' }))
    input.files = files.files
    input.dispatchEvent(new Event('change', { bubbles: true }))
    const email = element.querySelector('input[name=email]') as HTMLInputElement
    const filledIn = email.form?.appendChild(Object.assign(document.createElement('input'), { name: 'reset' }))
    filledIn?.setAttribute('value', 'of the theme')
    let held = ''
    email.addEventListener('input', () => (held = email.value))
    const type = () => {
      email.value = 'ada@example.com'
      email.dispatchEvent(new Event('input', { bubbles: true }))
    }
    type()
    await expect.poll(() => element.dataset['state']).toBe('final')
    await room.reset()
    await expect.poll(() => element.dataset['state']).toBe('idle')
    expect([email.value, held, input.files.length, filledIn?.value]).toEqual(['', '', 0, 'of the theme'])
    await element.tryOn?.start(await (await fetch(photoUrl)).blob())
    await expect.poll(() => element.dataset['state']).toBe('final')
    type()
    element.remove()
    await room.reset()
    document.body.append(element)
    await expect.poll(() => email.value).toBe('')
  })

  it('shows the next shopper nothing of what was put into fields without being typed', async () => {
    await expect.poll(() => element.dataset['state']).toBe('idle')
    const form = element.querySelector('form') as HTMLFormElement
    form.id = 'asks'
    form.insertAdjacentHTML(
      'beforeend',
      '<select name="name"><option>Choose<option>Ada</select><own-field></own-field>' +
        '<select id="sizes" size="2"><option>S<option>M</select><input id="theirs" type="file" value="theirs.png">',
    )
    const sizes = form.querySelector<HTMLSelectElement>('#sizes')!
    const theirs = form.querySelector<HTMLInputElement>('#theirs')!
    const files = new DataTransfer()
    files.items.add(new File(['Ada'], 'ada.txt'))
    sizes.selectedIndex = 1
    theirs.files = files.files
    const outside = document.body.appendChild(document.createElement('input'))
    onTestFinished(() => outside.remove())
    outside.setAttribute('form', 'asks')
    const [email, name, own] = ['input', 'select', 'own-field'].map(
      (each) => form.querySelector(each) as HTMLInputElement,
    )
    // as an on-screen keyboard and a browser that restores a page do, which tell nobody
    for (const field of [email, name, own, outside]) field!.value = 'Ada'
    await element.tryOn?.start(await (await fetch(photoUrl)).blob())
    await expect.poll(() => element.dataset['state']).toBe('final')
    await room.reset()
    await expect.poll(() => element.dataset['state']).toBe('idle')
    expect([email?.value, name?.value, own?.value, outside.value]).toEqual(['', 'Choose', '', ''])
    expect([sizes.selectedIndex, theirs.files.length]).toEqual([-1, 0])
  })

  it('leaves what a page has filled in as it is first shown, and tells the page as it is emptied for the next shopper', async () => {
    element.remove()
    const template = document.createElement('template')
    template.innerHTML = markup
    const fresh = document.importNode(template.content, true).querySelector('fitting-room-try-on') as TryOnElement
    fresh.room = room
    const form = fresh.querySelector('form') as HTMLFormElement
    const email = form.querySelector('input') as HTMLInputElement
    const box = form.appendChild(Object.assign(document.createElement('input'), { type: 'checkbox' }))
    const held = { email: 'customer@example.com', news: true, isReset: false }
    Object.assign(email, { value: held.email, oninput: () => (held.email = email.value) })
    Object.assign(box, { checked: held.news, onclick: () => (held.news = box.checked) })
    form.onreset = () => (held.isReset = true)
    document.body.append(fresh)
    onTestFinished(() => fresh.remove())
    await expect.poll(() => fresh.dataset['state']).toBe('idle')
    expect([email.value, box.checked]).toEqual(['customer@example.com', true])
    await fresh.tryOn?.start(await (await fetch(photoUrl)).blob())
    await expect.poll(() => fresh.dataset['state']).toBe('final')
    await room.reset()
    await expect.poll(() => fresh.dataset['state']).toBe('idle')
    expect([email.value, box.checked]).toEqual(['', false])
    expect(held).toEqual({ email: '', news: false, isReset: false })
  })

  it('shows the next shopper nothing of what was typed where nothing was begun, whichever page the reset is of', async () => {
    const storage = indexedDbStorage(crypto.randomUUID())
    // of two pages
    const [own, other] = [0, 1].map(() =>
      createFittingRoom({
        baseUrl: inject('baseUrl'),
        apiKey: 'sandbox-key',
        storage,
        timing: { pollIntervalMs: 400 },
      }),
    ) as [FittingRoom, FittingRoom]
    const beside = element.cloneNode(true) as TryOnElement
    beside.setAttribute('variant-id', '2002')
    element.room = beside.room = own
    document.body.append(beside)
    onTestFinished(() => {
      beside.remove()
      own.close()
      other.close()
    })
    const fields = [element, beside].map((each) => each.querySelector('input[name=email]') as HTMLInputElement)
    const states = () => [element, beside].map((each) => each.dataset['state'])
    const type = () => fields.forEach((field) => (field.value = 'ada@example.com'))
    const emptied = () => expect.poll(() => fields.map(({ value }) => value)).toEqual(['', ''])
    await expect.poll(states).toEqual(['idle', 'idle'])
    type()
    await other.reset()
    await emptied()
    type()
    await own.reset()
    await emptied()
    // where the one has begun, the core hears it for the other one, too
    await element.tryOn?.start(await (await fetch(photoUrl)).blob())
    await expect.poll(states).toEqual(['final', 'idle'])
    type()
    await other.reset()
    await emptied()
    expect(states()).toEqual(['idle', 'idle'])
  })

  it('leaves to a shopper what is typed before the photo is chosen', async () => {
    await expect.poll(() => element.dataset['state']).toBe('idle')
    const email = element.querySelector('input[name=email]') as HTMLInputElement
    email.value = 'ada@example.com'
    email.dispatchEvent(new Event('input', { bubbles: true }))
    await element.tryOn?.start(await (await fetch(photoUrl)).blob())
    await expect.poll(() => element.dataset['state']).toBe('final')
    expect(email.value).toBe('ada@example.com')
    await element.tryOn?.startOver()
    await expect.poll(() => email.value).toBe('')
  })

  it('names the notice with each consent, and takes what was advised against where that is said, be it that it was moved', async () => {
    const own = createFittingRoom({
      baseUrl: inject('baseUrl'),
      apiKey: 'sandbox-key',
      storage: memoryStorage(),
      notice: { version: '2026-11' },
      checkPhoto: () => 'another one, please',
    })
    element.room = own
    await expect.poll(() => element.dataset['state']).toBe('idle')
    const refused = vi.fn<(kind: unknown) => void>()
    element.addEventListener('refused', ({ detail }) => refused(Object(detail).kind))
    const input = element.querySelector('input[type=file]') as HTMLInputElement
    const photo = new File([await (await fetch(photoUrl)).blob()], 'person.png', { type: 'image/png' })
    const choose = () => {
      // an input that is emptied empties the list that it was given
      const files = new DataTransfer()
      files.items.add(photo)
      input.files = files.files
      input.dispatchEvent(new Event('change', { bubbles: true }))
    }
    choose()
    await expect.poll(() => refused.mock.calls).toEqual([['input']])
    element.setAttribute('notice', '2026-11')
    // of this size nothing was looked up yet
    element.setAttribute('variant-id', '2003')
    choose()
    await expect.poll(() => element.dataset['problem']).toBe('photoAdvice')
    const despite = element.querySelector<HTMLElement>('[data-despite-advice]')
    await own.reset()
    await expect.poll(() => element.dataset['problem']).toBeUndefined()
    despite?.click()
    await expect.poll(() => refused.mock.calls.at(-1)).toEqual(['photo'])
    element.setAttribute('variant-id', '2002')
    choose()
    await expect.poll(() => element.dataset['problem']).toBe('photoAdvice')
    // as where a list is sorted anew
    document.body.prepend(element)
    despite?.click()
    await expect.poll(() => element.dataset['state']).toBe('final')
    expect(element.dataset['problem']).toBeUndefined()
    expect((await own.list()).map(({ notice }) => notice)).toEqual(['2026-11'])
    own.close()
  })

  it('tries again with the file that was advised against, not with the one before', async () => {
    let advice: string | null = null
    const own = createFittingRoom({
      baseUrl: inject('baseUrl'),
      apiKey: 'sandbox-key',
      storage: memoryStorage(),
      checkPhoto: () => advice,
    })
    element.room = own
    const photo = await (await fetch(photoUrl)).blob()
    await element.tryOn?.start(photo)
    await expect.poll(() => element.dataset['state']).toBe('final')
    const [before, first] = [own.photo.get()?.id, element.tryOn?.get().attempt?.id]
    advice = 'another one, please'
    const input = element.querySelector<HTMLInputElement>('input[data-intent=retry]')
    const files = new DataTransfer()
    files.items.add(new File([photo], 'other.png', { type: 'image/png' }))
    if (input) input.files = files.files
    input?.dispatchEvent(new Event('change', { bubbles: true }))
    await expect.poll(() => element.dataset['problem']).toBe('photoAdvice')
    element.querySelector<HTMLElement>('[data-intent=retry][data-despite-advice]')?.click()
    await expect.poll(() => element.tryOn?.get().attempt?.id !== first && element.dataset['state']).toBe('final')
    expect(own.photo.get()?.id).not.toBe(before)
    own.close()
  })

  it('follows a room that it is given late', async () => {
    element.room = undefined
    expect(element.tryOn).toBeNull()
    element.room = room
    expect(element.tryOn).toBe(room.tryOn({ productId: '1001', variantId: '2001', funnelIds: [11] }))
  })

  it('tells what was refused', async () => {
    await expect.poll(() => element.dataset['state']).toBe('idle')
    const refused = vi.fn<(error: Error) => void>()
    element.addEventListener('refused', ({ detail }) => refused(detail))
    const form = element.querySelector('form')
    form?.dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true }))
    await expect.poll(() => refused.mock.calls).toEqual([[expect.objectContaining({ kind: 'notAllowed' })]])
  })

  it('follows its attributes, and nothing once it is removed', async () => {
    const other = room.tryOn({ productId: '1001', variantId: '2002', funnelIds: [11] })
    element.setAttribute('variant-id', '2002')
    expect(element.tryOn).toBe(other)
    element.removeAttribute('variant-id')
    expect(element.tryOn).toBeNull()
    element.setAttribute('variant-id', '2001')
    await expect.poll(() => element.dataset['state']).toBe('idle')
    element.remove()
    await element.tryOn?.start(await (await fetch(photoUrl)).blob())
    expect(element.tryOn?.get().state).not.toBe('idle')
    expect(element.dataset['state']).toBe('idle')
  })

  it('shows nothing, and asks for nothing, while its attributes name no try-on', async () => {
    await expect.poll(() => element.dataset['state']).toBe('idle')
    await element.tryOn?.start({ imageUrl: 'https://photos.invalid/a.png' })
    await expect.poll(() => element.dataset['group']).not.toBe('ready')
    const wrong: unknown[] = []
    const hear = (event: ErrorEvent) => {
      event.preventDefault()
      wrong.push(event.error)
    }
    addEventListener('error', hear)
    for (const variant of ['size-M', null]) {
      if (variant === null) element.removeAttribute('variant-id')
      else element.setAttribute('variant-id', variant)
      expect(element.tryOn).toBeNull()
      expect({ ...element.dataset }).toEqual({})
      expect(shown()).toEqual(['h2'])
    }
    removeEventListener('error', hear)
    expect(wrong).toEqual([expect.objectContaining({ kind: 'input' })])
  })

  it('tells developers what was forgotten, and nothing of what may come later', async () => {
    const told = vi.spyOn(console, 'warn').mockReturnValue()
    onTestFinished(() => told.mockRestore())
    const ids = { 'product-id': '1001', 'variant-id': '2001', 'funnel-ids': '11' }
    const place = 'https://try-on.invalid'
    const variants = [
      { ...ids, 'base-url': place },
      { ...ids, 'api-key': 'sandbox-key' },
      { ...ids, 'base-url': place, 'api-key': 'sandbox-key', 'funnel-ids': '' },
      ids,
      { ...ids, 'base-url': place, 'api-key': 'sandbox-key', 'variant-id': '' },
    ]
    for (const attributes of variants) {
      const half = document.createElement('fitting-room-try-on')
      document.body.append(half)
      for (const [name, value] of Object.entries(attributes)) half.setAttribute(name, value)
      await Promise.resolve()
      half.remove()
    }
    expect([...new Set(told.mock.calls.map(([text]) => String(text)))]).toEqual([
      '<fitting-room-try-on> has no api-key',
      '<fitting-room-try-on> has no base-url',
      '<fitting-room-try-on> has no funnel-ids',
    ])
  })

  it('leaves what stands in an element within it to that one', async () => {
    await expect.poll(() => element.dataset['state']).toBe('idle')
    const inner = document.createElement('fitting-room-try-on')
    inner.innerHTML = '<img data-picture><button data-intent="start"></button>'
    inner.room = room
    for (const [name, value] of [
      ['product-id', '1001'],
      ['variant-id', '2002'],
      ['funnel-ids', '11'],
    ])
      inner.setAttribute(name!, value!)
    element.append(inner)
    const photo = await (await fetch(photoUrl)).blob()
    await element.tryOn?.start(photo)
    await expect.poll(() => element.dataset['state']).toBe('final')
    expect(inner.querySelector('img')?.hasAttribute('src')).toBe(false)
    const refused = vi.fn<(event: Event) => void>()
    element.addEventListener('refused', refused)
    inner.querySelector('button')?.click()
    await expect.poll(() => inner.tryOn?.get().state).not.toBe('idle')
    expect(element.dataset['state']).toBe('final')
    expect(refused).not.toHaveBeenCalled()
  })

  it('takes a room that was set before it was defined', async () => {
    const early = document.createElement('fitting-room-try-on')
    // as it is on an element of which nobody knows the class yet
    Object.defineProperty(early, 'room', { value: room, configurable: true, writable: true })
    for (const name of ['product-id', 'variant-id', 'funnel-ids']) early.setAttribute(name, element.getAttribute(name)!)
    document.body.append(early)
    expect(early.tryOn).toBe(element.tryOn)
    early.remove()
  })

  it('goes on with a key that is renewed', async () => {
    const keyed = document.createElement('fitting-room-try-on')
    for (const name of ['product-id', 'variant-id', 'funnel-ids']) keyed.setAttribute(name, element.getAttribute(name)!)
    keyed.setAttribute('base-url', inject('baseUrl'))
    keyed.setAttribute('namespace', crypto.randomUUID())
    keyed.setAttribute('api-key', 'revoked')
    document.body.append(keyed)
    await keyed.tryOn?.start(await (await fetch(photoUrl)).blob())
    await expect.poll(() => keyed.dataset['state']).toBe('unauthorized')
    keyed.setAttribute('api-key', 'sandbox-key')
    await keyed.tryOn?.resume()
    await expect.poll(() => keyed.dataset['state']).toBe('final')
    keyed.remove()
  })

  it('gives no key to an address that it is not for, whichever is set first', async () => {
    const asked = vi.spyOn(globalThis, 'fetch').mockImplementation(() => new Promise(() => {}))
    const moved = document.createElement('fitting-room-try-on')
    const say = (attributes: Record<string, string>) => {
      for (const [name, value] of Object.entries(attributes)) moved.setAttribute(name, value)
    }
    const namespace = crypto.randomUUID()
    say({ 'base-url': 'https://one.test', 'api-key': 'key-of-one', namespace })
    say({ 'product-id': '1001', 'variant-id': '2001', 'funnel-ids': '11' })
    document.body.append(moved)
    const before = moved.tryOn
    say({ 'api-key': 'key-of-two', 'variant-id': '2002', 'base-url': 'https://two.test' })
    const photo = { imageUrl: 'https://photos.test/me.png' }
    void before?.start(photo)
    await expect.poll(() => asked.mock.calls).toHaveLength(1)
    void moved.tryOn?.start(photo)
    await expect.poll(() => asked.mock.calls).toHaveLength(2)
    const keys = asked.mock.calls.map(([url, init]) => [
      new URL(url as string).host,
      new Headers(init?.headers).get('X-Service-SDK-Key'),
    ])
    expect(keys).toEqual([
      ['one.test', 'key-of-one'],
      ['two.test', 'key-of-two'],
    ])
    asked.mockRestore()
    moved.remove()
  })

  describe('beside others of its address', () => {
    let namespace: string
    beforeEach(() => void (namespace = crypto.randomUUID()))
    const elementWith = (baseUrl: string, key: string, variantId: string) => {
      const made = document.createElement('fitting-room-try-on')
      const named = { 'base-url': baseUrl, 'api-key': key, namespace, 'product-id': '1001', 'funnel-ids': '11' }
      for (const [name, value] of Object.entries({ ...named, 'variant-id': variantId })) made.setAttribute(name, value)
      document.body.append(made)
      onTestFinished(() => made.remove())
      return made
    }

    it('sends the key that it names, whatever they name', async () => {
      const refusal = async () => Response.json({ error: 'Unauthorized' }, { status: 401 })
      const asked = vi.spyOn(globalThis, 'fetch').mockImplementation(refusal)
      onTestFinished(() => asked.mockRestore())
      const one = elementWith('https://both.test', 'key-of-one', '2001')
      const two = elementWith('https://both.test', 'key-of-two', '2002')
      const same = elementWith('https://both.test', 'key-of-one', '2003')
      const keysSaid = async (tryOn: TryOn | null) => {
        asked.mockClear()
        await tryOn?.start({ imageUrl: 'https://photos.test/me.png' })
        await expect.poll(() => tryOn?.get().state).toBe('unauthorized')
        return [...new Set(asked.mock.calls.map(([, init]) => new Headers(init?.headers).get('X-Service-SDK-Key')))]
      }
      expect(await keysSaid(one.tryOn)).toEqual(['key-of-one'])
      expect(await keysSaid(two.tryOn)).toEqual(['key-of-two'])
      const [left, kept] = [one.tryOn, same.tryOn]
      one.setAttribute('api-key', 'key-of-three')
      await expect.poll(() => one.tryOn).not.toBe(left)
      expect(same.tryOn).toBe(kept)
      expect(await keysSaid(same.tryOn)).toEqual(['key-of-one'])
    })

    it('keeps what is under way where the key of all of them is renewed', async () => {
      const all = ['2001', '2002'].map((variantId) => elementWith(inject('baseUrl'), 'revoked', variantId))
      const tryOns = all.map(({ tryOn }) => tryOn)
      for (const each of all) each.setAttribute('api-key', 'sandbox-key')
      await Promise.resolve()
      expect(all.map(({ tryOn }) => tryOn)).toEqual(tryOns)
    })
  })

  it('empties an input whose file nobody has heard of, as it was chosen before the element was defined', () => {
    const file = new DataTransfer()
    file.items.add(new File(['photo'], 'me.png'))
    const late = document.createElement('fitting-room-try-on')
    late.innerHTML = '<input type="file" slot="ready" data-intent="start">'
    const input = late.querySelector('input')!
    input.files = file.files
    expect(input.files).toHaveLength(1)
    document.body.append(late)
    expect(input.files).toHaveLength(0)
    late.remove()
  })

  it('hears what is chosen in a shadow root of the theme’s own', async () => {
    const own = document.createElement('fitting-room-try-on')
    own.attachShadow({ mode: 'open' }).append(document.createElement('slot'))
    own.innerHTML = '<button data-intent="resume">Go on</button>'
    for (const name of ['product-id', 'variant-id', 'funnel-ids']) own.setAttribute(name, element.getAttribute(name)!)
    own.room = room
    document.body.append(own)
    await expect.poll(() => own.dataset['state']).toBe('idle')
    const refused = vi.fn<(event: Event) => void>()
    own.addEventListener('refused', refused)
    own.querySelector('button')?.click()
    await expect.poll(() => refused.mock.calls).toHaveLength(1)
    own.remove()
  })

  it('tells nothing of an attribute that is written anew and is the same', async () => {
    await expect.poll(() => element.dataset['state']).toBe('idle')
    const told = vi.fn<(event: Event) => void>()
    element.addEventListener('view', told)
    element.setAttribute('variant-id', '2001')
    expect(told).not.toHaveBeenCalled()
  })
})
