import type { FittingRoom } from 'fitting-room'
import type { Product, Variant } from './catalog.ts'
import { h, marked } from './dom.ts'
import { say } from './language.ts'
import type { Page } from './page.ts'
import { tryOnPanel } from './try-on-panel.ts'

/** One product: its sizes, and the fitting room for the chosen size. The choice is kept in the address bar's history. */
export function productPage(room: FittingRoom, product: Product, wanted?: string): Page {
  const remembered = (history.state as { variant?: string } | null)?.variant ?? wanted
  const first = product.variants.find(({ id }) => id === remembered) ?? product.variants[0]
  const place = h('div', {})
  let leave = () => {}

  const choose = (variant: Variant) => {
    leave()
    history.replaceState({ variant: variant.id }, '')
    const { id: productId, funnelIds } = product
    const panel = tryOnPanel(room, product, room.tryOn({ productId, variantId: variant.id, funnelIds }))
    leave = panel.leave
    place.replaceChildren(panel.element)
  }

  const sizes = product.variants.map((variant) =>
    h(
      'label',
      { className: 'size', ...marked(`size-${variant.id}`) },
      h('input', {
        type: 'radio',
        name: 'size',
        value: variant.id,
        checked: variant === first,
        onchange: () => choose(variant),
      }),
      h('span', {}, variant.title, variant.available ? null : h('small', {}, ` ${say().soldOut}`)),
    ),
  )
  if (first) choose(first)

  const element = h(
    'article',
    { className: 'page product' },
    h(
      'div',
      { className: 'about' },
      h('p', { className: 'back' }, h('a', { href: '#/' }, `← ${say().back}`)),
      h('div', { className: 'garment large' }, h('img', { src: product.image, alt: say().onItsOwn(product.title) })),
      h('h1', {}, product.title),
      h('p', { className: 'price' }, product.price),
      h('fieldset', { className: 'sizes' }, h('legend', {}, say().size), ...sizes),
    ),
    place,
  )
  return { element, leave: () => leave() }
}
