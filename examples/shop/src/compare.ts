import { h } from './dom.ts'
import { percent, say } from './language.ts'

/** The photo over the picture, up to a line that can be dragged; a slider for keyboards and screen readers. */
export function compare(before: string | null, after: string, title: string): HTMLElement {
  const picture = h('img', { className: 'after', src: after, alt: say().youIn(title) })
  if (before === null) return h('figure', { className: 'picture' }, picture)
  const figure = h('figure', { className: 'picture compare' })
  const place = (value: string) => {
    figure.style.setProperty('--line', `${value}%`)
    slider.setAttribute('aria-valuetext', say().comparedAs(percent(Number(value) / 100)))
  }
  const slider = h('input', {
    type: 'range',
    min: '0',
    max: '100',
    value: '50',
    oninput: () => place(slider.value),
    attributes: { 'aria-label': say().compare },
  })
  place(slider.value)
  figure.append(picture, h('img', { className: 'before', src: before, alt: say().yourPhoto }), slider)
  return figure
}
