import { createRunner } from '../../machines/runner.ts'
import { tryOnMachine } from '../../machines/try-on.machine.ts'
import type { TryOnEvent, TryOnInput } from '../../machines/try-on.types.ts'
import type { Ownership } from '../pages/ownership.ts'
import type { Seat } from '../pages/seat.ts'
import type { TabMessage } from '../pages/tabs.ts'
import type { Notice, Readable } from '../ports.ts'
import { quiet } from '../platform/quiet.ts'
import type { Teller } from '../telling.ts'
import type { Shopper } from '../records/epochs.ts'
import { restoringView } from '../rules/first-views.ts'
import type { AttemptRecord } from '../rules/record.ts'
import { stopped } from '../rules/try-on-error.ts'
import type { TryOnView } from '../rules/view.ts'
import { createAfterwards, type AfterwardsParts } from './afterwards.ts'
import { createAsks } from './asks.ts'
import { createCarryOut } from './carry-out.ts'
import { createCompany } from './company.ts'
import { createDisplay } from './display.ts'
import { createHearing } from './hearing.ts'
import { inspection } from './inspect.ts'
import { consentCall } from './intents.ts'
import { createKeeping } from './keeping.ts'
import { createLife, type Life } from './life.ts'
import { readyOf, resultOf, standing } from './result.ts'
import type { Runner } from './runner.ts'
import type { Said } from './said.ts'
import { createSaying } from './saying.ts'
import { createServing } from './serving.ts'
import { createSitting, type Sitting } from './sitting.ts'
import { tryOnActors, type TryOnParts } from './try-on.actors.ts'
import type { Inspect, TryOn } from './try-on.types.ts'

/** What the room keeps of a try-on beside its public face. */
export interface RunningTryOn extends Pick<Life, 'stop' | 'giveUp' | 'close' | 'clear' | 'restart' | 'show'> {
  tryOn: TryOn
  isArchived: boolean
  /** Whether this page runs it, or follows the one that does: else what it shows may be of before. */
  isLive(): boolean
  /** Hears what the other pages of the room say. */
  hear(message: TabMessage): void
  wake(): void
  /** Storage may have lost what this page takes to be kept there. */
  doubt(): Promise<void>
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
  /** What was opened from the archive is over with its shopper: it shows nothing, and takes no part in anything. */
  const isOver = () => input.archived && parts.opener.aborted
  const gone = () => stopped('startedOver')
  const runnerNow = () => sitting.seat()?.runner ?? null

  const display = createDisplay({
    ...parts,
    sitting: (): Sitting => sitting,
    runner: runnerNow,
    isPreparing: () => isPreparing(),
    sees: (attempt) => saying.sees(attempt),
    onShown: (runner) => keeping.look(runner),
  })
  const { shown, show, showOthers, stand, tellView } = display
  const carrying = createCarryOut({
    clock,
    photos,
    notice,
    view: shown.get,
    isCurrent: (seat) => sitting.isCurrent(seat),
    allHeard: () => saying.allHeard(),
    onHand() {
      const seat = sitting.seat()
      if (seat?.runner) show(seat, seat.runner)
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
  const { signal, watch, hasCompany, ...life } = createLife({
    ...parts,
    keeping,
    sitting,
    display,
    isOver,
    gone,
    closed,
  })
  /** For who waits, and is shown nothing. */
  const inside: Pick<Readable<TryOnView>, 'get' | 'subscribe'> = { get: shown.get, subscribe: watch }
  const saying = createSaying({
    ...parts,
    asks,
    company,
    sitting,
    carrying,
    shown: inside,
    life: signal,
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

  function run(seat: () => Seat<Runner>): Runner {
    const holdsSeat = async () => sitting.isCurrent(seat()) && seat().confirm()
    const isUntaken = async () => sitting.isCurrent(seat()) && seat().isUntaken()
    const actors = tryOnActors({ ...parts, tell, holdsSeat, isUntaken, isPreparing })
    const provided = tryOnMachine.provide({ actors })
    const heard = inspect && inspection(inspect, parts.product, () => shown.get().state)
    const runner = createRunner(provided, { input, clock, inspect: heard })
    const by = parts.shopper()
    // what a former shopper has is not shown as the next one's
    runner.subscribe({ next: () => by.aborted || show(seat(), runner) })
    runner.start()
    return runner
  }

  const ready = () => quiet(readyOf(inside, signal()))

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
      saying.say({ intent: 'submitEmail', form: { email, name: shopperName || undefined } }),
    resume: () => saying.say({ intent: 'resume' }),
    startOver: () => saying.say({ intent: 'startOver' }),
    discard: ({ abandonPaidJob = false } = {}) => saying.say({ intent: 'discard', abandonPaidJob }),
    ...afterwards,
    result(options) {
      if (isOver()) return quiet(Promise.reject(gone()))
      const heard = saying.allDone().then((refused) => standing(refused, shown.get()))
      return quiet(resultOf(inside, signal(), parts.shopper(), heard, options))
    },
  }

  return {
    tryOn,
    isArchived: input.archived,
    isLive: () => sitting.seat() !== null,
    hear(message) {
      if (!('name' in message) || message.name !== name()) return
      hasCompany()
      hear(message)
    },
    wake() {
      runnerNow()?.send({ type: 'wake' })
      stand()
    },
    doubt: keeping.doubt,
    stand,
    ...life,
  }
}
