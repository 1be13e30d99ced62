import { deferred, type Deferred } from '../platform/deferred.ts'
import { ownBytes } from '../platform/own-bytes.ts'
import { quiet } from '../platform/quiet.ts'
import { wasReset } from '../rules/counts.ts'
import { idleView, idleWith, preparingView, restoringView, unloadedView } from '../rules/first-views.ts'
import { stopped, TryOnError } from '../rules/try-on-error.ts'
import type { TryOnView } from '../rules/view.ts'
import type { Intent } from '../rules/words.ts'
import type { Core } from '../room.types.ts'
import type { TryOn } from '../try-on/try-on.types.ts'
import type { Carrier, Speaker } from './carrier.ts'
import type { Seen } from './look.ts'
import { createRelay } from './relay.ts'

/** A try-on, of which only what a product card shows is there until more is asked for. */
export interface DoorTryOn {
  readonly tryOn: TryOn
  /** The try-on, whose core is what that gives: where it has one, of this room, that hears of it at once. */
  bind(inside: (core: Core) => TryOn, made: Core | null): TryOn
  /** Looks what is kept of it, and whether its shopper is still there, where that may have changed. */
  recheck(): void
  /** What waits for the core is not said any more. */
  leave(reason: 'startedOver' | 'closed'): void
  /** A shopper has gone; whoever watches is told, as what a page has of its own may be theirs, too. */
  refresh(): void
}

/** What a try-on is like in this storage. */
export type DoorTerms = Pick<TryOnView, 'durable' | 'exclusive'>

interface DoorTryOnParts {
  terms: DoorTerms
  /** Of its record; throws where there is no usable address. */
  key: () => string
  /** Whether storage may hold something under a key. */
  mayHold: (key: string) => Promise<boolean>
  /** What storage was seen to hold since the last reset() that this page knows of. */
  look: () => Promise<Seen>
  open: () => Promise<Core>
  /** The core where it is open already, and nothing is being wiped. */
  core: () => Core | null
  /** Another one after each time that the room was closed, which rejects then. */
  life: () => Promise<never>
  carrier: Carrier
  /** Tells developers of what keeps it from being looked for. */
  report: (error: unknown) => void
}

/** A consent that waits for the core, in memory; `by` is the shopper whose photo it is. */
interface Word {
  given: Parameters<TryOn['start']>
  by: Speaker
  /** The core has it, and does not give it back. */
  isSaid: boolean
  /** Why the core could not be loaded for it, where it waits for another word. */
  kept: TryOnError | null
  /** Rejects once it does not wait any more. */
  left: Deferred<never>
}

export function createDoorTryOn(parts: DoorTryOnParts): DoorTryOn {
  const { terms, key, mayHold, open, life, carrier } = parts
  let inside: (core: Core) => TryOn
  /** The core's own, which stands for it once it is there. */
  let inner: TryOn | null = null
  /** Whether the core has shown where the try-on stands. */
  let isHandedOver = false
  /** Whether storage was seen to hold nothing of it. */
  let isSeen = false
  let word: Word | null = null
  /** What was said and the core has not heard yet, or is to have done first: later words come after it. */
  let ahead: Promise<unknown> | null = null

  const relay = createRelay<TryOnView>(restoringView, (view) => {
    // until the core has read storage, and done what was said before it came, what stands is truer
    isHandedOver ||= view.state !== 'restoring' && !(word && view.state === 'idle' && !view.problem)
    // there is something else by now
    if (isHandedOver && word?.kept && view.state !== 'idle') word = null
    return isHandedOver
  })

  const shows = (view: TryOnView) => relay.set({ ...view, ...terms })
  const isWaiting = () => word !== null && !word.isSaid
  /** The attempt that is shown; undefined where nobody knows yet what there is. */
  function shownAttempt(): string | null | undefined {
    const { state, attempt } = relay.get()
    return state === 'restoring' || (word && !isHandedOver) ? undefined : (attempt?.id ?? null)
  }

  /** What could not be done without the core is shown, and may be tried again. */
  async function loaded(of: Word | null): Promise<Core> {
    try {
      return await open()
    } catch (error) {
      const { problem } = error as TryOnError
      // what was left meanwhile waits for nothing
      if (problem.kind === 'core' && word === of) shows(word || !isSeen ? unloadedView(problem) : idleWith(problem))
      throw error
    }
  }

  function innerOf(room: Core): TryOn {
    if (!inner) relay.follow((inner = inside(room)))
    return inner
  }

  /** Says it to the core's try-on, as it was said by `earlier`, or else is now, about the attempt `saw`. */
  async function through<T>(say: (own: TryOn) => T | Promise<T>, earlier?: Speaker, saw?: string | null): Promise<T> {
    const ready = parts.core()
    const before = ahead
    if (ready && !earlier && !before)
      return ready.said(0, undefined, () => say(innerOf(ready)), isHandedOver ? undefined : saw)
    const by = earlier ?? carrier.sayNow()
    const heard = deferred()
    comeAfter(heard.promise)
    const saying = (room: Core) => {
      const it = innerOf(room)
      // it is said in this turn
      heard.resolve()
      return () => say(it)
    }
    return carrier.carry(loaded(word), saying, by, saw, before).finally(heard.resolve)
  }

  /** What is said until that is done comes after it. */
  function comeAfter(done: Promise<unknown>): void {
    ahead = done
    void done.then(() => {
      if (ahead === done) ahead = null
    })
  }

  /** Of a consent nothing else is shown than that it is prepared, until the core has it. */
  async function consent(said: Word): Promise<void> {
    word = said
    if (isSeen) shows(preparingView)
    try {
      const saying = through((own) => {
        if (word !== said) throw stopped('startedOver')
        said.isSaid = true
        return own.start(...said.given)
      }, said.by)
      await Promise.race([saying, said.left.promise])
    } catch (error) {
      if (!said.isSaid && (error as TryOnError).kind === 'core') said.kept = error as TryOnError
      throw error
    } finally {
      if (!said.kept && word === said) letGo(said.by.life === life())
      else relay.get()
    }
  }

  /** No word waits any more: what there is without it is shown, which the core may not know yet. */
  function letGo(isOpen: boolean): void {
    word = null
    if (inner) relay.get()
    // what nobody watches shows nothing of its own
    if (isHandedOver) return
    shows(isSeen ? idleView : restoringView)
    if (!inner && isOpen) void recheck()
  }

  function leave(reason: 'startedOver' | 'closed' = 'startedOver'): void {
    if (!isWaiting()) return
    word?.left.reject(stopped(reason))
    letGo(reason !== 'closed')
  }

  function refresh(): void {
    // what nobody watches would hold what it was last seen to show
    if (inner) relay.get()
    else if (!word && relay.isWatched()) shows(restoringView)
  }

  const show = () => void quiet(through(() => {}))

  /** What it needs may be there later; a page is not to break for it. */
  const recheck = () =>
    recheckNow().catch((error: TryOnError) => {
      if (!inner && !word) shows(idleWith(error.problem))
      parts.report(error)
    })

  async function recheckNow(): Promise<void> {
    if (!relay.isWatched()) return
    // a room that was closed is used again
    if (inner) return void (parts.core() ?? open())
    const begun = life()
    if (word?.by.seen) {
      const [before, now] = await Promise.all([word.by.seen, parts.look()])
      if (begun !== life()) return
      if (before.epochs && now.epochs && wasReset(before.epochs, now.epochs)) return leave()
    }
    const mayBeThere = await mayHold(key())
    if (inner || begun !== life()) return
    isSeen = !mayBeThere
    // what is kept is not known yet
    if (!word) shows(mayBeThere ? restoringView : idleView)
    else if (isSeen && relay.get().state === 'restoring') shows(preparingView)
    if (mayBeThere) show()
  }

  /** Below a word that waited there may be what is to be left, too, and not forgotten: nobody has seen it. */
  function leaveBelow(): Promise<void> {
    const done = through(async (own) => {
      if ((await own.ready).state !== 'idle') await own.startOver()
    })
    const ended = done.catch(() => undefined)
    comeAfter(ended)
    return done
  }

  /** As the core's own says it, or to what waits for the core. */
  async function say(intent: Intent, said: unknown[]): Promise<void> {
    const given = said.map(asItIs)
    const tell = (own: TryOn) => (own[intent] as (...given: unknown[]) => Promise<void>)(...given)
    const kept = isWaiting() ? word : null
    const isForCore = !kept && (inner || parts.core() || intent !== 'start')
    if (isForCore || intent === 'submitEmail' || (intent === 'resume' && !kept?.kept))
      return through(tell, undefined, shownAttempt())
    if (intent === 'startOver' || intent === 'discard') {
      leave()
      return isSeen ? undefined : leaveBelow()
    }
    const [photo, options] = (intent === 'resume' && kept ? kept.given : given) as Word['given']
    // a photo is sent for the shopper who gave it
    const isKept = photo === undefined || intent === 'resume'
    const by = (isKept && kept?.by) || carrier.sayNow()
    return consent({ given: [photo ?? kept?.given[0], options], by, isSaid: false, kept: null, left: deferred() })
  }

  const intent =
    (name: Intent) =>
    (...given: unknown[]) =>
      quiet(say(name, given))

  const tryOn: TryOn = {
    initial: restoringView,
    get: relay.get,
    subscribe(onChange) {
      const subscription = relay.subscribe(onChange)
      void recheck()
      return subscription
    },
    get ready() {
      // where a word waits, that is what is to be seen
      return quiet(through((own) => own.ready).then((view) => (isWaiting() ? relay.get() : view)))
    },
    start: intent('start'),
    submitEmail: intent('submitEmail'),
    resume: intent('resume'),
    retry: intent('retry'),
    startOver: intent('startOver'),
    discard: intent('discard'),
    ticket: () => quiet(through((own) => own.ticket())),
    picture: () => quiet(through((own) => own.picture())),
    // where there is none nothing is loaded for it
    pictureFailed: (address) =>
      !isHandedOver && shownAttempt() === null
        ? quiet(Promise.reject(new TryOnError({ kind: 'picture', reason: 'none' })))
        : quiet(through((own) => own.pictureFailed(address))),
    result(options) {
      const said = word
      if (said?.kept) return quiet(Promise.reject(said.kept))
      const ended = through((own) => {
        // what it was asked of was left before the core had it
        if (said && said !== word && !said.isSaid) throw stopped('startedOver')
        return own.result(options)
      })
      return quiet(orAborted(ended, options?.signal))
    },
  }

  return {
    tryOn,
    bind(given, made) {
      inside = given
      if (inner && made) inside(made)
      return tryOn
    },
    recheck: () => void recheck(),
    leave,
    refresh,
  }
}

/** The application may go on with its buffer and its options while the core is loaded. */
function asItIs(given: unknown): unknown {
  const { bytes, arrayBuffer } = Object(given)
  const own = ownBytes(bytes)
  if (own) return { bytes: own }
  return Object(given) === given && typeof arrayBuffer !== 'function' ? { ...(given as object) } : given
}

/** As the work ends, or at once where the signal is aborted. */
function orAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  const aborted = deferred<never>()
  const abort = () => aborted.reject(stopped('aborted'))
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  return Promise.race([work, aborted.promise]).finally(() => signal?.removeEventListener('abort', abort))
}
