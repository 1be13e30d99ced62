import { isTryOnError, type FittingRoom, type TryOn } from 'fitting-room'
import type { Product } from './catalog.ts'
import { h } from './dom.ts'
import { say, words } from './language.ts'
import type { Page } from './page.ts'
import { productList } from './product-list.ts'
import { tryOnPanel } from './try-on-panel.ts'

/** The ticket of another device in the page's address, which is taken out of it: it is whoever's who has it. */
export function takeTicket(): string | null {
  const [, ticket = null] = /^#ticket=(.+)$/.exec(location.hash) ?? []
  if (ticket !== null) history.replaceState(null, '', '#/')
  return ticket
}

/** A try-on of before, or of another device, or why there is none, above all that can be tried on here. */
export function broughtPage(room: FittingRoom, products: readonly Product[], bring: () => Promise<TryOn>): Page {
  const list = productList(room, products)
  const place = h('div', {}, h('p', { className: 'lead', attributes: { role: 'status' } }, say().taking))
  let isLeft = false
  let leave = () => {}

  function refuse(why: string): void {
    leave()
    leave = () => {}
    place.replaceChildren(h('p', { className: 'note', attributes: { role: 'alert' } }, why))
  }

  async function open(): Promise<void> {
    const tryOn = await bring()
    const [{ attempt }, entries] = await Promise.all([tryOn.ready, room.list()])
    const [entry] = entries.filter(({ attemptId }) => attemptId === attempt?.id)
    // a picture is there to be looked at, also of what is sold elsewhere
    const product = products.find(({ id }) => entry?.productId === id) ?? products[0]
    if (!entry || !product) throw new Error('it is not here')
    if (isLeft) return
    const panel = tryOnPanel(room, product, tryOn)
    place.replaceChildren(panel.element)
    // what was left can be forgotten here, and not be tried on
    const following = tryOn.subscribe(({ state }) => entry.archived && state === 'idle' && refuse(say().gone))
    leave = () => {
      following.unsubscribe()
      panel.leave()
    }
  }

  open().catch((error: unknown) => refuse((isTryOnError(error) && words().problem(error.problem)) || say().gone))
  return {
    element: h('div', {}, h('div', { className: 'page' }, place), list.element),
    leave() {
      isLeft = true
      leave()
      list.leave()
    },
  }
}
