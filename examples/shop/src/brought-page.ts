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
  let leave = () => {}
  let isLeft = false

  async function panelOf(tryOn: TryOn): Promise<Page> {
    const [{ attempt }, entries] = await Promise.all([tryOn.ready, room.list()])
    const { productId } = entries.find(({ attemptId }) => attemptId === attempt?.id) ?? {}
    const product = products.find(({ id }) => productId?.endsWith(id))
    if (!product) throw new Error('it is of nothing that is sold here')
    return tryOnPanel(room, product, tryOn)
  }

  bring()
    .then(panelOf)
    .then(
      (panel) => {
        if (isLeft) return panel.leave()
        leave = panel.leave
        place.replaceChildren(panel.element)
      },
      (error: unknown) => {
        const problem = isTryOnError(error) ? words().problem(error.problem) : null
        place.replaceChildren(h('p', { className: 'note', attributes: { role: 'alert' } }, problem ?? say().gone))
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
