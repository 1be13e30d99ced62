import type { Clock } from '../ports.ts'
import { idleView, idleWith, preparingView, restoringView, unloadedView } from '../rules/first-views.ts'
import { TryOnError } from '../rules/try-on-error.ts'
import type { TryOnView } from '../rules/view.ts'
import type { Intent } from '../rules/words.ts'
import type { Core } from '../room.ts'
import type { TryOn } from '../try-on/try-on.types.ts'
import { createRelay } from './relay.ts'

/** A try-on, of which only what a product card shows is there until more is asked for. */
export interface DoorTryOn {
  /** The try-on, whose core is what that gives. */
  through(inside: (core: Core) => TryOn): TryOn
  /** Another page is at the attempt whose record has that key: the core shows it, if anybody looks. */
  hear(name: string): void
  /** Looks what is kept of it, where that may have changed. */
  look(): void
  /** The shopper has gone, and whatever was said with them. */
  forget(): void
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
  open: () => Promise<Core>
  /** Whether the core is there, and has read storage. */
  isOpen: () => boolean
}

/** A consent that waits for the core, in memory. */
type Word = Parameters<TryOn['start']>

export function createDoorTryOn({ clock, terms, key, mayHold, open, isOpen }: DoorTryOnParts): DoorTryOn {
  let inside: (core: Core) => TryOn
  let core: TryOn | null = null
  /** Whether the core has shown where the try-on stands. */
  let isHandedOver = false
  /** Whether storage was seen to hold nothing of it. */
  let isSeen = false
  /** Whether another page was heard to be at it. */
  let isHeard = false
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

  /** Says it to the core's own, as of now. */
  async function through<T>(say: (own: TryOn) => T | Promise<T>): Promise<T> {
    if (core) return say(core)
    const [saidAt, begunAt, isEarly] = [clock.now(), clock.monotonic(), !isOpen()]
    const room = await loaded()
    if (!core) relay.follow((core = inside(room)))
    // a machine that sleeps stops one of the two
    const agoMs = Math.max(0, clock.now() - saidAt, clock.monotonic() - begunAt)
    return room.said(agoMs, isEarly, () => say(core as TryOn))
  }

  /** Of a consent nothing else is shown than that it is prepared, until the core has it. */
  async function consent(said: Word): Promise<void> {
    word = said
    if (isSeen) shows(preparingView)
    try {
      await through((own) => {
        if (word !== said) throw new TryOnError({ kind: 'stopped', reason: 'startedOver' })
        return own.start(...said)
      })
    } finally {
      if (core) word = null
      relay.get()
    }
  }

  async function leave(): Promise<void> {
    word = null
    shows(isSeen ? idleView : restoringView)
    void look()
  }

  const show = () => void through(() => {}).catch(() => undefined)

  async function look(): Promise<void> {
    if (core || word || !relay.isWatched()) return
    if (isHeard || (await mayHold(key()))) show()
    else {
      isSeen = true
      if (!core && !word) shows(idleView)
    }
  }

  /** As the core's own says it, or to what waits for the core. */
  async function say(intent: Intent, given: unknown[]): Promise<void> {
    if (core || !(word || intent === 'start') || intent === 'submitEmail')
      return through((own) => (own[intent] as (...given: unknown[]) => Promise<void>)(...given))
    if (intent === 'startOver' || intent === 'discard') return leave()
    const [photo = word?.[0], options] = (intent === 'resume' ? word : given) as Word
    return consent([photo, options])
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
    through(given) {
      inside = given
      return tryOn
    },
    hear(name) {
      if (name !== key()) return
      isHeard = true
      if (relay.isWatched()) show()
    },
    look: () => void look(),
    forget() {
      if (word && !core) void leave()
    },
  }
}

/** Nobody has to listen to it: the view says it too. */
function quiet<T>(done: Promise<T>): Promise<T> {
  done.catch(() => undefined)
  return done
}
