import { stopped, TryOnError } from '../rules/try-on-error.ts'
import { createRunner } from '../../machines/runner.ts'
import { tryOnMachine } from '../../machines/try-on.machine.ts'
import type { TryOnEvent, TryOnInput } from '../../machines/try-on.types.ts'
import { storedView } from '../../machines/try-on.stored.ts'
import { tryOnView } from '../../machines/try-on.view.ts'
import type { Ownership } from '../pages/ownership.ts'
import type { Seat } from '../pages/seat.ts'
import type { TabMessage } from '../pages/tabs.ts'
import type { Notice, Readable } from '../ports.ts'
import { quiet } from '../platform/quiet.ts'
import { createValue } from '../platform/value.ts'
import type { Teller } from '../telling.ts'
import { digitsOf } from '../contract/forms.ts'
import type { Shopper } from '../records/epochs.ts'
import type { AttemptRecord } from '../rules/record.ts'
import type { TryOnView } from '../rules/view.ts'
import { restoringView } from '../rules/first-views.ts'
import { createAfterwards, type AfterwardsParts } from './afterwards.ts'
import { createAsks } from './asks.ts'
import { createCarryOut } from './carry-out.ts'
import { createCompany } from './company.ts'
import { preparingOver } from './hand.ts'
import { createHearing } from './hearing.ts'
import { inspection } from './inspect.ts'
import { consentCall } from './intents.ts'
import { createKeeping, unstoredIn } from './keeping.ts'
import { readyOf, resultOf, standing } from './result.ts'
import type { Runner } from './runner.ts'
import type { Said } from './said.ts'
import { createSaying } from './saying.ts'
import { createServing } from './serving.ts'
import { createSitting } from './sitting.ts'
import { tryOnActors, type TryOnParts } from './try-on.actors.ts'
import type { Inspect, TryOn } from './try-on.types.ts'

/** What the room keeps of a try-on beside its public face. */
export interface RunningTryOn {
  tryOn: TryOn
  isArchived: boolean
  /** Whether this page runs it, or follows the one that does: else what it shows may be of before. */
  isLive(): boolean
  /** Hears what the other pages of the room say. */
  hear(message: TabMessage): void
  wake(): void
  /** Stops, and leaves the try-on to other pages, until this one is shown or used again: at once, or after `until`. */
  stop(isFreezing?: boolean, until?: Promise<unknown> | null): void
  /** Ends what waits for it, too. */
  close(): void
  /** Shows nothing of what was. */
  clear(): void
  /** Begins again from storage, where somebody is looking. */
  restart(): void
  /** As `restart()` where the page was hidden and is shown again; what was said meanwhile goes on. */
  show(): void
  /** Says where it stands, for whoever listens to the room. */
  stand(): void
}

/** What a room gives each of its try-ons. */
export type RunningParts = Omit<TryOnParts, 'tell' | 'holdsSeat' | 'isUntaken' | 'isPreparing'> &
  Pick<AfterwardsParts, 'shopper' | 'ticketOf' | 'pictures'> & {
    /** Who has asked for it. */
    opener: Shopper
    /** Whether storage has taken a write of this page: another one may read there, or reset it. */
    hasWorked: () => boolean
    /** What the pages of the room call this try-on: the key of its record. */
    name: () => string
    input: TryOnInput
    ownership: Ownership
    post: (message: TabMessage) => void
    inspect: Inspect | undefined
    /** When what is being said was said, and by whom. */
    sayNow: () => Said
    /** Storage has been read; called at the first use. */
    open: () => Promise<void>
    /** What each consent is to name. */
    notice: Notice | undefined
    telling: Teller
    /** What has come late went to the archive, where it may be open. */
    tellArchived: (record: AttemptRecord) => void
    /** Removes what is kept of an attempt's pictures; resolves with whether it is gone. */
    dropPictures: (attemptId: string) => Promise<boolean>
    /** Reads storage again where it could not be read; resolves with whether it could be now. */
    reopen: () => Promise<boolean>
    /** What another page may have changed is read again, before this page takes over. */
    refresh: () => Promise<void>
    /** Has something done a while later that storage did not let, where it keeps anything: in a closed room only what is owed. */
    keepLater: (run: () => void, isOwed?: boolean) => void
  }

export function createTryOn(parts: RunningParts): RunningTryOn {
  const { clock, input, inspect, name, notice, photos, post, telling } = parts
  const value = createValue<TryOnView>(restoringView)
  const shown: typeof value = {
    ...value,
    set(view) {
      saying.sees(view.attempt?.id)
      return value.set(view)
    },
  }
  /** Ends when the room is closed. */
  let life = new AbortController()
  /** What is shown is from before the room was closed or its page put away: others may have gone on since, or have reset it. */
  let isOld = false
  /** No other page was heard of that is at the same try-on. */
  let isAlone = true
  /** What was opened from the archive is over with its shopper: it shows nothing, and takes no part in anything. */
  const isOver = () => input.archived && parts.opener.aborted
  const gone = () => stopped('startedOver')
  const runnerNow = () => sitting.seat()?.runner ?? null

  const carrying = createCarryOut({
    clock,
    photos,
    notice,
    view: shown.get,
    isCurrent: (own) => sitting.isCurrent(own),
    allHeard: () => saying.allHeard(),
    onHand() {
      const own = sitting.seat()
      if (own?.runner) show(own, own.runner)
    },
    onDiscard: (record) => telling.discard(record, parts.shopper()),
    attempts: parts.attempts,
    dropPictures: parts.dropPictures,
  })
  const { closed, isPreparing, refusal } = carrying
  const asks = createAsks({ clock, post, refusal })
  const keeping = createKeeping({
    ...parts,
    runner: runnerNow,
    onKept: (written) => tell({ type: 'lateAnswer', written }),
  })
  const sitting = createSitting({
    ...parts,
    run,
    keep: keeping.leave,
    isWatched: shown.isWatched,
    company: () => company,
    closed,
  })
  const company = createCompany({
    ...parts,
    ...sitting,
    asks,
    shown,
    exclusive: parts.ownership.exclusive,
    isFirm: parts.ownership.isFirm,
    showOthers,
    stand,
  })

  /** For who waits, and is shown nothing. */
  const inside: Pick<Readable<TryOnView>, 'get' | 'subscribe'> = {
    get: shown.get,
    subscribe(onChange) {
      if (isOld && !sitting.seat() && !isOver()) shown.set(restoringView)
      isOld = false
      if (!isOver()) sitting.sit()
      return shown.subscribe(onChange)
    },
  }
  const saying = createSaying({
    ...parts,
    asks,
    company,
    sitting,
    carrying,
    shown: inside,
    life: () => life.signal,
    isOver,
    gone,
  })
  const serving = createServing({ ...parts, ...carrying, sitting, jobId: () => shown.get().attempt?.jobId ?? null })
  const hear = createHearing({
    ...parts,
    asks,
    company,
    serving,
    sitting,
    view: shown.get,
    runner: runnerNow,
    tellView,
  })

  /** An answer that comes late is for whoever runs the machine by then, here or on another page. */
  function tell(event: TryOnEvent): void {
    runnerNow()?.send(event)
    // this page may not know yet that another one has taken over
    if (event.type !== 'lateAnswer') return
    const { written } = event
    if (written.kind === 'overtaken' && written.archived) {
      parts.tellArchived(written.archived)
      keeping.keepArchived()
    }
    if (written.kind !== 'stands') return
    const { record, durable } = written
    post({ type: 'lateAnswer', name: name(), record, durable })
    // what runs here, if anything does, is at another attempt, and would not write it again
    const isRunHere = runnerNow()?.getSnapshot().context.record?.attemptId === record.attemptId
    if (!durable && !isRunHere) keeping.keepAnswer(record)
  }

  function run(own: () => Seat<Runner>): Runner {
    const holdsSeat = async () => sitting.isCurrent(own()) && own().confirm()
    const isUntaken = async () => sitting.isCurrent(own()) && own().isUntaken()
    const actors = tryOnActors({ ...parts, tell, holdsSeat, isUntaken, isPreparing })
    const provided = tryOnMachine.provide({ actors })
    const heard = inspect && inspection(inspect, parts.product, () => shown.get().state)
    const runner = createRunner(provided, { input, clock, inspect: heard })
    const by = parts.shopper()
    // what a former shopper has is not shown as the next one's
    runner.subscribe({ next: () => by.aborted || show(own(), runner) })
    runner.start()
    return runner
  }

  /** Shows here, and to the other pages, where the machine stands, or that a consent is being made ready for it. */
  function show(own: Seat<Runner>, runner: Runner): void {
    const snapshot = runner.getSnapshot()
    const stands = tryOnView(snapshot)
    // a page that takes over goes on showing what it has shown until storage is read
    const isNews = stands.state !== 'restoring' || snapshot.context.record !== null || !shown.get().attempt
    if (!sitting.isCurrent(own) || !isNews) return
    shown.set(isPreparing() ? preparingOver(stands) : stands)
    showOthers(own)
    stand()
    keeping.look(runner)
  }

  function tellView(): void {
    post({ type: 'view', name: name(), place: sitting.place(), view: shown.get() })
  }

  /** Shows the other pages what this one shows, unless it may not be the one any more that runs the flow. */
  function showOthers(own: Seat<Runner>): void {
    const tellThem = () => {
      tellView()
      const record = own.runner && unstoredIn(own.runner)
      // a page that lives on when this one has gone is to have it, too
      if (record) post({ type: 'lateAnswer', name: name(), record, durable: false })
    }
    if (own.isFresh()) tellThem()
    else void own.isStill().then((is) => is && tellThem())
  }

  function stand(): void {
    const { productId, variantId } = parts.product
    telling.stand({
      view: shown.get(),
      record: runnerNow()?.getSnapshot().context.record ?? null,
      product: { productId: digitsOf(productId), variantId: digitsOf(variantId) },
      by: parts.shopper(),
      isSeen: shown.isWatched() && globalThis.document?.visibilityState !== 'hidden',
    })
  }

  const ready = () => quiet(readyOf(inside, life.signal))

  const afterwards = createAfterwards({
    ...parts,
    ready,
    view: shown.get,
    gone,
    tell,
    refuse(problem) {
      const view = shown.get()
      if (runnerNow()) tell({ type: 'refused', problem })
      else if (view.state === 'final') shown.set({ ...view, problem })
    },
  })

  const tryOn: TryOn = {
    initial: restoringView,
    get ready() {
      return ready()
    },
    get: shown.get,
    subscribe(onChange) {
      // an address that is none is told before anybody listens
      const subscription = inside.subscribe(onChange)
      // a picture that was there is seen by now
      stand()
      return subscription
    },
    start: (photo, options) => saying.say(consentCall('start', photos.again(), photo, options)),
    retry: (photo, options) => saying.say(consentCall('retry', photos.again(), photo, options)),
    submitEmail: ({ email, name: shopperName }) =>
      saying.say({ intent: 'submitEmail', form: { email, ...(shopperName !== undefined && { name: shopperName }) } }),
    resume: () => saying.say({ intent: 'resume' }),
    startOver: () => saying.say({ intent: 'startOver' }),
    discard: ({ abandonPaidJob = false } = {}) => saying.say({ intent: 'discard', abandonPaidJob }),
    ...afterwards,
    result(options) {
      if (isOver()) return quiet(Promise.reject(gone()))
      const heard = saying.allDone().then((refused) => standing(refused, shown.get()))
      return quiet(resultOf(inside, life.signal, parts.shopper(), heard, options))
    },
  }

  /** Who hears nobody any more can not tell what has become of it: nothing is sent that others may have left or sent. */
  function goDeaf(): void {
    parts.attempts.dropHeld()
    if (!isAlone || parts.hasWorked()) parts.attempts.dropUnsent()
    isOld = true
  }

  function clear(why: TryOnError = gone()): void {
    sitting.leave(why)
    goDeaf()
    isOld = false
    shown.set(isOver() ? storedView(null, input, false) : restoringView)
  }

  function restart(why?: TryOnError): void {
    clear(why)
    if (shown.isWatched() && !isOver()) sitting.sit()
  }

  return {
    tryOn,
    isArchived: input.archived,
    isLive: () => sitting.seat() !== null,
    // only a reset() has others wait until something is done
    stop(isFreezing, until = null) {
      if (!until) keeping.leave(isFreezing)
      sitting.leave(until ? gone() : closed(), isFreezing, until)
      goDeaf()
    },
    close() {
      keeping.leave()
      sitting.leave(closed(), false, telling.settling())
      life.abort()
      life = new AbortController()
      goDeaf()
    },
    hear(message) {
      if (!('name' in message) || message.name !== name()) return
      isAlone = false
      hear(message)
    },
    wake() {
      runnerNow()?.send({ type: 'wake' })
      stand()
    },
    stand,
    clear,
    restart,
    show() {
      const seat = sitting.seat()
      // it has read storage since it was hidden
      if (seat?.runner) showOthers(seat)
      // what it holds of the one that runs the flow it has heard since
      else if (seat?.isWaiting) sitting.sitAgain()
      else if (!seat) restart(closed())
    },
  }
}
