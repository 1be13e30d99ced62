import { TryOnError, type FittingRoom, type Intent, type TryOn, type TryOnView } from 'fitting-room'
import { createFields } from './form-fields.ts'
import { roomFor, type RoomName, type SharedRoom } from './shared-rooms.ts'

/** The events of `<fitting-room-try-on>`: each new view, and each intent of its markup that was refused. */
export interface TryOnElementEvents extends HTMLElementEventMap {
  /** `detail` is the view. */
  view: CustomEvent<TryOnView>
  /** `detail` is what the intent was rejected with, a `TryOnError`. */
  refused: CustomEvent<TryOnError>
}

const observed = ['base-url', 'api-key', 'namespace', 'product-id', 'variant-id', 'funnel-ids'] as const

/** What tells of a view. */
const told = ['state', 'group', 'problem'] as const

const ofRoom: ReadonlySet<string> = new Set(['base-url', 'api-key', 'namespace'])

// a server, which renders nothing of it, has no elements
const Base = typeof HTMLElement === 'undefined' ? (Object as unknown as typeof HTMLElement) : HTMLElement

/**
 * One product variant's try-on, without styles. Attributes: `product-id`, `variant-id`, `funnel-ids` ("12, 7"), and
 * `base-url`, `api-key`, `namespace` unless `room` is set; `notice` is the version that each consent names. The element
 * sets `data-state`, `data-group` and `data-problem`, the problem's kind, on itself. It shows the children whose `slot`
 * is the state, or else those whose `slot` is the group, and always those without one. In them, `data-intent` names the
 * intent of a button, of a file input (`start` or `retry`, with the file) or of a form (`submitEmail`); with
 * `data-despite-advice` a button takes the file that was advised against. An `<img data-picture>` shows the picture, an
 * element with `data-message` the merchant's text. Events: `view` and `refused`.
 */
export class TryOnElement extends Base {
  static readonly observedAttributes = observed
  readonly #slots = { state: slot(), group: slot() }
  #room: FittingRoom | undefined
  #shared: SharedRoom | null = null
  #tryOn: TryOn | null = null
  #chosen: Chosen | undefined
  readonly #fields = createFields()
  /** The attempt that was shown last, and the group, once there was one. */
  #last: { attempt?: string | undefined; group?: string } = {}
  #end = () => {}
  /** Sees children that come, or change, after a view: a page may make them of it, and a parser takes its time. */
  readonly #late = new MutationObserver(() => {
    this.#note()
    this.#draw()
  })
  #isHearing = false
  #isChanging = false

  /** In place of `base-url` and `api-key`. */
  get room(): FittingRoom | undefined {
    return this.#room
  }
  set room(room: FittingRoom | undefined) {
    this.#room = room
    if (this.isConnected) this.#follow()
  }

  /** Null while an attribute is missing. */
  get tryOn(): TryOn | null {
    return this.#tryOn
  }

  connectedCallback(): void {
    if (!this.#isHearing) {
      const { state, group } = this.#slots
      // a theme may bring its own
      if (!this.shadowRoot) this.attachShadow({ mode: 'open' }).append(slot(), state, group)
      for (const type of ['click', 'change', 'submit']) this.addEventListener(type, (event) => this.#hear(event))
      for (const type of ['focusin', 'input']) this.addEventListener(type, () => this.#note())
      this.#isHearing = true
      // what was chosen before nobody has heard, and the same file again is no change
      this.#emptyFiles()
    }
    // what was set before the element was defined
    const early = Object.getOwnPropertyDescriptor(this, 'room')
    Reflect.deleteProperty(this, 'room')
    if (early) this.#room = early.value as FittingRoom
    this.#late.observe(this, {
      childList: true,
      subtree: true,
      attributeFilter: ['slot', 'data-picture', 'data-message'],
    })
    this.#follow()
  }

  override addEventListener<Name extends keyof TryOnElementEvents>(
    name: Name,
    hear: (event: TryOnElementEvents[Name]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void
  override addEventListener(
    name: string,
    hear: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void
  override addEventListener(name: string, hear: unknown, options?: boolean | AddEventListenerOptions): void {
    super.addEventListener(name, hear as EventListener, options)
  }

  disconnectedCallback(): void {
    this.#late.disconnect()
    this.#leave()
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (!this.isConnected || before === now || this.#isChanging) return
    if (!ofRoom.has(name)) return this.#follow()
    // one address must not get the key of another, whichever is set first
    this.#isChanging = true
    queueMicrotask(() => {
      this.#isChanging = false
      if (this.isConnected) this.#follow()
    })
  }

  #leave(): void {
    this.#end()
    this.#tryOn = null
    this.#shared?.users.delete(this)
  }

  #follow(): void {
    this.#leave()
    // whoever it was shown to may have gone
    if (this.#last.group) this.#last.group = 'away'
    try {
      this.#tryOn = this.#find()
    } finally {
      if (this.#tryOn === null) this.#clear()
    }
    // attributes come one by one
    if (this.#tryOn === null) return queueMicrotask(() => this.#tellMissing())
    const subscription = this.#tryOn.subscribe((view) => this.#show(view))
    this.#end = () => subscription.unsubscribe()
    this.#show(this.#tryOn.get())
  }

  /** A room may come later, and a size be chosen later; half of what makes one says that the rest was forgotten. */
  #tellMissing(): void {
    const has = (name: string) => Boolean(this.getAttribute(name))
    const missing = [
      ...(this.#room || has('base-url') === has('api-key') ? [] : [has('api-key') ? 'base-url' : 'api-key']),
      ...(has('product-id') && has('variant-id') && !has('funnel-ids') ? ['funnel-ids'] : []),
    ]
    if (this.isConnected && missing.length > 0) console.warn(`<${this.localName}> has no ${missing.join(' and no ')}`)
  }

  #find(): TryOn | null {
    const [baseUrl, apiKey, namespace, productId, variantId, funnels] = observed.map((name) => this.getAttribute(name))
    if (!productId || !variantId || !funnels) return null
    const room =
      this.#room ?? (baseUrl && apiKey ? this.#share({ baseUrl, apiKey, namespace: namespace ?? null }) : null)
    return room?.tryOn({ productId, variantId, funnelIds: funnels.split(',').map(Number) }) ?? null
  }

  #share(named: RoomName): FittingRoom {
    this.#shared = roomFor(this, this.#shared, named)
    return this.#shared.room
  }

  /** Without a try-on there is nothing to show or to ask for. */
  #clear(): void {
    for (const name of told) delete this.dataset[name]
    this.#draw()
  }

  #show(view: TryOnView): void {
    const says = { state: view.state, group: view.group, problem: view.problem?.kind }
    for (const name of told) {
      if (says[name] === undefined) delete this.dataset[name]
      else this.dataset[name] = says[name]
    }
    // after a reset() it is a former shopper's
    const isOver =
      view.state === 'restoring' || (says.problem !== 'photoAdvice' && (view.attempt ?? view.group === 'ready'))
    if (isOver && !this.#chosen?.isSaid) this.#chosen = undefined
    this.#draw()
    const { attempt, group } = this.#last
    const isLeft = attempt !== undefined && view.attempt?.id !== attempt
    const isAnew = isOver && view.group === 'ready' && group && group !== 'ready'
    this.#note()
    // while it is looked what there is, it may be the same shopper's
    if (view.state !== 'restoring') {
      if (isLeft || isAnew) this.#empty()
      this.#last = { attempt: view.attempt?.id, group: view.group }
    } else if (group) this.#last.group = view.group
    this.dispatchEvent(new CustomEvent('view', { detail: view }))
  }

  /** Whoever comes next sees nothing of what was typed or chosen, by whatever means; what the markup itself gives stays. */
  #empty(): void {
    this.#emptyFiles()
    this.#fields.restore()
  }

  #emptyFiles(): void {
    for (const input of this.querySelectorAll<HTMLInputElement>('input[type=file][data-intent]'))
      if (this.#owns(input)) input.value = ''
  }

  #draw(): void {
    const view = this.#tryOn?.get()
    const picture = (view?.result ?? view?.preview)?.imageUrl
    const { state, group } = this.#slots
    // one without a name would show what has none twice
    state.name = view?.state ?? 'nothing'
    group.name = view?.group ?? 'nothing'
    group.hidden = state.assignedElements().length > 0
    for (const image of this.querySelectorAll<HTMLImageElement>('img[data-picture]')) {
      if (!this.#owns(image)) continue
      if (!picture) image.removeAttribute('src')
      // the same address once more would load it once more
      else if (image.getAttribute('src') !== picture) image.src = picture
    }
    const message = view?.message ?? ''
    for (const part of this.querySelectorAll('[data-message]'))
      if (this.#owns(part) && part.textContent !== message) part.textContent = message
  }

  /** What stands in an element within this one is that one's. */
  #owns(part: Element): boolean {
    return part.closest(this.localName) === this
  }

  #note(): void {
    for (const form of this.querySelectorAll<HTMLFormElement>('form[data-intent]'))
      if (this.#owns(form)) this.#fields.note(form)
  }

  async #say(tryOn: TryOn, intent: 'start' | 'retry', file: File, terms: Parameters<TryOn['start']>[1]): Promise<void> {
    const chosen: Chosen = { file, of: tryOn, isSaid: true }
    this.#chosen = chosen
    try {
      await tryOn[intent](file, terms)
    } finally {
      chosen.isSaid = false
      if (this.#chosen === chosen && tryOn.get().problem?.kind !== 'photoAdvice') this.#chosen = undefined
    }
  }

  /** What the markup asks for. */
  #hear(event: Event): void {
    const from = (event.target as Element | null)?.closest?.<HTMLElement>('[data-intent]')
    const tryOn = this.#tryOn
    const intent = from?.dataset['intent'] as Intent
    if (!from || !tryOn || !this.#owns(from) || !(intent in tryOn.get().can)) return
    const refused = (detail: TryOnError) => this.dispatchEvent(new CustomEvent('refused', { detail }))
    const [notice, despiteAdvice] = [this.getAttribute('notice'), 'despiteAdvice' in from.dataset]
    const terms = { ...(notice && { consent: { notice } }), ...(despiteAdvice && { despiteAdvice }) }
    // what was made in another document is of a class of its own
    if (isNamed(from, 'input') && from.type === 'file') {
      const [photo] = event.type === 'change' ? (from.files ?? []) : []
      if (!photo) return
      this.#say(tryOn, intent === 'retry' ? 'retry' : 'start', photo, terms).catch(refused)
    } else if (isNamed(from, 'form')) {
      if (event.type !== 'submit') return
      event.preventDefault()
      const { email = '', name } = Object.fromEntries(new FormData(from)) as { email?: string; name?: string }
      tryOn.submitEmail({ email, name }).catch(refused)
    } else if (event.type === 'click') {
      const { file } = (this.#chosen?.of === tryOn && this.#chosen) || {}
      // without the file it would be begun with an earlier one
      if (despiteAdvice && !file) refused(new TryOnError({ kind: 'photo', reason: 'missing' }))
      else if (intent === 'start' || intent === 'retry')
        tryOn[intent](despiteAdvice ? file : undefined, terms).catch(refused)
      else if (intent !== 'submitEmail') tryOn[intent]().catch(refused)
    }
  }
}

/** The last file that was chosen, and for what, as long as it may be advised against. */
interface Chosen {
  file: File
  of: TryOn
  /** It is not known yet whether it is. */
  isSaid: boolean
}

const isNamed = <Name extends 'input' | 'form'>(of: Element, name: Name): of is HTMLElementTagNameMap[Name] =>
  of.localName === name

const slot = () => document.createElement('slot')

if (typeof customElements !== 'undefined' && !customElements.get('fitting-room-try-on'))
  customElements.define('fitting-room-try-on', TryOnElement)

declare global {
  interface HTMLElementTagNameMap {
    'fitting-room-try-on': TryOnElement
  }
}
