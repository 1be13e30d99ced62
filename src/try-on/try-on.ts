import { createActor, waitFor, type Actor } from 'xstate'
import { Private } from '../../machines/private.ts'
import { tryOnMachine } from '../../machines/try-on.machine.ts'
import type { TryOnEvent, TryOnInput } from '../../machines/try-on.types.ts'
import { restoringView, tryOnView } from '../../machines/try-on.view.ts'
import { email as emailSchema, uploadRequest } from '../contract/resources.ts'
import { guarded } from '../platform/guarded.ts'
import { newId } from '../platform/new-id.ts'
import type { Claim, Ownership } from '../pages/ownership.ts'
import { TryOnError, type Problem } from '../rules/problem.ts'
import type { TryOnView } from '../rules/view.ts'
import type { Intent, TryOnState } from '../rules/words.ts'
import { inspection } from './inspect.ts'
import { resultOf } from './result.ts'
import type { TabMessage } from '../pages/tabs.ts'
import { tryOnActors, type TryOnParts } from './try-on.actors.ts'
import type { Inspect, StartOptions, TryOn } from './try-on.types.ts'

/** What the room keeps of a try-on beside its public face. */
export interface RunningTryOn {
  tryOn: TryOn
  /** Hears what the other pages of the room say. */
  hear(message: TabMessage): void
  wake(): void
  stop(isFreezing?: boolean): void
  /** Begins again from storage, where somebody is looking. */
  restart(): void
}

type Parts = Omit<TryOnParts, 'tell'> & {
  /** What the pages of the room call this try-on. */
  name: string
  input: TryOnInput
  ownership: Ownership
  post: (message: TabMessage) => void
  inspect: Inspect | undefined
  /** Storage has been read; called at the first use. */
  open: () => Promise<void>
  /** What another page may have changed is read again, before this page takes over. */
  refresh: () => Promise<void>
}

/** This page's part in a try-on: it runs the machine, or it waits and shows what the owner shows. */
interface Seat {
  actor: Actor<typeof tryOnMachine> | null
  /** Settles once it is known who runs the machine. */
  decided: Promise<void>
  /** Settles once this page does. */
  owned: Promise<void>
  /** Rejects when this page lets go of the try-on. */
  ended: Promise<never>
  end(isFreezing: boolean): void
}

export function createTryOn(parts: Parts): RunningTryOn {
  const { name, post, input, clock, inspect } = parts
  const listeners = new Set<(view: TryOnView) => void>()
  /** Intents of this page's shopper that the owner has not answered yet. */
  const asked = new Map<string, { ask: TabMessage; answer: (message: TabMessage & { type: 'answer' }) => void }>()
  const answered = new Set<string>()
  let seat: Seat | null = null
  let view = restoringView

  function show(next: TryOnView): void {
    if (JSON.stringify(next) === JSON.stringify(view)) return
    view = next
    for (const listener of listeners) listener(view)
  }

  /** Nothing runs before the first use: a try-on on a product card costs nothing. */
  function sit(): Seat {
    if (seat) return seat
    let decide = () => {}
    let take = () => {}
    let abandon = () => {}
    let claim: Claim | null = null
    const made: Seat = {
      actor: null,
      decided: new Promise((resolve) => (decide = resolve)),
      owned: new Promise((resolve) => (take = resolve)),
      ended: new Promise((_, reject) => (abandon = () => reject(refusal({ kind: 'stopped', reason: 'closed' })))),
      end(isFreezing) {
        made.actor?.stop()
        claim?.end(isFreezing)
        abandon()
      },
    }
    const own = () =>
      void parts.refresh().then(() => {
        if (seat !== made) return
        made.actor = run(made)
        take()
        decide()
      })
    const wait = () => {
      post({ type: 'hello', name })
      decide()
    }
    const lose = () => {
      stop()
      if (listeners.size > 0) sit()
    }
    made.ended.catch(() => undefined)
    seat = made
    void parts.open().then(() => {
      if (seat === made) claim = parts.ownership.claim(name, { own, wait, lose })
    })
    return made
  }

  function run(of: Seat): Actor<typeof tryOnMachine> {
    // an answer that comes late is for whoever runs the machine by then, here or on another page
    const tell = (event: TryOnEvent) => {
      seat?.actor?.send(event)
      // this page may not know yet that another one has taken over
      if (event.type === 'lateAnswer') post({ type: 'lateAnswer', name, written: event.written })
    }
    const provided = tryOnMachine.provide({ actors: tryOnActors({ ...parts, tell }) })
    const heard = inspect && { inspect: inspection(inspect, parts.product) }
    const own: Actor<typeof tryOnMachine> = createActor(provided, { input, clock, ...heard })
    own.subscribe((snapshot) => {
      const next = tryOnView(snapshot)
      // a page that takes over goes on showing what it has shown until storage is read
      if (seat !== of || (next.state === 'restoring' && snapshot.context.record === null && view.attempt)) return
      show(next)
      post({ type: 'view', name, view: next })
    })
    return own.start()
  }

  const refusal = (problem: Problem) => new TryOnError(problem, view.attempt?.jobId ?? null)
  const seen = () => view.attempt?.id ?? null

  /** Here where this page is the owner; else by the owner, and here if the owner goes before it has answered. */
  async function perform(intent: Intent, given: unknown[]): Promise<void> {
    const taken = sit()
    await Promise.race([taken.decided, taken.ended])
    if (taken.actor) return performHere(taken.actor, intent, given)
    const before = seen()
    const id = newId()
    const ask: TabMessage = { type: 'ask', name, id, intent, given, seen: before }
    // a word that is no longer waited for must not be passed on to anybody
    const answer = await Promise.race([askOwner(id, ask), taken.owned, taken.ended]).finally(() => asked.delete(id))
    if (answer?.problem) throw new TryOnError(answer.problem, answer.jobId)
    if (answer || !taken.actor) return
    await idleOf(taken.actor)
    if (seen() !== before) throw refusal(notAllowed(intent, view.state))
    await performHere(taken.actor, intent, given)
  }

  function askOwner(id: string, ask: TabMessage) {
    post(ask)
    return new Promise<TabMessage & { type: 'answer' }>((answer) => asked.set(id, { ask, answer }))
  }

  /** Another page's intent: refused when it is repeated, or when its shopper saw another attempt. */
  async function serve({ id, intent, given, seen: attempt }: TabMessage & { type: 'ask' }): Promise<void> {
    const own = seat?.actor
    if (!own || answered.has(id)) return
    answered.add(id)
    const problem = await idleOf(own)
      .then(() => {
        if (attempt !== seen()) throw refusal(notAllowed(intent, view.state))
        return performHere(own, intent, given)
      })
      .then(() => null)
      .catch((error: unknown) => (error instanceof TryOnError ? error.problem : notAllowed(intent, view.state)))
    post({ type: 'answer', name, id, problem, jobId: view.attempt?.jobId ?? null })
  }

  async function performHere(own: Actor<typeof tryOnMachine>, intent: Intent, given: unknown[]): Promise<void> {
    await idleOf(own)
    const permission = permissionOf(intent, given)
    const check = () => {
      const snapshot = own.getSnapshot()
      if (snapshot.can(permission)) return
      const couldAbandon = intent === 'discard' && snapshot.can({ type: 'discard', abandonPaidJob: true })
      throw refusal(couldAbandon ? { kind: 'paidJob' } : notAllowed(intent, view.state))
    }
    check()
    const event = await eventOf(intent, given).catch((error: unknown) => {
      // a refused input is shown where the try-on stands, and nothing is lost
      if (error instanceof TryOnError) own.send({ type: 'refused', problem: error.problem })
      throw error
    })
    check()
    if (seat?.actor !== own) throw refusal({ kind: 'stopped', reason: 'closed' })
    own.send(event)
    await idleOf(own)
  }

  async function eventOf(intent: Intent, given: unknown[]): Promise<TryOnEvent> {
    if (intent === 'submitEmail') {
      const [form] = given as Parameters<TryOn['submitEmail']>
      if (!emailSchema.safeParse(form.email).success) throw refusal({ kind: 'input', at: 'email' })
      return { type: 'submitEmail', form: new Private(form) }
    }
    if (intent !== 'start' && intent !== 'retry') return permissionOf(intent, given)
    const [photo, options = {}] = given as Parameters<TryOn['start']>
    checkOptions(options)
    const photoId = photo ? await parts.photos.keep(photo) : parts.photos.get()?.id
    if (photoId === undefined) throw refusal({ kind: 'photo', reason: 'missing' })
    const { customerEmail, ...terms } = options
    const email = customerEmail === undefined ? {} : { customerEmail: new Private(customerEmail) }
    return { type: intent, consent: { photoId, ...terms, ...email } }
  }

  /** The owner may have come after an intent was passed on; what it has had before it answers once. */
  function hearOwner(shown: TryOnView): void {
    show(shown)
    for (const { ask } of asked.values()) post(ask)
  }

  const tryOn: TryOn = {
    get: () => view,
    subscribe(onChange) {
      const listener = guarded(onChange)
      listeners.add(listener)
      sit()
      return { unsubscribe: () => void listeners.delete(listener) }
    },
    start: (...given) => perform('start', given),
    retry: (...given) => perform('retry', given),
    submitEmail: (...given) => perform('submitEmail', given),
    resume: () => perform('resume', []),
    startOver: () => perform('startOver', []),
    discard: (...given) => perform('discard', given),
    result: (options = {}) => {
      const ended = resultOf(tryOn, options)
      return Promise.race([ended, sit().ended])
    },
  }

  function stop(isFreezing = false): void {
    const left = seat
    seat = null
    left?.end(isFreezing)
  }

  return {
    tryOn,
    stop,
    hear(message) {
      if (!('name' in message) || message.name !== name) return
      if (message.type === 'answer') asked.get(message.id)?.answer(message)
      else if (message.type === 'ask') void serve(message)
      else if (message.type === 'hello' && seat?.actor) post({ type: 'view', name, view })
      else if (message.type === 'lateAnswer') seat?.actor?.send({ type: 'lateAnswer', written: message.written })
      else if (message.type === 'view' && seat && !seat.actor) hearOwner(message.view)
    },
    wake: () => seat?.actor?.send({ type: 'wake' }),
    restart() {
      stop()
      show(restoringView)
      if (listeners.size > 0) sit()
    },
  }
}

/** Intents wait while storage is being read or written. */
const idleOf = (own: Actor<typeof tryOnMachine>) =>
  waitFor(own, (snapshot) => !snapshot.hasTag('busy')).catch(() => {
    throw new TryOnError({ kind: 'stopped', reason: 'closed' })
  })

const notAllowed = (intent: Intent, state: TryOnState): Problem => ({ kind: 'notAllowed', intent, state })

/** The event that asks the machine whether an intent is permitted. */
function permissionOf(intent: Intent, given: unknown[]): TryOnEvent {
  if (intent === 'start' || intent === 'retry') return { type: intent, consent: { photoId: '' } }
  if (intent === 'submitEmail') return { type: intent, form: new Private({ email: '' }) }
  if (intent !== 'discard') return { type: intent }
  const [options] = given as Parameters<TryOn['discard']>
  return { type: 'discard', abandonPaidJob: options?.abandonPaidJob ?? false }
}

function checkOptions({ customerEmail, customKey }: StartOptions): void {
  if (customerEmail !== undefined && !emailSchema.safeParse(customerEmail).success) {
    throw new TryOnError({ kind: 'input', at: 'customerEmail' })
  }
  const upload = uploadRequest.safeParse({ contentType: 'image/jpeg', customKey })
  if (!upload.success) throw new TryOnError({ kind: 'input', at: 'customKey' })
}
