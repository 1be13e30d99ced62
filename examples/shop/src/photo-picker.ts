import type { FittingRoom } from 'fitting-room'
import samplePhoto from '../../sample/person.png'
import { camera } from './camera.ts'
import { button, h, marked } from './dom.ts'
import { say, words } from './language.ts'
import { pictureFrame } from './picture-frame.ts'

interface PickerOptions {
  room: FittingRoom
  /** Shows a photo that was chosen; its address, while the panel is there. */
  onChoose: (photo: Blob) => string
  /** The shopper's word for one try-on; without a photo it is the last one again. */
  onPick: (photo?: Blob) => Promise<void>
}

/** Choose, drop or shoot a photo, look at it, and only then say yes. */
export function photoPicker({ room, onChoose, onPick }: PickerOptions): { element: HTMLElement; leave(): void } {
  const place = h('div', {})
  const last = h('div', { className: 'actions' })

  const review = (photo: Blob) => {
    const yes = button(words().intent('start'), () => onPick(photo), 'primary', 'start')
    place.replaceChildren(
      pictureFrame(onChoose(photo), say().yourPhoto),
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
    ...marked('photo'),
  })
  const sample = async () => review(await (await fetch(samplePhoto)).blob())

  /** What the room has kept of an earlier try-on. */
  const offerLast = () => {
    const photo = room.photo.get()
    const again = photo && button(say().useLast, () => onPick(), 'secondary')
    const picture = photo?.imageUrl && h('img', { className: 'last', src: photo.imageUrl, alt: say().yourLastPhoto })
    last.replaceChildren(...[again, picture].filter((child) => child instanceof Node))
  }

  const choose = () => {
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
        button(say().useSample, sample, 'secondary'),
      ),
      last,
    )
  }

  const subscription = room.photo.subscribe(offerLast)
  offerLast()
  choose()
  return { element: place, leave: () => subscription.unsubscribe() }
}
