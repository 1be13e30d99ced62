import type { SnapshotFrom } from 'xstate'
import type { Runner as RunnerOf } from '../../machines/runner.ts'
import type { tryOnMachine } from '../../machines/try-on.machine.ts'
import type { TryOnEvent } from '../../machines/try-on.types.ts'
import type { Seat } from '../pages/seat.ts'
import { deferred } from '../platform/deferred.ts'
import type { SteadyClock } from '../ports.ts'
import type { Shopper } from '../records/epochs.ts'
import type { Problem } from '../rules/problem.ts'
import { TryOnError } from '../rules/try-on-error.ts'
import type { AttemptRecord } from '../rules/record.ts'
import type { TryOnView } from '../rules/view.ts'
import type { Photos } from '../shopper/photos.ts'
import { eventOf, permissionOf, type Call } from './intents.ts'

/** How old a word for a submission may be before it is begun, in ms. */
const staleMs = 60_000

export type Runner = RunnerOf<typeof tryOnMachine>

/** When something was said, in ms of the page's own time, and by which shopper. */
export interface Said {
  at: number
  by: Shopper
}

interface CarryOutParts {
  clock: SteadyClock
  photos: Photos
  /** What this page shows. */
  view: () => TryOnView
  /** Whether this page still has that part in the try-on. */
  isCurrent: (own: Seat<Runner>) => boolean
}

/** How a page that runs the flow does what its shopper, or another page's, asks for. */
export function createCarryOut({ clock, photos, view, isCurrent }: CarryOutParts) {
  const refusal = (problem: Problem) => new TryOnError(problem, view().attempt?.jobId ?? null)
  const notAllowed = ({ intent }: Call) => refusal({ kind: 'notAllowed', intent, state: view().state })
  const closed = () => refusal({ kind: 'stopped', reason: 'closed' })

  function until(own: Seat<Runner>, runner: Runner, isThere: (snapshot: SnapshotFrom<typeof tryOnMachine>) => boolean) {
    const { promise, resolve, reject } = deferred()
    const look = (snapshot: SnapshotFrom<typeof tryOnMachine>) => void (isThere(snapshot) && resolve())
    const end = () => reject(closed())
    const { unsubscribe } = runner.subscribe({ next: look, error: end, complete: end })
    look(runner.getSnapshot())
    return Promise.race([own.ended, promise]).finally(unsubscribe)
  }

  /** Intents wait while storage is being read or written, for as long as this page has the try-on. */
  const settled = (own: Seat<Runner>, runner: Runner) => until(own, runner, (snapshot) => !snapshot.hasTag('busy'))
  const carriedOut = (own: Seat<Runner>, runner: Runner) =>
    until(own, runner, (snapshot) => !snapshot.hasTag('busy') && Object(snapshot.value).needsEmail !== 'registering')

  /** A page that slept must not spend money on what was said before, nor do what a former shopper has said. */
  function checkSaid(call: Call, said: Said): void {
    if (said.by.aborted) throw refusal({ kind: 'stopped', reason: 'startedOver' })
    if (mayPay(call) && clock.elapsed() - said.at > staleMs) throw refusal({ kind: 'consentExpired' })
  }

  /** Returns the attempt that the intent is permitted for. */
  function check(runner: Runner, call: Call): string | undefined {
    const snapshot = runner.getSnapshot()
    if (snapshot.status !== 'active') throw refusal({ kind: 'internal', sent: false })
    if (snapshot.can(permissionOf(call))) return attemptOf(runner)
    const couldAbandon = call.intent === 'discard' && snapshot.can({ type: 'discard', abandonPaidJob: true })
    throw couldAbandon ? refusal({ kind: 'paidJob' }) : notAllowed(call)
  }

  /** A refusal is shown where the try-on stands, and nothing is lost. */
  function refuse(own: Seat<Runner>, runner: Runner, error: unknown): never {
    if (error instanceof TryOnError && isCurrent(own)) runner.send({ type: 'refused', problem: error.problem })
    throw error
  }

  function hear(own: Seat<Runner>, runner: Runner, call: Call, said: Said): void {
    try {
      checkSaid(call, said)
    } catch (error) {
      // what a former shopper has said is nobody's to read
      if (said.by.aborted) throw error
      refuse(own, runner, error)
    }
  }

  /** A page that froze may have been overtaken: nothing is begun where that can not be ruled out. */
  async function confirm(own: Seat<Runner>, runner: Runner): Promise<void> {
    if (await own.confirm()) return
    if (!isCurrent(own)) throw closed()
    refuse(own, runner, refusal({ kind: 'storage' }))
  }

  async function doEvent(
    own: Seat<Runner>,
    runner: Runner,
    call: Call,
    said: Said,
    event: TryOnEvent,
    meant: string | undefined,
  ): Promise<void> {
    if (isConsent(call)) await confirm(own, runner)
    if (!isCurrent(own)) throw closed()
    // reading the photo, and storage, may have taken a while
    if (check(runner, call) !== meant) throw notAllowed(call)
    hear(own, runner, call, said)
    const before = runner.getSnapshot().context.record
    runner.send(event)
    await carriedOut(own, runner)
    const { record, problem } = runner.getSnapshot().context
    if (isDone(event, before, record)) return
    const why = problem ?? record?.problem
    throw why ? refusal(why) : notAllowed(call)
  }

  return {
    refusal,
    notAllowed,
    closed,
    settled,
    checkSaid,

    /** Does it, or rejects with why it could not be done. */
    async carryOut(own: Seat<Runner>, runner: Runner, call: Call, said: Said): Promise<void> {
      await settled(own, runner)
      // who has run the try-on before may have done it, and not have said so any more
      if ('attemptId' in call && attemptOf(runner) === call.attemptId) return
      const meant = check(runner, call)
      // of a former shopper not even a photo is kept
      hear(own, runner, call, said)
      const event = await eventOf(call, photos).catch((error: unknown) => refuse(own, runner, error))
      await doEvent(own, runner, call, said, event, meant).finally(
        () => 'consent' in event && photos.release(event.consent.photoId),
      )
    },

    /**
     * Whether a word is still to be carried out that made this page read storage again: what is gone need not be left. A
     * consent that begins nothing is no consent kept, and what can not be read may be there.
     */
    isToBeDone(runner: Runner, call: Call): boolean {
      const snapshot = runner.getSnapshot()
      if (snapshot.can(permissionOf(call))) return true
      if (isConsent(call)) throw notAllowed(call)
      if (snapshot.context.problem?.kind === 'storageUnreadable') throw refusal(snapshot.context.problem)
      return false
    },
  }
}

const attemptOf = (runner: Runner) => runner.getSnapshot().context.record?.attemptId
const isConsent = ({ intent }: Call) => intent === 'start' || intent === 'retry'
const mayPay = ({ intent }: Call) => intent !== 'startOver' && intent !== 'discard'

/** Whether an intent has done what it says: another page may have been first, and storage may not have let it. */
function isDone(event: TryOnEvent, before: AttemptRecord | null, after: AttemptRecord | null): boolean {
  const isSame = before !== null && before.attemptId === after?.attemptId
  const isStopped = after?.problem?.kind === 'storage'
  if ('consent' in event) return !isStopped && after?.attemptId === event.consent.attemptId
  if (event.type === 'submitEmail') return isSame && after?.phase !== 'awaitingEmail'
  return !isSame || (event.type !== 'startOver' && event.type !== 'discard')
}
