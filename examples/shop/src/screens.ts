import {
  isTryOnError,
  type FittingRoom,
  type StartOptions,
  type TryOn,
  type TryOnState,
  type TryOnView,
} from 'fitting-room'
import type { Product } from './catalog.ts'
import { compare } from './compare.ts'
import { button, h } from './dom.ts'
import { canShare, save, share } from './give-away.ts'
import { consent } from './notice.ts'
import { photoPicker } from './photo-picker.ts'
import { pictureFrame } from './picture-frame.ts'
import { bytes, say, words } from './language.ts'

export interface Stage {
  room: FittingRoom
  product: Product
  tryOn: TryOn
  /** Keeps the photo that the shopper has chosen; its address, while the panel is there. */
  choose(photo: Blob): string
  chosen(): Blob | null
  /** The address of the photo that an attempt was started with here, else of the one that was used last. */
  photo(view: TryOnView): string | null
  start(photo?: Blob, options?: StartOptions): Promise<void>
  /** Runs an intent; what it is refused for is shown by the view. */
  attempt(work: () => Promise<void>): Promise<void>
}

export interface Screen {
  element: HTMLElement
  update?(view: TryOnView): void
  leave?(): void
}

type Draw = (stage: Stage, view: TryOnView) => Screen

const heading = (view: TryOnView) => h('h2', { tabIndex: -1 }, words().title(view))
const lead = (view: TryOnView) => h('p', { className: 'lead' }, words().sentence(view))

function note(view: Pick<TryOnView, 'problem'>, shown?: TryOnView): HTMLElement {
  const text = words().problem(view.problem, shown)
  return h('p', { className: 'note', hidden: text === null }, text)
}

const notSaved = (view: TryOnView) => h('p', { className: 'quiet', hidden: view.durable }, words().notDurable(view))
const sentAsItIs = (view: TryOnView) =>
  h('p', { className: 'quiet', hidden: !view.metadataKept }, words().metadataKept(view))

const actions = (...children: (HTMLElement | null)[]) => h('div', { className: 'actions' }, ...children)
const screen = (...children: (HTMLElement | null)[]) => h('div', {}, ...children)

/** The steps that the view permits, most useful first. */
function ways({ tryOn, attempt }: Stage, view: TryOnView): HTMLElement {
  const { can } = view
  const said = {
    resume: () => tryOn.resume(),
    retry: () => tryOn.retry(undefined, { consent }),
    startOver: () => tryOn.startOver(),
  }
  const way = (intent: keyof typeof said, className = 'secondary') =>
    can[intent] ? button(words().intent(intent, view), () => attempt(said[intent]), className, intent) : null
  return h(
    'div',
    {},
    actions(way('resume', 'primary'), way('retry', can.resume ? 'secondary' : 'primary'), way('startOver')),
    // another submission needs another consent, to what it says here
    can.retry ? h('p', { className: 'quiet' }, say().spends) : null,
  )
}

const startOver = ({ tryOn, attempt }: Stage, view: TryOnView) =>
  button(words().intent('startOver', view), () => attempt(() => tryOn.startOver()), 'secondary', 'startOver')

/** A state that needs no more than words and its ways on. */
const plain: Draw = (stage, view) => ({
  element: screen(heading(view), lead(view), note(view, view), ways(stage, view), notSaved(view)),
})

/** What is advised against is the shopper's to decide. */
function overruling({ start, chosen }: Stage, view: TryOnView): HTMLElement[] {
  const photo = chosen()
  if (view.problem?.kind !== 'photoAdvice' || photo === null) return []
  const overrule = () => start(photo, { despiteAdvice: true })
  return [actions(button(words().despiteAdvice(view) ?? '', overrule, 'secondary', 'allTheSame'))]
}

const idle: Draw = (stage, view) => {
  const problem = h('div', {})
  const picker = photoPicker({
    room: stage.room,
    onChoose(photo) {
      // what was said was of another one
      problem.replaceChildren()
      return stage.choose(photo)
    },
    onPick: (photo) => stage.start(photo),
  })
  const update = (next: TryOnView) => problem.replaceChildren(note(next, next), ...overruling(stage, next))
  update(view)
  return {
    element: screen(
      heading(view),
      lead(view),
      problem,
      picker.element,
      view.can.resume
        ? actions(button(words().intent('resume', view), () => stage.attempt(() => stage.tryOn.resume()), 'secondary'))
        : null,
    ),
    update,
    leave: picker.leave,
  }
}

/** A bar for what is measured, or for what is estimated, and says which. */
function meter(label: string): { element: HTMLElement; update(view: TryOnView): void } {
  const bar = h('progress', { max: 1, attributes: { 'aria-label': label } })
  const text = h('p', { className: 'quiet' })
  return {
    element: h('div', { className: 'meter' }, bar, text),
    update(view) {
      const { progress } = view
      if (progress === null) bar.removeAttribute('value')
      else bar.value = progress.value
      const sent = progress?.bytes && say().uploaded(bytes(progress.bytes.sent), bytes(progress.bytes.total))
      text.textContent = words().trouble(view) ?? sent ?? (progress && words().estimate(view)) ?? ''
    },
  }
}

const working: Draw = (stage, view) => {
  const bar = meter(words().title(view))
  const way = h('div', {})
  const update = (next: TryOnView) => {
    bar.update(next)
    // what is paid for cannot be taken back, so only what is not sent yet can be cancelled
    const cancels = next.can.startOver && next.state !== 'processing'
    if (cancels !== way.hasChildNodes()) way.replaceChildren(...(cancels ? [ways(stage, next)] : []))
  }
  update(view)
  const photo = pictureFrame(stage.photo(view), say().yourPhoto)
  photo.classList.add('waiting')
  return {
    element: screen(heading(view), lead(view), photo, bar.element, way, notSaved(view), sentAsItIs(view)),
    update,
  }
}

const preview: Draw = (stage, view) => {
  const bar = meter(say().finished)
  bar.update(view)
  const { imageUrl = null } = view.preview ?? {}
  const picture = pictureFrame(imageUrl, say().firstLook(stage.product.title), h('figcaption', {}, say().preview))
  return { element: screen(heading(view), lead(view), picture, bar.element), update: bar.update }
}

const final: Draw = (stage, view) => {
  const { tryOn, product } = stage
  const before = stage.photo(view)
  const problem = h('div', { attributes: { role: 'alert' } }, note(view, view))
  const trying = (work: () => Promise<void>) =>
    work().catch((error: unknown) => {
      if (!isTryOnError(error)) throw error
      problem.replaceChildren(note(error))
    })
  const picture = compare({
    before,
    preview: view.preview?.imageUrl ?? null,
    after: view.result?.imageUrl ?? '',
    title: product.title,
    onLost: () =>
      tryOn.picture().catch(async () => {
        await trying(() => tryOn.pictureFailed())
        return null
      }),
  })
  return {
    element: screen(
      heading(view),
      h('p', { className: 'lead' }, before === null ? words().sentence(view) : say().compareHow),
      picture.element,
      problem,
      actions(
        button(say().save, () => trying(() => save(tryOn)), 'primary', 'save'),
        canShare() ? button(say().share, () => trying(() => share(tryOn, product.title)), 'secondary', 'share') : null,
        // what another device has brought is only looked at
        view.can.startOver ? startOver(stage, view) : null,
      ),
      sentAsItIs(view),
    ),
    update(next) {
      problem.replaceChildren(note(next, next))
      if (next.result) picture.showAnother(next.result.imageUrl)
    },
    leave: picture.leave,
  }
}

const needsEmail: Draw = (stage, view) => {
  const problem = note(view, view)
  const email = h('input', { type: 'email', name: 'email', autocomplete: 'email', required: true, id: 'email' })
  const name = h('input', { type: 'text', name: 'name', autocomplete: 'name', id: 'name' })
  const send = h('button', { type: 'submit', className: 'primary' }, words().intent('submitEmail', view))
  const form = h(
    'form',
    {
      className: 'form',
      onsubmit(event: Event) {
        event.preventDefault()
        void stage.attempt(() => stage.tryOn.submitEmail({ email: email.value, name: name.value }))
      },
    },
    h('label', { htmlFor: 'email' }, say().email),
    email,
    h('label', { htmlFor: 'name' }, say().customer),
    name,
    actions(send, startOver(stage, view)),
  )
  return {
    element: screen(heading(view), lead(view), problem, form),
    update(next) {
      send.disabled = !next.can.submitEmail
      const text = words().problem(next.problem, next)
      problem.hidden = text === null
      problem.textContent = text
    },
  }
}

/** One screen for every state of a try-on. */
export const screens: Record<TryOnState, Draw> = {
  restoring: (_, view) => ({ element: screen(heading(view), h('p', { className: 'quiet' }, words().sentence(view))) }),
  idle,
  preparing: working,
  submitting: working,
  processing: working,
  preview,
  final,
  needsEmail,
  stalled: plain,
  unauthorized: plain,
  failed: plain,
  outcomeUnknown: plain,
  limitReached: plain,
  rejected: plain,
  protocolError: plain,
}
