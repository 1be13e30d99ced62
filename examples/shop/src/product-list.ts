import type { FittingRoom } from 'fitting-room'
import type { Product } from './catalog.ts'
import { h } from './dom.ts'
import { earlier } from './earlier.ts'
import { say } from './language.ts'
import type { Page } from './page.ts'

export function productList(room: FittingRoom, products: readonly Product[]): Page {
  const before = earlier(room, products)
  const cards = products.map(({ id, title, price, image }) =>
    h(
      'li',
      {},
      h(
        'a',
        { className: 'card', href: `#/products/${id}` },
        h('span', { className: 'garment' }, h('img', { src: image, alt: '', loading: 'lazy' })),
        h('span', { className: 'name' }, title),
        h('span', { className: 'price' }, price),
      ),
    ),
  )
  const element = h(
    'section',
    { className: 'page' },
    h('h1', {}, say().newIn),
    h('p', { className: 'lead' }, say().lead),
    h('ul', { className: 'grid' }, ...cards),
    before.element,
  )
  return { element, leave: before.leave }
}
