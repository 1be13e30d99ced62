import tee from '@fitting-room/service/garments/breton-tee.svg'
import type { StartOptions, TryOnView } from 'fitting-room'
import { tryOnOf, words } from './room.ts'

/** What has that mark in the page, where all is from the start: a view shows it or hides it. */
function part<T extends HTMLElement>(mark: string, type: new () => T): T {
  const found = document.querySelector(`[data-testid="${mark}"]`)
  if (found instanceof type) return found
  throw new Error(`the page has no ${type.name} marked ${mark}`)
}

const panel = part('try-on', HTMLElement)
const frame = part('frame', HTMLElement)
const title = part('title', HTMLElement)
const picture = part('picture', HTMLImageElement)
const hangs = part('hangs', HTMLImageElement)
const progress = part('progress', HTMLProgressElement)
const form = part('form', HTMLFormElement)
const input = part('photo', HTMLInputElement)
const start = part('start', HTMLButtonElement)

let photo: File | undefined
/** The photo that was last handed over, which is the one that an advice is about. */
let checked: File | undefined
let chosen = ''
let tryOn = tryOnOf('2001')
let before = tryOn.get()
let watching = tryOn.subscribe(show)

/** Shows a part with that text, or hides it; the same text again would be read out again. */
function say(mark: string, text: string | null): void {
  const element = part(mark, HTMLElement)
  element.hidden = text === null
  if (text !== null && element.textContent !== text) element.textContent = text
}

function show(view: TryOnView): void {
  const { can, group, state } = view
  panel.dataset['state'] = state
  frame.setAttribute('aria-busy', String(group === 'busy'))

  const made = view.result ?? view.preview
  const address = made?.imageUrl ?? chosen
  picture.hidden = address === ''
  hangs.hidden = address !== ''
  picture.alt = made ? 'You in the Breton tee' : 'Your photo'
  if (address !== '' && picture.getAttribute('src') !== address) picture.src = address

  // a screen reader says a delay once, not at each new try
  const heard = words.announcementOf(view, before)
  before = view
  if (heard) say('heard', heard.text)
  say('title', words.title(view))
  say('sentence', words.sentence(view))
  // a problem with one photo is not shown for the next
  const isOfAnother = photo !== checked && view.problem?.kind.startsWith('photo')
  say('problem', isOfAnother ? null : words.problem(view.problem, view))
  for (const note of ['trouble', 'notDurable', 'metadataKept'] as const) say(note, words[note](view))

  progress.hidden = view.progress === null
  progress.value = view.progress?.value ?? 0
  progress.ariaLabel = words.progress(view)

  // controls that will be needed again soon stay in place, and keep the focus
  const isSoon = state === 'preparing'
  part('choice', HTMLElement).hidden = !can.start && !can.retry && !isSoon
  form.hidden = !can.submitEmail
  say('submitEmail', words.intent('submitEmail', view))
  say('start', can.start && group === 'ready' ? words.intent('start', view) : null)
  start.disabled = photo === undefined
  const isAdvisedAgainst = view.problem?.kind === 'photoAdvice' && photo !== undefined && !isOfAnother
  say('allTheSame', isAdvisedAgainst ? words.despiteAdvice(view) : null)
  for (const intent of ['resume', 'retry'] as const) say(intent, can[intent] ? words.intent(intent, view) : null)
  // a paid job is not left here: this page has no list of earlier try-ons
  const mayLeave = can.startOver && state !== 'processing' && state !== 'preview'
  say('startOver', mayLeave || isSoon ? words.intent('startOver', view) : null)
  part('startOver', HTMLButtonElement).disabled = !mayLeave
}

function submit(options?: StartOptions): void {
  checked = photo
  void tryOn[tryOn.get().can.retry ? 'retry' : 'start'](photo, options)
}

input.addEventListener('change', () => {
  URL.revokeObjectURL(chosen)
  photo = input.files?.[0]
  chosen = photo ? URL.createObjectURL(photo) : ''
  // as long as the first one is being uploaded, this one takes its place
  if (photo && tryOn.get().state === 'preparing') submit()
  show(tryOn.get())
})
form.addEventListener('submit', (event) => {
  event.preventDefault()
  title.focus()
  void tryOn.submitEmail({ email: part('email', HTMLInputElement).value })
})
for (const mark of ['start', 'retry']) part(mark, HTMLElement).addEventListener('click', () => submit())
part('allTheSame', HTMLElement).addEventListener('click', () => submit({ despiteAdvice: true }))
part('resume', HTMLElement).addEventListener('click', () => tryOn.resume())
part('startOver', HTMLElement).addEventListener('click', () => tryOn.startOver())
// a pressed button disappears, and the focus would go with it
part('intents', HTMLElement).addEventListener('click', () => title.focus())

hangs.src = tee
const sizes = document.querySelectorAll<HTMLButtonElement>('.sizes button')
for (const size of sizes)
  size.addEventListener('click', () => {
    for (const each of sizes) each.ariaPressed = String(each === size)
    watching.unsubscribe()
    tryOn = tryOnOf(size.value)
    watching = tryOn.subscribe(show)
    show(tryOn.get())
  })
show(tryOn.get())
