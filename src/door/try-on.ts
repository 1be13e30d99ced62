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
}

/** A consent that waits for the core, in memory; `seen` is the storage of the shopper whose photo it is. */
interface Word {
  given: Parameters<TryOn['start']>
  seen: Promise<Seen>
}

export function createDoorTryOn(parts: DoorTryOnParts): DoorTryOn {
  const { clock, terms, key, mayHold, open } = parts
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

  /** What could not be done without the core is shown, and may be tried again. */
  async function loaded(): Promise<Core> {
    const { state } = relay.get()
    try {
      return await open()
    } catch (error) {
      // nothing else can be wrong before the core is there
      const { problem } = error as TryOnError & { kind: 'core' }
      if (!core) shows(word || state !== 'idle' ? unloadedView(problem) : idleWith(problem))
      throw error
    }
  }

  /** Says it to the core's own, as of now, for the shopper of that storage. */
  async function through<T>(say: (own: TryOn) => T | Promise<T>, seen = parts.look()): Promise<T> {
    if (core) return say(core)
    const [saidAt, begunAt] = [clock.now(), clock.monotonic()]
    const [room, { epochs }] = await Promise.all([loaded(), seen])
    if (!core) relay.follow((core = inside(room)))
    // a machine that sleeps stops one of the two
    const agoMs = Math.max(0, clock.now() - saidAt, clock.monotonic() - begunAt)
    return room.said(agoMs, epochs, () => say(core as TryOn))
  }

  /** Of a consent nothing else is shown than that it is prepared, until the core has it. */
  async function consent(said: Word): Promise<void> {
    word = said
    if (isSeen) shows(preparingView)
    try {
      await through((own) => {
        if (word !== said) throw new TryOnError({ kind: 'stopped', reason: why })
        return own.start(...said.given)
      }, said.seen)
    } finally {
      if (core) word = null
      relay.get()
    }
  }

  function leave(reason: 'startedOver' | 'closed' = 'startedOver'): void {
    if (!word || core) return
    why = reason
    word = null
    shows(isSeen ? idleView : restoringView)
    void look()
  }

  const show = () => void through(() => {}).catch(() => undefined)

  async function look(): Promise<void> {
    if (core || !relay.isWatched()) return
    if (word) {
      const [{ epochs: before = {} }, { epochs: now = {} }] = await Promise.all([word.seen, parts.look()])
      return wasReset(before, now) ? leave() : undefined
    }
    if (await mayHold(key())) return show()
    isSeen = true
    if (!core && !word) shows(idleView)
  }

  /** As the core's own says it, or to what waits for the core. */
  async function say(intent: Intent, given: unknown[]): Promise<void> {
    if (core || !(word || intent === 'start') || intent === 'submitEmail')
      return through((own) => (own[intent] as (...given: unknown[]) => Promise<void>)(...given))
    if (intent === 'startOver' || intent === 'discard') return leave()
    const [photo, options] = (intent === 'resume' && word ? word.given : given) as Word['given']
    // a photo is sent for the shopper who gave it
    const isKept = photo === undefined || intent === 'resume'
    const seen = (isKept && word?.seen) || parts.look()
    return consent({ given: [photo ?? word?.given[0], options], seen })
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
    result: (options) => through((own) => own.result(options)),
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

/** Nobody has to listen to it: the view says it too. */
function quiet<T>(done: Promise<T>): Promise<T> {
  done.catch(() => undefined)
  return done
}
