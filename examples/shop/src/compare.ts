import { h, marked } from './dom.ts'
import { percent, say } from './language.ts'

interface Compared {
  /** The shopper's photo; null where nobody has it any more. */
  before: string | null
  /** What was shown until now, which stays until the picture is there. */
  preview: string | null
  after: string
  title: string
}

/** The picture, and the photo over it up to a line that can be dragged; a slider for keyboards and screen readers. */
export function compare({ before, preview, after, title }: Compared): HTMLElement {
  const picture = h('img', { className: 'after', src: preview ?? after, alt: say().youIn(title), ...marked('picture') })
  const whole = h('img', { src: after })
  const show = () => (picture.src = after)
  // one that can not be loaded says so itself
  if (preview !== null) void whole.decode().then(show, show)
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
    // a line that can be seen, and next to all of the picture
    value: '4',
    oninput: () => place(slider.value),
    attributes: { 'aria-label': say().compare },
  })
  place(slider.value)
  const photo = h('img', { className: 'before', src: before, alt: say().yourPhoto, onerror: () => photo.remove() })
  figure.append(picture, photo, slider)
  return figure
}
