import { createActor, waitFor, type Actor } from 'xstate'
import { tryOnMachine } from '../machines/try-on.machine.ts'
import type { TryOnEvent, TryOnInput } from '../machines/try-on.types.ts'
import { restoringView, tryOnView, type Intent, type TryOnResult, type TryOnView } from '../machines/try-on.view.ts'
import { email as emailSchema, uploadRequest } from './contract/resources.ts'
import type { PhotoInput } from './photo-input.ts'
import type { Readable } from './ports.ts'
import { TryOnError, type Problem } from './problem.ts'
import { resultOf, type ResultOptions } from './result.ts'
import { tryOnActors, type TryOnParts } from './try-on.actors.ts'

/** What goes into one submission beside the photo (spec §2, GenerationRequest and UploadRequest). */
export interface StartOptions {
  /** Sent with the submission, which registers the visitor; never persisted. */
  customerEmail?: string
  moreLooksConsent?: boolean
  customKey?: string
}

/**
 * One durable flow for one product variant. Intents resolve once they have taken effect and reject with a
 * `TryOnError`: of kind `notAllowed` where the state does not permit them, else with what is wrong with the input.
 */
export interface TryOn extends Readable<TryOnView> {
  /** The shopper's consent for ONE submission, with a photo or with the room's photo again. */
  start(photo?: PhotoInput, options?: StartOptions): Promise<void>
  /** Registers the visitor's address, then goes on with the same attempt. A refused address stays, with its problem. */
  submitEmail(form: { email: string; name?: string }): Promise<void>
  /** Goes on with the same job or attempt. */
  resume(): Promise<void>
  /** A NEW attempt, which may be paid for; the one before it is archived. */
  retry(photo?: PhotoInput, options?: StartOptions): Promise<void>
  /** Back to idle with the photo kept; nothing is sent, and a known job is archived. */
  startOver(): Promise<void>
  /** Forgets the attempt; rejects with `paidJob` while a paid job may be running, unless told to abandon it. */
  discard(options?: { abandonPaidJob?: boolean }): Promise<void>
  /** Resolves at `final`; rejects at every stop with a `TryOnError` that carries the problem and the job ID. */
  result(options?: ResultOptions): Promise<TryOnResult>
}

/** What the room keeps of a try-on: it can be stopped and woken. */
export interface RunningTryOn {
  tryOn: TryOn
  wake(): void
  stop(): void
  /** Begins again from storage, where somebody is looking. */
  restart(): void
}

type Parts = Omit<TryOnParts, 'tell'> & {
  input: TryOnInput
  /** Storage has been read; called at the first use. */
  open: () => Promise<void>
}

export function createTryOn(parts: Parts): RunningTryOn {
  let actor: Actor<typeof tryOnMachine> | null = null
  let view = restoringView
  const listeners = new Set<(view: TryOnView) => void>()

  function show(next: TryOnView): void {
    if (JSON.stringify(next) === JSON.stringify(view)) return
    view = next
    for (const listener of listeners) listener(view)
  }

  /** The machine runs from the first use on, never before: a try-on on a product card costs nothing. */
  function running(): Actor<typeof tryOnMachine> {
    if (actor) return actor
    const tell = (event: TryOnEvent) => actor === own && own.send(event)
    const provided = tryOnMachine.provide({ actors: tryOnActors({ ...parts, tell }) })
    const own: Actor<typeof tryOnMachine> = createActor(provided, { input: parts.input, clock: parts.clock })
    actor = own
    own.subscribe((snapshot) => actor === own && show(tryOnView(snapshot)))
    void parts.open().then(() => actor === own && own.start())
    return own
  }

  async function settled(): Promise<Actor<typeof tryOnMachine>> {
    const own = running()
    await parts.open()
    await waitFor(own, (snapshot) => !snapshot.hasTag('busy'))
    return own
  }

  const refusal = (problem: Problem) => new TryOnError(problem, view.attempt?.jobId ?? null)

  async function intend(intent: Intent, event: () => TryOnEvent | Promise<TryOnEvent>, permission: TryOnEvent) {
    const own = await settled()
    const check = () => {
      if (!own.getSnapshot().can(permission)) throw refusal(notAllowed(intent, view.state))
    }
    check()
    const sent = await event()
    check()
    own.send(sent)
    await settled()
  }

  /** A refused input is shown where the try-on stands, and nothing is lost. */
  function refuse(error: unknown): never {
    if (error instanceof TryOnError) actor?.send({ type: 'refused', problem: error.problem })
    throw error
  }

  async function consentTo(intent: 'start' | 'retry', photo: PhotoInput | undefined, options: StartOptions) {
    const event = async (): Promise<TryOnEvent> => {
      try {
        checkOptions(options)
        const photoId = photo === undefined ? parts.photos.get()?.id : await parts.photos.keep(photo)
        if (photoId === undefined) throw refusal({ kind: 'photo', reason: 'missing' })
        return { type: intent, consent: { photoId, ...options } }
      } catch (error) {
        return refuse(error)
      }
    }
    await intend(intent, event, { type: intent, consent: { photoId: '' } })
  }

  const tryOn: TryOn = {
    get: () => view,
    subscribe(onChange) {
      const listener = (next: TryOnView) => onChange(next)
      listeners.add(listener)
      running()
      return { unsubscribe: () => void listeners.delete(listener) }
    },
    start: (photo, options = {}) => consentTo('start', photo, options),
    retry: (photo, options = {}) => consentTo('retry', photo, options),
    submitEmail: (form) =>
      intend(
        'submitEmail',
        () => {
          if (emailSchema.safeParse(form.email).success) return { type: 'submitEmail', form }
          return refuse(refusal({ kind: 'input', at: 'email' }))
        },
        { type: 'submitEmail', form },
      ),
    resume: () => intend('resume', () => ({ type: 'resume' }), { type: 'resume' }),
    startOver: () => intend('startOver', () => ({ type: 'startOver' }), { type: 'startOver' }),
    async discard({ abandonPaidJob = false } = {}) {
      const event: TryOnEvent = { type: 'discard', abandonPaidJob }
      const own = await settled()
      const couldAbandon = own.getSnapshot().can({ type: 'discard', abandonPaidJob: true })
      if (couldAbandon && !own.getSnapshot().can(event)) throw refusal({ kind: 'paidJob' })
      await intend('discard', () => event, event)
    },
    result: (options) => resultOf(tryOn, options),
  }

  function stop(): void {
    actor?.stop()
    actor = null
  }

  return {
    tryOn,
    stop,
    wake: () => actor?.send({ type: 'wake' }),
    restart() {
      stop()
      show(restoringView)
      if (listeners.size > 0) running()
    },
  }
}

const notAllowed = (intent: Intent, state: string): Problem => ({ kind: 'notAllowed', intent, state })

function checkOptions({ customerEmail, customKey }: StartOptions): void {
  if (customerEmail !== undefined && !emailSchema.safeParse(customerEmail).success) {
    throw new TryOnError({ kind: 'input', at: 'customerEmail' })
  }
  const upload = uploadRequest.safeParse({ contentType: 'image/jpeg', customKey })
  if (!upload.success) throw new TryOnError({ kind: 'input', at: 'customKey' })
}
