import type { FittingRoom, HistoryEntry } from 'fitting-room'
import type { Product } from './catalog.ts'
import { h } from './dom.ts'
import { say, words } from './language.ts'
import type { Page } from './page.ts'

/** What the shopper has tried on so far, newest first; it follows what happens in other tabs, too. */
export function earlier(room: FittingRoom, products: readonly Product[]): Page {
  const list = h('ul', { className: 'earlier' })
  const element = h('section', { hidden: true }, h('h2', {}, say().earlier), list)

  const item = (entry: HistoryEntry) => {
    const product = products.find(({ id }) => entry.productId.endsWith(id))
    if (!product) return null
    const picture = entry.result ?? entry.preview
    const image = h('img', { src: picture?.imageUrl ?? product.image, alt: '', loading: 'lazy' })
    const href = `#/products/${product.id}`
    return h('li', {}, h('a', { href }, image, h('strong', {}, product.title), h('span', {}, words().title(entry))))
  }

  const show = (entries: readonly HistoryEntry[]) => {
    const items = entries.map(item).filter((each) => each !== null)
    element.hidden = items.length === 0
    list.replaceChildren(...items)
  }

  const subscription = room.history.subscribe(show)
  show(room.history.get())
  return { element, leave: () => subscription.unsubscribe() }
}
