import { createActor, waitFor, type Actor } from 'xstate'
import { tryOnMachine } from '../../machines/try-on.machine.ts'
import type { TryOnEvent, TryOnInput } from '../../machines/try-on.types.ts'
import { restoringView, tryOnView } from '../../machines/try-on.view.ts'
import type { Ownership } from '../pages/ownership.ts'
import { takeSeat, type Seat } from '../pages/seat.ts'
import type { TabMessage } from '../pages/tabs.ts'
import { withinLimit } from '../platform/clock.ts'
import { newId } from '../platform/new-id.ts'
import { createValue } from '../platform/value.ts'
import { TryOnError, type Problem } from '../rules/problem.ts'
import type { TryOnView } from '../rules/view.ts'
import { inspection } from './inspect.ts'
import { consentCall, eventOf, passedCall, permissionOf, type Call } from './intents.ts'
import { resultOf } from './result.ts'
import { tryOnActors, type TryOnParts } from './try-on.actors.ts'
import type { Inspect, TryOn } from './try-on.types.ts'

/** How long another page may take to carry an intent out that was passed on to it, in ms. */
const answerLimitMs = 30_000

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

type Parts = Omit<TryOnParts, 'tell' | 'holdsSeat'> & {
  /** What the pages of the room call this try-on: the key of its record. */
  name: () => string
  input: TryOnInput
  ownership: Ownership
  post: (message: TabMessage) => void
  inspect: Inspect | undefined
  /** Storage has been read; called at the first use. */
  open: () => Promise<void>
  /** What another page may have changed is read again, before this page takes over. */
  refresh: () => Promise<void>
}

type Runner = Actor<typeof tryOnMachine>
type Ask = TabMessage & { type: 'ask' }
type Answer = TabMessage & { type: 'answer' }

export function createTryOn(parts: Parts): RunningTryOn {
  const { post, input, clock, inspect, photos } = parts
  const shown = createValue<TryOnView>(restoringView)
  /** Intents of this page's shopper that the owner has not answered yet. */
  const asked = new Map<string, { ask: Ask; answer: (message: Answer) => void }>()
  const served = new Set<string>()
  let seat: Seat<Runner> | null = null

  /** Nothing runs before the first use: a try-on on a product card costs nothing. */
  function sit(): Seat<Runner> {
    if (seat) return seat
    // an address that is none is told to whoever asks first
    parts.name()
    const taken: Seat<Runner> = takeSeat({
      ready: parts.open,
      request: ({ onOwn, onWait, onLose }) => parts.ownership.request(parts.name(), { onOwn, onWait, onLose }),
      refresh: parts.refresh,
      start: () => run(() => taken),
      stop: (runner) => runner.stop(),
      onWait: () => post({ type: 'hello', name: parts.name() }),
      onLose() {
        stop()
        if (shown.isWatched()) sit()
      },
    })
    seat = taken
    return taken
  }

  function run(own: () => Seat<Runner>): Runner {
    // an answer that comes late is for whoever runs the machine by then, here or on another page
    const tell = (event: TryOnEvent) => {
      seat?.runner?.send(event)
      // this page may not know yet that another one has taken over
      if (event.type !== 'lateAnswer' || event.written.kind !== 'stands') return
      const { record, durable } = event.written
      post({ type: 'lateAnswer', name: parts.name(), record, durable })
    }
    const holdsSeat = async () => seat === own() && own().confirm()
    const provided = tryOnMachine.provide({ actors: tryOnActors({ ...parts, tell, holdsSeat }) })
    const heard = inspect && { inspect: inspection(inspect, parts.product) }
    const runner: Runner = createActor(provided, { input, clock, ...heard })
    runner.subscribe((snapshot) => {
      const next = tryOnView(snapshot)
      // a page that takes over goes on showing what it has shown until storage is read
      if (seat !== own() || (next.state === 'restoring' && snapshot.context.record === null && shown.get().attempt))
        return
      shown.set(next)
      post({ type: 'view', name: parts.name(), view: next })
    })
    return runner.start()
  }

  const refusal = (problem: Problem) => new TryOnError(problem, shown.get().attempt?.jobId ?? null)
  const notAllowed = ({ intent }: Call) => refusal({ kind: 'notAllowed', intent, state: shown.get().state })
  const seenAttempt = () => shown.get().attempt?.id ?? null

  /** Here where this page is the owner; else by the owner, and here if the owner goes before it has answered. */
  async function perform(call: Call): Promise<void> {
    const taken = sit()
    await Promise.race([taken.decided, taken.ended])
    if (taken.runner) return performHere(taken, taken.runner, call)
    const before = seenAttempt()
    const ask: Ask = { type: 'ask', name: parts.name(), id: newId(), call, seenAttempt: before }
    // a word that is no longer waited for must not be passed on to anybody
    const answer = await Promise.race([answerTo(ask), taken.owned, taken.ended]).finally(() => asked.delete(ask.id))
    if (answer?.problem) throw new TryOnError(answer.problem, answer.jobId)
    if (answer || !taken.runner) return
    await settled(taken, taken.runner)
    if (seenAttempt() !== before) throw notAllowed(call)
    await performHere(taken, taken.runner, call)
  }

  function answerTo(ask: Ask): Promise<Answer> {
    const answered = new Promise<Answer>((answer) => asked.set(ask.id, { ask, answer }))
    try {
      post(ask)
    } catch {
      // what can not be passed on can not be read either
      throw refusal({ kind: 'photo', reason: 'unreadable' })
    }
    return withinLimit(clock, answerLimitMs, answered).catch(() => {
      throw refusal({ kind: 'stopped', reason: 'unanswered' })
    })
  }

  /** Another page's intent: refused when it is repeated, or when its shopper saw another attempt. */
  async function serve({ id, call: passed, seenAttempt: attempt }: Ask): Promise<void> {
    const own = seat
    if (!own?.runner || served.has(id)) return
    served.add(id)
    const call = passedCall(passed)
    const carriedOut = async (runner: Runner) => {
      await settled(own, runner)
      if (attempt !== seenAttempt()) throw notAllowed(call)
      await performHere(own, runner, call)
      return null
    }
    const problem = await carriedOut(own.runner).catch((error: unknown) =>
      error instanceof TryOnError ? error.problem : notAllowed(call).problem,
    )
    post({ type: 'answer', name: parts.name(), id, problem, jobId: shown.get().attempt?.jobId ?? null })
  }

  async function performHere(own: Seat<Runner>, runner: Runner, call: Call): Promise<void> {
    await settled(own, runner)
    check(runner, call)
    const event = await eventOf(call, photos).catch((error: unknown) => {
      // a refused input is shown where the try-on stands, and nothing is lost
      if (error instanceof TryOnError) runner.send({ type: 'refused', problem: error.problem })
      throw error
    })
    check(runner, call)
    if (seat?.runner !== runner) throw closed()
    runner.send(event)
    await settled(own, runner)
  }

  function check(runner: Runner, call: Call): void {
    const snapshot = runner.getSnapshot()
    if (snapshot.status !== 'active') throw refusal({ kind: 'internal', sent: false })
    if (snapshot.can(permissionOf(call))) return
    const couldAbandon = call.intent === 'discard' && snapshot.can({ type: 'discard', abandonPaidJob: true })
    throw couldAbandon ? refusal({ kind: 'paidJob' }) : notAllowed(call)
  }

  /** Intents wait while storage is being read or written, for as long as this page has the try-on. */
  const settled = (own: Seat<Runner>, runner: Runner) =>
    Promise.race([
      own.ended,
      waitFor(runner, (snapshot) => !snapshot.hasTag('busy')).catch(() => {
        throw closed()
      }),
    ])

  const closed = () => refusal({ kind: 'stopped', reason: 'closed' })

  /** The owner may have come after an intent was passed on; what it has had before it answers once. */
  function hearOwner(view: TryOnView): void {
    shown.set(view)
    for (const { ask } of asked.values()) post(ask)
  }

  const tryOn: TryOn = {
    get: shown.get,
    subscribe(onChange) {
      const subscription = shown.subscribe(onChange)
      sit()
      return subscription
    },
    start: (photo, options) => perform(consentCall('start', photos.get(), photo, options)),
    retry: (photo, options) => perform(consentCall('retry', photos.get(), photo, options)),
    submitEmail: ({ email, name: shopperName }) =>
      perform({ intent: 'submitEmail', form: { email, ...(shopperName !== undefined && { name: shopperName }) } }),
    resume: () => perform({ intent: 'resume' }),
    startOver: () => perform({ intent: 'startOver' }),
    discard: ({ abandonPaidJob = false } = {}) => perform({ intent: 'discard', abandonPaidJob }),
    result: (options) => resultOf(tryOn, sit().ended, options),
  }

  function stop(isFreezing = false): void {
    const left = seat
    seat = null
    left?.end(closed(), isFreezing)
  }

  return {
    tryOn,
    stop,
    hear(message) {
      if (!('name' in message) || message.name !== parts.name()) return
      if (message.type === 'answer') asked.get(message.id)?.answer(message)
      else if (message.type === 'ask') void serve(message)
      else if (message.type === 'hello' && seat?.runner) post({ type: 'view', name: parts.name(), view: shown.get() })
      else if (message.type === 'lateAnswer') hearAnswer(message)
      else if (message.type === 'view' && seat?.isWaiting) hearOwner(message.view)
    },
    wake: () => seat?.runner?.send({ type: 'wake' }),
    restart() {
      stop()
      shown.set(restoringView)
      if (shown.isWatched()) sit()
    },
  }

  function hearAnswer({ record, durable }: TabMessage & { type: 'lateAnswer' }): void {
    seat?.runner?.send({ type: 'lateAnswer', written: { kind: 'stands', record, durable } })
  }
}
