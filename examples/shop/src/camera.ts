import { button, h } from './dom.ts'
import { say } from './language.ts'

/** Shoots one photo in a dialog; null when it is closed or the camera is not to be had. */
export async function camera(): Promise<Blob | null> {
  const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'user' } }).catch(() => null)
  const video = h('video', { autoplay: true, muted: true, playsInline: true, srcObject: stream })
  return new Promise((resolve) => {
    const close = (photo: Blob | null) => {
      stream?.getTracks().forEach((track) => track.stop())
      removeEventListener('hashchange', leave)
      dialog.remove()
      resolve(photo)
    }
    // the page under the dialog has changed
    const leave = () => close(null)
    addEventListener('hashchange', leave)
    const shoot = () => {
      const canvas = h('canvas', { width: video.videoWidth, height: video.videoHeight })
      canvas.getContext('2d')?.drawImage(video, 0, 0)
      canvas.toBlob(close, 'image/jpeg', 0.92)
    }
    const dialog: HTMLDialogElement = h(
      'dialog',
      { className: 'camera', onclose: () => close(null), attributes: { 'aria-label': say().camera } },
      stream ? video : h('p', {}, say().noCamera),
      h(
        'div',
        { className: 'actions' },
        stream ? button(say().shoot, shoot) : null,
        button(say().close, () => dialog.close(), 'secondary'),
      ),
    )
    document.body.append(dialog)
    dialog.showModal()
  })
}
