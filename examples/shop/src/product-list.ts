import type { Product } from './catalog.ts'
import { h } from './dom.ts'
import { say } from './language.ts'

export interface Page {
  element: HTMLElement
  leave(): void
}

export function productList(products: readonly Product[]): Page {
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
  )
  return { element, leave: () => {} }
}
