import { h, marked } from './dom.ts'
import { percent, say } from './language.ts'

interface Compared {
  /** The shopper's photo; null where nobody has it any more. */
  before: string | null
  /** What was shown until now, which stays until the picture is there. */
  preview: string | null
  after: string
  title: string
  /** The picture could not be shown; resolves with the bytes of it, where they are to be had. */
  onLost: () => Promise<Blob | null>
}

/** The picture, and the photo over it up to a line that can be dragged; a slider for keyboards and screen readers. */
export function compare({ before, preview, after, title, onLost }: Compared) {
  const picture = h('img', { className: 'after', alt: say().youIn(title), ...marked('picture') })
  let shown = ''
  const show = (address: string) => (picture.src = shown = address)
  picture.onerror = async () => {
    const address = shown
    // bytes that are no picture are none the next time either
    if (address.startsWith('blob:')) return
    const bytes = await onLost()
    // what is to be had by now stands there already
    if (bytes && shown === address) show(URL.createObjectURL(bytes))
  }
  show(preview ?? after)
  if (preview !== null) {
    const whole = h('img', { src: after })
    // one that cannot be loaded says so itself
    const showWhole = () => void show(after)
    whole.decode().then(showWhole, showWhole)
  }
  const leave = () => shown.startsWith('blob:') && URL.revokeObjectURL(shown)
  const showAnother = (address: string) => {
    if (address !== after && address !== shown) show(address)
  }
  if (before === null) return { element: h('figure', { className: 'picture' }, picture), showAnother, leave }
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
  return { element: figure, showAnother, leave }
}
