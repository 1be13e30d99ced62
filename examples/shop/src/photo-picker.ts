import type { PhotoInput } from 'fitting-room'
import samplePhoto from '../../sample/person.png'
import { camera } from './camera.ts'
import { button, h } from './dom.ts'
import { say, words } from './language.ts'

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
    const yes = button(words().intent('start'), () => onPick(photo))
    const figure = h('figure', { className: 'picture' })
    // some photos, HEIC among them, are fine for the service but not for this browser
    const unseen = () => figure.replaceChildren(h('p', { className: 'unseen' }, say().unseen))
    figure.append(h('img', { src: address, alt: say().yourPhoto, onerror: unseen }))
    place.replaceChildren(
      figure,
      h('div', { className: 'actions' }, yes, button(say().another, choose, 'secondary')),
      h('p', { className: 'quiet' }, say().spends),
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
      h('strong', {}, say().choosePhoto),
      h('span', {}, say().dropPhoto),
    )
    place.replaceChildren(
      file,
      drop,
      h(
        'div',
        { className: 'actions' },
        'mediaDevices' in navigator
          ? button(say().useCamera, () => camera().then((photo) => photo && review(photo)), 'secondary')
          : null,
        hasLast ? button(say().useLast, () => onPick(), 'secondary') : null,
        button(say().useSample, sample, 'secondary'),
      ),
      last === null ? '' : h('img', { className: 'last', src: last, alt: say().yourLastPhoto }),
    )
  }

  choose()
  return { element: place, leave: forget }
}
