import type { PhotoInput } from 'fitting-room'
import samplePhoto from '../../sample/person.png'
import { camera } from './camera.ts'
import { button, h } from './dom.ts'

interface PickerOptions {
  /** The address of the photo that was used last; null before it is uploaded. */
  last: string | null
  hasLast: boolean
  /** The shopper's word for one try-on; without a photo it is the last one again. */
  onPick: (photo?: PhotoInput) => Promise<void>
}

/** Choose, drop or shoot a photo, look at it, and only then say yes. */
export function photoPicker({ last, hasLast, onPick }: PickerOptions): { element: HTMLElement; leave(): void } {
  let address: string | null = null
  const place = h('div', {})
  const forget = () => {
    if (address !== null) URL.revokeObjectURL(address)
    address = null
  }

  const review = (photo: Blob) => {
    forget()
    address = URL.createObjectURL(photo)
    const yes = button('Try it on', () => onPick(photo))
    const figure = h('figure', { className: 'picture' })
    // some photos, HEIC among them, are fine for the service but not for this browser
    const unseen = () => figure.replaceChildren(h('p', { className: 'unseen' }, 'This browser can not show this file.'))
    figure.append(h('img', { src: address, alt: 'Your photo', onerror: unseen }))
    place.replaceChildren(
      figure,
      h('div', { className: 'actions' }, yes, button('Another photo', choose, 'secondary')),
      h('p', { className: 'quiet' }, 'Uses one try-on. Your photo is sent to the fitting room’s service.'),
    )
    yes.focus()
  }

  const file = h('input', {
    type: 'file',
    accept: 'image/*',
    className: 'hidden',
    id: 'photo',
    onchange: () => file.files?.[0] && review(file.files[0]),
  })
  const sample = async () => review(await (await fetch(samplePhoto)).blob())

  const choose = () => {
    forget()
    file.value = ''
    const drop = h(
      'label',
      {
        className: 'drop',
        htmlFor: 'photo',
        ondragover: (event) => event.preventDefault(),
        ondrop(event) {
          event.preventDefault()
          const dropped = event.dataTransfer?.files[0]
          if (dropped) review(dropped)
        },
      },
      h('strong', {}, 'Choose a photo'),
      h('span', {}, 'or drop it here'),
    )
    place.replaceChildren(
      file,
      drop,
      h(
        'div',
        { className: 'actions' },
        'mediaDevices' in navigator
          ? button('Use the camera', () => camera().then((photo) => photo && review(photo)), 'secondary')
          : null,
        hasLast ? button('Use my last photo', () => onPick(), 'secondary') : null,
        button('Use a sample photo', sample, 'secondary'),
      ),
      last === null ? '' : h('img', { className: 'last', src: last, alt: 'Your last photo' }),
    )
  }

  choose()
  return { element: place, leave: forget }
}
