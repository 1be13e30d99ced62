import { TryOnError } from '../rules/try-on-error.ts'
import { createRunner } from '../../machines/runner.ts'
import { tryOnMachine } from '../../machines/try-on.machine.ts'
import type { TryOnEvent, TryOnInput } from '../../machines/try-on.types.ts'
import { storedView } from '../../machines/try-on.stored.ts'
import { tryOnView } from '../../machines/try-on.view.ts'
import type { Ownership } from '../pages/ownership.ts'
import { takeSeat, type Seat } from '../pages/seat.ts'
import type { TabMessage } from '../pages/tabs.ts'
import type { Notice, Readable } from '../ports.ts'
import { withinLimit } from '../platform/clock.ts'
import { newId } from '../platform/new-id.ts'
import { deferred } from '../platform/deferred.ts'
import { quiet } from '../platform/quiet.ts'
import { createValue } from '../platform/value.ts'
import type { Teller } from '../telling.ts'
import { digitsOf } from '../contract/forms.ts'
import type { Shopper } from '../records/epochs.ts'
import { mayBePaid, mayBeRunning, type AttemptRecord } from '../rules/record.ts'
import type { TryOnView } from '../rules/view.ts'
import { preparingOver, restoringView } from '../rules/first-views.ts'
import { createAfterwards, type AfterwardsParts } from './afterwards.ts'
import { createAsks, type Ask } from './asks.ts'
import { createCarryOut, type Runner, type Said, type Word } from './carry-out.ts'
import { createCompany, lookOnMs } from './company.ts'
import { inspection } from './inspect.ts'
import { checkConsent, consentCall, isConsent, isLeaving, passedCall, type Call } from './intents.ts'
import { readyOf, resultOf, standing, type Refused } from './result.ts'
import { tryOnActors, type TryOnParts } from './try-on.actors.ts'
import type { Inspect, TryOn } from './try-on.types.ts'

/** How long what may be lost is given to be written, in ms. */
const rescueMs = 5_000

/** What the room keeps of a try-on beside its public face. */
export interface RunningTryOn {
  tryOn: TryOn
  isArchived: boolean
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
  /** Says where it stands, for whoever listens to the room. */
  stand(): void
}

type Parts = Omit<TryOnParts, 'tell' | 'holdsSeat' | 'isUntaken' | 'isPreparing'> &
  Pick<AfterwardsParts, 'shopper' | 'ticketOf' | 'pictures'> & {
    /** Who has asked for it. */
    opener: Shopper
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

export function createTryOn(parts: Parts): RunningTryOn {
  const { post, input, clock, inspect, photos, notice, attempts } = parts
  const shown = createValue<TryOnView>(restoringView)
  const isCurrent = (own: Seat<Runner>) => seat === own
  const { carryOut, isToBeDone, isPreparing, settled, checkSaid, refusal, notAllowed, closed } = createCarryOut({
    clock,
    photos,
    notice,
    view: shown.get,
    isCurrent,
    allHeard: () => turn,
    onHand: () => seat?.runner && show(seat, seat.runner),
    onDiscard(record) {
      parts.telling.discard(record, parts.shopper())
      return parts.dropPictures(record.attemptId)
    },
  })
  const asks = createAsks({ clock, post, refusal })
  /** What was opened from the archive is over with its shopper: it shows nothing, and takes no part in anything. */
  const isOver = () => input.archived && parts.opener.aborted
  const served = new Set<string>()
  /** What other pages have said is begun in the order in which it came, however long each look takes. */
  let lastServed: Promise<unknown> = Promise.resolve()
  /** Ends when the room is closed. */
  let life = new AbortController()
  /** All words that were said can be followed by another one: each was passed on, or has begun here. */
  let turn = Promise.resolve()
  /** All have begun here, or are over. */
  let begun = Promise.resolve()
  /** Settles once every intent of this page has, with why nothing has come of the last one, a consent, and what stood then. */
  let said: Promise<Refused | null> = Promise.resolve(null)
  /** How many words this page has said, and before which of them all were left by the page that was asked to. */
  let words = 0
  let leftBefore = 0
  let seat: Seat<Runner> | null = null
  /** Where the seat was taken. */
  let place = ''
  /** What was lost with the seat before is written before storage is read again. */
  let rescuing: Promise<unknown> | null = null
  /** What is said before a place is found waits for the same one. */
  let placing: Promise<void> | null = null

  const company = createCompany({
    ...parts,
    asks,
    shown,
    exclusive: parts.ownership.exclusive,
    place: () => place,
    isPlaced,
    isCurrent,
    sitAgain,
    showOthers,
    stand,
  })

  /** Nothing runs before the first use: a try-on on a product card costs nothing. */
  function sit(): Seat<Runner> {
    if (seat) return seat
    // an address that is none is told to whoever asks first
    parts.name()
    const taken: Seat<Runner> = takeSeat({
      ready: () => (rescuing ? rescuing.then(parts.open) : parts.open()),
      request(turns) {
        place = parts.ownership.placeOf(parts.name())
        return parts.ownership.request(place, { ...turns, isElsewhere: company.isElsewhere })
      },
      refresh: parts.refresh,
      isMisplaced: () => !isPlaced(),
      start: () => run(() => taken),
      stop: (runner) => runner.stop(),
      onWait: () => company.wait(taken),
      onLose: lose,
    })
    seat = taken
    return taken
  }

  /** Pages of one storage that did not know it yet come together. */
  function moveOver(): void {
    if (seat?.runner && !isPlaced()) sitAgain()
  }

  function sitAgain(): void {
    leaveSeat()
    if (shown.isWatched()) sit()
  }

  /** Another page has taken over meanwhile, and may have gone again. */
  function lose(): void {
    const record = seat?.runner?.getSnapshot().context.record
    if (record && mayBeRunning(record))
      rescuing = withinLimit(clock, rescueMs, attempts.rescue(record)).catch(() => undefined)
    sitAgain()
  }

  /** Whether the seat is where the pages of this storage wait, as far as is known by now. */
  function isPlaced(): boolean {
    return place === parts.ownership.placeOf(parts.name())
  }

  /** An answer that comes late is for whoever runs the machine by then, here or on another page. */
  function tell(event: TryOnEvent): void {
    seat?.runner?.send(event)
    // this page may not know yet that another one has taken over
    if (event.type !== 'lateAnswer') return
    const { written } = event
    if (written.kind === 'overtaken' && written.archived) parts.tellArchived(written.archived)
    if (written.kind !== 'stands') return
    const { record, durable } = written
    post({ type: 'lateAnswer', name: parts.name(), record, durable })
    // nothing runs here any more that would write it again
    if (!durable && !seat) keepAnswer(record)
  }

  function run(own: () => Seat<Runner>): Runner {
    const holdsSeat = async () => seat === own() && own().confirm()
    const isUntaken = async () => seat === own() && own().isUntaken()
    const actors = tryOnActors({ ...parts, tell, holdsSeat, isUntaken, isPreparing })
    const provided = tryOnMachine.provide({ actors })
    const heard = inspect && inspection(inspect, parts.product, () => shown.get().state)
    const runner = createRunner(provided, { input, clock, inspect: heard })
    const by = parts.shopper()
    // what a former shopper has is not shown as the next one's
    runner.subscribe(() => by.aborted || show(own(), runner))
    runner.start()
    return runner
  }

  /** Shows here, and to the other pages, where the machine stands, or that a consent is being made ready for it. */
  function show(own: Seat<Runner>, runner: Runner): void {
    const snapshot = runner.getSnapshot()
    const stands = tryOnView(snapshot)
    // a page that takes over goes on showing what it has shown until storage is read
    const isNews = stands.state !== 'restoring' || snapshot.context.record !== null || !shown.get().attempt
    if (seat !== own || !isNews) return
    const view = isPreparing() ? preparingOver(stands) : stands
    shown.set(view)
    showOthers(own)
    stand()
    if (unkeptIn(runner) || attempts.isBehind()) parts.keepLater(keepAgain)
  }

  /** Shows the other pages what this one shows, unless it may not be the one any more that runs the flow. */
  function showOthers(own: Seat<Runner>): void {
    const tellThem = () => post({ type: 'view', name: parts.name(), place, view: shown.get() })
    if (own.isFresh()) tellThem()
    else void own.isStill().then((is) => is && tellThem())
  }

  /** What only memory has of a job, or of what was left, is lost with the page: it is written again, from time to time. */
  async function keepAgain(): Promise<void> {
    await attempts.catchUp()
    if (attempts.isBehind()) parts.keepLater(keepAgain)
    const runner = seat?.runner
    const record = runner && unkeptIn(runner)
    if (!record) return
    const written = await attempts.write(record, record)
    const stands = written.kind === 'stands' && unkeptIn(runner) === record
    if (stands) runner.send({ type: 'kept', durable: written.durable })
  }

  function keepAnswer(record: AttemptRecord): void {
    const keep = async () => {
      const written = await attempts.write(record, record)
      if (written.kind === 'stands' && !written.durable) keepAnswer(record)
    }
    parts.keepLater(() => void keep(), true)
  }

  function stand(): void {
    const { productId, variantId } = parts.product
    parts.telling.stand({
      view: shown.get(),
      record: seat?.runner?.getSnapshot().context.record ?? null,
      product: { productId: digitsOf(productId), variantId: digitsOf(variantId) },
      by: parts.shopper(),
      isSeen: shown.isWatched() && globalThis.document?.visibilityState !== 'hidden',
    })
  }

  const seenAttempt = () => shown.get().attempt?.id ?? null

  const isBegun = (call: Call) => 'attemptId' in call && call.attemptId === seenAttempt()
  /** Whether an intent is for what there is: for the attempt that its shopper saw, or the one that it has begun. */
  const isMeant = (call: Call, seen: string | null) => seenAttempt() === seen || isBegun(call)

  const gone = () => new TryOnError({ kind: 'stopped', reason: 'startedOver' })

  function say(call: Call): Promise<void> {
    const done = isOver() ? Promise.reject(gone()) : perform(call)
    // the view says what was wrong
    const whose = [parts.shopper(), life.signal]
    const came = done.then(
      () => null,
      (error: unknown) =>
        isConsent(call) && error instanceof TryOnError ? { error, whose, stood: shown.get() } : null,
    )
    // nothing else is kept of what it has come to
    said = Promise.all([said, came]).then(([, refusal]) => refusal)
    return done
  }

  /** What is said later waits until what was said before has taken effect, or can be left. */
  async function perform(call: Call): Promise<void> {
    const passedOn = deferred()
    const hasBegun = deferred()
    const earlier = { turn, begun }
    turn = afterBoth(turn, passedOn.promise)
    begun = afterBoth(begun, hasBegun.promise)
    const isHeard = () => {
      passedOn.resolve()
      hasBegun.resolve()
    }
    try {
      await performed({ call, said: parts.sayNow(), isHeard }, earlier, passedOn.resolve)
    } finally {
      isHeard()
    }
  }

  /** Here where this page is the owner; else by the owner, and here if the owner goes before it has answered. */
  async function performed(
    word: Word,
    earlier: { turn: Promise<void>; begun: Promise<void> },
    isPassedOn: () => void,
  ): Promise<void> {
    const { call, said: saidNow } = word
    const number = ++words
    const { signal } = life
    const seen = shown.get().state === 'restoring' ? undefined : seenAttempt()
    const before = seat
    const first = sit()
    await (placing ??= findPlace(first).finally(() => (placing = null)))
    // nothing is opened again for what was said before
    if (signal.aborted) throw closed()
    const taken = sit()
    await Promise.race([taken.decided, taken.ended])
    if (taken.runner && taken !== before && !(await isStillMeant(taken, taken.runner, call, seen))) return
    const hasTurn = () => Promise.race([taken.runner ? earlier.begun : earlier.turn, taken.ended])
    const running = async () => (await hasTurn(), taken.runner ?? taken.ended)
    await hasTurn()
    // what there is was not shown here yet
    if (seen === undefined && !taken.runner) await Promise.race([firstShown(), taken.owned, taken.ended])
    if (taken.runner) {
      const runner = await running()
      // a seat that was taken anew may be at its first look
      if (taken !== first) await settled(taken, runner)
      if (taken !== first && !isToBeDone(runner, call)) return
      return carryOut(taken, runner, { ...word, seen })
    }
    if (isConsent(call)) checkConsent(call, notice)
    const attempt = seenAttempt()
    const ask: Ask = { type: 'ask', name: parts.name(), place, id: newId(), call, seenAttempt: attempt }
    const answered = asks.answerTo(ask, company.hasHeard(taken), () => isBegun(call) || checkSaid(call, saidNow))
    isPassedOn()
    const answer = await Promise.race([answered, taken.owned, taken.ended]).finally(() => asks.drop(ask))
    if (answer?.problem) throw new TryOnError(answer.problem, answer.jobId)
    if (answer && isLeaving(call)) leftBefore = Math.max(leftBefore, number)
    // a photo that was passed on is the room's
    if (answer) return photos.restore()
    if (!taken.runner) throw closed()
    await settled(taken, taken.runner)
    // the page that was asked may not have come to say so
    if (isConsent(call) && number < leftBefore) throw gone()
    if (!isMeant(call, attempt)) {
      if (await isGone(call, attempt)) return
      throw notAllowed(call)
    }
    await carryOut(taken, await running(), { ...word, seen: attempt })
  }

  /** Whether the page that was asked to leave an attempt has done that, and could not say so any more. */
  async function isGone({ intent }: Call, attempt: string | null): Promise<boolean> {
    const { problem } = shown.get()
    // what can not be read may be there
    if (intent === 'startOver') return seenAttempt() === null && problem?.kind !== 'storageUnreadable'
    if (intent !== 'discard' || attempt === null || !(await attempts.isForgotten(attempt))) return false
    if (await parts.dropPictures(attempt)) return true
    throw refusal({ kind: 'storage' })
  }

  /** Which pages share this storage, and what is there, may not have been known when the seat was taken. */
  async function findPlace(taken: Seat<Runner>): Promise<void> {
    const isReadAnew = await Promise.race([parts.reopen(), taken.ended])
    if (seat === taken && (isReadAnew || !isPlaced())) leaveSeat()
  }

  /** Settles once this page shows what there is, if that is to be had. */
  async function firstShown(): Promise<void> {
    const ends = new AbortController()
    await withinLimit(clock, 2 * lookOnMs, readyOf(inside, ends.signal)).catch(() => undefined)
    ends.abort()
  }

  /** Whether what the shopper saw is what there is, now that storage was read: a word is for nothing else. */
  async function isStillMeant(
    own: Seat<Runner>,
    runner: Runner,
    call: Call,
    seen: string | null | undefined,
  ): Promise<boolean> {
    await settled(own, runner)
    if (seen === undefined || isMeant(call, seen)) return true
    if (call.intent === 'resume') return false
    throw notAllowed(call)
  }

  /** Another page's intent: refused when it is repeated, or when its shopper saw another attempt. */
  async function serve({ id, call: passed, seenAttempt: attempt }: Ask): Promise<void> {
    const own = seat
    // another page may be the one that is asked
    if (!own?.runner || served.has(id) || !own.isProven()) return
    served.add(id)
    // a page that stood still may hear of it once another one has carried it out
    const isStill = lastServed.then(own.isStill)
    lastServed = isStill
    if (!(await isStill)) return void served.delete(id)
    post({ type: 'taken', name: parts.name(), id })
    const call = passedCall(passed)
    const heardNow = parts.sayNow()
    const carriedOut = async (runner: Runner) => {
      await settled(own, runner)
      if (!isMeant(call, attempt)) throw notAllowed(call)
      await carryOut(own, runner, { call, said: heardNow, seen: attempt, isPassed: true })
      return null
    }
    const problem = await carriedOut(own.runner).catch((error: unknown) =>
      error instanceof TryOnError ? error.problem : notAllowed(call).problem,
    )
    // who runs the flow next carries it out
    if (seat !== own || !(await own.isStill())) return void served.delete(id)
    post({ type: 'answer', name: parts.name(), id, problem, jobId: shown.get().attempt?.jobId ?? null })
  }

  /** For who waits, and is shown nothing. */
  const inside: Pick<Readable<TryOnView>, 'get' | 'subscribe'> = {
    get: shown.get,
    subscribe: (onChange) => (isOver() || sit(), shown.subscribe(onChange)),
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
      if (seat?.runner) tell({ type: 'refused', problem })
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
    start: (photo, options) => say(consentCall('start', photos.again(), photo, options)),
    retry: (photo, options) => say(consentCall('retry', photos.again(), photo, options)),
    submitEmail: ({ email, name: shopperName }) =>
      say({ intent: 'submitEmail', form: { email, ...(shopperName !== undefined && { name: shopperName }) } }),
    resume: () => say({ intent: 'resume' }),
    startOver: () => say({ intent: 'startOver' }),
    discard: ({ abandonPaidJob = false } = {}) => say({ intent: 'discard', abandonPaidJob }),
    ...afterwards,
    result(options) {
      if (isOver()) return Promise.reject(gone())
      sit()
      const heard = said.then((refused) => standing(refused, shown.get()))
      return resultOf(inside, life.signal, parts.shopper(), heard, options)
    },
  }

  function leaveSeat(isFreezing = false, until: Promise<unknown> | null = null, why = closed()): void {
    const left = seat
    seat = null
    company.leave()
    left?.end(why, isFreezing, until)
  }

  function clear(): void {
    leaveSeat(false, null, gone())
    shown.set(isOver() ? storedView(null, input, false) : restoringView)
  }

  return {
    tryOn,
    isArchived: input.archived,
    // only a reset() has others wait until something is done
    stop: (isFreezing, until = null) => leaveSeat(isFreezing, until, until ? gone() : closed()),
    close() {
      leaveSeat(false, parts.telling.settling())
      life.abort()
      life = new AbortController()
    },
    hear(message) {
      if (!('name' in message) || message.name !== parts.name()) return
      if (message.type === 'answer' || message.type === 'taken') company.hearAnswer(message)
      else if (message.type === 'lateAnswer') hearAnswer(message)
      else if (message.place !== place) moveOver()
      else if (message.type === 'ask') void serve(message)
      else if (message.type === 'hello' && seat?.runner) void company.answerHello(seat, message.seenAttempt)
      else if (message.type === 'view' && seat?.isWaiting) company.hearOwner(seat, message.view)
      else if (message.type === 'view' && seat?.runner) void company.hearOther(seat, message.view.attempt?.id ?? null)
    },
    wake() {
      seat?.runner?.send({ type: 'wake' })
      stand()
    },
    stand,
    clear,
    restart() {
      clear()
      if (shown.isWatched() && !isOver()) sit()
    },
  }

  function hearAnswer({ record, durable }: TabMessage & { type: 'lateAnswer' }): void {
    seat?.runner?.send({ type: 'lateAnswer', written: { kind: 'stands', record, durable } })
  }
}

const afterBoth = (one: Promise<void>, other: Promise<void>) => Promise.all([one, other]).then(() => {})

/** The record of what may be paid for and only memory has, unless it is written just now. */
function unkeptIn(runner: Runner): AttemptRecord | null {
  const snapshot = runner.getSnapshot()
  const { record, durable } = snapshot.context
  const isWritten = durable || snapshot.hasTag('busy')
  return record && mayBePaid(record) && !isWritten ? record : null
}
