import { TryOnError, type FittingRoom, type TryOn, type TryOnState, type TryOnView } from 'fitting-room'
import type { Product } from './catalog.ts'
import { h, marked } from './dom.ts'
import { say, words } from './language.ts'
import { consent } from './notice.ts'
import type { Page } from './page.ts'
import { screens, type Screen, type Stage } from './screens.ts'

/** The fitting room of one try-on: whatever its view says, in plain words, with the right next step. */
export function tryOnPanel(room: FittingRoom, product: Product, tryOn: TryOn): Page {
  const status = h('p', { className: 'hidden', attributes: { role: 'status' } })
  const alert = h('p', { className: 'hidden', attributes: { role: 'alert' } })
  const place = h('div', { className: 'screen', ...marked('try-on') })
  let chosen: { photo: Blob; address: string } | null = null
  let used: { attempt: string | undefined; address: string | undefined } | null = null
  const forget = () => chosen && URL.revokeObjectURL(chosen.address)
  const stage: Stage = {
    room,
    product,
    tryOn,
    choose(photo) {
      forget()
      chosen = { photo, address: URL.createObjectURL(photo) }
      return chosen.address
    },
    chosen: () => chosen?.photo ?? null,
    photo: ({ attempt }) =>
      (used?.attempt === attempt?.id ? used?.address : null) ?? room.photo.get()?.imageUrl ?? null,
    start(photo, options) {
      // until it is known as what, and then for that attempt alone
      const own = { attempt: undefined as string | undefined, address: photo ? chosen?.address : undefined }
      used = own
      return stage.attempt(async () => {
        await tryOn.start(photo, { ...options, consent })
        own.attempt = tryOn.get().attempt?.id
      })
    },
    attempt: (work) =>
      work().catch((error: unknown) => {
        // what was wrong is shown by the view; a click that came too late is nothing to report
        if (!(error instanceof TryOnError)) throw error
      }),
  }
  let shown: { state: TryOnState; screen: Screen } | null = null
  let heard: TryOnView | null = null

  const announce = (view: TryOnView) => {
    const said = words().announcementOf(view, heard)
    heard = view
    if (said) (said.urgency === 'assertive' ? alert : status).textContent = said.text
  }

  const show = (view: TryOnView) => {
    announce(view)
    if (shown?.state === view.state) return shown.screen.update?.(view)
    const focused = place.contains(document.activeElement)
    shown?.screen.leave?.()
    shown = { state: view.state, screen: screens[view.state](stage, view) }
    place.replaceChildren(shown.screen.element)
    place.dataset['state'] = view.state
    // a keyboard that was here stays here
    if (focused) place.querySelector('h2')?.focus()
  }

  const subscription = tryOn.subscribe(show)
  show(tryOn.get())
  const element = h('section', { className: 'room', attributes: { 'aria-label': say().room } }, place, status, alert)
  return {
    element,
    leave() {
      subscription.unsubscribe()
      shown?.screen.leave?.()
      forget()
    },
  }
}
