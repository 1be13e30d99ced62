import type { FittingRoom, TryOn, TryOnState, TryOnView } from 'fitting-room'
import type { Product } from './catalog.ts'
import { compare } from './compare.ts'
import { button, h } from './dom.ts'
import { photoPicker } from './photo-picker.ts'
import { bytes, problemText, sentences, titles } from './words.ts'

export interface Stage {
  room: FittingRoom
  product: Product
  tryOn: TryOn
  /** Runs an intent; what it is refused for is shown by the view. */
  attempt(work: () => Promise<void>): Promise<void>
}

export interface Screen {
  element: HTMLElement
  update?(view: TryOnView): void
  leave?(): void
}

type Draw = (stage: Stage, view: TryOnView) => Screen

const heading = ({ state }: TryOnView) => h('h2', { tabIndex: -1 }, titles[state])
const lead = (view: TryOnView) => h('p', { className: 'lead' }, view.message ?? sentences[view.state])

function note(view: TryOnView): HTMLElement {
  const text = problemText(view.problem)
  return h('p', { className: 'note', hidden: text === null }, text)
}

function notSaved(view: TryOnView): HTMLElement {
  return h(
    'p',
    { className: 'quiet', hidden: view.durable },
    'This browser can not save your try-on, so keep this page open.',
  )
}

const actions = (...children: (HTMLElement | null)[]) => h('div', { className: 'actions' }, ...children)
const screen = (...children: (HTMLElement | null)[]) => h('div', {}, ...children)

/** The steps that the view permits, most useful first. */
function ways(
  stage: Stage,
  view: TryOnView,
  labels: { resume?: string; retry?: string; over?: string } = {},
): HTMLElement {
  const { tryOn, attempt } = stage
  const { resume = 'Keep waiting', retry = 'Try again', over = 'Choose another photo' } = labels
  return actions(
    view.can.resume ? button(resume, () => attempt(() => tryOn.resume())) : null,
    view.can.retry
      ? button(retry, () => attempt(() => tryOn.retry()), view.can.resume ? 'secondary' : 'primary')
      : null,
    view.can.startOver ? button(over, () => attempt(() => tryOn.startOver()), 'secondary') : null,
  )
}

/** A state that needs no more than words and its ways on. */
const plain =
  (labels: Parameters<typeof ways>[2] = {}): Draw =>
  (stage, view) => ({
    element: screen(heading(view), lead(view), note(view), ways(stage, view, labels), notSaved(view)),
  })

const idle: Draw = (stage, view) => {
  const problem = note(view)
  const picker = photoPicker({
    last: stage.room.photo.get()?.imageUrl ?? null,
    hasLast: stage.room.photo.get() !== null,
    onPick: (photo) => stage.attempt(() => stage.tryOn.start(photo)),
  })
  return {
    element: screen(
      heading(view),
      lead(view),
      problem,
      picker.element,
      view.can.resume
        ? actions(button('Look again', () => stage.attempt(() => stage.tryOn.resume()), 'secondary'))
        : null,
    ),
    update: (next) => problem.replaceWith(note(next)),
    leave: picker.leave,
  }
}

/** A bar for what is measured, or for what is estimated, and says which. */
function meter(label: string): { element: HTMLElement; update(view: TryOnView): void } {
  const bar = h('progress', { max: 1, attributes: { 'aria-label': label } })
  const text = h('p', { className: 'quiet' })
  return {
    element: h('div', { className: 'meter' }, bar, text),
    update({ progress, waitingUntil, etaSeconds }) {
      if (progress === null) bar.removeAttribute('value')
      else bar.value = progress.value
      if (waitingUntil !== null)
        text.textContent = `Waiting a moment, until ${new Date(waitingUntil).toLocaleTimeString()}.`
      else if (progress?.bytes) text.textContent = `${bytes(progress.bytes.sent)} of ${bytes(progress.bytes.total)}`
      else text.textContent = progress && etaSeconds !== null ? `Estimated: about ${etaSeconds} seconds in all.` : ''
    },
  }
}

const working: Draw = (stage, view) => {
  const bar = meter(titles[view.state])
  const way = h('div', {})
  const update = (next: TryOnView) => {
    bar.update(next)
    // what is paid for can not be taken back, so only what is not sent yet can be cancelled
    const cancels = next.can.startOver && next.state !== 'processing'
    if (cancels !== way.hasChildNodes())
      way.replaceChildren(...(cancels ? [ways(stage, next, { over: 'Cancel' })] : []))
  }
  update(view)
  return { element: screen(heading(view), lead(view), bar.element, way, notSaved(view)), update }
}

const preview: Draw = (stage, view) => {
  const bar = meter('The finished picture')
  bar.update(view)
  const picture = h('img', {
    src: view.preview?.imageUrl ?? '',
    alt: `A first look at you in the ${stage.product.title}`,
  })
  return {
    element: screen(
      heading(view),
      lead(view),
      h('figure', { className: 'picture' }, picture, h('figcaption', {}, 'Preview')),
      bar.element,
    ),
    update: bar.update,
  }
}

const final: Draw = (stage, view) => {
  const after = view.result?.imageUrl ?? ''
  const before = stage.room.photo.get()?.imageUrl ?? null
  return {
    element: screen(
      heading(view),
      before === null ? null : lead(view),
      compare(before, after, stage.product.title),
      actions(
        button('Save the picture', () => save(after)),
        button('Choose another photo', () => stage.attempt(() => stage.tryOn.startOver()), 'secondary'),
      ),
    ),
  }
}

/** Another origin's picture is only opened by a link, so its bytes are fetched first. */
async function save(imageUrl: string): Promise<void> {
  const address = URL.createObjectURL(await (await fetch(imageUrl)).blob())
  h('a', { href: address, download: 'try-on.jpeg' }).click()
  URL.revokeObjectURL(address)
}

const needsEmail: Draw = (stage, view) => {
  const problem = note(view)
  const email = h('input', { type: 'email', name: 'email', autocomplete: 'email', required: true, id: 'email' })
  const name = h('input', { type: 'text', name: 'name', autocomplete: 'name', id: 'name' })
  const send = h('button', { type: 'submit', className: 'primary' }, 'Continue')
  const form = h(
    'form',
    {
      className: 'form',
      onsubmit(event: Event) {
        event.preventDefault()
        const given = { email: email.value, ...(name.value !== '' && { name: name.value }) }
        void stage.attempt(() => stage.tryOn.submitEmail(given))
      },
    },
    h('label', { htmlFor: 'email' }, 'E-mail'),
    email,
    h('label', { htmlFor: 'name' }, 'Name (optional)'),
    name,
    actions(
      send,
      button('No, thanks', () => stage.attempt(() => stage.tryOn.startOver()), 'secondary'),
    ),
  )
  return {
    element: screen(heading(view), lead(view), problem, form),
    update(next) {
      send.disabled = !next.can.submitEmail
      const text = problemText(next.problem)
      problem.hidden = text === null
      problem.textContent = text
    },
  }
}

/** One screen for every state of a try-on. */
export const screens: Record<TryOnState, Draw> = {
  restoring: (_, view) => ({ element: screen(heading(view), h('p', { className: 'quiet' }, sentences.restoring)) }),
  idle,
  preparing: working,
  submitting: working,
  processing: working,
  preview,
  final,
  needsEmail,
  stalled: plain({ retry: 'Start a new one instead' }),
  unauthorized: plain({ resume: 'Try now' }),
  failed: plain(),
  outcomeUnknown: plain({ retry: 'Start a new one' }),
  limitReached: plain(),
  rejected: plain(),
  protocolError: plain({ resume: 'Look again', retry: 'Start a new one' }),
}
