import { openCamera, type Camera } from 'fitting-room/photos'
import { button, h } from './dom.ts'
import { say } from './language.ts'

/** Takes one photo in a dialog; null when it is closed or the camera is not to be had. */
export function camera(): Promise<Blob | null> {
  const video = h('video', {})
  const stage = h('div', {}, video)
  const opening = openCamera(video).catch(() => null)
  return new Promise((resolve) => {
    const close = (photo: Blob | null) => {
      void opening.then((opened) => opened?.close())
      removeEventListener('hashchange', leave)
      dialog.remove()
      resolve(photo)
    }
    // the page under the dialog has changed
    const leave = () => close(null)
    addEventListener('hashchange', leave)
    const shoot = (opened: Camera) => opened.take().then(close, leave)
    const dialog: HTMLDialogElement = h(
      'dialog',
      { className: 'camera', onclose: leave, attributes: { 'aria-label': say().camera } },
      stage,
      h(
        'div',
        { className: 'actions' },
        button(say().close, () => dialog.close(), 'secondary'),
      ),
    )
    void opening.then((opened) => {
      if (opened) dialog.querySelector('.actions')?.prepend(button(say().shoot, () => shoot(opened)))
      else stage.replaceChildren(h('p', {}, say().noCamera))
    })
    document.body.append(dialog)
    dialog.showModal()
  })
}
