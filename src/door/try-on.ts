import { ownBytes } from '../platform/own-bytes.ts'
import { wasReset } from '../platform/was-reset.ts'
import type { Clock } from '../ports.ts'
import { idleView, idleWith, preparingView, restoringView, unloadedView } from '../rules/first-views.ts'
import { TryOnError } from '../rules/try-on-error.ts'
import type { TryOnView } from '../rules/view.ts'
import type { Intent } from '../rules/words.ts'
import type { Core } from '../room.ts'
import type { TryOn } from '../try-on/try-on.types.ts'
import type { Seen } from './look.ts'
import { createRelay } from './relay.ts'

/** A try-on, of which only what a product card shows is there until more is asked for. */
export interface DoorTryOn {
  readonly tryOn: TryOn
  /** The try-on, whose core is what that gives. */
  through(inside: (core: Core) => TryOn): TryOn
  /** Looks what is kept of it, and whether its shopper is still there, where that may have changed. */
  look(): void
  /** What waits for the core is not said any more. */
  leave(reason: 'startedOver' | 'closed'): void
}

/** What a try-on is like in this storage. */
export type DoorTerms = Pick<TryOnView, 'durable' | 'exclusive'>

interface DoorTryOnParts {
  clock: Clock
  terms: DoorTerms
  /** Of its record; throws where there is no usable address. */
  key: () => string
  /** Whether storage may hold something under a key. */
  mayHold: (key: string) => Promise<boolean>
  /** What storage was seen to hold since the last reset() that this page knows of. */
  look: () => Promise<Seen>
  open: () => Promise<Core>
  /** Another one after each time that the room was closed. */
  life: () => unknown
}

/** A consent that waits for the core, in memory; `seen` is the storage of the shopper whose photo it is. */
interface Word {
  given: Parameters<TryOn['start']>
  seen: Promise<Seen>
  /** The core has it, and does not give it back. */
  isSaid: boolean
}

export function createDoorTryOn(parts: DoorTryOnParts): DoorTryOn {
  const { clock, terms, key, mayHold, open, life } = parts
  let inside: (core: Core) => TryOn
  let core: TryOn | null = null
  /** Whether the core has shown where the try-on stands. */
  let isHandedOver = false
  /** Whether storage was seen to hold nothing of it. */
  let isSeen = false
  /** Why what waited last does not wait any more. */
  let why: 'startedOver' | 'closed' = 'startedOver'
  let word: Word | null = null

  const relay = createRelay<TryOnView>(restoringView, (view) => {
    // until the core has read storage, and done what was said before it came, what stands is truer
    isHandedOver ||= view.state !== 'restoring' && !(word && view.state === 'idle' && !view.problem)
    return isHandedOver
  })

  const shows = (view: TryOnView) => relay.set({ ...view, ...terms })
  const isWaiting = () => word !== null && !word.isSaid
  const stopped = (reason = why) => new TryOnError({ kind: 'stopped', reason })

  /** What could not be done without the core is shown, and may be tried again. */
  async function loaded(of: Word | null): Promise<Core> {
    try {
      return await open()
    } catch (error) {
      const { problem } = error as TryOnError
      // what was left meanwhile waits for nothing
      if (problem.kind === 'core' && !core && word === of)
        shows(word || !isSeen ? unloadedView(problem) : idleWith(problem))
      throw error
    }
  }

  /** Says it to the core's own, as of now, for the shopper of that storage. */
  async function through<T>(say: (own: TryOn) => T | Promise<T>, seen?: Word['seen']): Promise<T> {
    if (core && !seen) return say(core)
    const begun = life()
    const [saidAt, begunAt] = [clock.now(), clock.monotonic()]
    const [room, { epochs }] = await Promise.all([loaded(word), seen ?? parts.look()])
    if (begun !== life()) throw stopped('closed')
    if (!core) relay.follow((core = inside(room)))
    // a machine that sleeps stops one of the two
    const agoMs = Math.max(0, clock.now() - saidAt, clock.monotonic() - begunAt)
    return room.said(agoMs, epochs, () => say(core as TryOn))
  }

  /** Of a consent nothing else is shown than that it is prepared, until the core has it. */
  async function consent(said: Word): Promise<void> {
    word = said
    if (isSeen) shows(preparingView)
    let isKept = false
    try {
      await through((own) => {
        if (word !== said) throw stopped()
        said.isSaid = true
        return own.start(...said.given)
      }, said.seen)
    } catch (error) {
      isKept = !said.isSaid && (error as TryOnError).kind === 'core'
      throw error
    } finally {
      if (!isKept && word === said) word = null
      relay.get()
    }
  }

  function leave(reason: 'startedOver' | 'closed' = 'startedOver'): void {
    if (!isWaiting()) return
    why = reason
    word = null
    if (core) return void relay.get()
    shows(isSeen ? idleView : restoringView)
    if (reason !== 'closed') void look()
  }

  const show = () => void through(() => {}).catch(() => undefined)

  async function look(): Promise<void> {
    if (core || !relay.isWatched()) return
    const begun = life()
    if (word) {
      const [{ epochs: before = {} }, { epochs: now = {} }] = await Promise.all([word.seen, parts.look()])
      if (wasReset(before, now)) return leave()
    }
    const mayBeThere = await mayHold(key())
    if (core || begun !== life()) return
    isSeen = !mayBeThere
    // what is kept is not known yet
    if (!word) shows(mayBeThere ? restoringView : idleView)
    else if (isSeen && relay.get().state === 'restoring') shows(preparingView)
    if (mayBeThere) show()
  }

  /** As the core's own says it, or to what waits for the core. */
  async function say(intent: Intent, given: unknown[]): Promise<void> {
    const kept = isWaiting() ? word : null
    if (intent === 'submitEmail' || (!kept && (core || intent !== 'start')))
      return through((own) => (own[intent] as (...given: unknown[]) => Promise<void>)(...given))
    if (intent === 'startOver' || intent === 'discard') return leave()
    const [photo, options] = (intent === 'resume' && kept ? kept.given : given) as Word['given']
    // a photo is sent for the shopper who gave it
    const isKept = photo === undefined || intent === 'resume'
    const seen = (isKept && kept?.seen) || parts.look()
    return consent({ given: [ownPhoto(photo) ?? kept?.given[0], options], seen, isSaid: false })
  }

  const intent =
    (name: Intent) =>
    (...given: unknown[]) =>
      quiet(say(name, given))

  const tryOn: TryOn = {
    initial: restoringView,
    get: relay.get,
    subscribe(onChange) {
      // an address that is none is told before anybody listens
      key()
      const subscription = relay.subscribe(onChange)
      void look()
      return subscription
    },
    get ready() {
      return quiet(through((own) => own.ready))
    },
    start: intent('start'),
    submitEmail: intent('submitEmail'),
    resume: intent('resume'),
    retry: intent('retry'),
    startOver: intent('startOver'),
    discard: intent('discard'),
    result(options) {
      const said = word
      return through((own) => {
        // what it was asked of was left before the core had it
        if (said && said !== word && !said.isSaid) throw stopped()
        return own.result(options)
      })
    },
  }

  return {
    tryOn,
    through(given) {
      inside = given
      return tryOn
    },
    look: () => void look(),
    leave,
  }
}

/** The application may go on with its buffer while the core is loaded. */
function ownPhoto(photo: Word['given'][0]): Word['given'][0] {
  const bytes = ownBytes(Object(photo).bytes)
  return bytes ? { bytes } : photo
}

/** Nobody has to listen to it: the view says it too. */
function quiet<T>(done: Promise<T>): Promise<T> {
  done.catch(() => undefined)
  return done
}
