import { createFittingRoom } from 'fitting-room'
import { broughtPage, takeTicket } from './brought-page.ts'
import { loadSettings } from './catalog.ts'
import { h } from './dom.ts'
import { declareLanguage, languageSwitch, say } from './language.ts'
import { measuring } from './measure.ts'
import { notice } from './notice.ts'
import { productList } from './product-list.ts'
import { productPage } from './product-page.ts'

const main = document.querySelector('main') as HTMLElement
const greeting = document.querySelector('#visitor') as HTMLElement
const reset = document.querySelector('#reset') as HTMLButtonElement
const measure = document.querySelector('#measure') as HTMLInputElement
const language = document.querySelector('#language') as HTMLSelectElement

/** Out of the address before anything else. */
let ticket = takeTicket()

try {
  const settings = await loadSettings()
  // for developers: the shop’s address with ?devtools
  const asked = new URLSearchParams(location.search).has('devtools')
  const devtools = asked ? (await import('fitting-room/devtools')).createDevtools() : null
  const room = createFittingRoom({
    baseUrl: settings.baseUrl,
    apiKey: () => settings.apiKey,
    keepPictures: true,
    notice,
    ...devtools?.options,
  })
  devtools?.open(room)
  let leave = () => {}

  const opened = (id: string | undefined) => async () => {
    const [entry] = (await room.list()).filter(({ attemptId }) => attemptId === id)
    if (!entry) throw new Error('it was forgotten')
    return entry.open()
  }

  /** Its address is that of what it has brought from then on. */
  const claimed = (brought: string) => async () => {
    const tryOn = await room.claim(brought)
    const { attempt } = await tryOn.ready
    if (attempt && location.hash === '#/') history.replaceState(null, '', `#/try-ons/${attempt.id}`)
    return tryOn
  }

  const show = () => {
    leave()
    const brought = ticket ?? takeTicket()
    ticket = null
    const [, of, id, variant] = /^#\/(products|try-ons)\/([^/]+)(?:\/(\d+))?$/.exec(location.hash) ?? []
    const product = settings.products.find((each) => of === 'products' && each.id === id)
    const page = product
      ? productPage(room, product, variant)
      : brought || of === 'try-ons'
        ? broughtPage(room, settings.products, brought ? claimed(brought) : opened(id))
        : productList(room, settings.products)
    leave = page.leave
    document.title = `${product?.title ?? 'Atelier'} — try it on`
    main.replaceChildren(page.element)
  }

  const greet = () => {
    const { requestsLeft } = room.visitor.get()
    greeting.textContent = requestsLeft === null || requestsLeft < 0 ? '' : say().left(requestsLeft)
  }

  const speak = () => {
    declareLanguage()
    for (const place of document.querySelectorAll<HTMLElement>('[data-text]')) {
      place.textContent = say()[place.dataset['text'] as 'skip' | 'demonstration' | 'forget' | 'measure']
    }
    language.ariaLabel = say().language
  }

  addEventListener('hashchange', () => {
    show()
    main.focus()
    scrollTo(0, 0)
  })
  const stopMeasuring = measuring(room, measure)
  reset.onclick = async () => {
    await room.reset()
    stopMeasuring()
    if (location.hash === '#/') show()
    else location.hash = '#/'
  }
  languageSwitch(language, () => {
    speak()
    greet()
    show()
  })
  speak()
  room.visitor.subscribe(greet)
  greet()
  show()
} catch {
  main.replaceChildren(
    h(
      'section',
      { className: 'page' },
      h('h1', {}, 'The shop could not start'),
      h('p', {}, 'Start it with “npm start”, then reload this page.'),
    ),
  )
}
