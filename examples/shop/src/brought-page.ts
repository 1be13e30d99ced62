import { isTryOnError, type FittingRoom } from 'fitting-room'
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

/** What a ticket brings along: its try-on, or why there is none, above all that can be tried on here. */
export function broughtPage(room: FittingRoom, products: readonly Product[], ticket: string): Page {
  const list = productList(room, products)
  const place = h('div', {}, h('p', { className: 'lead', attributes: { role: 'status' } }, say().taking))
  let leave = () => {}
  let isLeft = false

  async function bring(): Promise<Page> {
    const tryOn = await room.claim(ticket)
    const [{ attempt }, entries] = await Promise.all([tryOn.ready, room.list()])
    const { productId } = entries.find(({ attemptId }) => attemptId === attempt?.id) ?? {}
    const product = products.find(({ id }) => productId?.endsWith(id)) ?? products[0]
    if (!product) throw new Error('there is nothing to try on here')
    return tryOnPanel(room, product, tryOn)
  }

  bring().then(
    (panel) => {
      if (isLeft) return panel.leave()
      leave = panel.leave
      place.replaceChildren(panel.element)
    },
    (error: unknown) => {
      const problem = isTryOnError(error) ? words().problem(error.problem) : null
      place.replaceChildren(h('p', { className: 'note', attributes: { role: 'alert' } }, problem ?? say().taking))
    },
  )
  return {
    element: h('div', {}, h('div', { className: 'page' }, place), list.element),
    leave() {
      isLeft = true
      leave()
      list.leave()
    },
  }
}
