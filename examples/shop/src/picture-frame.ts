import { h, marked } from './dom.ts'
import { say } from './language.ts'

/** A picture in the one frame that all of a try-on's pictures have, so that nothing jumps when one takes another's place. */
export function pictureFrame(src: string | null, alt: string, ...over: HTMLElement[]): HTMLElement {
  const figure = h('figure', { className: 'picture' })
  // some photos, HEIC among them, are fine for the service but not for this browser
  const unseen = () => figure.replaceChildren(h('p', { className: 'unseen' }, say().unseen))
  if (src !== null) figure.append(h('img', { src, alt, onerror: unseen, ...marked('picture') }), ...over)
  return figure
}
